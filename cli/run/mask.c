/* SPDX-License-Identifier: Apache-2.0 */
#include "../arrays/bits_file.h"
#include "../base/alloc.h"
#include "../engine/session.h"
#include "../input/matrix.h"
#include "../input/text.h"
#include "../output/progress.h"
#include "../output/report.h"
#include "run.h"

/* The mask of a piece, and where its bits go. */
struct marks {
    unsigned char *mask;
    bool printed; /* else there is a file */
    struct report report;
    struct bits_file bits;
};

static void marks_begin(struct marks *marks, const struct options *options, topk_type type, bool matrix,
                        int64_t elements) {
    marks->mask = allocate(((uint64_t)elements + 7) / 8, 1);
    marks->printed = options->bits_path == NULL;
    bits_file_create(&marks->bits, options->bits_path);
    if (marks->printed)
        report_begin(&marks->report, options, "mask", type, matrix);
}

static void marks_end(struct marks *marks, int64_t rows, int64_t cols) {
    if (marks->printed)
        report_end(&marks->report, rows, cols);
    else
        bits_file_end(&marks->bits);
    release(marks->mask);
}

/* The bits of a row, which begins at element `first` of the piece. */
static void emit(struct marks *marks, int64_t row, int64_t first, int64_t count) {
    if (!marks->printed) {
        bits_file_append(&marks->bits, marks->mask, first, count);
        return;
    }
    for (int64_t i = first; i < first + count; i++)
        report_integer(&marks->report, row, "match", marks->mask[i / 8] >> i % 8 & 1);
}

static void mask_pieces(struct session *session, const struct options *options, const struct matrix *matrix,
                        struct marks *marks) {
    const struct layout *layout = &matrix->layout;
    struct pieces pieces;
    int64_t elements =
        session_piece_bytes(session, options, layout->type) / (int64_t)topk_type_size(layout->type);
    pieces_begin(&pieces, matrix, elements, elements);
    marks_begin(marks, options, layout->type, layout->matrix, pieces_span(&pieces));
    topk_problem problem = session_problem(options, layout->type, 0, pieces.length_max, 0);
    problem.row_stride = layout->stride;
    struct progress progress;
    progress_begin(&progress, options->quiet, matrix->size);
    for (struct piece piece; pieces_next(&pieces, &piece); progress_update(&progress, pieces_done(&pieces))) {
        problem.rows = piece.rows;
        problem.length_max = piece.length;
        session_mask(session, &problem, piece.values, &options->predicate, marks->mask);
        for (int64_t r = 0; r < piece.rows; r++)
            emit(marks, piece.row + r, r * layout->stride, piece.length);
    }
    progress_end(&progress);
    marks_end(marks, layout->rows, layout->cols);
    pieces_end(&pieces);
}

static void mask_matrix(const struct options *options) {
    struct matrix matrix;
    struct session session;
    struct marks marks;
    matrix_open(&matrix, options);
    session_begin(&session, options, TOPK_OPERATION_MASK, matrix.layout.type, 0);
    mask_pieces(&session, options, &matrix, &marks);
    session_end(&session);
    matrix_close(&matrix);
}

static void mask_text(const struct options *options) {
    struct text text;
    struct session session;
    struct marks marks;
    struct progress progress;
    text_open(&text, options, 0);
    session_begin(&session, options, TOPK_OPERATION_MASK, text.format.type, 0);
    marks_begin(&marks, options, text.format.type, false, text.count_max);
    progress_begin(&progress, options->quiet, text.size);
    while (text_next(&text)) {
        topk_problem problem = session_problem(options, text.format.type, 1, text.count, 0);
        session_mask(&session, &problem, text.values, &options->predicate, marks.mask);
        for (int64_t i = 0; i < text.invalid_count; i++)
            marks.mask[text.invalid[i] / 8] &= (unsigned char)~(1u << text.invalid[i] % 8);
        emit(&marks, 0, 0, text.count);
        progress_update(&progress, text.bytes);
    }
    progress_end(&progress);
    marks_end(&marks, 1, text.base);
    session_end(&session);
    text_close(&text);
}

void run_mask(const struct options *options) {
    if (options->format == FORMAT_TEXT)
        mask_text(options);
    else
        mask_matrix(options);
}
