/* SPDX-License-Identifier: Apache-2.0
 *
 * Matches go to standard output or to arrays as they are found. The ranks of a job find them side by side:
 * each but the root keeps its own, in the form below, until it is full or its turn has come. */
#include <string.h>

#include "../arrays/arrays.h"
#include "../base/alloc.h"
#include "../engine/bounds.h"
#include "drive.h"
#include "run.h"

/* What a rank passes on begins with the lines of text that it has read so far. Behind these lie lists of
 * elements, or, where lines are printed, lines. Each begins at a multiple of 8. */
struct elements_head {
    int64_t count; /* of the indices that follow, and of the values behind them */
};
struct line_head {
    int64_t index;
    uint64_t value;  /* of any type */
    uint64_t length; /* of the line, whose text follows */
    /* Where the line has a number beyond float64, if it has one. */
    uint64_t beyond_at;
    uint64_t beyond_length; /* 0: it has none */
};

/* What a rank keeps at most, unless one line is longer. */
enum { KEPT_BYTES = 64 << 20 };

struct matching {
    struct task task;
    /* Matches of a piece. */
    int64_t capacity;
    void *values;
    int64_t *indices;
    int64_t *offsets; /* rows + 1 */
    int64_t total;    /* of all pieces */
    struct arrays arrays;

    bool passes_on; /* a rank that is not the root */
    struct ranks_bytes kept;
    uint64_t kept_room, kept_max;
    /* The root's: lines of the ranks before the one that it hears, and of this one so far. */
    int rank_heard;
    int64_t lines_before, lines_heard;
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
    if (task->ranks == NULL)
        return;
    matching->passes_on = task->ranks->rank > 0;
    matching->kept_max =
        task->options->piece_bytes < KEPT_BYTES ? (uint64_t)task->options->piece_bytes : KEPT_BYTES;
    task->ranks->begin_passing();
}

/* ---- Of this process, or of the root --------------------------------------------------------- */

/* Matches of a vector. */
static void give_elements(struct matching *matching, const void *values, const int64_t *indices,
                          int64_t count) {
    struct report *report = &matching->task.report;
    const size_t element = topk_type_size(matching->task.problem.type);
    matching->total += count;
    if (matching->task.prints) {
        for (int64_t i = 0; i < count; i++)
            report_element(report, 0, indices[i], (const char *)values + (size_t)i * element);
        return;
    }
    npy_file_append(&matching->arrays.values, values, count);
    npy_file_append(&matching->arrays.indices, indices, count);
}

/* Matches of the rows of a matrix: an array has a row and a column for each, as numpy.argwhere() gives. */
static void give_rows(struct matching *matching, const struct piece *piece) {
    struct report *report = &matching->task.report;
    const size_t element = topk_type_size(matching->task.problem.type);
    const int64_t count = matching->offsets[piece->rows];
    matching->total += count;
    npy_file_append(&matching->arrays.values, matching->values, matching->task.prints ? 0 : count);
    for (int64_t r = 0; r < piece->rows; r++) {
        for (int64_t i = matching->offsets[r]; i < matching->offsets[r + 1]; i++) {
            int64_t pair[2] = {piece->row + r, matching->indices[i]};
            if (matching->task.prints)
                report_element(report, pair[0], pair[1],
                               (const char *)matching->values + (size_t)i * element);
            else
                npy_file_append(&matching->arrays.indices, pair, 2);
        }
    }
}

/* ---- Of a rank ------------------------------------------------------------------------------- */

static uint64_t padded(uint64_t bytes) {
    return (bytes + 7) / 8 * 8;
}

static void begin_kept(struct matching *matching) {
    matching->kept.size = sizeof(int64_t);
}

/* Says up to which line this goes, and passes on what is kept. */
static void pass_on(struct matching *matching, bool last) {
    const struct text *text = &matching->task.source.text;
    const int64_t lines = matching->task.source.is_text ? text->base + text->count : 0;
    memcpy(matching->kept.bytes, &lines, sizeof lines);
    matching->task.ranks->pass(&matching->kept, last, NULL, NULL);
    begin_kept(matching);
}

/* Room for more that is kept, at a multiple of 8. */
static char *keep(struct matching *matching, uint64_t bytes) {
    struct ranks_bytes *kept = &matching->kept;
    if (kept->size == 0)
        begin_kept(matching);
    if (kept->size > sizeof(int64_t) && kept->size + bytes > matching->kept_max)
        pass_on(matching, false);
    const uint64_t needed = kept->size + bytes, most = matching->kept_max;
    if (needed > matching->kept_room) {
        matching->kept_room = needed <= most / 2 ? 2 * needed : needed <= most ? most : needed;
        kept->bytes = reallocate(kept->bytes, matching->kept_room, 1);
    }
    char *room = kept->bytes + kept->size;
    kept->size += bytes;
    return room;
}

static void keep_elements(struct matching *matching, const void *values, const int64_t *indices,
                          int64_t count) {
    enum { LIST = 4096 };
    const size_t element = topk_type_size(matching->task.problem.type);
    for (int64_t at = 0; at < count; at += LIST) {
        const struct elements_head head = {count - at < LIST ? count - at : LIST};
        const size_t indices_bytes = (size_t)head.count * sizeof *indices;
        const size_t values_bytes = (size_t)head.count * element;
        char *to = keep(matching, padded(sizeof head + indices_bytes + values_bytes));
        memcpy(to, &head, sizeof head);
        memcpy(to + sizeof head, indices + at, indices_bytes);
        memcpy(to + sizeof head + indices_bytes, (const char *)values + (size_t)at * element, values_bytes);
    }
}

