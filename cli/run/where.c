/* SPDX-License-Identifier: Apache-2.0 */
#include "../arrays/arrays.h"
#include "../base/alloc.h"
#include "../engine/bounds.h"
#include "drive.h"
#include "run.h"

struct matching {
    struct task task;
    /* Matches of a piece. */
    int64_t capacity;
    void *values;
    int64_t *indices;
    int64_t *offsets; /* rows + 1 */
    int64_t total;    /* of all pieces */
    struct arrays arrays;
};

static void begin(struct task *task) {
    struct matching *matching = (struct matching *)task;
    const topk_type type = task->source.layout.type;
    limit_pieces(task, topk_type_size(type) + sizeof *matching->indices, sizeof *matching->offsets);
    matching->capacity = task->source.rows_max * task->source.length_max;
    matching->values = allocate((uint64_t)matching->capacity, topk_type_size(type));
    matching->indices = allocate((uint64_t)matching->capacity, sizeof *matching->indices);
    matching->offsets = allocate((uint64_t)task->source.rows_max + 1, sizeof *matching->offsets);
    arrays_begin(&matching->arrays, task->options, type, -1, -1);
}

/* A matrix has a row and a column for each match, as numpy.argwhere() gives. */
static void write_indices(struct matching *matching, const struct piece *piece) {
    struct npy_file *file = &matching->arrays.indices;
    if (!matching->task.source.layout.matrix) {
        npy_file_append(file, matching->indices, matching->offsets[1]);
        return;
    }
    for (int64_t r = 0; r < piece->rows; r++) {
        for (int64_t i = matching->offsets[r]; i < matching->offsets[r + 1]; i++) {
            int64_t pair[2] = {piece->row + r, matching->indices[i]};
            npy_file_append(file, pair, 2);
        }
    }
}

static void print(struct matching *matching, const struct piece *piece) {
    struct report *report = &matching->task.report;
    const size_t element = topk_type_size(report->type);
    for (int64_t r = 0; r < piece->rows; r++) {
        for (int64_t i = matching->offsets[r]; i < matching->offsets[r + 1]; i++) {
            const int64_t index = matching->indices[i];
            const char *value = (const char *)matching->values + (size_t)i * element;
            if (piece->text == NULL) {
                report_element(report, piece->row + r, index, value);
                continue;
            }
            size_t length;
            const char *line = text_line(piece->text, index, &length);
            report_line(report, index, value, NULL, line, length);
        }
    }
}

/* A number beyond float64. An array holds the nearest one. */
static void take_beyond(struct matching *matching, const struct piece *piece) {
    struct task *task = &matching->task;
    if (!bounds_met(task->options, piece->beyond))
        return;
    matching->total++;
    if (task->prints) {
        size_t length;
        const char *line = text_line(piece->text, piece->begin, &length);
        report_line(&task->report, piece->begin, NULL, piece->beyond, line, length);
        return;
    }
    const double nearest = beyond_nearest(piece->beyond);
    npy_file_append(&matching->arrays.values, &nearest, 1);
    npy_file_append(&matching->arrays.indices, &piece->begin, 1);
}

static void take(struct task *task, const struct piece *piece) {
    struct matching *matching = (struct matching *)task;
    if (piece->beyond != NULL) {
        take_beyond(matching, piece);
        return;
    }
    session_where(&task->session, &task->problem, piece->values, task->predicate, matching->values,
                  matching->indices, matching->capacity, matching->offsets);
    matching->total += matching->offsets[piece->rows];
    if (task->prints) {
        print(matching, piece);
        return;
    }
    npy_file_append(&matching->arrays.values, matching->values, matching->offsets[piece->rows]);
    write_indices(matching, piece);
}

static void end(struct task *task) {
    struct matching *matching = (struct matching *)task;
    const bool pairs = task->source.layout.matrix;
    if (!task->prints) {
        npy_file_reshape(&matching->arrays.values, -1, matching->total);
        npy_file_reshape(&matching->arrays.indices, pairs ? matching->total : -1,
                         pairs ? 2 : matching->total);
        arrays_end(&matching->arrays);
    }
    release(matching->values);
    release(matching->indices);
    release(matching->offsets);
}

void run_where(const struct options *options) {
    static const struct operation where = {
        .command = "where", .operation = TOPK_OPERATION_WHERE, .begin = begin, .take = take, .end = end};
    struct matching matching = {.values = NULL};
    drive(&matching.task, options, &where);
}
