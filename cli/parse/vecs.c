/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of plain elements: vectors that each bring their int32 dimension, matrices behind two numbers, and
 * bare elements. */
#include <inttypes.h>
#include <string.h>

#include "parse.h"

static int32_t read_dimension(const void *file, uint64_t at) {
    int32_t dimension;
    memcpy(&dimension, (const char *)file + at, sizeof dimension);
    return dimension;
}

bool vecs_parse(const void *file, uint64_t size, topk_type type, struct layout *layout,
                struct parse_error *error) {
    uint64_t element = topk_type_size(type);
    int32_t dimension = 1;
    if (size > 0 && size < sizeof dimension)
        return parse_fail(error, 0, "the file ends within the first dimension");
    if (size > 0)
        dimension = read_dimension(file, 0);
    if (dimension <= 0)
        return parse_fail(error, 0, "dimension %" PRId32 " is not positive", dimension);
    uint64_t bytes = sizeof dimension + (uint64_t)dimension * element;
    if (size % bytes != 0)
        return parse_fail(error, size - size % bytes,
                          "the file ends within a vector: its size is no multiple of %" PRIu64 " bytes",
                          bytes);
    *layout = (struct layout){.type = type,
                              .matrix = true,
                              .rows = (int64_t)(size / bytes),
                              .cols = dimension,
                              .stride = (int64_t)(bytes / element),
                              .begin = size > 0 ? sizeof dimension : 0};
    return true;
}

bool vecs_check(const void *file, const struct layout *layout, int64_t first, int64_t count,
                struct parse_error *error) {
    uint64_t bytes = (uint64_t)layout->stride * topk_type_size(layout->type);
    for (int64_t row = first; row < first + count; row++) {
        uint64_t at = (uint64_t)row * bytes;
        int32_t dimension = read_dimension(file, at);
        if (dimension != layout->cols)
            return parse_fail(error, at, "vector %" PRId64 " has dimension %" PRId32 ", others have %" PRId64,
                              row, dimension, layout->cols);
    }
    return true;
}

enum { BIN_HEADER_BYTES = 8 };

static void read_shape(const void *file, uint32_t *rows, uint32_t *cols) {
    memcpy(rows, file, sizeof *rows);
    memcpy(cols, (const char *)file + sizeof *rows, sizeof *cols);
}

bool bin_fits(const void *file, uint64_t size, topk_type type, uint32_t *rows, uint32_t *cols) {
    if (size <= BIN_HEADER_BYTES)
        return false;
    read_shape(file, rows, cols);
    const uint64_t bytes = size - BIN_HEADER_BYTES;
    const uint64_t elements = bytes / topk_type_size(type);
    return bytes % topk_type_size(type) == 0 && (uint64_t)*rows * *cols == elements;
}

bool bin_parse(const void *file, uint64_t size, topk_type type, struct layout *layout,
               struct parse_error *error) {
    uint32_t rows, cols;
    if (size < BIN_HEADER_BYTES)
        return parse_fail(error, size, "the file ends within the header");
    read_shape(file, &rows, &cols);
    if (cols == 0 && rows > 0)
        return parse_fail(error, 4, "the header says that rows have no elements");
    if (size > BIN_HEADER_BYTES ? !bin_fits(file, size, type, &rows, &cols) : rows > 0)
        return parse_fail(error, 0,
                          "the header says %" PRIu32 " rows of %" PRIu32 " %s, but %" PRIu64 " bytes follow",
                          rows, cols, topk_type_name(type), size - BIN_HEADER_BYTES);
    *layout = (struct layout){
        .type = type, .matrix = true, .rows = rows, .cols = cols, .stride = cols, .begin = BIN_HEADER_BYTES};
    return true;
}

bool raw_parse(uint64_t size, uint64_t skipped, topk_type type, int64_t cols, struct layout *layout,
               struct parse_error *error) {
    uint64_t element = topk_type_size(type);
    uint64_t row;
    if (__builtin_mul_overflow((uint64_t)(cols > 0 ? cols : 1), element, &row))
        return parse_fail(error, 0, "a row of %" PRId64 " elements overflows", cols);
    if (skipped > size)
        return parse_fail(error, size, "the file ends within the bytes of --skip-bytes");
    const uint64_t rest = size - skipped;
    if (rest % row != 0)
        return parse_fail(
            error, size - rest % row, "the file's size%s is no multiple of %" PRIu64 " bytes, one %s",
            skipped > 0 ? " without the bytes of --skip-bytes" : "", row, cols > 0 ? "row" : "element");
    *layout = (struct layout){.type = type,
                              .matrix = cols > 0,
                              .rows = cols > 0 ? (int64_t)(rest / row) : 1,
                              .cols = cols > 0 ? cols : (int64_t)(rest / element),
                              .begin = skipped};
    layout->stride = layout->cols;
    return true;
}
