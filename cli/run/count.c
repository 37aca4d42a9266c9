/* SPDX-License-Identifier: Apache-2.0 */
#include "../base/alloc.h"
#include "../engine/bounds.h"
#include "drive.h"
#include "run.h"

struct counting {
    struct task task;
    int64_t *counts; /* of a piece's rows */
    int64_t before;  /* of the parts of a row that came before */
};

static void begin(struct task *task) {
    struct counting *counting = (struct counting *)task;
    task->source.text_piece = TEXT_VALUES;
    limit_pieces(task, topk_type_size(task->source.layout.type), sizeof *counting->counts);
    counting->counts = allocate((uint64_t)task->source.rows_max, sizeof *counting->counts);
    if (task->source.is_text)
        counting->counts[0] = 0; /* there may be no lines */
}

static void take(struct task *task, const struct piece *piece) {
    struct counting *counting = (struct counting *)task;
    if (piece->beyond != NULL) {
        counting->before += bounds_met(task->options, piece->beyond);
        counting->counts[0] = counting->before;
        return;
    }
    session_count(&task->session, &task->problem, piece->values, task->predicate, counting->counts);
    counting->counts[0] += counting->before;
    counting->before = counting->counts[0];
}

static void end_rows(struct task *task, int64_t row, int64_t rows) {
    struct counting *counting = (struct counting *)task;
    if (task->ranks != NULL)
        counting->counts[0] = task->ranks->sum(counting->counts[0]);
    for (int64_t r = 0; r < rows; r++)
        report_integer(&task->report, row + r, "count", counting->counts[r]);
    counting->before = 0;
}

static void end(struct task *task) {
    release(((struct counting *)task)->counts);
}

void run_count(const struct options *options) {
    static const struct operation count = {.command = "count",
                                           .operation = TOPK_OPERATION_COUNT,
                                           .begin = begin,
                                           .take = take,
                                           .end_rows = end_rows,
                                           .end = end};
    struct counting counting = {.counts = NULL};
    drive(&counting.task, options, &count);
}
