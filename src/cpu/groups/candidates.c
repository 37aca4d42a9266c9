/* SPDX-License-Identifier: Apache-2.0 */
#include "candidates.h"

#include <string.h>

#include "../kernels/kernels.h"

/* So few are sorted by insertion. */
enum { INSERTED = 8 };

static void insert(struct group_candidate *candidates, size_t count) {
    for (size_t i = 1; i < count; i++) {
        const struct group_candidate candidate = candidates[i];
        size_t at = i;
        for (; at > 0 && group_before(&candidate, &candidates[at - 1]); at--) {
            candidates[at] = candidates[at - 1];
        }
        candidates[at] = candidate;
    }
}

/* Puts a pivot where it belongs: before it are those that rank before it. Returns its place. Each candidate
 * is written to both ends of the scratch, where one of the two stays: no branch depends on it, and nothing is
 * read that was just written. */
static size_t divide(struct group_candidate *candidates, size_t count, struct group_scratch *scratch) {
    const uint64_t drawn = hash_mix(++scratch->random) >> 32;
    const size_t last = count - 1;
    struct group_candidate *const other = scratch->candidates;
    struct group_candidate *const chosen = &candidates[count <= UINT32_MAX ? drawn * count >> 32 : drawn];
    const struct group_candidate pivot = *chosen;
    size_t before = 0, behind = last;
    *chosen = candidates[last];
    for (size_t i = 0; i < last; i++) {
        const struct group_candidate candidate = candidates[i];
        const bool is_before = group_before(&candidate, &pivot);
        other[before] = candidate;
        other[behind - 1] = candidate;
        before += is_before;
        behind -= !is_before;
    }
    memcpy(candidates, other, before * sizeof *other);
    candidates[before] = pivot;
    memcpy(candidates + before + 1, other + before, (last - before) * sizeof *other);
    return before;
}

void topk_cpu_group_keep(struct group_candidate *candidates, size_t count, size_t k,
                         struct group_scratch *scratch) {
    while (k > 0 && k < count) {
        if (count <= INSERTED) {
            insert(candidates, count);
            return;
        }
        const size_t place = divide(candidates, count, scratch);
        if (place >= k) {
            count = place;
        } else {
            candidates += place + 1;
            count -= place + 1;
            k -= place + 1;
        }
    }
}

void topk_cpu_group_sort(struct group_candidate *candidates, size_t count, struct group_scratch *scratch) {
    while (count > INSERTED) {
        const size_t place = divide(candidates, count, scratch), behind = count - place - 1;
        struct group_candidate *const rest = candidates + place + 1;
        if (place < behind) { /* the shorter part, so that calls do not nest deeply */
            topk_cpu_group_sort(candidates, place, scratch);
            candidates = rest;
            count = behind;
        } else {
            topk_cpu_group_sort(rest, behind, scratch);
            count = place;
        }
    }
    insert(candidates, count);
}
