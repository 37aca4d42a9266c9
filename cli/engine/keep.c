/* SPDX-License-Identifier: Apache-2.0 */
#include "keep.h"

#include <string.h>

#include "../base/alloc.h"

/* What is kept beside twice the results. */
enum { LINES_MORE = 1 << 14, TEXT_MORE = 4 << 20 };

static void set_limits(struct keep *keep) {
    keep->count_max = 2 * keep->count + LINES_MORE;
    keep->text_max = 2 * keep->lines[keep->count].at + TEXT_MORE;
}

void keep_begin(struct keep *keep, struct session *session, const struct options *options,
                const topk_predicate *predicate, topk_type type, int64_t length_max) {
    *keep = (struct keep){.host = session->host, .predicate = predicate, .k = options->k};
    classes_begin(&keep->classes, session->host, options, type, length_max);
    keep->lines = allocate(1, sizeof *keep->lines);
    keep->lines[0].at = 0;
    keep->values = allocate((uint64_t)length_max, topk_type_size(type));
    keep->met = allocate((uint64_t)length_max, sizeof *keep->met);
    keep->chosen = allocate((uint64_t)length_max, sizeof *keep->chosen);
    set_limits(keep);
}

void keep_end(struct keep *keep) {
    classes_end(&keep->classes);
    release(keep->lines);
    release(keep->text);
    release(keep->values);
    release(keep->met);
    release(keep->chosen);
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static void reserve_lines(struct keep *keep, int64_t count) {
    if (count <= keep->room)
        return;
    keep->room = count + count / 2;
    keep->lines = reallocate(keep->lines, (uint64_t)keep->room + 1, sizeof *keep->lines);
}

static void append(struct keep *keep, int64_t index, const char *text, size_t length) {
    struct kept_line *line = &keep->lines[keep->count++];
    const size_t end = line->at + length;
    if (end > keep->text_capacity) {
        keep->text_capacity = end + end / 2;
        keep->text = reallocate(keep->text, keep->text_capacity, 1);
    }
    if (length > 0)
        memcpy(keep->text + line->at, text, length);
    line->index = index;
    line[1].at = end;
}

/* Which elements of a piece may be results; their indices are those of the input. Returns how many. NULL for
 * the list: all. */
static int64_t choose(struct keep *keep, const struct piece *piece, const int64_t **list) {
    const void *values = piece->values;
    int64_t offsets[2] = {0, piece->length};
    *list = NULL;
    if (keep->predicate != NULL) {
        topk_problem problem = keep->classes.problem;
        problem.length_max = piece->length;
        problem.index_base = piece->begin;
        session_where(keep->host, &problem, values, keep->predicate, keep->values, keep->met, piece->length,
                      offsets);
        values = keep->values;
        *list = keep->met;
    }
    if (!keep->has_bar || offsets[1] == 0)
        return offsets[1];
    const struct class_range range = {keep->worst, CLASS_BEST};
    const int64_t found = classes_collect(&keep->classes, range, values, offsets[1],
                                          *list == NULL ? piece->begin : 0, NULL, keep->chosen, offsets[1]);
    for (int64_t i = 0; *list != NULL && i < found; i++)
        keep->chosen[i] = keep->met[keep->chosen[i]];
    *list = keep->chosen;
    return found;
}

void keep_add(struct keep *keep, const struct piece *piece) {
    const int64_t *list;
    const int64_t count = choose(keep, piece, &list);
    reserve_lines(keep, keep->count + count);
    for (int64_t i = 0; i < count; i++) {
        const int64_t index = list == NULL ? piece->begin + i : list[i];
        size_t length;
        const char *text = text_line(piece->text, index, &length);
        append(keep, index, text, length);
    }
}

bool keep_is_full(const struct keep *keep) {
    return keep->count > keep->count_max || keep->lines[keep->count].at > keep->text_max;
}

/* ---- Results --------------------------------------------------------------------------------- */

/* Sorts indices, and tells which place of the list each has come from; NULL: nobody asks. */
static void sort(const struct keep *keep, const int64_t *indices, int64_t count, int64_t *sorted,
                 int64_t *origins) {
    topk_problem problem = TOPK_PROBLEM_INIT;
    problem.type = TOPK_I64;
    problem.index_type = TOPK_INDEX_I64;
    problem.rows = 1;
    problem.length_max = problem.k_max = count;
    problem.direction = TOPK_SMALLEST;
    session_rank(keep->host, &problem, indices, NULL, sorted, origins);
}

/* Sets the bar to the worst of k results. Of its equals the ones that come later are none, unless any of them
 * may be. */
static void set_bar(struct keep *keep, const void *values) {
    topk_problem problem = keep->classes.problem;
    char kth[8];
    problem.length_max = problem.k_max = keep->k;
    session_kth(keep->host, &problem, values, NULL, kth, NULL, NULL);
    const uint64_t class = classes_of(&keep->classes, kth);
    const bool above = problem.ties != TOPK_TIES_ANY && class != CLASS_BEST;
    keep->worst = class + above;
    keep->has_bar = true;
}

void keep_trim(struct keep *keep, const void *values, const int64_t *indices, int64_t count) {
    int64_t *sorted = allocate((uint64_t)count, sizeof *sorted);
    int64_t from = 0, to = 0;
    size_t end = 0;
    if (count == keep->k && count > 0)
        set_bar(keep, values);
    if (count > 0)
        sort(keep, indices, count, sorted, NULL);
    for (; to < count; to++, from++) {
        while (keep->lines[from].index < sorted[to])
            from++;
        const struct kept_line line = keep->lines[from];
        const size_t length = keep->lines[from + 1].at - line.at;
        memmove(keep->text + end, keep->text + line.at, length);
        keep->lines[to] = (struct kept_line){line.index, end};
        end += length;
    }
    keep->lines[to].at = end;
    keep->count = to;
    release(sorted);
    set_limits(keep);
}

struct line_head {
    int64_t index;
    uint64_t length;
};

char *keep_write(const struct keep *keep, const int64_t *indices, int64_t count, int64_t base,
                 uint64_t *size) {
    int64_t *places = allocate((uint64_t)count, sizeof *places);
    size_t length;
    *size = (uint64_t)count * sizeof(struct line_head);
    keep_find(keep, indices, count, places);
    for (int64_t i = 0; i < count; i++) {
        keep_text(keep, places[i], &length);
        *size += length;
    }
    char *bytes = allocate(*size, 1), *end = bytes;
    for (int64_t i = 0; i < count; i++) {
        const char *text = keep_text(keep, places[i], &length);
        const struct line_head head = {base + indices[i], length};
        memcpy(end, &head, sizeof head);
        if (length > 0)
            memcpy(end + sizeof head, text, length);
        end += sizeof head + length;
    }
    release(places);
    return bytes;
}

void keep_read(struct keep *keep, const char *bytes, uint64_t size) {
    struct line_head head;
    keep->count = 0;
    keep->lines[0].at = 0;
    for (const char *end = bytes + size; bytes < end; bytes += sizeof head + head.length) {
        memcpy(&head, bytes, sizeof head);
        reserve_lines(keep, keep->count + 1);
        append(keep, head.index, bytes + sizeof head, head.length);
    }
}

void keep_find(const struct keep *keep, const int64_t *indices, int64_t count, int64_t *places) {
    if (count == 0)
        return;
    int64_t *sorted = allocate((uint64_t)count, sizeof *sorted);
    int64_t *origins = allocate((uint64_t)count, sizeof *origins);
    sort(keep, indices, count, sorted, origins);
    for (int64_t i = 0, place = 0; i < count; i++) {
        while (keep->lines[place].index < sorted[i])
            place++;
        places[origins[i]] = place;
    }
    release(sorted);
    release(origins);
}

const char *keep_text(const struct keep *keep, int64_t place, size_t *length) {
    const struct kept_line *line = &keep->lines[place];
    *length = line[1].at - line->at;
    return keep->text + line->at;
}
