/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"
#include "parse/parse.h"

static void check_layout(struct layout layout, uint64_t end, size_t size) {
    struct parse_error error = {UINT64_MAX, ""};
    demand(layout.begin <= end && end <= size && layout.dimensions <= DIMENSIONS_MAX);
    if (!layout_rows(&layout, -1, false, &error) || !npy_check_size(&layout, end, &error)) {
        demand(error.at <= size && error.reason[0] != '\0');
        return;
    }
    demand(layout.rows >= 0 && layout.cols >= 0);
    demand(layout.begin + (uint64_t)layout.rows * (uint64_t)layout.cols * topk_type_size(layout.type) == end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const names[] = {NULL, "a", "b.npy"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct parse_error error = {UINT64_MAX, ""};
        struct extent found;
        struct layout layout;
        uint64_t end;
        if (npz_find(data, size, names[i], &found, &error))
            demand(found.begin <= size && found.size <= size - found.begin);
        else
            demand(error.at <= size && error.reason[0] != '\0');
        error = (struct parse_error){UINT64_MAX, ""};
        if (tensor_find(data, size, names[i], &layout, &end, &error))
            check_layout(layout, end, size);
        else
            demand(error.at <= size && error.reason[0] != '\0');
    }
    return 0;
}
