/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "../arrays/arrays.h"
#include "../base/alloc.h"
#include "../engine/bounds.h"
#include "../engine/keep.h"
#include "../engine/large.h"
#include "../engine/outliers.h"
#include "../engine/rows.h"
#include "../engine/stream.h"
#include "../engine/whole.h"
#include "drive.h"
#include "run.h"

struct selecting {
    struct task task;
    int64_t slots; /* of a row that hold results, unless a predicate leaves less; in text k */
    struct arrays arrays;
    int64_t written;           /* slots of this row that the arrays have */
    const struct reach *reach; /* of rows whose results end before these slots do; NULL: of none */
    int64_t passed;            /* results of this row, if there is a reach */

    /* Results: of the rows of a piece, of a long row, or of text so far. */
    int64_t room;
    char *values; /* NULL when only indices are wanted */
    int64_t *indices;
    bool wants_values, wants_indices;

    bool by_rows; /* pieces are whole rows; else parts of one, or text */
    struct rows rows;
    struct stream stream;
    bool keeps;               /* lines of text are printed */
    struct outliers outliers; /* of text */
    struct keep keep;
};

static struct selecting *of(struct task *task) {
    return (struct selecting *)task;
}

static void reserve(struct selecting *s, int64_t slots) {
    if (slots <= s->room)
        return;
    s->room = slots > 2 * s->room ? slots : 2 * s->room;
    if (s->wants_values)
        s->values = reallocate(s->values, (uint64_t)s->room, topk_type_size(s->task.problem.type));
    if (s->wants_indices)
        s->indices = reallocate(s->indices, (uint64_t)s->room, sizeof *s->indices);
}

/* ---- Results --------------------------------------------------------------------------------- */

static void print(struct selecting *s, int64_t row, const char *values, const int64_t *indices,
                  int64_t count) {
    struct report *report = &s->task.report;
    const size_t element = topk_type_size(report->type);
    int64_t *places = NULL; /* of the lines of text */
    if (s->keeps) {
        places = allocate((uint64_t)count, sizeof *places);
        keep_find(&s->keep, indices, count, places);
    }
    for (int64_t i = 0; i < count; i++) {
        const char *value = values + (size_t)i * element;
        if (!s->keeps) {
            report_element(report, row, indices[i], value);
            continue;
        }
        size_t length;
        const char *line = keep_text(&s->keep, places[i], &length);
        report_line(report, indices[i], value, NULL, line, length);
    }
    release(places);
}

/* The next slots of a row that lie within its reach. */
static int64_t within_reach(struct selecting *s, int64_t row, int64_t slots) {
    const int64_t left = s->reach->counts[row] - s->passed;
    slots = slots < left ? slots : left;
    s->passed += slots;
    return slots;
}

/* Passes on slots of a row; padding comes last, if at all. */
static void emit(struct selecting *s, int64_t row, const char *values, const int64_t *indices,
                 int64_t slots) {
    if (s->reach != NULL)
        slots = within_reach(s, row, slots);
    if (s->task.prints) {
        print(s, row, values, indices, results_found(indices, slots));
        return;
    }
    npy_file_append(&s->arrays.values, values, slots);
    npy_file_append(&s->arrays.indices, indices, slots);
    s->written += slots;
}

static void emit_outlier(struct selecting *s, const struct result *result) {
    const struct outlier *outlier = result->outlier;
    if (s->task.prints)
        report_line(&s->task.report, outlier->index, NULL, &outlier->number, outlier->line, outlier->length);
    else
        emit(s, 0, (const char *)&result->value, &result->index, 1);
}

/* Passes on `count` results of text, and the outliers among them. */
static void emit_merged(struct selecting *s, int64_t count) {
    double *values = (double *)(void *)s->values;
    struct result *results = allocate((uint64_t)(count + s->outliers.count), sizeof *results);
    count = outliers_merge(&s->outliers, values, s->indices, count, results);
    int64_t run = 0; /* elements that were not passed on yet */
    for (int64_t i = 0; i < count; i++) {
        if (results[i].outlier == NULL) {
            values[run] = results[i].value;
            s->indices[run++] = results[i].index;
            continue;
        }
        emit(s, 0, s->values, s->indices, run);
        emit_outlier(s, &results[i]);
        run = 0;
    }
    emit(s, 0, s->values, s->indices, run);
    release(results);
}

