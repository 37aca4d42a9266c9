/* SPDX-License-Identifier: Apache-2.0
 *
 * The passes of where, count and mask. */
#ifndef BENCH_MATCHED_HPP
#define BENCH_MATCHED_HPP

#include "check/subject.hpp"

namespace bench {

template <typename W> EVERYWHERE void judge_count(const subject<W> &s, std::int64_t r) {
    if (static_cast<counter>(s.outputs.counts[r]) != s.rows[r].matches) {
        s.find(r, finding_count);
    }
}

/* mask: bits behind the last element. */
template <typename W> EVERYWHERE void judge_mask(const subject<W> &s, std::int64_t) {
    for (std::int64_t e = s.point.elements; e % 8 != 0; ++e) {
        if (masked(s.outputs.mask, true, e)) {
            s.find(s.point.rows - 1, finding_bit);
        }
    }
}

/* where: the matches of each part. */
template <typename W> EVERYWHERE void count_part(const subject<W> &s, std::int64_t p) {
    const std::int64_t elements = s.point.elements;
    const std::int64_t end = elements < (p + 1) * s.part ? elements : (p + 1) * s.part;
    counter found = 0;
    for (std::int64_t e = p * s.part; e < end; ++e) {
        found += s.match(e);
    }
    s.parts[p] = found;
}

/* where: the slot at which each part begins, and the number of matches. One worker does it all. */
template <typename W> EVERYWHERE void add_up_parts(const subject<W> &s, std::int64_t) {
    counter sum = 0;
    for (std::int64_t p = 0; p < s.part_count; ++p) {
        const counter found = s.parts[p];
        s.parts[p] = sum;
        sum += found;
    }
    s.parts[s.part_count] = sum;
    const std::int64_t given = s.host_count >= 0 ? s.host_count : s.outputs.offsets[s.point.rows];
    if (static_cast<counter>(given) != sum) {
        s.find(s.point.rows - 1, finding_count);
    }
}

/* where: offsets, of which each row's differ by its matches. */
template <typename W> EVERYWHERE void judge_offset(const subject<W> &s, std::int64_t r) {
    const std::int64_t *offsets = s.outputs.offsets;
    if (r == 0 && offsets[0] != 0) {
        s.find(r, finding_offset);
    }
    if (static_cast<counter>(offsets[r + 1]) - static_cast<counter>(offsets[r]) != s.rows[r].matches) {
        s.find(r, finding_offset);
    }
}

/* where: results in order: each match knows its slot, and each slot has one match. */
template <typename W> EVERYWHERE void check_part(const subject<W> &s, std::int64_t p) {
    const std::int64_t elements = s.point.elements;
    const std::int64_t end = elements < (p + 1) * s.part ? elements : (p + 1) * s.part;
    std::int64_t slot = static_cast<std::int64_t>(s.parts[p]);
    for (std::int64_t e = p * s.part; e < end && slot < s.outputs.capacity; ++e) {
        if (!s.match(e)) {
            continue;
        }
        const std::int64_t r = e / s.point.n;
        if (s.outputs.indices != nullptr && s.index(slot) != e - r * s.point.n) {
            s.find(r, finding_match);
        }
        if (s.outputs.values != nullptr && s.values()[slot] != s.input[e]) {
            s.find(r, finding_match_value);
        }
        ++slot;
    }
}

/* where: results of one row in any order: as many distinct matches as there are. */
template <typename W> EVERYWHERE void check_any_order(const subject<W> &s, std::int64_t slot) {
    if (static_cast<counter>(slot) >= s.parts[s.part_count]) {
        return;
    }
    const std::int64_t i = s.index(slot);
    if (!s.inside(0, i)) {
        s.find(0, finding_index);
    } else if (!s.match(i)) {
        s.find(0, finding_no_match);
    } else {
        s.see(0, i);
    }
}

} // namespace bench

#endif // BENCH_MATCHED_HPP
