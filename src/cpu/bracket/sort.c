/* SPDX-License-Identifier: Apache-2.0 */
#include "sort.h"

#include <string.h>

#include "../../reached.h"
#include "../team.h"

struct pass {
    const struct sorter *sorter;
    unsigned shift;
    int from;
    int parts;
};

static void count_share(void *argument, int part, int parts) {
    const struct pass *pass = argument;
    const struct sorter *s = pass->sorter;
    const size_t begin = share(s->n, part, parts), end = share(s->n, part + 1, parts);
    const char *keys = (const char *)s->keys[pass->from] + begin * (s->kernels->bits / 8);
    s->kernels->count_digit(keys, end - begin, pass->shift, s->counts + (size_t)part * RADIX_BINS);
}

static void move_share(void *argument, int part, int parts) {
    const struct pass *pass = argument;
    const struct sorter *s = pass->sorter;
    const int from = pass->from;
    const size_t begin = share(s->n, part, parts), end = share(s->n, part + 1, parts);
    const char *keys = (const char *)s->keys[from] + begin * (s->kernels->bits / 8);
    s->kernels->move_digit(keys, s->slots[from] + begin, end - begin, pass->shift,
                           s->counts + (size_t)part * RADIX_BINS, s->keys[1 - from], s->slots[1 - from]);
}

/* Turns counts into first slots, digit by digit and within a digit part by part. Returns
 * false if all keys share the digit, so that there is nothing to move. */
static bool counts_to_slots(const struct pass *pass) {
    const struct sorter *s = pass->sorter;
    size_t sum = 0;
    for (unsigned digit = 0; digit < RADIX_BINS; digit++) {
        const size_t before = sum;
        for (int part = 0; part < pass->parts; part++) {
            size_t *count = &s->counts[(size_t)part * RADIX_BINS + digit];
            const size_t first = sum;
            sum += *count;
            *count = first;
        }
        if (sum - before == s->n) {
            return false;
        }
    }
    return true;
}

const uint32_t *topk_cpu_sort_pairs(struct sorter *sorter) {
    const int parts = sorter->n >= TEAM_ELEMENTS_MIN ? sorter->threads : 1;
    struct pass pass = {sorter, 0, 0, parts};
    if (parts == 1) {
        return sorter->kernels->sort_pairs(sorter->keys, sorter->slots, sorter->n);
    }
    TOPK_REACHED(REACHED_TEAM_SORT);
    for (; pass.shift < sorter->kernels->bits; pass.shift += 8) {
        topk_cpu_team_run(sorter->context, parts, count_share, &pass);
        if (counts_to_slots(&pass)) {
            topk_cpu_team_run(sorter->context, parts, move_share, &pass);
            pass.from = 1 - pass.from;
        }
    }
    return sorter->slots[pass.from];
}
