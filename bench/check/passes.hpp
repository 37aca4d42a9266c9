/* SPDX-License-Identifier: Apache-2.0
 *
 * The passes of a check, for the host and for a GPU. Each is a function that the machine calls for every
 * row, slot or share of the work, in any order and side by side. check.h says what makes a result right. */
#ifndef BENCH_PASSES_HPP
#define BENCH_PASSES_HPP

#include "check/matched.hpp"
#include "check/ranked.hpp"

#include <type_traits>

namespace bench {

/* The matches of each row; a checksum of all elements and offsets; whether the mask is what was made of them;
 * and the bits of a mask that was written. */
template <typename W>
EVERYWHERE void look_at_elements(const subject<W> &s, std::int64_t worker, std::int64_t workers) {
    const std::int64_t r = worker / workers;
    const share mine(worker, workers, s.length(r));
    const std::int64_t begin = s.begin(r);
    counter found = 0, checksum = 0;
    if (s.truth.offsets != nullptr && worker % workers == 0) {
        checksum =
            random_at(static_cast<counter>(begin), ~r) + random_at(static_cast<counter>(s.length(r)), ~r);
    }
    for (std::int64_t i = mine.first; i < mine.end; i += mine.stride) {
        const std::int64_t e = begin + i;
        const bool match = s.match(e);
        found += match;
        checksum += random_at(s.input[e], e);
        if (s.mask != nullptr && masked(s.mask, s.point.predicate == BENCH_BIT_MASK, e) != match) {
            s.find(r, finding_mask);
        }
        if (s.outputs.mask != nullptr && masked(s.outputs.mask, true, e) != match) {
            s.find(r, finding_bit);
        }
    }
    add(&s.rows[r].matches, found);
    add(&s.result->checksum, checksum);
}

/* The body of a loop: a pass for each row or slot, or one whose rows are shared out to so many workers. */
template <auto Pass, typename W> struct pass {
    subject<W> s;
    std::int64_t workers = 0;

    EVERYWHERE void operator()(std::int64_t i) const {
        if constexpr (std::is_invocable_v<decltype(Pass), const subject<W> &, std::int64_t>) {
            Pass(s, i);
        } else {
            Pass(s, i, workers);
        }
    }
};

/* Calls machine.for_each(count, body) for one pass after the other. False: one of the calls was. */
template <typename W, typename Machine> bool run_passes(const Machine &machine, const subject<W> &s) {
    const bench_point &point = s.point;
    const auto for_each = [&](std::int64_t count, auto body) { return machine.for_each(count, body); };
    const auto workers_of = [&](std::int64_t n) {
        constexpr std::int64_t warp = 32;
        const std::int64_t wanted = (machine.busy / (point.rows > 0 ? point.rows : 1) / warp + 1) * warp;
        return wanted < n ? wanted : n > 0 ? n : 1;
    };
    const std::int64_t of_row = workers_of(point.length_max), of_results = workers_of(point.k);
    const bool kth = point.operation == TOPK_OPERATION_KTH;
    if (!for_each(point.rows * of_row, pass<look_at_elements<W>, W>{s, of_row})) {
        return false;
    }
    switch (point.operation) {
    case TOPK_OPERATION_ROUTE: /* a model looks at its results (measure/model.cpp) */
        return true;
    case TOPK_OPERATION_COUNT:
        return for_each(point.rows, pass<judge_count<W>, W>{s});
    case TOPK_OPERATION_MASK:
        return for_each(1, pass<judge_mask<W>, W>{s});
    case TOPK_OPERATION_WHERE:
        return for_each(s.part_count, pass<count_part<W>, W>{s}) &&
               for_each(1, pass<add_up_parts<W>, W>{s}) &&
               (s.outputs.count_alone || for_each(point.rows, pass<judge_offset<W>, W>{s})) &&
               (s.outputs.any_order ? for_each(s.outputs.capacity, pass<check_any_order<W>, W>{s})
                                    : for_each(s.part_count, pass<check_part<W>, W>{s}));
    default:
        return (kth || (for_each(point.rows * point.k, pass<look_at_slot<W>, W>{s}) &&
                        for_each(point.k > 0 ? point.rows * of_results : 0,
                                 pass<count_results<W>, W>{s, of_results}))) &&
               for_each(point.rows * of_row, pass<count_elements<W>, W>{s, of_row}) &&
               (kth ? for_each(point.rows, pass<judge_kth<W>, W>{s})
                    : for_each(point.rows, pass<judge_select<W>, W>{s}));
    }
}

/* All passes on the outputs of a point, and what they find. False: out of memory or a device error. */
template <typename Machine>
bool run_check(const Machine &machine, const bench_point &point, const bench_outputs &outputs,
               const bench_truth &truth, const void *input, const void *mask, bench_buffer *scratch,
               verdict *found) {
    const std::size_t bytes = layout(point).bytes;
    return bench_buffer_make(machine.memory, scratch, bytes) &&
           machine.memory->fill(scratch->data, 0, bytes) &&
           with_width(point.type,
                      [&](auto width) {
                          return run_passes(machine, subject_of<decltype(width)>(point, outputs, truth, input,
                                                                                 mask, scratch->data));
                      }) &&
           machine.memory->copy(found, scratch->data, sizeof *found);
}

} // namespace bench

#endif // BENCH_PASSES_HPP
