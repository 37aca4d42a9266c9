/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "../base/alloc.h"
#include "../base/fail.h"
#include "../engine/narrow.h"
#include "../engine/outliers.h"
#include "../engine/ties.h"
#include "../engine/whole.h"
#include "drive.h"
#include "run.h"

/* Outliers whose stand-ins go to the ties together, for each call takes as long as very many elements do. */
enum { STAND_INS = 4096 }; /* no more than a piece of text has lines */

struct ranking {
    struct task task;
    /* Answers for the rows of a piece. */
    char *kth;
    int64_t *better;
    int64_t *equal;
    struct ties ties; /* for rows that come in parts */
    bool parts;
    struct outliers outliers; /* of text */
    double stand_ins[STAND_INS];
    int64_t waiting;     /* of these */
    struct reach *reach; /* of the rows, for find_reach(); NULL: answers are printed */
};

/* Ends the tool if `length` elements have no place k, and no padding is wanted. */
static void check_place(const struct task *task, int64_t length) {
    const int64_t k = task->options->k;
    if (task->options->padding || (k > 0 && k <= length))
        return;
    fail("-k %" PRId64 ": no element has that place, for there are %" PRId64
         "; --padding prints a value all the same",
         k, length);
}

static void begin(struct task *task) {
    struct ranking *ranking = (struct ranking *)task;
    struct source *source = &task->source;
    const topk_type type = source->layout.type;
    const size_t element = topk_type_size(type);
    if (!source->is_text && source->layout.rows > 0)
        check_place(task, source->layout.cols);
    source->text_piece = TEXT_VALUES;
    limit_pieces(task, element, element + 2 * sizeof(int64_t));
    ranking->kth = allocate((uint64_t)source->rows_max, element);
    ranking->better = allocate((uint64_t)source->rows_max, sizeof *ranking->better);
    ranking->equal = allocate((uint64_t)source->rows_max, sizeof *ranking->equal);
    ranking->parts = task->ranks != NULL || source_divides_rows(source);
    outliers_begin(&ranking->outliers, task->options, false);
    task->problem.k_max = task->options->k;
    if (ranking->reach != NULL) {
        ranking->reach->counts = allocate((uint64_t)source->layout.rows, sizeof *ranking->reach->counts);
        ranking->reach->matrix = source->layout.matrix;
    }
    if (ranking->parts)
        ties_begin(&ranking->ties, &task->session, task->options, type, source->length_max);
}

static void push_stand_ins(struct ranking *ranking) {
    ties_push(&ranking->ties, ranking->stand_ins, ranking->waiting);
    ranking->waiting = 0;
}

static void take_beyond(struct ranking *ranking, const struct piece *piece) {
    outliers_add(&ranking->outliers, piece->beyond, piece->begin, NULL, 0);
    ranking->stand_ins[ranking->waiting++] = outliers_stand_in(piece->beyond);
    if (ranking->waiting == STAND_INS)
        push_stand_ins(ranking);
}

static void take(struct task *task, const struct piece *piece) {
    struct ranking *ranking = (struct ranking *)task;
    if (piece->beyond != NULL) {
        take_beyond(ranking, piece);
        return;
    }
    if (ranking->parts)
        ties_push(&ranking->ties, piece->values, piece->length);
    else
        session_kth(&task->session, &task->problem, piece->values, ranking->kth, ranking->better,
                    ranking->equal);
}

static void note_reach(struct reach *reach, int64_t row, int64_t count) {
    reach->counts[row] = count;
    if (count > reach->most)
        reach->most = count;
}

static void report_answers(struct ranking *ranking, int64_t row, int64_t rows) {
    struct report *report = &ranking->task.report;
    for (int64_t r = 0; ranking->reach != NULL && r < rows; r++)
        note_reach(ranking->reach, row + r, ranking->better[r] + ranking->equal[r]);
    if (ranking->reach != NULL)
        return;
    for (int64_t r = 0; r < rows; r++)
        report_kth(report, row + r, ranking->kth + (size_t)r * topk_type_size(report->type), NULL,
                   ranking->better[r], ranking->equal[r]);
}

/* The k-th of text. Its magnitude has no sign. */
static void report_answer(struct ranking *ranking) {
    const struct beyond *beyond = NULL;
    struct beyond printed;
    double kth;
    memcpy(&kth, ranking->kth, sizeof kth);
    if (ranking->outliers.count > 0)
        beyond = outliers_kth(&ranking->outliers, &kth, ranking->better, ranking->equal);
    if (ranking->reach != NULL) {
        note_reach(ranking->reach, 0, *ranking->better + *ranking->equal);
        return;
    }
    if (beyond != NULL && ranking->task.options->problem.rank == TOPK_BY_MAGNITUDE) {
        const bool has_sign = *beyond->text == '-' || *beyond->text == '+';
        printed = *beyond;
        printed.text += has_sign;
        printed.length -= has_sign;
        beyond = &printed;
    }
    report_kth(&ranking->task.report, 0, ranking->kth, beyond, *ranking->better, *ranking->equal);
}

static topk_status read_ties(void *user, int64_t row, int64_t first, int64_t length, void *values) {
    (void)row;
    ties_copy(user, first, length, values);
    return TOPK_OK;
}

