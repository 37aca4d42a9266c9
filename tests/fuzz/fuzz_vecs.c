/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"
#include "parse/parse.h"

static void check_rows(const uint8_t *data, size_t size, const struct layout *layout) {
    struct parse_error error;
    uint64_t element = topk_type_size(layout->type);
    demand(layout->matrix && layout->rows >= 0 && layout->cols > 0 && layout->stride >= layout->cols);
    if (layout->rows > 0) {
        uint64_t last =
            ((uint64_t)(layout->rows - 1) * (uint64_t)layout->stride + (uint64_t)layout->cols) * element;
        demand(layout->begin + last == size);
        demand(vecs_check(data, layout, 0, 1, &error));
    }
    if (!vecs_check(data, layout, 0, layout->rows, &error))
        demand(error.at < size && error.reason[0] != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const topk_type types[] = {TOPK_F32, TOPK_I32, TOPK_U8};
    struct layout layout;
    struct parse_error error;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (vecs_parse(data, size, types[i], &layout, &error))
            check_rows(data, size, &layout);
        else
            demand(error.at <= size && error.reason[0] != '\0');
    }
    if (bin_parse(data, size, TOPK_I32, &layout, &error))
        demand(layout.begin + (uint64_t)layout.rows * (uint64_t)layout.cols * 4 == size);
    else
        demand(error.at <= size && error.reason[0] != '\0');
    int64_t cols = size > 0 ? (int64_t)data[0] << (data[size - 1] % 56) : 0;
    uint64_t skipped = size > 1 ? data[1] : 0;
    if (raw_parse(size, skipped, TOPK_U16, cols, &layout, &error))
        demand(skipped + (uint64_t)layout.rows * (uint64_t)layout.cols * 2 == size);
    else
        demand(error.at <= size && error.reason[0] != '\0');
    return 0;
}
