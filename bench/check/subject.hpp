/* SPDX-License-Identifier: Apache-2.0
 *
 * What the passes of a check work on. */
#ifndef BENCH_SUBJECT_HPP
#define BENCH_SUBJECT_HPP

#include "check/findings.hpp"
#include "check/keys.hpp"
#include "everywhere_cuda.h"
#include "points/outputs.h"

#include <algorithm>

namespace bench {

/* What there is to know of a row, gathered pass by pass. */
struct row_counts {
    counter worst;                     /* complement of the threshold: of the least key of the results */
    counter last;                      /* 1 + the position of the last result that has that key; 0: none */
    counter taken_better, taken_equal; /* results above the threshold and with it */
    counter better, equal;             /* elements of the row likewise */
    counter equal_to_last;             /* equal elements at positions below `last` */
    counter taken_sum, sum; /* values alone: of a hash of each better result, of each better element */
    counter matches;        /* elements that take part: all, where there is no predicate */
};

/* The memory of a check in one piece, zero before its first pass. */
struct layout {
    std::size_t rows, parts, seen, bytes; /* where each begins; the verdict lies in front */
    std::int64_t part, part_count; /* where: neighbouring elements, whose matches are counted together */

    explicit layout(const bench_point &point) {
        constexpr std::int64_t part_least = 4096, parts_most = 1 << 16; /* one thread adds them up */
        const std::int64_t elements = point.elements;
        const std::int64_t share = (elements + parts_most - 1) / parts_most;
        part = share > part_least ? share : part_least;
        part_count = (elements + part - 1) / part;
        rows = sizeof(verdict);
        parts = rows + static_cast<std::size_t>(point.rows) * sizeof(row_counts);
        seen = parts + static_cast<std::size_t>(part_count + 1) * sizeof(counter);
        bytes = seen + static_cast<std::size_t>(elements / 32 + 1) * sizeof(unsigned);
    }
};

/* Atomic: addition, maximum, and or, which returns what there was. */
EVERYWHERE inline void add(counter *to, counter term) {
    if (term != 0) {
#ifdef __CUDA_ARCH__
        atomicAdd(to, term);
#else
        __atomic_fetch_add(to, term, __ATOMIC_RELAXED);
#endif
    }
}
EVERYWHERE inline void raise(counter *to, counter value) {
    counter now = *static_cast<volatile counter *>(to);
#ifdef __CUDA_ARCH__
    if (now < value) {
        atomicMax(to, value);
    }
#else
    while (now < value &&
           !__atomic_compare_exchange_n(to, &now, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
#endif
}
EVERYWHERE inline unsigned set(unsigned *word, unsigned bits) {
#ifdef __CUDA_ARCH__
    return atomicOr(word, bits);
#else
    return __atomic_fetch_or(word, bits, __ATOMIC_RELAXED);
#endif
}

/* What all passes work on. Elements are counted through all rows, and called e; i is a position in a row. */
template <typename W> struct subject {
    bench_point point;
    bench_outputs outputs;
    bench_truth truth;
    bool filtered;           /* only elements that match take part, or that the model chooses */
    std::int64_t host_count; /* where: the number of matches where the call gives it to the host; else -1 */
    const W *input;
    const unsigned char *mask; /* null: none */
    std::int64_t part, part_count;
    verdict *result;
    row_counts *rows;
    counter *parts; /* where: matches of each part, then of the parts before it; one more for the sum */
    unsigned *seen; /* a bit for each element */

    EVERYWHERE bool match(std::int64_t e) const {
        return !filtered || matches(truth, point.type, input[e], e);
    }
    EVERYWHERE counter key(W bits) const {
        return key_of(point, bits);
    }
    EVERYWHERE counter threshold(std::int64_t r) const {
        return point.operation == TOPK_OPERATION_KTH ? key(static_cast<const W *>(outputs.kth)[r])
                                                     : ~rows[r].worst;
    }
    /* Results of a row; the matches must have been counted. */
    EVERYWHERE std::int64_t taken(std::int64_t r) const {
        const std::int64_t most = static_cast<std::int64_t>(rows[r].matches);
        return point.k < most ? point.k : most;
    }
    EVERYWHERE const W *values() const {
        return static_cast<const W *>(outputs.values);
    }
    EVERYWHERE std::int64_t index(std::int64_t slot) const {
        return point.index_type == TOPK_INDEX_I64 ? static_cast<const std::int64_t *>(outputs.indices)[slot]
                                                  : static_cast<const std::int32_t *>(outputs.indices)[slot];
    }
    EVERYWHERE std::int64_t begin(std::int64_t r) const {
        return truth.offsets != nullptr ? truth.offsets[r] : r * point.n;
    }
    EVERYWHERE std::int64_t length(std::int64_t r) const {
        return begin(r + 1) - begin(r);
    }
    EVERYWHERE bool inside(std::int64_t r, std::int64_t i) const {
        return i >= 0 && i < length(r);
    }
    EVERYWHERE void find(std::int64_t r, finding what) const {
        raise(&result->first, ~(static_cast<counter>(r) * findings + what));
    }
    EVERYWHERE void see(std::int64_t r, std::int64_t e) const {
        const unsigned bit = 1u << (e % 32);
        if (set(&seen[e / 32], bit) & bit) {
            find(r, finding_twice);
        }
    }
    /* The key of slot j, and in *i the position of its element; where there are values alone, -1. False:
     * there is no such element. */
    EVERYWHERE bool look_up(std::int64_t r, std::int64_t j, counter *of_slot, std::int64_t *i) const {
        const std::int64_t slot = r * outputs.pitch + j;
        if (outputs.indices == nullptr) {
            *i = -1;
            *of_slot = key(values()[slot]);
            return true;
        }
        *i = index(slot);
        const bool is_element = inside(r, *i);
        *of_slot = is_element ? key(input[begin(r) + *i]) : 0;
        return is_element;
    }
};

/* A row's `count` elements or results are shared out to `workers`: on a GPU each takes every `workers`-th, so
 * that neighbours read neighbours; on the host each takes neighbours. */
struct share {
    std::int64_t first, end, stride;

    EVERYWHERE share(std::int64_t worker, std::int64_t workers, std::int64_t count) {
        const std::int64_t part = worker % workers;
#ifdef __CUDA_ARCH__
        first = part;
        end = count;
        stride = workers;
#else
        first = count / workers * part + std::min(part, count % workers);
        end = first + count / workers + (part < count % workers);
        stride = 1;
#endif
    }
};

template <typename W>
subject<W> subject_of(const bench_point &point, const bench_outputs &outputs, const bench_truth &truth,
                      const void *input, const void *mask, void *memory) {
    const layout at(point);
    char *const base = static_cast<char *>(memory);
    return {point,
            outputs,
            truth,
            bench_has_predicate(&point) || truth.chosen != nullptr,
            outputs.host_count != nullptr ? *outputs.host_count : -1,
            static_cast<const W *>(input),
            static_cast<const unsigned char *>(bench_has_predicate(&point) ? mask : nullptr),
            at.part,
            at.part_count,
            reinterpret_cast<verdict *>(base),
            reinterpret_cast<row_counts *>(base + at.rows),
            reinterpret_cast<counter *>(base + at.parts),
            reinterpret_cast<unsigned *>(base + at.seen)};
}

} // namespace bench

#endif // BENCH_SUBJECT_HPP
