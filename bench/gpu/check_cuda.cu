/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/check_cuda.h"

#include "check/keys.hpp"
#include "data/random.h"
#include "gpu/launch_cuda.cuh"
#include "gpu/match_cuda.cuh"

#include <cstdio>

namespace {

using counter = unsigned long long; /* what atomics are for */

/* What is wrong, the worst last: of several findings the first row's is told. */
enum finding {
    finding_mask,
    finding_padding_index,
    finding_padding_value,
    finding_index,
    finding_value,
    finding_no_match,
    finding_twice,
    finding_order,
    finding_not_best,
    finding_missing,
    finding_tie,
    finding_kth,
    finding_better,
    finding_equal,
    findings
};
const char *const sentences[] = {
    "the mask was changed",
    "index of padding",
    "value of padding",
    "index outside the row",
    "value is not that of the index",
    "an element that does not match",
    "an element twice",
    "order",
    "an element that is not among the best",
    "a better element is missing",
    "a tie that lies too late",
    "the k-th value",
    "count of better elements",
    "count of equal elements",
};
static_assert(sizeof sentences / sizeof *sentences == findings, "a sentence for each finding");

/* What there is to know of a row, gathered pass by pass. */
struct row_counts {
    counter threshold;                 /* the least key of the results; kth: the key of the result */
    counter last;                      /* 1 + the position of the last result that has it; 0: none */
    counter taken_better, taken_equal; /* results above the threshold and with it */
    counter better, equal;             /* elements of the row likewise */
    counter equal_to_last;             /* those of the equal at positions below `last` */
    counter matches;                   /* elements that take part: all, where there is no predicate */
};

/* What the host gets. */
struct verdict {
    counter first; /* row * findings + finding of the first row with one; all ones: none */
    counter checksum;
};

/* What all passes work on. */
template <typename W> struct subject {
    topk_type type;
    topk_direction direction;
    topk_order order;
    topk_ties ties;
    std::int64_t rows, n, k, pitch;
    const W *input;
    const W *values; /* select: the values; kth: the k-th */
    const void *indices;
    bool wide_indices;
    const std::int64_t *better, *equal; /* kth */
    bool filtered;                      /* only elements that match take part */
    bench_match match;
    const unsigned char *mask; /* null: none */
    bool mask_in_bits;
    row_counts *counts;
    unsigned *seen; /* a bit for each element of the input */
    verdict *result;

    /* Results of a row; the matches must have been counted. */
    __device__ std::int64_t taken(std::int64_t r) const {
        const std::int64_t matches = static_cast<std::int64_t>(counts[r].matches);
        return k < matches ? k : matches;
    }
    __device__ bool takes_part(W bits, std::int64_t e) const {
        return !filtered || match(bits, e);
    }
    __device__ counter key(W bits) const {
        return bench::key_of<W>(type, direction, bits);
    }
    __device__ std::int64_t index(std::int64_t r, std::int64_t j) const {
        const std::int64_t slot = r * pitch + j;
        return wide_indices ? static_cast<const std::int64_t *>(indices)[slot]
                            : static_cast<const std::int32_t *>(indices)[slot];
    }
    __device__ bool inside(std::int64_t i) const {
        return i >= 0 && i < n;
    }
    __device__ void find(std::int64_t r, finding what) const {
        atomicMin(&result->first, static_cast<counter>(r) * findings + what);
    }
};

template <typename W> struct clear_rows {
    subject<W> s;

    __device__ void operator()(std::int64_t r) const {
        s.counts[r] = {~counter(0), 0, 0, 0, 0, 0, 0, s.filtered ? 0 : static_cast<counter>(s.n)};
        if (s.better != nullptr) {
            s.counts[r].threshold = s.key(s.values[r]);
        }
    }
};

/* The matches of each row, and whether the mask is what was made of them. A worker takes every `workers`-th
 * element of one row. */
template <typename W> struct count_matches {
    subject<W> s;
    std::int64_t workers;

    __device__ void operator()(std::int64_t worker) const {
        const std::int64_t r = worker / workers;
        counter matches = 0;
        for (std::int64_t i = worker % workers; i < s.n; i += workers) {
            const std::int64_t e = r * s.n + i;
            const bool match = s.match(s.input[e], e);
            matches += match;
            if (s.mask != nullptr && bench_masked(s.mask, s.mask_in_bits, e) != match) {
                s.find(r, finding_mask);
            }
        }
        if (matches != 0) {
            atomicAdd(&s.counts[r].matches, matches);
        }
    }
};

/* Each result by itself, and beside the one before it. */
template <typename W> struct look_at_slot {
    subject<W> s;

    __device__ void padding(std::int64_t r, std::int64_t j) const {
        if (s.index(r, j) != -1) {
            s.find(r, finding_padding_index);
        }
        if (s.values[r * s.pitch + j] != bench::padding_bits<W>(s.type, s.direction)) {
            s.find(r, finding_padding_value);
        }
    }

    __device__ void order(std::int64_t r, std::int64_t j, std::int64_t i, counter key) const {
        const std::int64_t before = s.index(r, j - 1);
        if (!s.inside(before)) {
            return; /* found already */
        }
        const counter key_before = s.key(s.input[r * s.n + before]);
        /* Free ties are free to take, but not to lie in any order: those taken are sorted like all others. */
        if (key > key_before || (key == key_before && i <= before)) {
            s.find(r, finding_order);
        }
    }

    __device__ void operator()(std::int64_t slot) const {
        const std::int64_t r = slot / s.k, j = slot % s.k;
        if (j >= s.taken(r)) {
            padding(r, j);
            return;
        }
        const std::int64_t i = s.index(r, j);
        if (!s.inside(i)) {
            s.find(r, finding_index);
            return;
        }
        const std::int64_t at = r * s.n + i;
        const W bits = s.input[at];
        if (s.values[r * s.pitch + j] != bits) {
            s.find(r, finding_value);
        }
        if (!s.takes_part(bits, at)) {
            s.find(r, finding_no_match);
        }
        const unsigned bit = 1u << (at % 32);
        if (atomicOr(&s.seen[at / 32], bit) & bit) {
            s.find(r, finding_twice);
        }
        const counter key = s.key(bits);
        if (j > 0 && s.order == TOPK_ORDER_BEST_FIRST) {
            order(r, j, i, key);
        }
        /* The threshold only falls: what is not below an old one is not below the last. */
        if (key < *const_cast<volatile counter *>(&s.counts[r].threshold)) {
            atomicMin(&s.counts[r].threshold, key);
        }
    }
};

/* The results again, now that their threshold is known; shared out in the same way. */
template <typename W> struct count_results {
    subject<W> s;
    std::int64_t workers;

    __device__ void operator()(std::int64_t worker) const {
        const std::int64_t r = worker / workers;
        row_counts *counts = &s.counts[r];
        const std::int64_t taken = s.taken(r);
        counter better = 0, equal = 0, last = 0;
        for (std::int64_t j = worker % workers; j < taken; j += workers) {
            const std::int64_t i = s.index(r, j);
            if (!s.inside(i)) {
                continue; /* found already */
            }
            if (s.key(s.input[r * s.n + i]) > counts->threshold) {
                ++better;
            } else {
                ++equal;
                last = static_cast<counter>(i) + 1 > last ? static_cast<counter>(i) + 1 : last;
            }
        }
        if (better != 0) {
            atomicAdd(&counts->taken_better, better);
        }
        if (equal != 0) {
            atomicAdd(&counts->taken_equal, equal);
            atomicMax(&counts->last, last);
        }
    }
};

/* All elements that take part, and a checksum of all; likewise. */
template <typename W> struct count_elements {
    subject<W> s;
    std::int64_t workers;

    __device__ void operator()(std::int64_t worker) const {
        const std::int64_t r = worker / workers;
        row_counts *counts = &s.counts[r];
        const counter threshold = counts->threshold, last = counts->last;
        counter better = 0, equal = 0, equal_to_last = 0, checksum = 0;
        for (std::int64_t i = worker % workers; i < s.n; i += workers) {
            const std::int64_t e = r * s.n + i;
            const W bits = s.input[e];
            checksum += bench_random(bits, e);
            if (!s.takes_part(bits, e)) {
                continue;
            }
            const counter key = s.key(bits);
            better += key > threshold;
            equal += key == threshold;
            equal_to_last += key == threshold && static_cast<counter>(i) < last;
        }
        if (better != 0) {
            atomicAdd(&counts->better, better);
        }
        if (equal != 0) {
            atomicAdd(&counts->equal, equal);
        }
        if (equal_to_last != 0) {
            atomicAdd(&counts->equal_to_last, equal_to_last);
        }
        atomicAdd(&s.result->checksum, checksum);
    }
};

template <typename W> struct judge_select {
    subject<W> s;

    __device__ void operator()(std::int64_t r) const {
        const row_counts row = s.counts[r];
        const counter taken = static_cast<counter>(s.taken(r));
        if (taken == 0) {
            return;
        }
        /* Of distinct elements that are all at or above the threshold, those above it are all there are
         * or too few; and of the threshold's own there is at least one, or it would be another. */
        if (row.taken_better + row.taken_equal != taken || row.better >= taken) {
            s.find(r, finding_not_best);
        }
        if (row.taken_better != row.better) {
            s.find(r, finding_missing);
        }
        if (s.ties == TOPK_TIES_LOWEST_INDEX && row.equal_to_last != row.taken_equal) {
            s.find(r, finding_tie);
        }
    }
};

template <typename W> struct judge_kth {
    subject<W> s;

    __device__ void operator()(std::int64_t r) const {
        const row_counts row = s.counts[r];
        const counter k = static_cast<counter>(s.k);
        const bool exists = s.k >= 1 && s.k <= s.n;
        if (exists ? row.better >= k || row.better + row.equal < k
                   : s.values[r] != bench::padding_bits<W>(s.type, s.direction)) {
            s.find(r, finding_kth);
        }
        const counter beyond = s.k > s.n ? static_cast<counter>(s.n) : 0;
        if (static_cast<counter>(s.better[r]) != (exists ? row.better : beyond)) {
            s.find(r, finding_better);
        }
        if (static_cast<counter>(s.equal[r]) != (exists ? row.equal : 0)) {
            s.find(r, finding_equal);
        }
    }
};

/* So many that the device is busy, and no more than a row has elements. */
std::int64_t workers_of(std::int64_t rows, std::int64_t n) {
    constexpr std::int64_t busy = 1 << 18, warp = 32;
    const std::int64_t share = (busy / rows / warp + 1) * warp;
    return share < n ? share : n > 0 ? n : 1;
}

template <typename W> bool run_passes(const subject<W> &s, bool select, cudaStream_t stream) {
    const std::int64_t slots = select ? s.rows * s.k : 0;
    const std::int64_t of_row = s.rows > 0 ? workers_of(s.rows, s.n) : 1;
    const std::int64_t of_results = slots > 0 ? workers_of(s.rows, s.k) : 0;
    return bench_for_each(s.rows, clear_rows<W>{s}, stream) &&
           (!s.filtered || bench_for_each(s.rows * of_row, count_matches<W>{s, of_row}, stream)) &&
           bench_for_each(slots, look_at_slot<W>{s}, stream) &&
           bench_for_each(s.rows * of_results, count_results<W>{s, of_results}, stream) &&
           bench_for_each(s.rows * of_row, count_elements<W>{s, of_row}, stream) &&
           (select ? bench_for_each(s.rows, judge_select<W>{s}, stream)
                   : bench_for_each(s.rows, judge_kth<W>{s}, stream));
}

template <typename W>
bool check(const bench_gpu_checker *checker, const bench_point *point, const void *input,
           const bench_gpu_outputs *outputs, cudaStream_t stream) {
    const bool select = point->operation != TOPK_OPERATION_KTH;
    const bench_outputs &view = outputs->view;
    subject<W> s = {};
    s.type = point->type;
    s.direction = point->direction;
    s.order = point->order;
    s.ties = point->ties;
    s.rows = point->rows;
    s.n = point->n;
    s.k = point->k;
    s.pitch = outputs->pitch;
    s.input = static_cast<const W *>(input);
    s.values = static_cast<const W *>(select ? view.values : view.kth);
    s.indices = view.indices;
    s.wide_indices = point->index_type == TOPK_INDEX_I64;
    s.better = view.better;
    s.equal = view.equal;
    s.filtered = bench_has_predicate(point);
    s.match = bench_match_of(point->type, &checker->truth);
    s.mask = static_cast<const unsigned char *>(checker->mask);
    s.mask_in_bits = point->predicate == BENCH_BIT_MASK;
    s.counts = static_cast<row_counts *>(checker->rows.data);
    s.seen = static_cast<unsigned *>(checker->seen.data);
    s.result = static_cast<verdict *>(checker->verdict.data);
    return run_passes(s, select, stream);
}

bool check_width(const bench_gpu_checker *checker, const bench_point *point, const void *input,
                 const bench_gpu_outputs *outputs, cudaStream_t stream) {
    switch (topk_type_size(point->type)) {
    case 1:
        return check<std::uint8_t>(checker, point, input, outputs, stream);
    case 2:
        return check<std::uint16_t>(checker, point, input, outputs, stream);
    case 4:
        return check<std::uint32_t>(checker, point, input, outputs, stream);
    default:
        return check<std::uint64_t>(checker, point, input, outputs, stream);
    }
}

bool prepare(bench_gpu_checker *checker, const bench_point *point, cudaStream_t stream) {
    const std::size_t rows = static_cast<std::size_t>(point->rows);
    const std::size_t bits = rows * static_cast<std::size_t>(point->n);
    const verdict blank = {~counter(0), 0};
    return bench_buffer_make(&checker->rows, rows * sizeof(row_counts)) &&
           bench_buffer_make(&checker->seen, (bits / 32 + 1) * sizeof(unsigned)) &&
           bench_buffer_make(&checker->verdict, sizeof blank) &&
           bench_device_ok(cudaMemsetAsync(checker->seen.data, 0, checker->seen.bytes, stream), "checking") &&
           bench_device_ok(
               cudaMemcpyAsync(checker->verdict.data, &blank, sizeof blank, cudaMemcpyHostToDevice, stream),
               "checking");
}

} // namespace

