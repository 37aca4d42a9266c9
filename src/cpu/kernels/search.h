/* SPDX-License-Identifier: Apache-2.0
 * RTop-K's searches between the least and the greatest number of a row (CONTRACT.md 2.5). Part of kernels.c.
 *
 * Midpoints are numbers, and counts are of keys: keys ascend with the numbers, so the numbers at or above a
 * midpoint are the keys at or above the next element's. Runs in the default floating-point mode. */
#ifndef TOPK_SRC_CPU_KERNELS_SEARCH_H
#define TOPK_SRC_CPU_KERNELS_SEARCH_H

/* The precision that midpoints have, its bits, and how many of them are the fraction. */
#if KEY_BITS == 64
typedef double real;
typedef uint64_t real_bits;
enum { REAL_MANTISSA = 52 };
#else
typedef float real;
typedef uint32_t real_bits;
enum { REAL_MANTISSA = 23 };
#endif

static const kint sign_bit = (kint)((kint)1 << (KEY_BITS - 1));

#if KEY_BITS >= 32
/* float32 and float64: a key and its number have the same bits, or complements, but for the sign. */
static inline real number_of(kint key, const struct approximation *how) {
    const kint bits = key & sign_bit ? key ^ sign_bit : ~key;
    real number;
    (void)how;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* The lowest key whose number is `number` or above. */
static inline kint key_from(real number, const struct approximation *how) {
    kint bits;
    (void)how;
    memcpy(&bits, &number, sizeof bits);
    return (bits ^ ((0 - (bits >> (KEY_BITS - 1))) | sign_bit)) - (bits == 0);
}
#else
/* The number of a key; the key with the complement of its bits has the opposite number. */
static inline real number_of(kint key, const struct approximation *how) {
    const kint magnitude = (kint)((key & sign_bit ? key : (kint)~key) & (kint)~sign_bit);
    const real_bits bits = (real_bits)magnitude << (REAL_MANTISSA - how->mantissa_bits);
    real number;
    memcpy(&number, &bits, sizeof number);
    number *= (real)how->scale;
    return key & sign_bit ? number : -number;
}

/* The lowest key whose number is `number` or above. */
static inline kint key_from(real number, const struct approximation *how) {
    const real size = number < 0 ? -number : number;
    const real scaled = size / (real)how->scale; /* rounds where that is a denormal */
    real_bits bits;
    memcpy(&bits, &scaled, sizeof bits);
    kint key = (kint)(sign_bit | (kint)(bits >> (REAL_MANTISSA - how->mantissa_bits)));
    key = (kint)(key - (number_of(key, how) > size));
    const kint above = (kint)(key + (number_of(key, how) < size));
    return number > 0 ? above : (kint)~key;
}
#endif

/* Between low and high lie the numbers that steps still tell apart. Their keys are in `open`, and that is
 * what makes steps cheap: a midpoint on either side of all of them has a count that is known. */
struct search {
    const kint *keys;
    size_t n;
    size_t k; /* results; `above` of them are none of the numbers */
    const struct approximation *how;
    real low, high; /* k elements or more lie at or above low; high begins as the row's */
    size_t above;
    struct key_range open;
    size_t from_open, above_open; /* how many keys are in the range or above it, k or more; above it, fewer */
    unsigned idle;                /* counts in a row that excluded no number */
};

static inline size_t count_from(const struct search *s, kint key) {
    return count_above(s->keys, words_of(s->n), (kint)(key - 1)); /* no number has key 0 */
}

/* Idle counts in a row that tighten the open range. In the shortest rows that takes as long as they do. */
enum { IDLE_COUNTS = 8 };

/* How many keys are at or above `key`. It is a midpoint's key, and becomes an end of the open range. */
static INLINE size_t step(struct search *s, kint key) {
    if (key <= s->open.low) {
        return s->from_open;
    }
    if (key > s->open.high) {
        return s->above_open;
    }
    const size_t count = count_from(s, key);
    const bool fewer = count < s->k;
    s->idle = count == (fewer ? s->above_open : s->from_open) ? s->idle + 1 : 0;
    if (fewer) {
        s->open.high = (kint)(key - 1);
        s->above_open = count;
    } else {
        s->open.low = key;
        s->from_open = count;
    }
    if (s->idle == IDLE_COUNTS) {
        s->open = tighten(s->keys, s->n, s->open);
        s->idle = 0;
    }
    return count;
}

/* No step changes the results any more: k numbers are at or above low, or all open numbers tie. */
static INLINE bool is_decided(const struct search *s) {
    return s->from_open == s->k || s->open.low == s->open.high;
}

static inline real midpoint(real low, real high) {
    const real sum = low + high;
    return __builtin_isinf(sum) ? low / 2 + high / 2 : sum / 2;
}

/* Algorithm 2. The ends are kept in registers, and each outcome is a branch: rows that resemble each other
 * take the first steps alike. */
static struct cut stop_early(struct search *s, kint greatest) {
    real low = s->low, high = s->high;
    for (int64_t i = 0; i < s->how->max_iterations && !is_decided(s); i++) {
        const real middle = midpoint(low, high);
        if (step(s, key_from(middle, s->how)) < s->k) {
            if (high == middle) {
                break;
            }
            high = middle;
        } else {
            if (low == middle) {
                break;
            }
            low = middle;
        }
    }
    return (struct cut){key_from(low, s->how), greatest, s->above};
}

static real width_wanted(const struct search *s) {
    const real low = s->low < 0 ? -s->low : s->low, high = s->high < 0 ? -s->high : s->high;
    return s->how->relative ? (real)s->how->epsilon * (low > high ? low : high) : (real)s->how->epsilon;
}

/* Algorithm 1. As printed it does not end where no number lies between low and high. Here it does, after
 * high, which may be the greatest number and was never counted then. */
static struct cut narrow_down(struct search *s, kint greatest) {
    const real wanted = width_wanted(s);
    struct cut cut = {0, greatest, s->above};
    for (bool last = false; !last && s->high - s->low > wanted && !is_decided(s);) {
        real middle = midpoint(s->low, s->high);
        last = middle == s->low || middle == s->high;
        middle = last ? s->high : middle;
        const kint key = key_from(middle, s->how);
        const size_t count = step(s, key);
        if (count < s->k) {
            s->high = middle;
            cut.high = (kint)(key - 1);
            cut.above = count;
        } else {
            s->low = middle;
        }
    }
    cut.low = key_from(s->low, s->how);
    return cut;
}

/* Of keys that are padded with zeros to whole words, between `least` and `greatest`. Where the k-th is no
 * number the cut is exact. */
static struct cut approximate_cut(const kint *keys, size_t n, size_t k, kint least, kint greatest,
                                  const struct approximation *how) {
    const kint first = (kint)how->least, span = (kint)(how->greatest - how->least);
    struct search s = {.keys = keys, .n = n, .k = k, .how = how, .from_open = n};
    if (least < first || greatest > (kint)how->greatest) {
        least = (kint)UINT64_MAX;
        greatest = 0;
        for (size_t i = 0; i < n; i++) {
            const kint other = (kint)(0 - (kint)((kint)(keys[i] - first) > span)); /* all ones if no number */
            const kint upper = keys[i] | other, lower = (kint)(keys[i] & (kint)~other);
            least = upper < least ? upper : least;
            greatest = lower > greatest ? lower : greatest;
        }
        s.above = count_above(keys, words_of(n), (kint)how->greatest);
        if (s.above >= k || count_from(&s, first) < k) {
            return exact_cut(keys, n, k, k);
        }
    }
    s.open = (struct key_range){least, greatest};
    s.above_open = s.above;
    s.low = number_of(least, how);
    s.high = number_of(greatest, how);
    return how->max_iterations > 0 ? stop_early(&s, greatest) : narrow_down(&s, greatest);
}

#endif
