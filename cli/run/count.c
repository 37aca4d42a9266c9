/* SPDX-License-Identifier: Apache-2.0 */
#include "../base/alloc.h"
#include "../engine/session.h"
#include "../input/matrix.h"
#include "../input/text.h"
#include "../output/progress.h"
#include "../output/report.h"
#include "run.h"

/* A row that comes in parts is the sum of their counts. */
static void count_pieces(struct session *session, const struct options *options, const struct matrix *matrix,
                         struct report *report) {
    const struct layout *layout = &matrix->layout;
    struct pieces pieces;
    int64_t piece_bytes = session_piece_bytes(session, options, layout->type);
    pieces_begin(&pieces, matrix, piece_bytes / (int64_t)topk_type_size(layout->type),
                 piece_bytes / (int64_t)sizeof(int64_t));
    int64_t *counts = allocate((uint64_t)pieces.rows_max, sizeof *counts);
    topk_problem problem = session_problem(options, layout->type, 0, pieces.length_max, 0);
    problem.row_stride = layout->stride;
    int64_t before = 0;
    struct progress progress;
    progress_begin(&progress, options->quiet, matrix->size);
    for (struct piece piece; pieces_next(&pieces, &piece); progress_update(&progress, pieces_done(&pieces))) {
        problem.rows = piece.rows;
        problem.length_max = piece.length;
        session_count(session, &problem, piece.values, &options->predicate, counts);
        counts[0] += before;
        before = counts[0];
        if (piece.begin + piece.length < layout->cols)
            continue;
        for (int64_t r = 0; r < piece.rows; r++)
            report_integer(report, piece.row + r, "count", counts[r]);
        before = 0;
    }
    progress_end(&progress);
    release(counts);
    pieces_end(&pieces);
}

static void count_matrix(const struct options *options) {
    struct matrix matrix;
    struct session session;
    struct report report;
    matrix_open(&matrix, options);
    session_begin(&session, options, TOPK_OPERATION_COUNT, matrix.layout.type, 0);
    report_begin(&report, options, "count", matrix.layout.type, matrix.layout.matrix);
    count_pieces(&session, options, &matrix, &report);
    report_end(&report, matrix.layout.rows, matrix.layout.cols);
    session_end(&session);
    matrix_close(&matrix);
}

static void count_text(const struct options *options) {
    struct text text;
    struct session session;
    struct report report;
    struct progress progress;
    int64_t total = 0;
    text_open(&text, options, 0);
    session_begin(&session, options, TOPK_OPERATION_COUNT, text.format.type, 0);
    progress_begin(&progress, options->quiet, text.size);
    while (text_next(&text)) {
        topk_problem problem = session_problem(options, text.format.type, 1, text_compact(&text), 0);
        int64_t count;
        session_count(&session, &problem, text.values, &options->predicate, &count);
        total += count;
        progress_update(&progress, text.bytes);
    }
    progress_end(&progress);
    report_begin(&report, options, "count", text.format.type, false);
    report_integer(&report, 0, "count", total);
    report_end(&report, 1, text.base);
    session_end(&session);
    text_close(&text);
}

void run_count(const struct options *options) {
    if (options->format == FORMAT_TEXT)
        count_text(options);
    else
        count_matrix(options);
}
