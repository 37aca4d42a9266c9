/* SPDX-License-Identifier: Apache-2.0 */
#include "matcher.h"

#include "output.h"

struct matcher topk_cpu_matcher_of(const struct call *call) {
    static const struct match not_zero = {{1, 254}, false};
    const topk_predicate *predicate = call->predicate;
    const struct plan *plan = call->plan;
    const struct order order = predicate_order(plan->problem.type);
    const bool at_least = predicate->kind == TOPK_AT_LEAST;
    if (predicate->kind == TOPK_BIT_MASK) {
        return (struct matcher){
            .masked = true, .bits = predicate->mask, .kernels = topk_cpu_kernels_for(call->context, 8)};
    }
    if (predicate->kind == TOPK_BYTE_MASK) {
        return (struct matcher){.masked = true,
                                .compared = predicate->mask,
                                .compared_bytes = 1,
                                .kernels = topk_cpu_kernels_for(call->context, 8),
                                .point_map = topk_unsigned_point_map,
                                .match = not_zero};
    }
    return (struct matcher){.compared = call->input.values,
                            .compared_bytes = plan->element_bytes,
                            .kernels = topk_cpu_kernels_for(call->context, plan->element_bits),
                            .point_map = at_least ? plan->point_map : topk_point_map(&order),
                            .match = !at_least ? topk_predicate_match(predicate, plan->problem.type)
                                     : plan->problem.rows > 0 ? topk_cpu_row_match(call, 0)
                                                              : (struct match){.none = true},
                            .by_row = predicate->threshold_stride > 0};
}

struct match topk_cpu_row_match(const struct call *call, int64_t row) {
    const topk_predicate *predicate = call->predicate;
    const uint64_t element =
        read_element(predicate->threshold, row * predicate->threshold_stride, call->plan->element_bytes);
    return topk_at_least_match(&call->plan->order, element);
}

/* Bits [first, first + n) of a bit mask, as a mask of words. Reads no byte without one of them. */
static void copy_bits(const unsigned char *bits, size_t first, size_t n, uint64_t *mask) {
    for (size_t w = 0; w < words_of(n); w++) {
        const size_t begin = first + w * WORD, rest = n - w * WORD, wanted = rest < WORD ? rest : WORD;
        const size_t shift = begin % 8, bytes = (shift + wanted + 7) / 8;
        const unsigned char *from = bits + begin / 8;
        uint64_t word = 0;
        if (bytes >= sizeof word) {
            memcpy(&word, from, sizeof word);
        } else {
            memcpy(&word, from, bytes);
        }
        word >>= shift;
        if (bytes > sizeof word) {
            word |= (uint64_t)from[sizeof word] << (WORD - shift);
        }
        mask[w] = word & UINT64_MAX >> (WORD - wanted);
    }
}

bool topk_cpu_matcher_matches(const struct matcher *matcher, size_t element) {
    if (matcher->bits != NULL) {
        return matcher->bits[element / 8] >> element % 8 & 1;
    }
    const uint64_t bits = read_element(matcher->compared, (int64_t)element, matcher->compared_bytes);
    return topk_point_matches(bits, (unsigned)matcher->compared_bytes * 8, &matcher->point_map,
                              &matcher->match);
}

size_t topk_cpu_matcher_mask(const struct matcher *matcher, size_t first, size_t n, uint64_t *mask) {
    if (n == 0) {
        return 0;
    }
    if (n <= RANKED_KEYS) {
        mask[0] = 0;
        for (size_t i = 0; i < n; i++) {
            mask[0] |= (uint64_t)topk_cpu_matcher_matches(matcher, first + i) << i;
        }
        return (size_t)__builtin_popcountll(mask[0]);
    }
    if (matcher->bits != NULL) {
        copy_bits(matcher->bits, first, n, mask);
        return matcher->kernels->count(mask, words_of(n));
    }
    return matcher->kernels->match(matcher->compared + first * matcher->compared_bytes, n,
                                   &matcher->point_map, &matcher->match, mask);
}
