/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle.h"

#include <stdlib.h>

static int64_t clamp(int64_t value, int64_t low, int64_t high) {
    return value < low ? low : value > high ? high : value;
}

static int64_t read_extent(const topk_problem *problem, const void *array, int64_t i) {
    return problem->extent_type == TOPK_INDEX_I32 ? ((const int32_t *)array)[i] : ((const int64_t *)array)[i];
}

oracle_row oracle_resolve_row(const topk_problem *problem, const topk_input *input, int64_t row) {
    oracle_row out = {0, problem->length_max, problem->k_max};
    if (problem->shape == TOPK_SHAPE_STRIDED) {
        out.first = row * (problem->row_stride != 0 ? problem->row_stride : problem->length_max);
        if (input->lengths != NULL) {
            out.length = read_extent(problem, input->lengths, row);
        }
    } else {
        bool csr = problem->shape == TOPK_SHAPE_CSR;
        int64_t begin = read_extent(problem, csr ? input->offsets : input->begins, row);
        int64_t end =
            csr ? read_extent(problem, input->offsets, row + 1) : read_extent(problem, input->ends, row);
        out.first = clamp(begin, 0, problem->elements_max);
        out.length = clamp(end, 0, problem->elements_max) - out.first;
    }
    out.length = clamp(out.length, 0, problem->length_max);
    if (input->k != NULL) {
        out.k = clamp(read_extent(problem, input->k, row), 0, problem->k_max);
    }
    return out;
}

int oracle_order(const topk_problem *problem, const oracle_number *a, const oracle_number *b) {
    bool largest = problem->direction == TOPK_LARGEST;
    int comparison;
    if (a->nan || b->nan) {
        bool nan_first = problem->nan == TOPK_NAN_AS_LARGEST && largest;
        return nan_first ? b->nan - a->nan : a->nan - b->nan;
    }
    comparison = problem->rank == TOPK_BY_MAGNITUDE ? oracle_compare_magnitudes(a, b) : oracle_compare(a, b);
    return largest ? -comparison : comparison;
}

/* Sorts a short run: each entry goes before those that it ranks above. */
static void insertion_sort(const topk_problem *problem, oracle_entry *entries, int64_t length) {
    for (int64_t i = 1; i < length; i++) {
        const oracle_entry entry = entries[i];
        int64_t to = i;
        for (; to > 0 && oracle_order(problem, &entry.number, &entries[to - 1].number) < 0; to--) {
            entries[to] = entries[to - 1];
        }
        entries[to] = entry;
    }
}

/* Merges two neighbouring sorted runs; of equal elements the left run's come first. */
static void merge(const topk_problem *problem, const oracle_entry *left, const oracle_entry *left_end,
                  const oracle_entry *right, const oracle_entry *right_end, oracle_entry *out) {
    while (left < left_end && right < right_end) {
        *out++ = oracle_order(problem, &left->number, &right->number) <= 0 ? *left++ : *right++;
    }
    while (left < left_end) {
        *out++ = *left++;
    }
    while (right < right_end) {
        *out++ = *right++;
    }
}

static void merge_sort(const topk_problem *problem, oracle_entry *entries, int64_t length) {
    enum { SHORT_RUN = 8 };
    oracle_entry *scratch = malloc((size_t)(length + 1) * sizeof *scratch);
    oracle_entry *from = entries, *to = scratch;
    if (scratch == NULL) {
        abort();
    }
    for (int64_t start = 0; start < length; start += SHORT_RUN) {
        insertion_sort(problem, entries + start, clamp(length - start, 0, SHORT_RUN));
    }
    for (int64_t run = SHORT_RUN; run < length; run *= 2) {
        for (int64_t start = 0; start < length; start += 2 * run) {
            int64_t middle = clamp(start + run, 0, length), end = clamp(start + 2 * run, 0, length);
            merge(problem, from + start, from + middle, from + middle, from + end, to + start);
        }
        oracle_entry *swap = from;
        from = to;
        to = swap;
    }
    for (int64_t i = 0; from != entries && i < length; i++) {
        entries[i] = from[i];
    }
    free(scratch);
}

void oracle_rank(const topk_problem *problem, const void *values, int64_t length, oracle_entry *ranking) {
    size_t size = oracle_type_size(problem->type);
    for (int64_t i = 0; i < length; i++) {
        ranking[i].number = oracle_decode(problem->type, (const char *)values + (size_t)i * size);
        ranking[i].position = i;
    }
    merge_sort(problem, ranking, length);
}

/* How many entries of a ranking are before all those that tie with `kth`; with `ties`, those included. */
static int64_t count_before(const topk_problem *problem, const oracle_entry *ranking, int64_t length,
                            const oracle_number *kth, bool ties) {
    int64_t low = 0, high = length;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (oracle_order(problem, &ranking[middle].number, kth) < (int)ties) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

oracle_kth oracle_kth_counts(const topk_problem *problem, const oracle_entry *ranking, int64_t length,
                             int64_t k) {
    const oracle_number *const kth = &ranking[k - 1].number;
    const int64_t better = count_before(problem, ranking, length, kth, false);
    return (oracle_kth){better, count_before(problem, ranking, length, kth, true) - better};
}

int64_t oracle_keep(const oracle_entry *ranking, int64_t length, const bool *matches, oracle_entry *kept) {
    int64_t count = 0;
    for (int64_t i = 0; i < length; i++) {
        if (matches[ranking[i].position]) {
            kept[count++] = ranking[i];
        }
    }
    return count;
}

bool oracle_matches(topk_type type, const topk_input *input, const topk_predicate *predicate,
                    int64_t element) {
    if (predicate->kind == TOPK_BYTE_MASK) {
        return ((const unsigned char *)predicate->mask)[element] != 0;
    }
    if (predicate->kind == TOPK_BIT_MASK) {
        return ((const unsigned char *)predicate->mask)[element / 8] >> (element % 8) & 1;
    }
    const topk_bound *low_bound = predicate->bounds != NULL ? &predicate->bounds[0] : &predicate->low;
    const topk_bound *high_bound = predicate->bounds != NULL ? &predicate->bounds[1] : &predicate->high;
    oracle_number x =
        oracle_decode(type, (const char *)input->values + (size_t)element * oracle_type_size(type));
    oracle_number low = oracle_decode_bound(low_bound), high = oracle_decode_bound(high_bound);
    if (x.nan || low.nan || (predicate->kind == TOPK_BETWEEN && high.nan)) {
        return predicate->kind == TOPK_NE;
    }
    int to_low = oracle_compare(&x, &low);
    switch (predicate->kind) {
    case TOPK_GT:
        return to_low > 0;
    case TOPK_GE:
        return to_low >= 0;
    case TOPK_LT:
        return to_low < 0;
    case TOPK_LE:
        return to_low <= 0;
    case TOPK_EQ:
        return to_low == 0;
    case TOPK_NE:
        return to_low != 0;
    default:
        return to_low >= 0 && oracle_compare(&x, &high) <= 0;
    }
}

bool oracle_at_least(const topk_problem *problem, const topk_input *input, const topk_predicate *predicate,
                     int64_t row, int64_t element) {
    const int64_t size = (int64_t)oracle_type_size(problem->type);
    const char *threshold = (const char *)predicate->threshold + row * predicate->threshold_stride * size;
    const oracle_number x = oracle_decode(problem->type, (const char *)input->values + element * size),
                        least = oracle_decode(problem->type, threshold);
    return oracle_order(problem, &x, &least) <= 0;
}
