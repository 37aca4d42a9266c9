/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "fuzz.h"
#include "parse/parse.h"

/* All elements in the order of the rows, and those of the last row by themselves. */
static void check_rows(const uint8_t *data, const struct layout *layout) {
    const size_t size = topk_type_size(layout->type);
    const uint64_t count = (uint64_t)layout->rows * (uint64_t)layout->cols;
    char *whole = malloc(count * size);
    char *row = malloc((size_t)layout->cols * size);
    demand(whole != NULL && row != NULL);
    layout_gather(layout, data, 0, count, whole);
    layout_gather(layout, data, count - (uint64_t)layout->cols, (uint64_t)layout->cols, row);
    demand(memcmp(whole + (count - (uint64_t)layout->cols) * size, row, (size_t)layout->cols * size) == 0);
    free(whole);
    free(row);
}

static void check_layout(const uint8_t *data, size_t size, struct layout layout, int axis, bool flat) {
    struct parse_error error = {UINT64_MAX, ""};
    if (!layout_rows(&layout, axis, flat, &error) || !npy_check_size(&layout, size, &error)) {
        demand(error.at <= size && error.reason[0] != '\0');
        return;
    }
    demand(layout.rows >= 0 && layout.cols >= 0 && layout.stride == layout.cols);
    demand(layout.matrix || layout.rows == 1);
    const uint64_t room = (size - layout.begin) / topk_type_size(layout.type);
    demand(layout.rows == 0 || (uint64_t)layout.cols <= room / (uint64_t)layout.rows);
    if (layout.scattered)
        check_rows(data, &layout);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const topk_type overrides[] = {TOPK_TYPE_UNDEFINED, TOPK_F8_E4M3, TOPK_BF16, TOPK_F32};
    for (size_t i = 0; i < sizeof overrides / sizeof *overrides; i++) {
        struct layout layout;
        struct parse_error error = {UINT64_MAX, ""};
        if (!npy_parse(data, size, overrides[i], &layout, &error)) {
            demand(error.at <= size && error.reason[0] != '\0');
            continue;
        }
        demand(topk_type_size(layout.type) > 0 && layout.begin == npy_header_bytes(data, size));
        demand(layout.begin <= size && layout.dimensions <= DIMENSIONS_MAX);
        check_layout(data, size, layout, -1, true);
        for (int axis = -layout.dimensions; axis < layout.dimensions; axis++)
            check_layout(data, size, layout, axis, false);
    }
    return 0;
}