/* Of the lists of all ranks the k-th, and the root gets all outliers. */
static void share_ties(struct ranking *ranking) {
    struct task *task = &ranking->task;
    const topk_problem problem = session_problem(task->options, ranking->ties.classes.problem.type, 1, 0, 0);
    struct ranks_part part = {0, ties_count(&ranking->ties), task->source.length_max, read_ties,
                              &ranking->ties};
    struct ranks_bytes bytes;
    part.first = task->ranks->sum_before(part.length);
    task->ranks->kth(task->session.context, &problem, task->options->k, &part, ranking->kth, ranking->better,
                     ranking->equal);
    bytes.bytes = outliers_write(&ranking->outliers, 0, &bytes.size);
    outliers_end(&ranking->outliers);
    outliers_begin(&ranking->outliers, task->options, false);
    task->ranks->gather(&bytes);
    outliers_read(&ranking->outliers, bytes.bytes, bytes.size);
    release(bytes.bytes);
}

static void end_rows(struct task *task, int64_t row, int64_t rows) {
    struct ranking *ranking = (struct ranking *)task;
    struct ties *ties = &ranking->ties;
    if (task->source.is_text)
        push_stand_ins(ranking);
    if (task->ranks != NULL && task->source.is_text)
        ties->seen = task->ranks->sum(ties->seen);
    if (task->source.is_text)
        check_place(task, ties->seen);
    if (task->ranks != NULL && task->source.is_text && ties->k > 0 && ties->k <= ties->seen)
        share_ties(ranking);
    else if (ranking->parts)
        ties_result(ties, ranking->kth, ranking->better, ranking->equal);
    if (task->source.is_text)
        report_answer(ranking);
    else
        report_answers(ranking, row, rows);
}

/* ---- Rows of a file that are longer than a piece --------------------------------------------- */

static void take_whole(struct ranking *ranking, const topk_problem *problem) {
    struct task *task = &ranking->task;
    const struct layout *layout = &task->source.layout;
    struct whole whole;
    whole_begin(&whole, &task->session, problem);
    for (int64_t row = 0; row < layout->rows; row++) {
        whole_kth(&whole, matrix_row(&task->source.matrix, row), &task->progress, ranking->kth,
                  ranking->better, ranking->equal);
        report_answers(ranking, row, 1);
    }
    whole_end(&whole);
}

static void take_narrowed(struct ranking *ranking) {
    struct task *task = &ranking->task;
    struct reader reader;
    struct place place;
    reader_begin(&reader, &task->session, task->options, &task->source.matrix, NULL, &task->progress);
    for (int64_t row = 0; row < task->source.layout.rows; row++) {
        reader_go(&reader, row);
        narrow_row(&reader, task->options, task->options->k, &place);
        memcpy(ranking->kth, place.kth, topk_type_size(task->report.type));
        ranking->better[0] = place.better;
        ranking->equal[0] = place.equal;
        report_answers(ranking, row, 1);
    }
    reader_end(&reader);
}

static topk_status read_part(void *user, int64_t row, int64_t first, int64_t length, void *values) {
    const struct source *source = user;
    return matrix_elements(&source->matrix, row, source->first + first, length, values)
               ? TOPK_OK
               : TOPK_ERROR_BAD_STATE;
}

/* Each rank reads its part as often as it takes to narrow down to the k-th of all. */
static void take_shared(struct ranking *ranking) {
    struct task *task = &ranking->task;
    struct source *source = &task->source;
    const topk_problem problem = session_problem(task->options, source->layout.type, 1, 0, 0);
    struct ranks_part part = {source->first, source->end - source->first, source->length_max, read_part,
                              source};
    part.piece = source->length_max > 0 ? source->length_max : 1;
    task->ranks->kth(task->session.context, &problem, task->options->k, &part, ranking->kth, ranking->better,
                     ranking->equal);
    report_answers(ranking, 0, 1);
}

static bool take_all(struct task *task) {
    struct ranking *ranking = (struct ranking *)task;
    struct matrix *matrix = &task->source.matrix;
    const struct layout *layout = &task->source.layout;
    const int64_t k = task->options->k;
    if (!ranking->parts || task->source.is_text || layout->rows == 0)
        return false;
    matrix_spool(matrix);
    if (k < 1 || k > layout->cols) { /* nothing has to be read */
        for (int64_t row = 0; row < layout->rows; row++) {
            ranking->ties.seen = layout->cols;
            end_rows(task, row, 1);
        }
        return true;
    }
    if (task->ranks != NULL) {
        take_shared(ranking);
        return true;
    }
    topk_problem problem = session_problem(task->options, layout->type, 1, layout->cols, k);
    if (matrix_row(matrix, 0) != NULL && whole_serves(&task->session, TOPK_OPERATION_KTH, &problem))
        take_whole(ranking, &problem);
    else
        take_narrowed(ranking);
    return true;
}

static void end(struct task *task) {
    struct ranking *ranking = (struct ranking *)task;
    if (ranking->parts)
        ties_end(&ranking->ties);
    outliers_end(&ranking->outliers);
    release(ranking->kth);
    release(ranking->better);
    release(ranking->equal);
}

static const struct operation kth = {.command = "kth",
                                     .operation = TOPK_OPERATION_KTH,
                                     .begin = begin,
                                     .take = take,
                                     .end_rows = end_rows,
                                     .take_all = take_all,
                                     .end = end};

void run_kth(const struct options *options) {
    struct ranking ranking = {.parts = false};
    drive(&ranking.task, options, &kth);
}

void find_reach(const struct options *options, struct reach *reach) {
    struct operation silent = kth;
    struct options own = *options;
    struct ranking ranking = {.reach = reach};
    silent.silent = true;
    own.padding = true;
    *reach = (struct reach){.most = 0};
    drive(&ranking.task, &own, &silent);
}
