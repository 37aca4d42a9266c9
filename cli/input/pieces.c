/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../base/alloc.h"
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

static uint64_t page_of(uint64_t byte) {
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    return byte / page * page;
}

/* Whether elements lie in a mapping as pieces should have them. */
static bool in_place(const struct matrix *matrix) {
    const struct layout *layout = &matrix->layout;
    if (layout->swapped || layout->scattered)
        return false;
    if (matrix->shards.list != NULL)
        return matrix->shards.in_place;
    return matrix->file != NULL && layout->begin % topk_type_size(layout->type) == 0;
}

void pieces_begin(struct pieces *pieces, const struct matrix *matrix, int64_t first, int64_t end,
                  int64_t elements_max, int64_t rows_max) {
    const struct layout *layout = &matrix->layout;
    const bool whole_rows = first == 0 && end == layout->cols;
    *pieces = (struct pieces){.matrix = matrix, .first = first, .end = end, .column = first};
    elements_max = elements_max > 0 ? elements_max : 1;
    rows_max = rows_max > 0 && whole_rows ? rows_max : 1;
    pieces->length_max = least(end - first, elements_max);
    if (layout->cols > 0)
        rows_max = least(rows_max, elements_max / layout->cols);
    pieces->rows_max = least(layout->rows, rows_max > 0 ? rows_max : 1);
    if (matrix->file != NULL && !layout->scattered)
        madvise((char *)(uintptr_t)matrix->file, matrix->size, MADV_SEQUENTIAL);
    pieces->dropped = matrix->shards.list != NULL ? place(pieces) : 0;
    if (!in_place(matrix))
        pieces->copy = allocate((uint64_t)pieces_span(pieces), topk_type_size(layout->type));
}

void pieces_go(struct pieces *pieces, int64_t row) {
    pieces->row = row;
    pieces->column = pieces->first;
    pieces->dropped = pieces->matrix->layout.scattered ? 0 : page_of(place(pieces));
}

int64_t pieces_span(const struct pieces *pieces) {
    const struct layout *layout = &pieces->matrix->layout;
    return pieces->rows_max > 0 ? (int64_t)span(layout, pieces->rows_max, pieces->length_max) : 0;
}

/* Gives back the pages of earlier pieces, so that no more than a few pieces are resident. A piece of a
 * scattered layout may come from all pages. */
static void drop_behind(struct pieces *pieces) {
    const struct matrix *matrix = pieces->matrix;
    const bool scattered = matrix->layout.scattered;
    const uint64_t end = scattered ? matrix->size : page_of(place(pieces));
    if (matrix->shards.list != NULL) {
        shards_drop(&matrix->shards, pieces->dropped, place(pieces));
        pieces->dropped = place(pieces);
        return;
    }
    if (matrix->file != NULL && end > pieces->dropped)
        madvise((char *)(uintptr_t)matrix->file + pieces->dropped, end - pieces->dropped, MADV_DONTNEED);
    pieces->dropped = scattered ? 0 : end;
}

/* Makes the piece in the room for copies. */
static void copy(struct pieces *pieces, int64_t count) {
    const struct matrix *matrix = pieces->matrix;
    const struct layout *layout = &matrix->layout;
    const size_t bytes = (size_t)count * topk_type_size(layout->type);
    const uint64_t at = place(pieces);
    if (!matrix->rereadable)
        matrix_read(matrix, pieces->copy, at, bytes);
    else if (layout->scattered)
        layout_gather(layout, matrix->file, (at - layout->begin) / topk_type_size(layout->type),
                      (uint64_t)count, pieces->copy);
    else if (matrix->file == NULL) /* it may be shards */
        matrix_read_at(matrix, pieces->copy, at, bytes);
    else
        memcpy(pieces->copy, matrix->file + at, bytes);
    if (layout->swapped)
        layout_swap(layout->type, pieces->copy, (uint64_t)count);
}

/* Has a piece end where its shard does, so that it lies in one mapping. */
static void keep_to_shard(const struct pieces *pieces, struct piece *piece) {
    const struct layout *layout = &pieces->matrix->layout;
    const struct shard *shard = shards_find(&pieces->matrix->shards, place(pieces));
    const int64_t left = (int64_t)((shard->end - place(pieces)) / topk_type_size(layout->type));
    if (piece->rows > 1)
        piece->rows = least(piece->rows, left / layout->cols);
    else
        piece->length = least(piece->length, left);
}

/* Where the next elements are mapped. */
static const void *mapped(const struct pieces *pieces) {
    const struct matrix *matrix = pieces->matrix;
    if (matrix->shards.list == NULL)
        return matrix->file + place(pieces);
    const struct shard *shard = shards_find(&matrix->shards, place(pieces));
    return shard->file + shard->from + (place(pieces) - shard->begin);
}

bool pieces_next(struct pieces *pieces, struct piece *piece) {
    const struct matrix *matrix = pieces->matrix;
    const struct layout *layout = &matrix->layout;
    if (pieces->row == layout->rows) {
        matrix_check_end(matrix);
        return false;
    }
    drop_behind(pieces);
    *piece = (struct piece){
        .row = pieces->row,
        .rows = least(layout->rows - pieces->row, pieces->rows_max),
        .begin = pieces->column,
        .length = least(pieces->end - pieces->column, pieces->length_max),
    };
    if (matrix->shards.list != NULL && piece->length > 0)
        keep_to_shard(pieces, piece);
    matrix_check_rows(matrix, piece->row, piece->rows);
    if (piece->length > 0 && pieces->copy != NULL)
        copy(pieces, (int64_t)span(layout, piece->rows, piece->length));
    if (piece->length > 0)
        piece->values = pieces->copy != NULL ? pieces->copy : mapped(pieces);
    pieces->column += piece->length;
    if (pieces->column == pieces->end) {
        pieces->column = pieces->first;
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
