/* SPDX-License-Identifier: Apache-2.0 */
#include "keep.h"

#include <stdlib.h>
#include <string.h>

#include "../base/alloc.h"

static void reserve(struct keep *keep, int64_t count) {
    if (count <= keep->room)
        return;
    keep->room = count > 2 * keep->room ? count : 2 * keep->room;
    keep->order = reallocate(keep->order, (uint64_t)keep->room, sizeof *keep->order);
    for (int i = 0; i < 2; i++)
        keep->sets[i].lines =
            reallocate(keep->sets[i].lines, (uint64_t)keep->room, sizeof *keep->sets[i].lines);
}

static int compare_indices(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void append(struct kept_lines *set, int64_t index, const char *text, size_t length) {
    const struct kept_line *last = set->count > 0 ? &set->lines[set->count - 1] : NULL;
    size_t at = last != NULL ? last->at + last->length : 0;
    if (set->text_capacity - at < length) {
        set->text_capacity = 2 * (at + length);
        set->text = reallocate(set->text, set->text_capacity, 1);
    }
    if (length > 0)
        memcpy(set->text + at, text, length);
    set->lines[set->count++] = (struct kept_line){index, at, length};
}

void keep_update(struct keep *keep, const struct text *text, const int64_t *indices, int64_t count) {
    bool changed = false;
    for (int64_t i = 0; i < count; i++)
        changed |= indices[i] >= text->base;
    if (!changed)
        return;
    reserve(keep, count);
    memcpy(keep->order, indices, (size_t)count * sizeof *indices);
    qsort(keep->order, (size_t)count, sizeof *keep->order, compare_indices);
    const struct kept_lines *old = &keep->sets[keep->current];
    keep->current ^= 1;
    struct kept_lines *new = &keep->sets[keep->current];
    new->count = 0;
    int64_t at = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t index = keep->order[i];
        if (index >= text->base) {
            size_t length;
            const char *line = text_line(text, index, &length);
            append(new, index, line, length);
            continue;
        }
        while (old->lines[at].index < index)
            at++;
        append(new, index, old->text + old->lines[at].at, old->lines[at].length);
    }
}

static int compare_lines(const void *a, const void *b) {
    return compare_indices(&((const struct kept_line *)a)->index, &((const struct kept_line *)b)->index);
}

const char *keep_find(const struct keep *keep, int64_t index, size_t *length) {
    const struct kept_lines *set = &keep->sets[keep->current];
    const struct kept_line wanted = {.index = index};
    const struct kept_line *line =
        bsearch(&wanted, set->lines, (size_t)set->count, sizeof *set->lines, compare_lines);
    *length = line->length;
    return set->text + line->at;
}

void keep_end(struct keep *keep) {
    for (int i = 0; i < 2; i++) {
        release(keep->sets[i].lines);
        release(keep->sets[i].text);
    }
    release(keep->order);
}
