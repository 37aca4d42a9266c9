/* SPDX-License-Identifier: Apache-2.0 */
#include "../base/alloc.h"
#include "../engine/session.h"
#include "../engine/ties.h"
#include "../input/matrix.h"
#include "../input/text.h"
#include "../output/progress.h"
#include "../output/report.h"
#include "run.h"

/* Answers for the rows of a piece. */
struct answers {
    char *kth;
    int64_t *better;
    int64_t *equal;
};

static void report_answers(struct report *report, const struct answers *answers, int64_t row, int64_t rows) {
    size_t element = topk_type_size(report->type);
    for (int64_t r = 0; r < rows; r++)
        report_kth(report, row + r, answers->kth + (size_t)r * element, answers->better[r],
                   answers->equal[r]);
}

static void kth_pieces(struct session *session, const struct options *options, const struct matrix *matrix,
                       struct report *report) {
    const struct layout *layout = &matrix->layout;
    size_t element = topk_type_size(layout->type);
    struct pieces pieces;
    int64_t piece_bytes = session_piece_bytes(session, options, layout->type);
    pieces_begin(&pieces, matrix, piece_bytes / (int64_t)element,
                 piece_bytes / (int64_t)(element + 2 * sizeof(int64_t)));
    uint64_t rows = (uint64_t)pieces.rows_max;
    struct answers answers = {allocate(rows, element), allocate(rows, sizeof(int64_t)),
                              allocate(rows, sizeof(int64_t))};
    topk_problem problem = session_problem(options, layout->type, 0, pieces.length_max, options->k);
    problem.row_stride = layout->stride;
    bool parts = pieces.length_max < layout->cols;
    struct ties ties;
    if (parts)
        ties_begin(&ties, session, options, layout->type, pieces.length_max, layout->cols);
    struct progress progress;
    progress_begin(&progress, options->quiet, matrix->size);
    for (struct piece piece; pieces_next(&pieces, &piece); progress_update(&progress, pieces_done(&pieces))) {
        if (!parts) {
            problem.rows = piece.rows;
            session_kth(session, &problem, piece.values, answers.kth, answers.better, answers.equal);
            report_answers(report, &answers, piece.row, piece.rows);
            continue;
        }
        ties_push(&ties, piece.values, piece.length);
        if (piece.begin + piece.length == layout->cols) {
            ties_result(&ties, answers.kth, answers.better, answers.equal);
            report_answers(report, &answers, piece.row, 1);
            ties_reset(&ties);
        }
    }
    progress_end(&progress);
    if (parts)
        ties_end(&ties);
    release(answers.kth);
    release(answers.better);
    release(answers.equal);
    pieces_end(&pieces);
}

static void kth_matrix(const struct options *options) {
    struct matrix matrix;
    struct session session;
    struct report report;
    matrix_open(&matrix, options);
    const uint64_t row_bytes = (uint64_t)matrix.layout.cols * topk_type_size(matrix.layout.type);
    const bool streams = row_bytes > (uint64_t)options->piece_bytes;
    session_begin(&session, options, TOPK_OPERATION_KTH, matrix.layout.type, streams ? matrix.size : 0);
    session.input = &matrix;
    report_begin(&report, options, "kth", matrix.layout.type, matrix.layout.matrix);
    kth_pieces(&session, options, &matrix, &report);
    report_end(&report, matrix.layout.rows, matrix.layout.cols);
    session_end(&session);
    matrix_close(&matrix);
}

static void kth_text(const struct options *options) {
    struct text text;
    struct session session;
    struct ties ties;
    struct report report;
    struct progress progress;
    text_open(&text, options, options->k);
    session_begin(&session, options, TOPK_OPERATION_KTH, text.format.type, 0);
    ties_begin(&ties, &session, options, text.format.type, text.count_max, STREAM_ENDLESS);
    progress_begin(&progress, options->quiet, text.size);
    while (text_next(&text)) {
        ties_push(&ties, text.values, text_compact(&text));
        progress_update(&progress, text.bytes);
    }
    progress_end(&progress);
    char kth[8];
    int64_t better;
    int64_t equal;
    ties_result(&ties, kth, &better, &equal);
    report_begin(&report, options, "kth", text.format.type, false);
    report_kth(&report, 0, kth, better, equal);
    report_end(&report, 1, text.base);
    ties_end(&ties);
    session_end(&session);
    text_close(&text);
}

void run_kth(const struct options *options) {
    if (options->format == FORMAT_TEXT)
        kth_text(options);
    else
        kth_matrix(options);
}
