/* SPDX-License-Identifier: Apache-2.0 */
#include "../arrays/arrays.h"
#include "../base/alloc.h"
#include "../engine/session.h"
#include "../input/matrix.h"
#include "../input/text.h"
#include "../output/progress.h"
#include "../output/report.h"
#include "run.h"

/* Matches of a piece, and where they go. */
struct matches {
    int64_t capacity;
    void *values;
    int64_t *indices;
    int64_t *offsets; /* rows + 1 */
    int64_t total;
    struct arrays arrays;
    struct report report;
};

/* The index array of a matrix has a row and a column for each match, as numpy.argwhere() gives. */
static void end_arrays(struct matches *matches, bool matrix) {
    npy_file_reshape(&matches->arrays.values, -1, matches->total);
    if (matrix)
        npy_file_reshape(&matches->arrays.indices, matches->total, 2);
    else
        npy_file_reshape(&matches->arrays.indices, -1, matches->total);
    arrays_end(&matches->arrays);
}

static void matches_begin(struct matches *matches, const struct options *options, topk_type type, bool matrix,
                          int64_t rows, int64_t capacity) {
    *matches = (struct matches){.capacity = capacity};
    matches->values = allocate((uint64_t)capacity, topk_type_size(type));
    matches->indices = allocate((uint64_t)capacity, sizeof *matches->indices);
    matches->offsets = allocate((uint64_t)rows + 1, sizeof *matches->offsets);
    arrays_begin(&matches->arrays, options, type, -1, -1);
    if (!matches->arrays.wanted)
        report_begin(&matches->report, options, "where", type, matrix);
}

static void matches_end(struct matches *matches, bool matrix, int64_t rows, int64_t cols) {
    if (matches->arrays.wanted)
        end_arrays(matches, matrix);
    else
        report_end(&matches->report, rows, cols);
    release(matches->values);
    release(matches->indices);
    release(matches->offsets);
}

static void append_pairs(struct matches *matches, const struct piece *piece) {
    for (int64_t r = 0; r < piece->rows; r++) {
        for (int64_t i = matches->offsets[r]; i < matches->offsets[r + 1]; i++) {
            int64_t pair[2] = {piece->row + r, matches->indices[i]};
            npy_file_append(&matches->arrays.indices, pair, 2);
        }
    }
}

static void emit(struct matches *matches, const struct piece *piece, const struct layout *layout) {
    int64_t count = matches->offsets[piece->rows];
    matches->total += count;
    if (matches->arrays.wanted) {
        npy_file_append(&matches->arrays.values, matches->values, count);
        if (layout->matrix)
            append_pairs(matches, piece);
        else
            npy_file_append(&matches->arrays.indices, matches->indices, count);
        return;
    }
    size_t element = topk_type_size(layout->type);
    for (int64_t r = 0; r < piece->rows; r++)
        for (int64_t i = matches->offsets[r]; i < matches->offsets[r + 1]; i++)
            report_element(&matches->report, piece->row + r, matches->indices[i],
                           (const char *)matches->values + (size_t)i * element);
}

static void where_matrix(const struct options *options) {
    struct matrix matrix;
    struct session session;
    struct pieces pieces;
    struct matches matches;
    struct progress progress;
    matrix_open(&matrix, options);
    const struct layout *layout = &matrix.layout;
    int64_t match_bytes = (int64_t)(topk_type_size(layout->type) + sizeof(int64_t));
    session_begin(&session, options, TOPK_OPERATION_WHERE, layout->type, 0);
    int64_t piece_bytes = session_piece_bytes(&session, options, layout->type);
    pieces_begin(&pieces, &matrix, piece_bytes / match_bytes, piece_bytes / (int64_t)sizeof(int64_t));
    matches_begin(&matches, options, layout->type, layout->matrix, pieces.rows_max,
                  pieces.rows_max * pieces.length_max);
    if (options->flat)
        report_positions(&matches.report, layout);
    topk_problem problem = session_problem(options, layout->type, 0, pieces.length_max, 0);
    problem.row_stride = layout->stride;
    progress_begin(&progress, options->quiet, matrix.size);
    for (struct piece piece; layout->cols > 0 && pieces_next(&pieces, &piece);
         progress_update(&progress, pieces_done(&pieces))) {
        problem.rows = piece.rows;
        problem.length_max = piece.length;
        problem.index_base = piece.begin;
        session_where(&session, &problem, piece.values, &options->predicate, matches.values, matches.indices,
                      matches.capacity, matches.offsets);
        emit(&matches, &piece, layout);
    }
    progress_end(&progress);
    matches_end(&matches, layout->matrix, layout->rows, layout->cols);
    pieces_end(&pieces);
    session_end(&session);
    matrix_close(&matrix);
}

static void emit_lines(struct matches *matches, const struct text *text) {
    int64_t count = matches->offsets[1];
    matches->total += count;
    if (matches->arrays.wanted) {
        npy_file_append(&matches->arrays.values, matches->values, count);
        npy_file_append(&matches->arrays.indices, matches->indices, count);
        return;
    }
    const union number *values = matches->values;
    for (int64_t i = 0; i < count; i++) {
        int64_t line = matches->indices[i] - text->base;
        const char *begin = text->lines + text->starts[line];
        report_line(&matches->report, matches->indices[i], &values[i], begin,
                    line_text_length(begin, text->starts[line + 1] - text->starts[line]));
    }
}

static void where_text(const struct options *options) {
    struct text text;
    struct session session;
    struct matches matches;
    struct progress progress;
    text_open(&text, options, 0);
    session_begin(&session, options, TOPK_OPERATION_WHERE, text.format.type, 0);
    matches_begin(&matches, options, text.format.type, false, 1, text.count_max);
    progress_begin(&progress, options->quiet, text.size);
    while (text_next(&text)) {
        topk_problem problem = session_problem(options, text.format.type, 1, text.count, 0);
        problem.index_base = text.base;
        session_where(&session, &problem, text.values, &options->predicate, matches.values, matches.indices,
                      matches.capacity, matches.offsets);
        emit_lines(&matches, &text);
        progress_update(&progress, text.bytes);
    }
    progress_end(&progress);
    matches_end(&matches, false, 1, text.base);
    session_end(&session);
    text_close(&text);
}

void run_where(const struct options *options) {
    if (options->format == FORMAT_TEXT)
        where_text(options);
    else
        where_matrix(options);
}