static void keep_line(struct matching *matching, int64_t index, const void *value,
                      const struct beyond *beyond, const char *line, size_t length) {
    struct line_head head = {.index = index, .length = length};
    if (beyond != NULL) {
        head.beyond_at = (uint64_t)(beyond->text - line);
        head.beyond_length = beyond->length;
    } else {
        memcpy(&head.value, value, topk_type_size(matching->task.problem.type));
    }
    char *to = keep(matching, padded(sizeof head + length));
    memcpy(to, &head, sizeof head);
    if (length > 0)
        memcpy(to + sizeof head, line, length);
}

/* ---- What the root hears --------------------------------------------------------------------- */

static uint64_t take_line(struct matching *matching, const char *from) {
    struct line_head head;
    memcpy(&head, from, sizeof head);
    const char *line = from + sizeof head;
    const struct beyond beyond = {.text = line + head.beyond_at, .length = head.beyond_length};
    matching->total++;
    report_line(&matching->task.report, matching->lines_before + head.index, &head.value,
                head.beyond_length > 0 ? &beyond : NULL, line, head.length);
    return padded(sizeof head + head.length);
}

static uint64_t take_elements(struct matching *matching, char *from) {
    struct elements_head head;
    memcpy(&head, from, sizeof head);
    int64_t *indices = (int64_t *)(void *)(from + sizeof head);
    const size_t indices_bytes = (size_t)head.count * sizeof *indices;
    for (int64_t i = 0; i < head.count; i++)
        indices[i] += matching->lines_before;
    give_elements(matching, from + sizeof head + indices_bytes, indices, head.count);
    return padded(sizeof head + indices_bytes +
                  (size_t)head.count * topk_type_size(matching->task.problem.type));
}

static void hear(void *user, int rank, struct ranks_bytes *piece) {
    struct matching *matching = user;
    const bool lines = matching->task.source.is_text && matching->task.prints;
    if (rank != matching->rank_heard)
        matching->lines_before += matching->lines_heard;
    matching->rank_heard = rank;
    memcpy(&matching->lines_heard, piece->bytes, sizeof matching->lines_heard);
    for (uint64_t at = sizeof matching->lines_heard; at < piece->size;)
        at += lines ? take_line(matching, piece->bytes + at) : take_elements(matching, piece->bytes + at);
}

static void end_part(struct task *task) {
    struct matching *matching = (struct matching *)task;
    struct ranks_bytes nothing = {NULL, 0};
    if (matching->passes_on) {
        keep(matching, 0);
        pass_on(matching, true);
        return;
    }
    matching->lines_heard = task->source.is_text ? task->source.text.base + task->source.text.count : 0;
    task->ranks->pass(&nothing, true, hear, matching);
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

static void pass_elements(struct matching *matching, const void *values, const int64_t *indices,
                          int64_t count) {
    if (matching->passes_on)
        keep_elements(matching, values, indices, count);
    else
        give_elements(matching, values, indices, count);
}

static void pass_line(struct matching *matching, const struct piece *piece, int64_t index,
                      const void *value) {
    size_t length;
    const char *line = text_line(piece->text, index, &length);
    if (matching->passes_on) {
        keep_line(matching, index, value, piece->beyond, line, length);
        return;
    }
    matching->total++;
    report_line(&matching->task.report, index, value, piece->beyond, line, length);
}

/* A number beyond float64. An array holds the nearest one. */
static void take_beyond(struct matching *matching, const struct piece *piece) {
    if (!bounds_met(matching->task.options, piece->beyond))
        return;
    if (matching->task.prints) {
        pass_line(matching, piece, piece->begin, NULL);
        return;
    }
    const double nearest = beyond_nearest(piece->beyond);
    pass_elements(matching, &nearest, &piece->begin, 1);
}

static void take(struct task *task, const struct piece *piece) {
    struct matching *matching = (struct matching *)task;
    if (piece->beyond != NULL) {
        take_beyond(matching, piece);
        return;
    }
    session_where(&task->session, &task->problem, piece->values, task->predicate, matching->values,
                  matching->indices, matching->capacity, matching->offsets);
    if (task->source.layout.matrix) {
        give_rows(matching, piece);
        return;
    }
    const int64_t count = matching->offsets[1];
    if (piece->text == NULL || !task->prints) {
        pass_elements(matching, matching->values, matching->indices, count);
        return;
    }
    const size_t element = topk_type_size(task->problem.type);
    for (int64_t i = 0; i < count; i++)
        pass_line(matching, piece, matching->indices[i],
                  (const char *)matching->values + (size_t)i * element);
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
    release(matching->kept.bytes);
}

void run_where(const struct options *options) {
    static const struct operation where = {.command = "where",
                                           .operation = TOPK_OPERATION_WHERE,
                                           .begin = begin,
                                           .take = take,
                                           .end_part = end_part,
                                           .end = end};
    struct matching matching = {.values = NULL};
    drive(&matching.task, options, &where);
}
