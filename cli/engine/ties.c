/* SPDX-License-Identifier: Apache-2.0 */
#include "ties.h"

#include <string.h>

#include "../base/alloc.h"

enum {
    SLACK_MIN = 1 << 17, /* elements listed beside k: enough for a new bar to cost little for each */
    SLACK_DIVISOR = 4,   /* or this part of k */
    GROWTH_DIVISOR = 8,  /* the list grows by this part */
};

void ties_begin(struct ties *ties, struct session *session, const struct options *options, topk_type type,
                int64_t length_max) {
    *ties = (struct ties){.host = session->host, .k = options->k, .block = length_max};
    session_check(session, options, TOPK_OPERATION_KTH, type);
    classes_begin(&ties->classes, session->host, options, type, length_max);
    ties->above = allocate((uint64_t)length_max, topk_type_size(type));
}

void ties_end(struct ties *ties) {
    classes_end(&ties->classes);
    release(ties->list);
    release(ties->above);
}

static char *list_at(const struct ties *ties, int64_t at) {
    return ties->list + (size_t)at * topk_type_size(ties->classes.problem.type);
}

static void reserve(struct ties *ties, int64_t more) {
    const int64_t needed = ties->listed + more;
    if (needed <= ties->room)
        return;
    ties->room = needed + needed / GROWTH_DIVISOR;
    ties->list = reallocate(ties->list, (uint64_t)ties->room, topk_type_size(ties->classes.problem.type));
}

/* What is above the bar, as far as there is one. Copies it to `to`, and returns how many there are. */
static int64_t collect(struct ties *ties, const void *elements, int64_t length, char *to) {
    if (ties->bar == CLASS_BEST)
        return 0;
    const struct class_range above = {ties->bar + 1, CLASS_BEST};
    return classes_collect(&ties->classes, above, elements, length, 0, to, NULL, length);
}

/* The k-th of `count` elements. */
static void rank(struct ties *ties, const void *elements, int64_t count, int64_t k, void *kth,
                 int64_t *better, int64_t *equal) {
    topk_problem problem = ties->classes.problem;
    problem.length_max = count;
    problem.k_max = k;
    session_kth(ties->host, &problem, elements, NULL, kth, better, equal);
}

static void raise_bar(struct ties *ties) {
    const size_t element = topk_type_size(ties->classes.problem.type);
    const int64_t listed = ties->listed;
    int64_t better;
    rank(ties, ties->list, listed, ties->k, ties->kth, &better, &ties->equal);
    ties->bar = classes_of(&ties->classes, ties->kth);
    ties->has_bar = true;
    ties->listed = 0;
    for (int64_t at = 0; at < listed; at += ties->block) {
        const int64_t length = listed - at < ties->block ? listed - at : ties->block;
        const int64_t found = collect(ties, list_at(ties, at), length, ties->above);
        memcpy(list_at(ties, ties->listed), ties->above, (size_t)found * element);
        ties->listed += found;
    }
}

static bool is_long(const struct ties *ties) {
    const int64_t slack = ties->k / SLACK_DIVISOR;
    return ties->listed - ties->k >= (slack > SLACK_MIN ? slack : SLACK_MIN);
}

void ties_push(struct ties *ties, const void *elements, int64_t length) {
    const struct class_range bar = {ties->bar, ties->bar};
    ties->seen += length;
    if (ties->k == 0 || length == 0)
        return;
    reserve(ties, length);
    if (ties->has_bar) {
        ties->equal += classes_count(&ties->classes, bar, elements, length);
        ties->listed += collect(ties, elements, length, list_at(ties, ties->listed));
    } else {
        memcpy(list_at(ties, ties->listed), elements,
               (size_t)length * topk_type_size(ties->classes.problem.type));
        ties->listed += length;
    }
    if (is_long(ties))
        raise_bar(ties);
}

/* What is listed, and as many of the bar as there were. */
int64_t ties_count(const struct ties *ties) {
    return ties->listed + (ties->has_bar ? ties->equal : 0);
}

void ties_copy(const struct ties *ties, int64_t first, int64_t length, void *elements) {
    const size_t size = topk_type_size(ties->classes.problem.type);
    const int64_t listed = first < ties->listed ? ties->listed - first : 0;
    const int64_t copied = listed < length ? listed : length;
    char *end = elements;
    if (copied > 0)
        memcpy(end, list_at(ties, first), (size_t)copied * size);
    for (int64_t i = copied; i < length; i++)
        memcpy(end + (size_t)i * size, ties->kth, size);
}

void ties_result(struct ties *ties, int64_t k, void *kth, int64_t *better, int64_t *equal) {
    if (k > 0 && ties->listed >= k) {
        rank(ties, ties->list, ties->listed, k, kth, better, equal);
    } else if (k > 0 && ties->has_bar) {
        memcpy(kth, ties->kth, topk_type_size(ties->classes.problem.type));
        *better = ties->listed;
        *equal = ties->equal;
    } else {
        rank(ties, NULL, 0, 1, kth, NULL, NULL); /* as for any k above the length */
        *better = k > 0 ? ties->seen : 0;
        *equal = 0;
    }
}
