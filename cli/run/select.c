/* SPDX-License-Identifier: Apache-2.0 */
#include "../arrays/arrays.h"
#include "../base/alloc.h"
#include "../engine/rows.h"
#include "../engine/stream.h"
#include "../input/matrix.h"
#include "../output/progress.h"
#include "../output/report.h"
#include "run.h"

/* Room for the results of a piece, and where they go. */
struct results {
    int64_t k;      /* slots of a row */
    int64_t filled; /* slots that hold results and not padding, unless a predicate leaves less */
    void *values;   /* NULL when only indices are wanted */
    int64_t *indices;
    struct arrays arrays;
    struct report report;
};

static void results_begin(struct results *results, const struct options *options,
                          const struct layout *layout) {
    arrays_begin(&results->arrays, options, layout->type, layout->matrix ? layout->rows : -1, options->k);
    results->filled = options->k < layout->cols ? options->k : layout->cols;
    results->k = results->arrays.wanted ? options->k : results->filled;
    if (!results->arrays.wanted)
        report_begin(&results->report, options, "select", layout->type, layout->matrix);
    if (options->flat)
        report_positions(&results->report, layout);
}

static void results_allocate(struct results *results, const struct options *options,
                             const struct layout *layout, int64_t rows) {
    bool indices_only = options->indices_path != NULL && options->values_path == NULL;
    bool values_only = options->values_path != NULL && options->indices_path == NULL;
    uint64_t row_bytes;
    if (__builtin_mul_overflow((uint64_t)results->k, topk_type_size(layout->type), &row_bytes))
        row_bytes = UINT64_MAX; /* which allocate() refuses */
    results->values = indices_only ? NULL : allocate((uint64_t)rows, row_bytes);
    if (__builtin_mul_overflow((uint64_t)results->k, sizeof *results->indices, &row_bytes))
        row_bytes = UINT64_MAX;
    results->indices = values_only ? NULL : allocate((uint64_t)rows, row_bytes);
}

/* Fills the slots of row `row` of the piece from `first` on. */
static void results_pad(struct results *results, struct session *session, const struct options *options,
                        topk_type type, int64_t row, int64_t first) {
    char *values = results->values;
    int64_t *indices = results->indices;
    const int64_t at = row * results->k + first;
    session_pad(session, options, type, results->k - first,
                values != NULL ? values + (size_t)at * topk_type_size(type) : NULL,
                indices != NULL ? indices + at : NULL);
}

/* Passes on the results of rows [row, row + rows). */
static void results_emit(struct results *results, int64_t row, int64_t rows) {
    if (results->arrays.wanted) {
        npy_file_append(&results->arrays.values, results->values, rows * results->k);
        npy_file_append(&results->arrays.indices, results->indices, rows * results->k);
        return;
    }
    size_t element = topk_type_size(results->report.type);
    for (int64_t r = 0; r < rows; r++) {
        int64_t first = r * results->k;
        int64_t found = results_found(results->indices + first, results->filled);
        for (int64_t slot = first; slot < first + found; slot++)
            report_element(&results->report, row + r, results->indices[slot],
                           (const char *)results->values + (size_t)slot * element);
    }
}

static void results_end(struct results *results, const struct layout *layout) {
    if (results->arrays.wanted)
        arrays_end(&results->arrays);
    else
        report_end(&results->report, layout->rows, layout->cols);
    release(results->values);
    release(results->indices);
}

/* Rows whose results fit into the bytes of a piece. */
static int64_t rows_per_piece(int64_t piece_bytes, const struct layout *layout, int64_t k) {
    int64_t slot = (int64_t)(topk_type_size(layout->type) + sizeof(int64_t));
    int64_t slots = piece_bytes / slot;
    return k > 0 ? slots / k : INT64_MAX;
}

/* Passes on the results of whole rows that are there: those of all pieces in the `last` call. */
static void emit_rows(struct rows *rows, bool last, const struct options *options, topk_type type,
                      struct results *results) {
    int64_t row;
    int64_t count;
    while (rows_take(rows, last, results->values, results->indices, &row, &count)) {
        for (int64_t r = 0; r < count && rows->slots_of_row < results->k; r++)
            results_pad(results, rows->session, options, type, r, rows->slots_of_row);
        results_emit(results, row, count);
    }
}

