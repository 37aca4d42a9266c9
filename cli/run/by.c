/* SPDX-License-Identifier: Apache-2.0
 *
 * select --by: the k best lines of each group of a text, in one pass. Each group has a heap whose first line
 * is the worst of the best so far. Most lines are compared with that one alone. */
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>

#include "../base/alloc.h"
#include "../base/fail.h"
#include "../engine/bounds.h"
#include "../engine/classes.h"
#include "../engine/outliers.h"
#include "drive.h"
#include "run.h"

/* A line of text that is among the best of its group. */
struct line {
    uint64_t class; /* of its number, unless that is an outlier */
    struct result result;
    struct outlier outlier; /* whose text is the line's own; it counts if result.outlier is not NULL */
    union number value;
    char *text;
    size_t length;
};

struct group {
    uint64_t hash;
    char *key;
    size_t key_length;
    struct line *heap; /* line i is no worse than lines 2 i + 1 and 2 i + 2 are bad: the worst is first */
    int64_t count, room;
};

struct grouping {
    struct task task;
    struct classes classes; /* of numbers */
    struct group *groups;   /* in the order in which they first come */
    int64_t count, room;
    int64_t *table; /* of `slots` entries, a power of two: groups, at or behind the place of their hash; -1:
                       none */
    uint64_t slots;
    uint64_t seed;
    /* Of a piece: what meets the predicate. */
    char *values;
    int64_t *indices;
};

/* ---- Lines ----------------------------------------------------------------------------------- */

static bool is_worse(const struct grouping *g, const struct line *a, const struct line *b) {
    if (a->result.outlier != NULL || b->result.outlier != NULL)
        return outliers_compare(g->task.options, &a->result, &b->result) > 0;
    return a->class != b->class ? a->class < b->class : a->result.index > b->result.index;
}

static void swap(struct line *a, struct line *b) {
    const struct line line = *a;
    *a = *b;
    *b = line;
    a->result.outlier = a->result.outlier != NULL ? &a->outlier : NULL;
    b->result.outlier = b->result.outlier != NULL ? &b->outlier : NULL;
}

static void sift_up(const struct grouping *g, struct line *heap, int64_t at) {
    for (; at > 0 && is_worse(g, &heap[at], &heap[(at - 1) / 2]); at = (at - 1) / 2)
        swap(&heap[at], &heap[(at - 1) / 2]);
}

static void sift_down(const struct grouping *g, struct line *heap, int64_t count, int64_t at) {
    for (int64_t child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && is_worse(g, &heap[child + 1], &heap[child]);
        if (!is_worse(g, &heap[child], &heap[at]))
            return;
        swap(&heap[child], &heap[at]);
    }
}

static char *copy(const char *bytes, size_t length) {
    char *copied = allocate(length + 1, 1);
    memcpy(copied, bytes, length);
    return copied;
}

/* Makes a candidate a line of its own memory. */
static void keep(struct line *kept, const struct line *candidate) {
    *kept = *candidate;
    kept->text = copy(candidate->text, candidate->length);
    if (candidate->result.outlier == NULL)
        return;
    kept->outlier.number.text = copy(candidate->outlier.number.text, candidate->outlier.number.length);
    kept->result.outlier = &kept->outlier;
}

static void forget(struct line *line) {
    release(line->text);
    if (line->result.outlier != NULL)
        release((char *)(uintptr_t)line->outlier.number.text);
}

static void offer(const struct grouping *g, struct group *group, const struct line *candidate) {
    const int64_t k = g->task.options->k;
    if (group->count == k) {
        if (k == 0 || !is_worse(g, &group->heap[0], candidate))
            return;
        forget(&group->heap[0]);
        keep(&group->heap[0], candidate);
        sift_down(g, group->heap, group->count, 0);
        return;
    }
    if (group->count == group->room) {
        group->room = group->room == 0 ? (k < 4 ? k : 4) : group->room < k / 2 ? 2 * group->room : k;
        group->heap = reallocate(group->heap, (uint64_t)group->room, sizeof *group->heap);
        for (int64_t i = 0; i < group->count; i++)
            if (group->heap[i].result.outlier != NULL)
                group->heap[i].result.outlier = &group->heap[i].outlier;
    }
    keep(&group->heap[group->count], candidate);
    sift_up(g, group->heap, group->count++);
}

/* ---- Groups ---------------------------------------------------------------------------------- */

/* The seed keeps keys from being chosen that all have one place. */
static uint64_t hash_of(const struct grouping *g, const char *key, size_t length) {
    uint64_t hash = g->seed ^ length;
    for (size_t at = 0; at < length; at += 8) {
        uint64_t word = 0;
        memcpy(&word, key + at, length - at < 8 ? length - at : 8);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash = (hash ^ hash >> 32) * UINT64_C(0xbf58476d1ce4e5b9);
        hash ^= hash >> 29;
    }
    return hash;
}

/* Where the table has a group with that key, or room for one. */
static uint64_t slot_of(const struct grouping *g, uint64_t hash, const char *key, size_t length) {
    uint64_t slot = hash & (g->slots - 1);
    for (; g->table[slot] >= 0; slot = (slot + 1) & (g->slots - 1)) {
        const struct group *group = &g->groups[g->table[slot]];
        if (group->hash == hash && group->key_length == length && memcmp(group->key, key, length) == 0)
            break;
    }
    return slot;
}

