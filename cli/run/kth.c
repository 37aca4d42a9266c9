/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "../base/alloc.h"
#include "../base/fail.h"
#include "../engine/bounds.h"
#include "../engine/narrow.h"
#include "../engine/outliers.h"
#include "../engine/ties.h"
#include "../engine/whole.h"
#include "answers.h"
#include "drive.h"
#include "run.h"

/* Outliers whose stand-ins go to the ties together, for each call takes as long as very many elements do. */
enum { STAND_INS = 4096 }; /* no more than a piece of text has lines */

struct ranking {
    struct task task;
    struct answers answers; /* for the rows of a piece */
    int64_t *matches;       /* of each of these rows; NULL: no predicate is given */
    struct ties ties;       /* for rows that come in parts */
    bool parts;
    char *met;                /* elements of a piece of text that meet the predicate; NULL: none is given */
    struct outliers outliers; /* of text */
    double stand_ins[STAND_INS];
    int64_t waiting;     /* of these */
    struct reach *reach; /* of the rows, for find_reach(); NULL: answers are printed */
};

static void begin(struct task *task) {
    struct ranking *ranking = (struct ranking *)task;
    struct source *source = &task->source;
    const topk_type type = source->layout.type;
    const size_t element = topk_type_size(type);
    const size_t slots = (size_t)answers_ranks_max(task->options);
    source->text_piece = TEXT_VALUES;
    limit_pieces(task, element, (element + 2 * sizeof(int64_t)) * slots);
    answers_begin(&ranking->answers, task->options, type, source->rows_max);
    if (!source->is_text && source->layout.rows > 0 && task->predicate == NULL)
        answers_place(&ranking->answers, source->layout.cols, -1);
    ranking->parts = task->ranks != NULL || source_divides_rows(source);
    outliers_begin(&ranking->outliers, task->options, false);
    if (task->predicate != NULL && source->is_text)
        ranking->met = allocate((uint64_t)source->length_max, element);
    if (task->predicate != NULL)
        ranking->matches = allocate((uint64_t)source->rows_max, sizeof *ranking->matches);
    if (ranking->reach != NULL) {
        ranking->reach->counts = allocate((uint64_t)source->layout.rows, sizeof *ranking->reach->counts);
        ranking->reach->matrix = source->layout.matrix;
    }
    if (ranking->parts)
        ties_begin(&ranking->ties, &task->session, task->options, type, source->length_max);
}

static void note_reach(struct reach *reach, int64_t row, int64_t count) {
    reach->counts[row] = count;
    if (count > reach->most)
        reach->most = count;
}

/* Answers for rows [row, row + rows), which are in the slots from row `at` on. */
static void report_answers(struct ranking *ranking, int64_t at, int64_t row, int64_t rows) {
    struct task *task = &ranking->task;
    for (int64_t r = 0; r < rows; r++) {
        if (ranking->reach == NULL) {
            answers_print(&ranking->answers, &task->report, at + r, row + r,
                          task->source.is_text ? &ranking->outliers : NULL);
            continue;
        }
        const struct answer answer = answers_at(&ranking->answers, 0, at + r);
        if (ranking->outliers.count > 0) {
            double kth;
            memcpy(&kth, answer.kth, sizeof kth);
            outliers_kth(&ranking->outliers, ranking->answers.ranks[0], &kth, answer.better, answer.equal);
        }
        note_reach(ranking->reach, row + r, *answer.better + *answer.equal);
    }
}

static int64_t matrix_number(const struct task *task, int64_t row) {
    return task->source.layout.matrix ? row : -1;
}

/* ---- Whole rows, and text -------------------------------------------------------------------- */

/* Fills the slots of rows [at, at + rows) of a piece. */
static void rank_rows(struct ranking *ranking, const struct piece *piece, int64_t at, int64_t rows) {
    struct task *task = &ranking->task;
    const struct answers *answers = &ranking->answers;
    const size_t stride = (size_t)task->problem.row_stride * topk_type_size(answers->type);
    const char *elements = piece->values;
    const struct answer answer = answers_at(answers, 0, at);
    topk_predicate behind;
    topk_problem problem = task->problem;
    problem.rows = rows;
    session_kth_ranks(&task->session, &problem, elements != NULL ? elements + (size_t)at * stride : NULL,
                      predicate_behind(task->predicate, at * task->problem.row_stride, &behind),
                      answers->ranks, answers->count, answer.kth, answer.better, answer.equal);
}

