/* SPDX-License-Identifier: Apache-2.0
 *
 * The passes of select, select_where and kth. */
#ifndef BENCH_RANKED_HPP
#define BENCH_RANKED_HPP

#include "check/subject.hpp"

namespace bench {

template <typename W> EVERYWHERE void check_padding(const subject<W> &s, std::int64_t r, std::int64_t slot) {
    if (s.outputs.indices != nullptr && s.index(slot) != -1) {
        s.find(r, finding_padding_index);
    }
    if (s.outputs.values != nullptr && s.values()[slot] != padding_bits<W>(s.point)) {
        s.find(r, finding_padding_value);
    }
}

/* select: each result by itself, and beside the one before it. */
template <typename W> EVERYWHERE void look_at_slot(const subject<W> &s, std::int64_t j) {
    const std::int64_t r = j / s.point.k, slot = r * s.outputs.pitch + j % s.point.k;
    std::int64_t i, before;
    counter key, key_before;
    j %= s.point.k;
    if (j >= s.taken(r)) {
        check_padding(s, r, slot);
        return;
    }
    if (!s.look_up(r, j, &key, &i)) {
        s.find(r, finding_index);
        return;
    }
    if (i >= 0) {
        const std::int64_t e = s.begin(r) + i;
        if (s.outputs.values != nullptr && s.values()[slot] != s.input[e]) {
            s.find(r, finding_value);
        }
        if (!s.match(e)) {
            s.find(r, finding_no_match);
        }
        s.see(r, e);
    }
    /* Free ties are free to take, but not to lie in any order: those taken are sorted like all others. In any
     * order approximate results come by position. */
    const bool best = s.point.order == TOPK_ORDER_BEST_FIRST;
    const bool by_position = s.point.order == TOPK_ORDER_BY_POSITION || (!best && s.truth.chosen != nullptr);
    if (j > 0 && (best || by_position) && s.look_up(r, j - 1, &key_before, &before) &&
        ((best && key > key_before) || ((!best || key == key_before) && i >= 0 && i <= before))) {
        s.find(r, finding_order);
    }
    raise(&s.rows[r].worst, ~key);
}

/* select: the results again, now that their threshold is known. */
template <typename W>
EVERYWHERE void count_results(const subject<W> &s, std::int64_t worker, std::int64_t workers) {
    const std::int64_t r = worker / workers;
    const share mine(worker, workers, s.taken(r));
    row_counts *const row = &s.rows[r];
    const counter threshold = s.threshold(r);
    counter better = 0, equal = 0, last = 0, sum = 0, key;
    for (std::int64_t j = mine.first; j < mine.end; j += mine.stride) {
        std::int64_t i;
        if (!s.look_up(r, j, &key, &i)) {
            continue; /* found already */
        }
        if (key > threshold) {
            ++better;
            sum += random_at(key, 1);
        } else {
            ++equal;
            last = static_cast<counter>(i + 1) > last ? static_cast<counter>(i + 1) : last;
        }
    }
    add(&row->taken_better, better);
    add(&row->taken_equal, equal);
    add(&row->taken_sum, sum);
    raise(&row->last, last);
}

/* select and kth: all elements that take part. */
template <typename W>
EVERYWHERE void count_elements(const subject<W> &s, std::int64_t worker, std::int64_t workers) {
    const std::int64_t r = worker / workers;
    const share mine(worker, workers, s.length(r));
    row_counts *const row = &s.rows[r];
    const std::int64_t begin = s.begin(r);
    const counter threshold = s.threshold(r), last = row->last;
    counter better = 0, equal = 0, equal_to_last = 0, sum = 0;
    for (std::int64_t i = mine.first; i < mine.end; i += mine.stride) {
        const std::int64_t e = begin + i;
        const counter key = s.key(s.input[e]);
        if (key < threshold || !s.match(e)) {
            continue;
        }
        if (key > threshold) {
            ++better;
            sum += random_at(key, 1);
        } else {
            ++equal;
            equal_to_last += static_cast<counter>(i) < last;
        }
    }
    add(&row->better, better);
    add(&row->equal, equal);
    add(&row->equal_to_last, equal_to_last);
    add(&row->sum, sum);
}

template <typename W> EVERYWHERE void judge_select(const subject<W> &s, std::int64_t r) {
    const row_counts row = s.rows[r];
    const counter taken = static_cast<counter>(s.taken(r));
    if (taken == 0) {
        return;
    }
    /* Of distinct elements that are all at or above the threshold, the ones above it are all there are or
     * too few; and of the threshold's own there is at least one, or it would be another. */
    if (row.taken_better + row.taken_equal != taken || row.better >= taken) {
        s.find(r, finding_not_best);
    }
    if (row.taken_better != row.better) {
        s.find(r, finding_missing);
    }
    if (s.outputs.indices == nullptr) {
        if (row.taken_sum != row.sum || row.taken_equal > row.equal) {
            s.find(r, finding_values);
        }
    } else if (s.point.ties == TOPK_TIES_LOWEST_INDEX && row.equal_to_last != row.taken_equal) {
        s.find(r, finding_tie);
    }
}

template <typename W> EVERYWHERE void judge_kth(const subject<W> &s, std::int64_t r) {
    const row_counts row = s.rows[r];
    const bench_outputs &outputs = s.outputs;
    const std::int64_t length = s.length(r);
    const counter k = static_cast<counter>(s.point.k);
    const bool exists = s.point.k >= 1 && s.point.k <= length;
    if (exists ? row.better >= k || row.better + row.equal < k
               : static_cast<const W *>(outputs.kth)[r] != padding_bits<W>(s.point)) {
        s.find(r, finding_kth);
    }
    const counter beyond = s.point.k > length ? static_cast<counter>(length) : 0;
    if (outputs.better != nullptr &&
        static_cast<counter>(outputs.better[r]) != (exists ? row.better : beyond)) {
        s.find(r, finding_better);
    }
    if (outputs.equal != nullptr && static_cast<counter>(outputs.equal[r]) != (exists ? row.equal : 0)) {
        s.find(r, finding_equal);
    }
}

} // namespace bench

#endif // BENCH_RANKED_HPP