static int by_number(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Of `count` results, whose indices count in all of the input, the root gets the lines from the ranks that
 * have them. */
static void share_lines(struct selecting *s, const int64_t *indices, int64_t count) {
    const struct task *task = &s->task;
    const struct text *text = &task->source.text;
    int64_t *own = allocate((uint64_t)count, sizeof *own);
    int64_t found = 0;
    for (int64_t i = 0; i < count; i++)
        if (indices[i] >= task->lines_before && indices[i] - task->lines_before < text->base + text->count)
            own[found++] = indices[i] - task->lines_before;
    if (found > 0)
        qsort(own, (size_t)found, sizeof *own, by_number);
    struct ranks_bytes bytes;
    bytes.bytes = keep_write(&s->keep, own, found, task->lines_before, &bytes.size);
    task->ranks->gather(&bytes);
    keep_read(&s->keep, bytes.bytes, bytes.size);
    release(bytes.bytes);
    release(own);
}

static void share_outliers(struct selecting *s) {
    struct ranks_bytes bytes;
    bytes.bytes = outliers_write(&s->outliers, s->task.lines_before, &bytes.size);
    outliers_end(&s->outliers);
    outliers_begin(&s->outliers, s->task.options, true);
    s->task.ranks->gather(&bytes);
    outliers_read(&s->outliers, bytes.bytes, bytes.size);
    release(bytes.bytes);
}

/* Of the best in this rank's part, the root gets the best of all, and their lines. The others have nothing to
 * pass on. Returns how many. */
static int64_t share(struct selecting *s, int64_t slots) {
    const struct task *task = &s->task;
    const topk_problem ranking = session_problem(task->options, task->problem.type, 1, 0, 0);
    struct ranks_list list = {s->values, s->indices, results_found(s->indices, slots)};
    for (int64_t i = 0; i < list.count; i++)
        list.indices[i] += task->lines_before;
    task->ranks->select(task->session.context, &ranking, task->options->k, s->keeps, &list);
    if (s->keeps)
        share_lines(s, list.indices, list.count);
    if (task->source.is_text)
        share_outliers(s);
    s->values = list.values;
    s->indices = list.indices;
    s->room = list.count;
    return task->ranks->rank == 0 ? list.count : 0;
}

/* Fills the slots of a row behind those that were passed on, block by block. */
static void end_row(struct selecting *s) {
    enum { BLOCK = 4096 };
    int64_t values[BLOCK]; /* elements of any type */
    int64_t indices[BLOCK];
    int64_t left = s->task.prints ? 0 : s->task.options->k - s->written;
    s->written = s->passed = 0;
    if (left > 0)
        session_pad(&s->task.session, s->task.options, s->task.problem.type, BLOCK, values, indices);
    for (; left > 0; left -= BLOCK) {
        const int64_t count = left < BLOCK ? left : BLOCK;
        npy_file_append(&s->arrays.values, values, count);
        npy_file_append(&s->arrays.indices, indices, count);
    }
}

/* ---- Whole rows, and streams ----------------------------------------------------------------- */

/* Rows whose results fit into the bytes of a piece. */
static int64_t rows_per_piece(int64_t piece_bytes, topk_type type, int64_t k) {
    const int64_t slots = piece_bytes / (int64_t)(topk_type_size(type) + sizeof(int64_t));
    return k > 0 ? slots / k : INT64_MAX;
}

/* Limits pieces to rows if a piece holds one, and the session selects from rows as a whole, else to parts.
 * Parts may be larger than rows: what takes them fills slots ahead, as far as the part goes. */
static void choose_pieces(struct selecting *s) {
    const struct session *session = &s->task.session;
    const struct layout *layout = &s->task.source.layout;
    const int64_t element = (int64_t)topk_type_size(layout->type);
    const int64_t part_bytes = session_piece_bytes(session, s->task.options, layout->type);
    const int64_t rows_bytes = rows_piece_bytes(session, part_bytes);
    const bool in_shards = s->task.source.matrix.shards.list != NULL && !layout->matrix;
    s->by_rows = !s->task.source.is_text && s->task.ranks == NULL && !in_shards &&
                 layout->cols <= (rows_bytes > element ? rows_bytes / element : 1) &&
                 rows_serve(session, layout->type, s->slots);
    source_limit(&s->task.source, (s->by_rows ? rows_bytes : part_bytes) / element,
                 s->by_rows ? rows_per_piece(rows_bytes, layout->type, s->slots) : 1);
}

static void begin(struct task *task) {
    struct selecting *s = of(task);
    const struct options *options = task->options;
    const struct source *source = &task->source;
    const struct layout *layout = &source->layout;
    const bool fewer = !source->is_text && layout->cols < options->k;
    s->slots = fewer ? layout->cols : options->k;
    const bool merges = source->is_text || task->ranks != NULL; /* by values and indices */
    s->wants_values = task->prints || merges || options->values_path != NULL;
    s->wants_indices = task->prints || merges || options->indices_path != NULL;
    arrays_begin(&s->arrays, options, layout->type, layout->matrix ? layout->rows : -1, options->k);
    choose_pieces(s);
    task->problem.k_max = s->slots;
    task->problem.rows = source->rows_max;
    task->problem.length_max = source->length_max;
    if (task->ranks != NULL)
        task->problem.order = TOPK_ORDER_BY_POSITION; /* of a rank's own results */
    if (s->by_rows) {
        reserve(s, source->rows_max * s->slots);
        rows_begin(&s->rows, &task->session, &task->problem, source_span(source), task->predicate,
                   s->wants_values, s->wants_indices);
    } else {
        task->problem.rows = 1;
        stream_begin(&s->stream, &task->session, &task->problem, task->predicate,
                     source->is_text ? STREAM_ENDLESS : layout->cols);
    }
    outliers_begin(&s->outliers, options, true);
    s->keeps = source->is_text && task->prints;
    if (s->keeps)
        keep_begin(&s->keep, &task->session, options, task->predicate, layout->type, source->length_max);
}

/* Passes on the results of whole rows that are there: those of all pieces in the `last` call. */
static void emit_rows(struct selecting *s, bool last) {
    const size_t row_bytes = (size_t)s->slots * topk_type_size(s->task.problem.type);
    int64_t row, count;
    while (rows_take(&s->rows, last, s->values, s->indices, &row, &count)) {
        for (int64_t r = 0; r < count; r++) {
            emit(s, row + r, s->values != NULL ? s->values + (size_t)r * row_bytes : NULL,
                 s->indices != NULL ? s->indices + r * s->slots : NULL, s->slots);
            end_row(s);
        }
    }
}

/* Writes the best of the stream so far, and returns the slots that they fill. */
static int64_t take_best(struct selecting *s, void (*write)(struct stream *, void *, int64_t *)) {
    const int64_t slots = stream_slots(&s->stream);
    reserve(s, slots);
    write(&s->stream, s->values, s->indices);
    return slots;
}

static void take_beyond(struct selecting *s, const struct piece *piece) {
    size_t length;
    const char *line = text_line(piece->text, piece->begin, &length);
    if (bounds_met(s->task.options, piece->beyond))
        outliers_add(&s->outliers, piece->beyond, piece->begin, line, length);
}

static void take(struct task *task, const struct piece *piece) {
    struct selecting *s = of(task);
    if (s->by_rows) {
        task->problem.index_base = 0;
        rows_push(&s->rows, &task->problem, piece->values, piece->row);
        emit_rows(s, false);
        return;
    }
    if (piece->beyond != NULL) {
        take_beyond(s, piece);
        return;
    }
    stream_push(&s->stream, piece->values, piece->length, piece->begin);
    if (!s->keeps)
        return;
    keep_add(&s->keep, piece);
    if (keep_is_full(&s->keep)) {
        const int64_t slots = take_best(s, stream_peek);
        keep_trim(&s->keep, s->values, s->indices, results_found(s->indices, slots));
    }
}

static void end_rows(struct task *task, int64_t row, int64_t rows) {
    struct selecting *s = of(task);
    (void)rows;
    if (s->by_rows)
        return;
    int64_t slots = take_best(s, stream_finish);
    if (task->ranks != NULL)
        slots = share(s, slots);
    if (s->outliers.count > 0)
        emit_merged(s, results_found(s->indices, slots));
    else
        emit(s, row, s->values, s->indices, slots);
    end_row(s);
    stream_reset(&s->stream);
}

/* ---- Results that are many of a row ---------------------------------------------------------- */

struct row_results {
    struct selecting *selecting;
    int64_t row;
};

static void emit_large(void *state, const void *values, const int64_t *indices, int64_t count) {
    const struct row_results *results = state;
    emit(results->selecting, results->row, values, indices, count);
}

static void take_large(struct selecting *s) {
    struct task *task = &s->task;
    struct large large;
    large_begin(&large, &task->session, task->options, &task->source.matrix, task->predicate,
                &task->progress);
    for (struct row_results results = {s, 0}; results.row < task->source.layout.rows; results.row++) {
        large_row(&large, results.row, emit_large, &results);
        end_row(s);
    }
    large_end(&large);
}

static void take_whole(struct selecting *s, const topk_problem *problem) {
    struct task *task = &s->task;
    struct whole whole;
    reserve(s, s->slots);
    whole_begin(&whole, &task->session, problem);
    for (int64_t row = 0; row < task->source.layout.rows; row++) {
        whole_select(&whole, matrix_row(&task->source.matrix, row), &task->progress, task->predicate,
                     s->values, s->indices);
        emit(s, row, s->values, s->indices, s->slots);
        end_row(s);
    }
    whole_end(&whole);
}

/* Whether a stream would take long for so many results. */
static bool is_large(const struct selecting *s) {
    enum { RESULTS_PER_BYTE = 1 << 8, RESULTS_PER_BYTE_ON_DEVICE = 1 << 12 }; /* of a piece: 2^20, 2^16 */
    const bool on_device = session_on_device(&s->task.session);
    return s->slots >
           s->task.options->piece_bytes / (on_device ? RESULTS_PER_BYTE_ON_DEVICE : RESULTS_PER_BYTE);
}

static bool take_all(struct task *task) {
    struct selecting *s = of(task);
    struct matrix *matrix = &task->source.matrix;
    if (task->source.is_text || s->by_rows || task->ranks != NULL || task->source.layout.rows == 0 ||
        !is_large(s))
        return false;
    matrix_spool(matrix);
    topk_problem problem = task->problem;
    problem.length_max = task->source.layout.cols;
    if (matrix_row(matrix, 0) != NULL &&
        whole_serves(&task->session, options_selection(task->options), &problem))
        take_whole(s, &problem);
    else
        take_large(s);
    return true;
}

static void end(struct task *task) {
    struct selecting *s = of(task);
    if (s->by_rows) {
        emit_rows(s, true);
        rows_end(&s->rows);
    } else {
        stream_end(&s->stream);
    }
    if (!task->prints)
        arrays_end(&s->arrays);
    if (s->keeps)
        keep_end(&s->keep);
    outliers_end(&s->outliers);
    release(s->values);
    release(s->indices);
}

void run_select(const struct options *options) {
    static const struct operation select = {.command = "select",
                                            .begin = begin,
                                            .take = take,
                                            .end_rows = end_rows,
                                            .take_all = take_all,
                                            .end = end};
    if (options->by != NULL) {
        run_by(options);
        return;
    }
    struct operation operation = select;
    struct options own = *options;
    struct reach reach = {.counts = NULL};
    struct selecting selecting = {.room = 0};
    operation.operation = options_selection(options);
    if (options->all_ties)
        take_all_ties(&own, &reach);
    if (reach.matrix)
        selecting.reach = &reach;
    drive(&selecting.task, &own, &operation);
    release(reach.counts);
}