/* The places differ from row to row where they are a part of what meets the predicate. */
static void take_rows(struct ranking *ranking, const struct piece *piece) {
    struct task *task = &ranking->task;
    const bool alike = !options_counts(task->options);
    if (task->predicate != NULL)
        session_count(&task->session, &task->problem, piece->values, task->predicate, ranking->matches);
    for (int64_t r = 0; task->predicate != NULL && r < piece->rows; r++) {
        answers_place(&ranking->answers, ranking->matches[r], matrix_number(task, piece->row + r));
        if (alike)
            continue;
        rank_rows(ranking, piece, r, 1);
        report_answers(ranking, r, piece->row + r, 1);
    }
    if (task->predicate != NULL && !alike)
        return;
    rank_rows(ranking, piece, 0, piece->rows);
    report_answers(ranking, 0, piece->row, piece->rows);
}

static void push_stand_ins(struct ranking *ranking) {
    ties_push(&ranking->ties, ranking->stand_ins, ranking->waiting);
    ranking->waiting = 0;
}

static void take_beyond(struct ranking *ranking, const struct piece *piece) {
    if (!bounds_met(ranking->task.options, piece->beyond))
        return;
    outliers_add(&ranking->outliers, piece->beyond, piece->begin, NULL, 0);
    ranking->stand_ins[ranking->waiting++] = outliers_stand_in(piece->beyond);
    if (ranking->waiting == STAND_INS)
        push_stand_ins(ranking);
}

static void take(struct task *task, const struct piece *piece) {
    struct ranking *ranking = (struct ranking *)task;
    if (piece->beyond != NULL) {
        take_beyond(ranking, piece);
    } else if (!ranking->parts) {
        take_rows(ranking, piece);
    } else if (ranking->met != NULL) {
        int64_t offsets[2];
        topk_problem problem = task->problem;
        session_choose_freely(&problem);
        session_where(task->session.host, &problem, piece->values, task->predicate, ranking->met, NULL,
                      piece->length, offsets);
        ties_push(&ranking->ties, ranking->met, offsets[1]);
    } else {
        ties_push(&ranking->ties, piece->values, piece->length);
    }
}

static topk_status read_ties(void *user, int64_t row, int64_t first, int64_t length, void *values) {
    (void)row;
    ties_copy(user, first, length, values);
    return TOPK_OK;
}

static void share_outliers(struct ranking *ranking) {
    struct task *task = &ranking->task;
    struct ranks_bytes bytes;
    bytes.bytes = outliers_write(&ranking->outliers, 0, &bytes.size);
    outliers_end(&ranking->outliers);
    outliers_begin(&ranking->outliers, task->options, false);
    task->ranks->gather(&bytes);
    outliers_read(&ranking->outliers, bytes.bytes, bytes.size);
    release(bytes.bytes);
}

/* Fills the slots from a part of the row on each rank. A place that no element has is the same everywhere. */
static void share(struct ranking *ranking, const struct ranks_part *given, int64_t length) {
    struct task *task = &ranking->task;
    const topk_problem problem = session_problem(task->options, ranking->answers.type, 1, 0, 0);
    struct ranks_part part = *given;
    for (int i = 0; i < ranking->answers.count; i++) {
        const int64_t k = ranking->answers.ranks[i];
        const struct answer answer = answers_at(&ranking->answers, i, 0);
        if (k > 0 && k <= length)
            task->ranks->kth(task->session.context, &problem, k, &part, answer.kth, answer.better,
                             answer.equal);
        else
            ties_result(&ranking->ties, k > 0 ? INT64_MAX : 0, answer.kth, answer.better, answer.equal);
    }
}

/* All text has been taken. */
static void end_text(struct task *task, int64_t row, int64_t rows) {
    struct ranking *ranking = (struct ranking *)task;
    struct ties *ties = &ranking->ties;
    (void)rows;
    if (!task->source.is_text)
        return;
    push_stand_ins(ranking);
    if (task->ranks != NULL)
        ties->seen = task->ranks->sum(ties->seen);
    answers_place(&ranking->answers, ties->seen, -1);
    if (task->ranks != NULL) {
        const int64_t length = ties_count(ties);
        share(ranking,
              &(struct ranks_part){task->ranks->sum_before(length), length, task->source.length_max,
                                   read_ties, ties},
              ties->seen);
        share_outliers(ranking);
    }
    for (int i = 0; task->ranks == NULL && i < ranking->answers.count; i++) {
        const struct answer answer = answers_at(&ranking->answers, i, 0);
        ties_result(ties, ranking->answers.ranks[i], answer.kth, answer.better, answer.equal);
    }
    report_answers(ranking, 0, row, 1);
}

/* ---- Rows of a file that are longer than a piece --------------------------------------------- */

/* The ranks whose elements are to be found in a row of `length` elements; the slots of the others are filled
 * here. Returns how many there are. */
static int list_ranks(struct ranking *ranking, int64_t length, int64_t *ks, int *ranks) {
    int count = 0;
    for (int i = 0; i < ranking->answers.count; i++) {
        const int64_t k = ranking->answers.ranks[i];
        const struct answer answer = answers_at(&ranking->answers, i, 0);
        if (k > 0 && k <= length) {
            ks[count] = k;
            ranks[count++] = i;
        } else {
            ranking->ties.seen = length;
            ties_result(&ranking->ties, k > 0 ? INT64_MAX : 0, answer.kth, answer.better, answer.equal);
        }
    }
    return count;
}