bool bench_gpu_check(bench_gpu_checker *checker, const bench_point *point, const void *input,
                     const bench_gpu_outputs *outputs, cudaStream_t stream, std::uint64_t *checksum,
                     char *reason, std::size_t reason_bytes) {
    if (!bench_has_k(point)) {
        return bench_gpu_check_where(checker, point, input, outputs, stream, checksum, reason, reason_bytes);
    }
    verdict found = {0, 0};
    *checksum = 0;
    const bool ok = prepare(checker, point, stream) && check_width(checker, point, input, outputs, stream) &&
                    bench_device_ok(cudaMemcpyAsync(&found, checker->verdict.data, sizeof found,
                                                    cudaMemcpyDeviceToHost, stream),
                                    "checking") &&
                    bench_device_ok(cudaStreamSynchronize(stream), "checking");
    if (!ok) {
        std::snprintf(reason, reason_bytes, "could not be checked: %s", bench_device_error());
        return false;
    }
    *checksum = found.checksum;
    if (found.first != ~counter(0)) {
        std::snprintf(reason, reason_bytes, "row %llu: %s", found.first / findings,
                      sentences[found.first % findings]);
        return false;
    }
    if (!bench_gpu_outputs_intact(outputs, stream)) {
        std::snprintf(reason, reason_bytes, "written beside the outputs");
        return false;
    }
    return true;
}

void bench_gpu_checker_free(bench_gpu_checker *checker) {
    bench_buffer_free(&checker->rows);
    bench_buffer_free(&checker->seen);
    bench_buffer_free(&checker->places);
    bench_buffer_free(&checker->verdict);
}
