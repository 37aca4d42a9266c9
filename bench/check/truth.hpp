/* SPDX-License-Identifier: Apache-2.0
 *
 * What is known of a point with a predicate: its bound and its matches. A machine, the host or a GPU, has
 * memory, a loop, and so many workers that keep it busy. */
#ifndef BENCH_TRUTH_HPP
#define BENCH_TRUTH_HPP

#include "check/subject.hpp"

#include <cmath>
#include <limits>
#include <type_traits>

namespace bench {

/* The number that a float is; double holds them all. */
template <typename W> double number_of(topk_type type, W bits) {
    const bool negative = (bits & sign_bit<W>()) != 0;
    const W magnitude = static_cast<W>(bits & ~sign_bit<W>());
    if (magnitude == infinity_bits<W>(type) && type != TOPK_F8_E4M3) {
        return negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    }
    const int stored = element_format_of(type).fraction_bits;
    const int exponent = static_cast<int>(magnitude >> stored);
    const int bias = (1 << (8 * static_cast<int>(sizeof(W)) - 2 - stored)) - 1;
    const W fraction = static_cast<W>(magnitude & ((W(1) << stored) - 1));
    const double significand = static_cast<double>(exponent ? fraction + (W(1) << stored) : fraction);
    const double number = std::ldexp(significand, (exponent ? exponent : 1) - bias - stored);
    return negative ? -number : number;
}

/* The truth about a point, but for its bound and matches. */
inline bench_truth truth_of(const bench_point &point) {
    bench_truth truth = {};
    const bool by_position = point.operation == TOPK_OPERATION_SELECT_WHERE && bench_has_mask(&point);
    truth.rule = by_position                        ? BENCH_BY_POSITION
                 : point.predicate == BENCH_AT_MOST ? BENCH_UP_TO_BOUND
                                                    : BENCH_ABOVE_BOUND;
    truth.keep_percent = point.keep_percent;
    return truth;
}

/* How many percent of the elements the bound is to have above it. */
inline int percent_above(const bench_truth &truth) {
    return truth.rule == BENCH_BY_POSITION   ? 100
           : truth.rule == BENCH_UP_TO_BOUND ? 100 - truth.keep_percent
                                             : truth.keep_percent;
}

/* Makes the element that has this ascending key the bound. */
template <typename W> void set_bound(bench_truth &truth, topk_type type, W key) {
    const W bits = bits_of_key(type, key);
    truth.key = key;
    truth.all_above = false;
    if (element_is_float(type)) {
        truth.bound.type = TOPK_BOUND_F64;
        truth.bound.value.f64 = number_of(type, bits);
    } else if (is_signed(type)) {
        truth.bound.type = TOPK_BOUND_I64;
        truth.bound.value.i64 = static_cast<std::make_signed_t<W>>(bits);
    } else {
        truth.bound.type = TOPK_BOUND_U64;
        truth.bound.value.u64 = bits;
    }
}

/* Makes -infinity the bound. */
template <typename W> void set_no_bound(bench_truth &truth, topk_type type) {
    truth.bound.type = TOPK_BOUND_F64;
    truth.bound.value.f64 = -std::numeric_limits<double>::infinity();
    truth.all_above = !element_is_float(type) || type == TOPK_F8_E4M3;
    truth.key = truth.all_above ? 0 : static_cast<W>(~(infinity_bits<W>(type) | sign_bit<W>()));
}

/* Adds up the elements that match. */
template <typename W> struct count_matches {
    const W *elements;
    std::int64_t count, workers;
    topk_type type;
    bench_truth truth;
    counter *total;

    EVERYWHERE void operator()(std::int64_t worker) const {
        const share mine(worker, workers, count);
        counter found = 0;
        for (std::int64_t e = mine.first; e < mine.end; e += mine.stride) {
            found += matches(truth, type, elements[e], e);
        }
        add(total, found);
    }
    template <typename Machine>
    bool run(const Machine &machine, const bench_truth &wanted, std::int64_t *found) const {
        count_matches body = *this;
        body.truth = wanted;
        return machine.memory->fill(total, 0, sizeof *total) && machine.for_each(workers, body) &&
               machine.memory->copy(found, total, sizeof *found);
    }
};

/* The least key with at most `wanted` elements above it; it is no less than `low`. */
template <typename W, typename Machine>
bool find_key(const Machine &machine, const count_matches<W> &input, std::int64_t wanted, W low, W *key) {
    W high = static_cast<W>(~W(0));
    while (low < high) {
        const W middle = static_cast<W>(low + (high - low) / 2);
        bench_truth above_middle = {};
        std::int64_t above = 0;
        above_middle.rule = BENCH_ABOVE_BOUND;
        above_middle.key = middle;
        if (!input.run(machine, above_middle, &above)) {
            return false;
        }
        if (above <= wanted) {
            high = middle;
        } else {
            low = static_cast<W>(middle + 1);
        }
    }
    *key = low;
    return true;
}

/* Of a point with a predicate. False: out of memory or a device error. */
template <typename Machine>
bool find_truth(const Machine &machine, bench_truth *truth, const bench_point &point, const void *input,
                bench_buffer *scratch) {
    *truth = truth_of(point);
    return bench_buffer_make(machine.memory, scratch, sizeof(counter)) &&
           with_width(point.type, [&](auto width) {
               using W = decltype(width);
               const std::int64_t count = point.elements, percent = percent_above(*truth);
               const std::int64_t above = count / 100 * percent + count % 100 * percent / 100;
               const count_matches<W> all = {
                   static_cast<const W *>(input),        count, std::min(count, machine.busy), point.type, {},
                   static_cast<counter *>(scratch->data)};
               W key = 0;
               set_no_bound<W>(*truth, point.type);
               if (percent < 100 && count > 0) {
                   if (!find_key(machine, all, above, static_cast<W>(truth->key), &key)) {
                       return false;
                   }
                   set_bound(*truth, point.type, key);
               }
               return all.run(machine, *truth, &truth->matches);
           });
}

} // namespace bench

#endif // BENCH_TRUTH_HPP
