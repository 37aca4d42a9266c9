/* SPDX-License-Identifier: Apache-2.0
 *
 * Conditions that no one predicate of the library can say: conditions on other fields, and --ne beside
 * others. They become a mask of bytes, which is made for each piece. */
#ifndef TOPK_CLI_FILTER_H
#define TOPK_CLI_FILTER_H

#include "../options/options.h"

struct session;

struct filter {
    topk_predicate predicates[COMPARISONS_MAX]; /* of the elements, all of which must hold */
    int count;
    topk_predicate *mask; /* the predicate of the piece */

    /* Room for a piece. */
    unsigned char *bits, *bytes;
    uint64_t room;
};

/* Makes *mask a predicate that filter_apply() sets. */
void filter_begin(struct filter *filter, topk_predicate *mask);

/* Sets the mask for the elements of a problem. `met`: of each of them, whether it may be a result at all;
 * NULL: all may. It lasts until the next call, and as long as `met`. The session is on the host. */
void filter_apply(struct filter *filter, struct session *host, const topk_problem *problem,
                  const void *elements, const unsigned char *met);

void filter_end(struct filter *filter);

/* The predicate for elements that begin `at` elements later: *behind, where it has a mask. */
static inline const topk_predicate *predicate_behind(const topk_predicate *predicate, int64_t at,
                                                     topk_predicate *behind) {
    if (predicate == NULL || predicate->kind != TOPK_BYTE_MASK)
        return predicate;
    *behind = *predicate;
    behind->mask = (const unsigned char *)predicate->mask + at;
    return behind;
}

#endif /* TOPK_CLI_FILTER_H */
