/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/check_cuda.h"

#include "data/random.h"
#include "gpu/launch_cuda.cuh"
#include "gpu/match_cuda.cuh"

#include <cstdio>
#include <new>
#include <vector>

namespace {

using counter = unsigned long long; /* what atomics are for */

/* Neighbouring elements that one warp looks at. */
constexpr std::int64_t chunk = 4096;
constexpr unsigned whole_warp = 0xffffffffu;

enum finding {
    finding_index,
    finding_value,
    finding_outside,
    finding_no_match,
    finding_twice,
    finding_bit,
    findings
};
const char *const sentences[] = {
    "not the index of this match",
    "not the value of this match",
    "index outside the row",
    "an element that does not match",
    "an element twice",
    "not the bit of this element",
};
static_assert(sizeof sentences / sizeof *sentences == findings, "a sentence for each finding");

/* What the host gets. */
struct verdict {
    counter first;  /* place * findings + finding of the first result with one; all ones: none */
    counter offset; /* the first row with a wrong offset; all ones: none */
    counter checksum;
    unsigned mask_differs;
};

/* What all passes work on. The rows lie end to end, and so do their results. */
template <typename W> struct subject {
    bench_match match;
    std::int64_t rows, n, elements, capacity;
    std::int64_t matches; /* of all rows, by this check's own count */
    const W *input;
    const W *values;     /* null: not asked for */
    const void *indices; /* null: not asked for */
    bool wide_indices;
    const std::int64_t *offsets; /* null: not all are given */
    std::int64_t *places;        /* of the first match of each chunk; before that, how many a chunk has */
    const unsigned char *mask;   /* null: none */
    bool mask_in_bits;           /* or in bytes */
    const unsigned char *bits;   /* null: no bit mask was asked for */
    unsigned *seen;              /* a bit for each element of the input */
    verdict *result;

    __device__ std::int64_t index(std::int64_t slot) const {
        return wide_indices ? static_cast<const std::int64_t *>(indices)[slot]
                            : static_cast<const std::int32_t *>(indices)[slot];
    }
    __device__ void find(std::int64_t place, finding what) const {
        atomicMin(&result->first, static_cast<counter>(place) * findings + what);
    }
    __device__ void find_offset(std::int64_t row) const {
        atomicMin(&result->offset, static_cast<counter>(row));
    }
};

/* Chunks of the input are shared out to all warps of the grid. */
__device__ inline std::int64_t first_chunk() {
    return (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
}
__device__ inline std::int64_t chunk_stride() {
    return static_cast<std::int64_t>(gridDim.x) * blockDim.x / 32;
}

/* The matches of each chunk; a checksum of the elements; whether the mask is what was made of them, and what
 * was written if that is one. */
template <typename W> __global__ void count_chunks(subject<W> s, std::int64_t chunks) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    counter checksum = 0;
    for (std::int64_t c = first_chunk(); c < chunks; c += chunk_stride()) {
        std::int64_t count = 0;
        for (std::int64_t e = c * chunk + lane; e - lane < (c + 1) * chunk; e += 32) {
            bool match = false;
            if (e < s.elements) {
                const W bits = s.input[e];
                match = s.match(bits, e);
                checksum += bench_random(bits, e);
                if (s.mask != nullptr && bench_masked(s.mask, s.mask_in_bits, e) != match) {
                    s.result->mask_differs = 1;
                }
            }
            /* Up to the end of the last byte. */
            if (s.bits != nullptr && e < (s.elements + 7) / 8 * 8 && bench_masked(s.bits, true, e) != match) {
                s.find(e, finding_bit);
            }
            count += __popc(__ballot_sync(whole_warp, match));
        }
        if (lane == 0) {
            s.places[c] = count;
        }
    }
    atomicAdd(&s.result->checksum, checksum);
}

/* The results in order: each match knows its place, and each place has one match. */
template <typename W> __global__ void check_chunks(subject<W> s, std::int64_t chunks) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    for (std::int64_t c = first_chunk(); c < chunks; c += chunk_stride()) {
        std::int64_t place = s.places[c];
        for (std::int64_t e = c * chunk + lane; e - lane < (c + 1) * chunk; e += 32) {
            const bool inside = e < s.elements;
            const W bits = inside ? s.input[e] : W(0);
            const bool match = inside && s.match(bits, e);
            const unsigned matches = __ballot_sync(whole_warp, match);
            const std::int64_t mine = place + __popc(matches & ((1u << lane) - 1));
            const std::int64_t row = s.rows == 1 || !inside ? 0 : e / s.n;
            const std::int64_t i = e - row * s.n;
            if (inside && i == 0 && s.offsets != nullptr && s.offsets[row] != mine) {
                s.find_offset(row);
            }
            if (match && mine < s.capacity) {
                if (s.indices != nullptr && s.index(mine) != i) {
                    s.find(mine, finding_index);
                }
                if (s.values != nullptr && s.values[mine] != bits) {
                    s.find(mine, finding_value);
                }
            }
            place += __popc(matches);
        }
    }
}