static void take_whole(struct ranking *ranking, const topk_problem *problem) {
    struct task *task = &ranking->task;
    const struct layout *layout = &task->source.layout;
    struct whole whole;
    whole_begin(&whole, &task->session, problem);
    for (int64_t row = 0; row < layout->rows; row++) {
        const struct answer answer = answers_at(&ranking->answers, 0, 0);
        whole_kth(&whole, matrix_row(&task->source.matrix, row), &task->progress, answer.kth, answer.better,
                  answer.equal);
        report_answers(ranking, 0, row, 1);
    }
    whole_end(&whole);
}

static void count_shown(void *state, const struct shown *shown) {
    *(int64_t *)state += shown->count;
}

/* The elements of a row that meet the predicate. */
static int64_t count_row(struct reader *reader) {
    int64_t count = 0;
    if (reader->predicate == NULL)
        return reader->length;
    reader_expect(reader, 2);
    reader_pass(reader, count_shown, &count);
    return count;
}

static void take_narrowed(struct ranking *ranking) {
    struct task *task = &ranking->task;
    const uint64_t most = (uint64_t)answers_ranks_max(task->options);
    int64_t *ks = allocate(most, sizeof *ks);
    int *ranks = allocate(most, sizeof *ranks);
    struct place *places = allocate(most, sizeof *places);
    struct reader reader;
    reader_begin(&reader, &task->session, task->options, &task->source.matrix, task->predicate,
                 &task->progress);
    for (int64_t row = 0; row < task->source.layout.rows; row++) {
        reader_go(&reader, row);
        const int64_t length = count_row(&reader);
        answers_place(&ranking->answers, length, matrix_number(task, row));
        const int count = list_ranks(ranking, length, ks, ranks);
        if (count > 0)
            narrow_row(&reader, task->options, ks, count, places);
        for (int i = 0; i < count; i++) {
            const struct answer answer = answers_at(&ranking->answers, ranks[i], 0);
            memcpy(answer.kth, places[i].kth, topk_type_size(ranking->answers.type));
            *answer.better = places[i].better;
            *answer.equal = places[i].equal;
        }
        report_answers(ranking, 0, row, 1);
    }
    reader_end(&reader);
    release(ks);
    release(ranks);
    release(places);
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
    struct ranks_part part = {source->first, source->end - source->first, source->length_max, read_part,
                              source};
    part.piece = source->length_max > 0 ? source->length_max : 1;
    ranking->ties.seen = source->layout.cols;
    share(ranking, &part, source->layout.cols);
    report_answers(ranking, 0, 0, 1);
}

/* A GPU's memory holds a row as a whole for one place. */
static bool serves_whole(struct ranking *ranking, topk_problem *problem) {
    struct task *task = &ranking->task;
    const int64_t k = ranking->answers.ranks[0];
    if (task->predicate != NULL || ranking->answers.count > 1 || k < 1 || k > task->source.layout.cols)
        return false;
    *problem = session_problem(task->options, task->source.layout.type, 1, task->source.layout.cols, k);
    return matrix_row(&task->source.matrix, 0) != NULL &&
           whole_serves(&task->session, TOPK_OPERATION_KTH, problem);
}

static bool take_all(struct task *task) {
    struct ranking *ranking = (struct ranking *)task;
    if (!ranking->parts || task->source.is_text || task->source.layout.rows == 0)
        return false;
    topk_problem problem;
    matrix_spool(&task->source.matrix);
    if (task->ranks != NULL)
        take_shared(ranking);
    else if (serves_whole(ranking, &problem))
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
    answers_end(&ranking->answers);
    release(ranking->matches);
    release(ranking->met);
}

static struct operation operation_of(const struct options *options) {
    const bool all = !options_filters(options);
    return (struct operation){.command = "kth",
                              .operation = all ? TOPK_OPERATION_KTH : TOPK_OPERATION_KTH_WHERE,
                              .begin = begin,
                              .take = take,
                              .end_rows = end_text,
                              .take_all = take_all,
                              .end = end};
}

void run_kth(const struct options *options) {
    const struct operation kth = operation_of(options);
    struct ranking ranking = {.parts = false};
    drive(&ranking.task, options, &kth);
}

void find_reach(const struct options *options, struct reach *reach) {
    struct operation silent = operation_of(options);
    struct place_asked asked = {.kind = PLACE_NUMBER, .number = options->k};
    struct options own = *options;
    struct ranking ranking = {.reach = reach};
    silent.silent = true;
    own.padding = true;
    own.places = &asked;
    own.place_count = 1;
    *reach = (struct reach){.most = 0};
    drive(&ranking.task, &own, &silent);
}