static void grow_table(struct grouping *g) {
    g->slots *= 2;
    g->table = reallocate(g->table, g->slots, sizeof *g->table);
    memset(g->table, 0xff, g->slots * sizeof *g->table);
    for (int64_t i = 0; i < g->count; i++)
        g->table[slot_of(g, g->groups[i].hash, g->groups[i].key, g->groups[i].key_length)] = i;
}

static struct group *find_group(struct grouping *g, const char *key, size_t length) {
    const uint64_t hash = hash_of(g, key, length);
    uint64_t slot = slot_of(g, hash, key, length);
    if (g->table[slot] >= 0)
        return &g->groups[g->table[slot]];
    if ((uint64_t)g->count >= g->slots / 2) {
        grow_table(g);
        slot = slot_of(g, hash, key, length);
    }
    if (g->count == g->room) {
        g->room = g->room > 0 ? 2 * g->room : 1024;
        g->groups = reallocate(g->groups, (uint64_t)g->room, sizeof *g->groups);
    }
    struct group *group = &g->groups[g->count];
    *group = (struct group){.hash = hash, .key = copy(key, length), .key_length = length};
    g->table[slot] = g->count++;
    return group;
}

static void take_line(struct grouping *g, const struct text *text, struct line *line) {
    size_t key_length;
    line->text = (char *)(uintptr_t)text_line(text, line->result.index, &line->length);
    const char *key = line_field(&text->format, text->by, line->text, line->length, &key_length);
    if (key == NULL)
        fail("%s: the line with index %" PRId64 " has no field %" PRId64 ", which --by asks for", text->name,
             line->result.index, text->by);
    offer(g, find_group(g, key, key_length), line);
}

/* ---- The command ----------------------------------------------------------------------------- */

static void begin(struct task *task) {
    struct grouping *g = (struct grouping *)task;
    const struct source *source = &task->source;
    enum { SLOTS = 4096 };
    classes_begin(&g->classes, task->session.host, task->options, source->layout.type, source->length_max);
    g->slots = SLOTS / 2;
    grow_table(g);
    if (getrandom(&g->seed, sizeof g->seed, 0) != sizeof g->seed)
        g->seed = (uintptr_t)g; /* results are the same; only time depends on it */
    if (task->predicate == NULL)
        return;
    g->values = allocate((uint64_t)source->length_max, sizeof(union number));
    g->indices = allocate((uint64_t)source->length_max, sizeof *g->indices);
}

static void take_beyond(struct grouping *g, const struct piece *piece) {
    struct line line = {.outlier = {.number = *piece->beyond, .index = piece->begin}};
    line.result = (struct result){beyond_nearest(piece->beyond), piece->begin, &line.outlier};
    if (bounds_met(g->task.options, piece->beyond))
        take_line(g, piece->text, &line);
}

static void take(struct task *task, const struct piece *piece) {
    struct grouping *g = (struct grouping *)task;
    const char *values = piece->values;
    int64_t offsets[2] = {0, piece->length};
    if (piece->beyond != NULL) {
        take_beyond(g, piece);
        return;
    }
    if (task->predicate != NULL) {
        session_where(task->session.host, &task->problem, values, task->predicate, g->values, g->indices,
                      piece->length, offsets);
        values = g->values;
    }
    for (int64_t i = 0; i < offsets[1]; i++) {
        struct line line = {.outlier = {.line = NULL}};
        memcpy(&line.value, values + (size_t)i * sizeof line.value, sizeof line.value);
        line.class = classes_of(&g->classes, &line.value);
        line.result =
            (struct result){line.value.f64, task->predicate != NULL ? g->indices[i] : piece->begin + i, NULL};
        take_line(g, piece->text, &line);
    }
}

/* Takes the worst lines from the heap one by one, which leaves the best first. */
static void sort(const struct grouping *g, struct group *group) {
    for (int64_t left = group->count - 1; left > 0; left--) {
        swap(&group->heap[0], &group->heap[left]);
        sift_down(g, group->heap, left, 0);
    }
}

static void end_text(struct task *task, int64_t row, int64_t rows) {
    struct grouping *g = (struct grouping *)task;
    (void)row;
    (void)rows;
    for (int64_t i = 0; i < g->count; i++) {
        struct group *group = &g->groups[i];
        sort(g, group);
        for (int64_t at = 0; at < group->count; at++) {
            struct line *line = &group->heap[at];
            const bool beyond = line->result.outlier != NULL;
            report_line(&task->report, line->result.index, &line->value,
                        beyond ? &line->outlier.number : NULL, line->text, line->length);
            forget(line);
        }
        release(group->heap);
        release(group->key);
    }
}

static void end(struct task *task) {
    struct grouping *g = (struct grouping *)task;
    classes_end(&g->classes);
    release(g->groups);
    release(g->table);
    release(g->values);
    release(g->indices);
}

void run_by(const struct options *options) {
    static const struct operation by = {.command = "select",
                                        .operation = TOPK_OPERATION_SELECT,
                                        .begin = begin,
                                        .take = take,
                                        .end_rows = end_text,
                                        .end = end};
    struct options own = *options;
    struct grouping grouping = {.count = 0};
    own.context.backend = TOPK_BACKEND_CPU;
    drive(&grouping.task, &own, &by);
}