/* Results in any order, of one row: as many distinct matches as there are. */
template <typename W> struct check_any_order {
    subject<W> s;

    __device__ void operator()(std::int64_t place) const {
        const std::int64_t i = s.index(place);
        if (i < 0 || i >= s.n) {
            s.find(place, finding_outside);
            return;
        }
        if (!s.match(s.input[i], i)) {
            s.find(place, finding_no_match);
        }
        const unsigned bit = 1u << (i % 32);
        if (atomicOr(&s.seen[i / 32], bit) & bit) {
            s.find(place, finding_twice);
        }
    }
};

/* Offsets that no element vouches for: those of empty rows. */
template <typename W> struct check_empty_rows {
    subject<W> s;

    __device__ void operator()(std::int64_t row) const {
        if (s.offsets[row] != 0) {
            s.find_offset(row);
        }
    }
};

bool copy_back(void *to, const void *from, std::size_t bytes, cudaStream_t stream) {
    return bench_device_ok(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream), "checking") &&
           bench_device_ok(cudaStreamSynchronize(stream), "checking");
}

/* From the counts of chunks or rows to the places where they begin; *matches gets the sum. Wrong counts may
 * wrap. */
bool sum_up(std::int64_t *places, std::int64_t chunks, std::int64_t *matches, cudaStream_t stream) try {
    std::vector<counter> host(static_cast<std::size_t>(chunks));
    const std::size_t bytes = host.size() * sizeof host[0];
    counter sum = 0;
    *matches = 0;
    if (chunks == 0) {
        return true;
    }
    if (!copy_back(host.data(), places, bytes, stream)) {
        return false;
    }
    for (counter &each : host) {
        const counter count = each;
        each = sum;
        sum += count;
    }
    *matches = static_cast<std::int64_t>(sum);
    return bench_device_ok(cudaMemcpyAsync(places, host.data(), bytes, cudaMemcpyHostToDevice, stream),
                           "checking") &&
           bench_device_ok(cudaStreamSynchronize(stream), "checking");
} catch (const std::bad_alloc &) {
    return bench_device_ok(cudaErrorMemoryAllocation, "checking");
}

template <typename W> bool run_passes(subject<W> &s, const bench_gpu_outputs *outputs, cudaStream_t stream) {
    constexpr unsigned threads = 256;
    constexpr std::int64_t blocks_max = 4096, chunks_of_block = threads / 32;
    const std::int64_t chunks = (s.elements + chunk - 1) / chunk;
    const std::int64_t wanted = (chunks + chunks_of_block - 1) / chunks_of_block;
    const unsigned blocks = static_cast<unsigned>(wanted < 1 ? 1 : wanted < blocks_max ? wanted : blocks_max);
    if (!bench_launch(count_chunks<W>, blocks, threads, stream, s, chunks) ||
        !sum_up(s.places, chunks, &s.matches, stream)) {
        return false;
    }
    if (s.n == 0 && s.offsets != nullptr) {
        return bench_for_each(s.rows, check_empty_rows<W>{s}, stream);
    }
    if (outputs->any_order) {
        /* No more than there is room for, should the count be another. */
        const std::int64_t taken = s.matches < s.capacity ? s.matches : s.capacity;
        return bench_for_each(taken, check_any_order<W>{s}, stream);
    }
    return bench_launch(check_chunks<W>, blocks, threads, stream, s, chunks);
}

/* count: where the matches of each row begin, by what was counted. */
std::int64_t *starts_of(const bench_gpu_checker *checker) {
    return static_cast<std::int64_t *>(checker->rows.data);
}

template <typename W>
bool check(const bench_gpu_checker *checker, const bench_point *point, const void *input,
           const bench_gpu_outputs *outputs, cudaStream_t stream, std::int64_t *matches) {
    const bench_outputs &view = outputs->view;
    subject<W> s = {};
    s.match = bench_match_of(point->type, &checker->truth);
    s.rows = point->rows;
    s.n = point->n;
    s.elements = point->rows * point->n;
    s.capacity = view.capacity;
    s.input = static_cast<const W *>(input);
    s.values = static_cast<const W *>(view.values);
    s.indices = view.indices;
    s.wide_indices = point->index_type == TOPK_INDEX_I64;
    s.offsets = point->operation == TOPK_OPERATION_COUNT ? starts_of(checker)
                : outputs->count_alone                   ? nullptr
                                                         : view.offsets;
    s.places = static_cast<std::int64_t *>(checker->places.data);
    s.mask = static_cast<const unsigned char *>(checker->mask);
    s.mask_in_bits = point->predicate == BENCH_BIT_MASK;
    s.bits = view.mask;
    s.seen = static_cast<unsigned *>(checker->seen.data);
    s.result = static_cast<verdict *>(checker->verdict.data);
    const bool ok = run_passes(s, outputs, stream);
    *matches = s.matches;
    return ok;
}