static void select_rows(struct session *session, const struct options *options, struct pieces *pieces,
                        struct results *results) {
    const struct layout *layout = &pieces->matrix->layout;
    topk_problem problem =
        session_problem(options, layout->type, pieces->rows_max, pieces->length_max, results->k);
    problem.row_stride = layout->stride;
    struct rows rows;
    struct progress progress;
    rows_begin(&rows, session, &problem, pieces_span(pieces), options_predicate(options),
               results->values != NULL, results->indices != NULL);
    progress_begin(&progress, options->quiet, pieces->matrix->size);
    for (struct piece piece; pieces_next(pieces, &piece); progress_update(&progress, pieces_done(pieces))) {
        problem.rows = piece.rows;
        rows_push(&rows, &problem, piece.values, piece.row);
        emit_rows(&rows, false, options, layout->type, results);
    }
    emit_rows(&rows, true, options, layout->type, results);
    progress_end(&progress);
    rows_end(&rows);
}

/* A piece is a part of a row, or one row. */
static void select_parts(struct session *session, const struct options *options, struct pieces *pieces,
                         struct results *results) {
    const struct layout *layout = &pieces->matrix->layout;
    topk_problem problem = session_problem(options, layout->type, 1, pieces->length_max, results->k);
    struct stream stream;
    struct progress progress;
    stream_begin(&stream, session, &problem, options_predicate(options), layout->cols);
    progress_begin(&progress, options->quiet, pieces->matrix->size);
    for (struct piece piece; pieces_next(pieces, &piece); progress_update(&progress, pieces_done(pieces))) {
        stream_push(&stream, piece.values, piece.length, piece.begin);
        if (piece.begin + piece.length == layout->cols) {
            stream_finish(&stream, results->values, results->indices);
            results_pad(results, session, options, layout->type, 0, stream_slots(&stream));
            results_emit(results, piece.row, 1);
            stream_reset(&stream);
        }
    }
    progress_end(&progress);
    stream_end(&stream);
}

/* Whether a piece of so many bytes holds a row, and the session selects from rows as a whole. */
static bool takes_rows(const struct session *session, const struct layout *layout, int64_t piece_bytes,
                       int64_t k) {
    const int64_t elements = piece_bytes / (int64_t)topk_type_size(layout->type);
    return layout->cols <= (elements > 0 ? elements : 1) && rows_serve(session, layout->type, k);
}

/* Parts of a row may be larger than rows: what takes them fills slots ahead, as far as the part goes. */
static void select_pieces(struct session *session, const struct options *options, const struct matrix *matrix,
                          struct results *results) {
    const struct layout *layout = &matrix->layout;
    struct pieces pieces;
    const int64_t part_bytes = session_piece_bytes(session, options, layout->type);
    const int64_t rows_bytes = rows_piece_bytes(session, part_bytes);
    const bool rows = takes_rows(session, layout, rows_bytes, results->filled);
    pieces_begin(&pieces, matrix, (rows ? rows_bytes : part_bytes) / (int64_t)topk_type_size(layout->type),
                 rows ? rows_per_piece(rows_bytes, layout, results->k) : 1);
    results_allocate(results, options, layout, pieces.rows_max);
    if (rows)
        select_rows(session, options, &pieces, results);
    else
        select_parts(session, options, &pieces, results);
    pieces_end(&pieces);
}

void run_select(const struct options *options) {
    if (options->format == FORMAT_TEXT) {
        run_select_text(options);
        return;
    }
    struct matrix matrix;
    struct session session;
    struct results results;
    matrix_open(&matrix, options);
    session_begin(&session, options, options_selection(options), matrix.layout.type, matrix.size);
    session.input = &matrix;
    results_begin(&results, options, &matrix.layout);
    select_pieces(&session, options, &matrix, &results);
    results_end(&results, &matrix.layout);
    session_end(&session);
    matrix_close(&matrix);
}
