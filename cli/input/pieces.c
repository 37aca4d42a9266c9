/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../base/alloc.h"
#include "../base/fail.h"
#include "matrix.h"

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Elements from the first to the last of `rows` rows of `length`. */
static uint64_t span(const struct layout *layout, int64_t rows, int64_t length) {
    return (uint64_t)(rows - 1) * (uint64_t)layout->stride + (uint64_t)length;
}

static uint64_t place(const struct pieces *pieces) {
    const struct layout *layout = &pieces->matrix->layout;
    uint64_t element = (uint64_t)pieces->row * (uint64_t)layout->stride + (uint64_t)pieces->column;
    return layout->begin + element * topk_type_size(layout->type);
}

void pieces_begin(struct pieces *pieces, const struct matrix *matrix, int64_t elements_max,
                  int64_t rows_max) {
    const struct layout *layout = &matrix->layout;
    *pieces = (struct pieces){.matrix = matrix};
    elements_max = elements_max > 0 ? elements_max : 1;
    rows_max = rows_max > 0 ? rows_max : 1;
    pieces->length_max = least(layout->cols, elements_max);
    if (layout->cols > 0)
        rows_max = least(rows_max, elements_max / layout->cols);
    pieces->rows_max = least(layout->rows, rows_max > 0 ? rows_max : 1);
    size_t element = topk_type_size(layout->type);
    if (layout->begin % element != 0)
        pieces->copy = allocate((uint64_t)pieces_span(pieces), element);
}

int64_t pieces_span(const struct pieces *pieces) {
    const struct layout *layout = &pieces->matrix->layout;
    return pieces->rows_max > 0 ? (int64_t)span(layout, pieces->rows_max, pieces->length_max) : 0;
}

/* Gives back the pages of earlier pieces, so that no more than a few pieces are resident. */
static void drop_behind(struct pieces *pieces) {
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t end = place(pieces) / page * page;
    if (end > pieces->dropped)
        madvise((char *)(uintptr_t)pieces->matrix->file + pieces->dropped, end - pieces->dropped,
                MADV_DONTNEED);
    pieces->dropped = end;
}

bool pieces_next(struct pieces *pieces, struct piece *piece) {
    const struct matrix *matrix = pieces->matrix;
    const struct layout *layout = &matrix->layout;
    if (pieces->row == layout->rows) {
        matrix_check(matrix);
        return false;
    }
    drop_behind(pieces);
    *piece = (struct piece){
        .row = pieces->row,
        .rows = least(layout->rows - pieces->row, pieces->rows_max),
        .begin = pieces->column,
        .length = least(layout->cols - pieces->column, pieces->length_max),
    };
    struct parse_error error;
    if (matrix->has_dimensions && !vecs_check(matrix->file, layout, piece->row, piece->rows, &error))
        fail("%s: byte %" PRIu64 ": %s", matrix->name, error.at, error.reason);
    if (piece->length > 0)
        piece->values = matrix->file + place(pieces);
    if (pieces->copy != NULL && piece->length > 0) {
        uint64_t elements = span(layout, piece->rows, piece->length);
        piece->values = memcpy(pieces->copy, piece->values, elements * topk_type_size(layout->type));
    }
    pieces->column += piece->length;
    if (pieces->column == layout->cols) {
        pieces->column = 0;
        pieces->row += piece->rows;
    }
    return true;
}

uint64_t pieces_done(const struct pieces *pieces) {
    return place(pieces) < pieces->matrix->size ? place(pieces) : pieces->matrix->size;
}

void pieces_end(struct pieces *pieces) {
    release(pieces->copy);
}
