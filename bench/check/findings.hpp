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
// clang-format off
#define BENCH_FINDINGS(finding) \
    finding(mask, "the mask was changed") \
    finding(bit, "not the bit of an element") \
    finding(padding_index, "index of padding") \
    finding(padding_value, "value of padding") \
    finding(index, "index outside the row") \
    finding(value, "value is not that of the index") \
    finding(no_match, "an element that does not match") \
    finding(twice, "an element twice") \
    finding(order, "order") \
    finding(not_best, "an element that is not among the best") \
    finding(missing, "a better element is missing") \
    finding(values, "values are not those of the best") \
    finding(tie, "a tie that lies too late") \
    finding(kth, "the k-th value") \
    finding(better, "count of better elements") \
    finding(equal, "count of equal elements") \
    finding(offset, "offset") \
    finding(match, "index of a match") \
    finding(match_value, "value of a match") \
    finding(count, "count of matches")
// clang-format on
#define BENCH_FINDING(name, sentence) finding_##name,
enum finding { BENCH_FINDINGS(BENCH_FINDING) findings };

#define BENCH_SENTENCE(name, sentence) sentence,
constexpr const char *const sentences[] = {BENCH_FINDINGS(BENCH_SENTENCE)};

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
