/* SPDX-License-Identifier: Apache-2.0
 *
 * What a check can find wrong, and how it says so. */
#ifndef BENCH_FINDINGS_HPP
#define BENCH_FINDINGS_HPP

#include <cstddef>
#include <cstdio>

namespace bench {

using counter = unsigned long long; /* what atomics are for */

/* What is wrong; of a row with several findings the first of these is told. */
enum finding {
    finding_mask,
    finding_bit,
    finding_padding_index,
    finding_padding_value,
    finding_index,
    finding_value,
    finding_no_match,
    finding_twice,
    finding_order,
    finding_not_best,
    finding_missing,
    finding_values,
    finding_tie,
    finding_kth,
    finding_better,
    finding_equal,
    finding_offset,
    finding_match,
    finding_match_value,
    finding_count,
    findings
};
constexpr const char *const sentences[] = {
    "the mask was changed",
    "not the bit of an element",
    "index of padding",
    "value of padding",
    "index outside the row",
    "value is not that of the index",
    "an element that does not match",
    "an element twice",
    "order",
    "an element that is not among the best",
    "a better element is missing",
    "values are not those of the best",
    "a tie that lies too late",
    "the k-th value",
    "count of better elements",
    "count of equal elements",
    "offset",
    "index of a match",
    "value of a match",
    "count of matches",
};
static_assert(sizeof sentences / sizeof *sentences == findings, "a sentence for each finding");

struct verdict {
    counter first; /* complement of row * findings + finding, of the first row with one; 0: none */
    counter checksum;
};

/* Whether nothing was found; else `reason` gets a sentence. */
inline bool tell(const verdict &found, char *reason, std::size_t reason_bytes) {
    if (found.first != 0) {
        const counter what = ~found.first;
        std::snprintf(reason, reason_bytes, "row %llu: %s", what / findings, sentences[what % findings]);
    }
    return found.first == 0;
}

} // namespace bench

#endif // BENCH_FINDINGS_HPP