bool check_width(const bench_gpu_checker *checker, const bench_point *point, const void *input,
                 const bench_gpu_outputs *outputs, cudaStream_t stream, std::int64_t *matches) {
    switch (topk_type_size(point->type)) {
    case 1:
        return check<std::uint8_t>(checker, point, input, outputs, stream, matches);
    case 2:
        return check<std::uint16_t>(checker, point, input, outputs, stream, matches);
    case 4:
        return check<std::uint32_t>(checker, point, input, outputs, stream, matches);
    default:
        return check<std::uint64_t>(checker, point, input, outputs, stream, matches);
    }
}

bool prepare(bench_gpu_checker *checker, const bench_point *point, const bench_gpu_outputs *outputs,
             cudaStream_t stream) {
    const std::size_t elements = static_cast<std::size_t>(point->rows * point->n);
    const std::size_t chunks =
        (elements + static_cast<std::size_t>(chunk) - 1) / static_cast<std::size_t>(chunk);
    const std::size_t seen_bytes = outputs->any_order ? (elements / 32 + 1) * sizeof(unsigned) : 0;
    const verdict blank = {~counter(0), ~counter(0), 0, 0};
    return bench_buffer_make(&checker->rows, static_cast<std::size_t>(point->rows) * sizeof(std::int64_t)) &&
           bench_buffer_make(&checker->places, chunks * sizeof(std::int64_t)) &&
           bench_buffer_make(&checker->seen, seen_bytes) &&
           bench_buffer_make(&checker->verdict, sizeof blank) &&
           (seen_bytes == 0 ||
            bench_device_ok(cudaMemsetAsync(checker->seen.data, 0, seen_bytes, stream), "checking")) &&
           bench_device_ok(
               cudaMemcpyAsync(checker->verdict.data, &blank, sizeof blank, cudaMemcpyHostToDevice, stream),
               "checking");
}

/* The number of all matches, as the outputs tell it; counts of rows become the places where they begin. */
bool read_count(const bench_gpu_checker *checker, const bench_point *point, const bench_gpu_outputs *outputs,
                std::int64_t *count, cudaStream_t stream) {
    if (point->operation == TOPK_OPERATION_COUNT) {
        std::int64_t *starts = starts_of(checker);
        return bench_device_ok(cudaMemcpyAsync(starts, outputs->view.counts,
                                               static_cast<std::size_t>(point->rows) * sizeof *starts,
                                               cudaMemcpyDeviceToDevice, stream),
                               "checking") &&
               sum_up(starts, point->rows, count, stream);
    }
    if (point->operation == TOPK_OPERATION_MASK) {
        *count = checker->truth.matches; /* not among the outputs */
        return true;
    }
    if (outputs->host_count != nullptr) {
        *count = *outputs->host_count;
        return true;
    }
    return copy_back(count, outputs->view.offsets + point->rows, sizeof *count, stream);
}

bool say(char *reason, std::size_t reason_bytes, const char *what) {
    std::snprintf(reason, reason_bytes, "%s", what);
    return false;
}

} // namespace

bool bench_gpu_check_where(bench_gpu_checker *checker, const bench_point *point, const void *input,
                           const bench_gpu_outputs *outputs, cudaStream_t stream, std::uint64_t *checksum,
                           char *reason, std::size_t reason_bytes) {
    verdict found = {};
    std::int64_t matches = 0, count = 0;
    const bool ok = prepare(checker, point, outputs, stream) &&
                    read_count(checker, point, outputs, &count, stream) &&
                    check_width(checker, point, input, outputs, stream, &matches) &&
                    copy_back(&found, checker->verdict.data, sizeof found, stream);
    *checksum = found.checksum;
    if (!ok) {
        std::snprintf(reason, reason_bytes, "could not be checked: %s", bench_device_error());
        return false;
    }
    if (found.mask_differs != 0) {
        return say(reason, reason_bytes, "the mask was changed");
    }
    if (count != matches) {
        std::snprintf(reason, reason_bytes, "%lld matches, not %lld", static_cast<long long>(matches),
                      static_cast<long long>(count));
        return false;
    }
    if (found.offset != ~counter(0)) {
        std::snprintf(reason, reason_bytes, "row %llu: offset, or a count before it", found.offset);
        return false;
    }
    if (found.first != ~counter(0)) {
        std::snprintf(reason, reason_bytes, "result %llu: %s", found.first / findings,
                      sentences[found.first % findings]);
        return false;
    }
    return bench_gpu_outputs_intact(outputs, stream) ||
           say(reason, reason_bytes, "written beside the outputs");
}
