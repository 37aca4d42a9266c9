/* SPDX-License-Identifier: Apache-2.0
 *
 * Selections that the host drives, step by step: RadixSelect (Alabi et al., Fast K-Selection Algorithms for
 * Graphics Processing Units), QuickSelect (Dashti et al., Efficient Selection Algorithm for Fast k-NN Search
 * on GPUs) and SampleSelect (Ribizel and Anzt, Parallel Selection on GPUs). The paper of AIR Top-K compares
 * with them.
 *
 * Each divides the candidates into buckets, from the best to the worst. One launch counts them. The host
 * waits for the counts and chooses the bucket of the k-th element. Another launch writes all elements of
 * better buckets: they are results. It keeps the elements of the chosen bucket: they are the next candidates.
 * Buckets are told apart by eight bits of an element, by one candidate as a pivot, or by a sorted sample of
 * the candidates. One row is served after the other. Results come in any order. */
#include "gpu/launch_cuda.cuh"
#include "gpu/rivals_cuda.h"

namespace {

constexpr unsigned threads_of_block = 256;
constexpr std::int64_t elements_of_block = 4096, blocks_max = 2048;
constexpr std::int64_t rows_max = 1024;
constexpr int splitters = 255, drawn = 1024, buckets_max = 2 * splitters + 1;

/* An unsigned number that ascends with the float; no float is NaN. */
__host__ __device__ std::uint32_t key_of_bits(std::uint32_t bits) {
    return (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
}

__device__ std::uint32_t key_of(float value) {
    return key_of_bits(__float_as_uint(value));
}

/* Elements of a row, or some of them. */
struct candidates {
    const float *values;
    const std::int32_t *positions; /* null: all of a row */
    std::int64_t count;

    __device__ std::int32_t position(std::int64_t i) const {
        return positions != nullptr ? positions[i] : static_cast<std::int32_t>(i);
    }
};

struct list {
    float *values;
    std::int32_t *positions;

    __device__ void put(std::int64_t slot, const candidates &from, std::int64_t i) const {
        values[slot] = from.values[i];
        positions[slot] = from.position(i);
    }
};

/* On the device: counts of buckets; how many results are written and candidates are kept; and a sample. */
struct counters {
    unsigned buckets[buckets_max];
    unsigned written, kept;
    std::uint32_t sample[splitters]; /* descending keys: the splitters */
};

/* ---- Buckets ---- */

struct of_digit {
    static constexpr int count = 256;
    static constexpr bool has_sample = false;
    int shift;

    __device__ int bucket(std::uint32_t key, const std::uint32_t *) const {
        return 255 - static_cast<int>(key >> shift & 255);
    }
    /* Whether all elements of a bucket are equal. */
    bool is_one_key(int) const {
        return shift == 0;
    }
};

struct of_pivot {
    static constexpr int count = 3;
    static constexpr bool has_sample = false;
    std::uint32_t pivot;

    __device__ int bucket(std::uint32_t key, const std::uint32_t *) const {
        return key > pivot ? 0 : key == pivot ? 1 : 2;
    }
    bool is_one_key(int bucket) const {
        return bucket == 1;
    }
};

/* Between two splitters, or equal to one. */
struct of_sample {
    static constexpr int count = buckets_max;
    static constexpr bool has_sample = true;

    __device__ int bucket(std::uint32_t key, const std::uint32_t *sample) const {
        int above = 0; /* splitters above the key */
        for (int step = (splitters + 1) / 2; step > 0; step /= 2) {
            above += sample[above + step - 1] > key ? step : 0;
        }
        return 2 * above + (above < splitters && sample[above] == key ? 1 : 0);
    }
    bool is_one_key(int bucket) const {
        return bucket % 2 == 1;
    }
};

/* ---- Launches ---- */

/* Of a sample; others have none. */
template <typename Buckets> __device__ void share_splitters(const counters *c, std::uint32_t *sample) {
    for (unsigned i = threadIdx.x; Buckets::has_sample && i < splitters; i += blockDim.x) {
        sample[i] = c->sample[i];
    }
    __syncthreads();
}

/* Calls work(i, key) for each candidate. */
template <typename Work> __device__ void for_candidates(const candidates &from, Work work) {
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < from.count;
         i += stride) {
        work(i, key_of(from.values[i]));
    }
}

template <typename Buckets>
__global__ void __launch_bounds__(threads_of_block)
    count_buckets(candidates from, Buckets buckets, counters *c) {
    __shared__ unsigned counts[Buckets::count];
    __shared__ std::uint32_t sample[splitters];
    for (unsigned b = threadIdx.x; b < Buckets::count; b += blockDim.x) {
        counts[b] = 0;
    }
    share_splitters<Buckets>(c, sample);
    for_candidates(
        from, [&](std::int64_t, std::uint32_t key) { atomicAdd(&counts[buckets.bucket(key, sample)], 1u); });
    __syncthreads();
    for (unsigned b = threadIdx.x; b < Buckets::count; b += blockDim.x) {
        if (counts[b] != 0) {
            atomicAdd(&c->buckets[b], counts[b]);
        }
    }
}

template <typename Buckets>
__global__ void __launch_bounds__(threads_of_block)
    filter(candidates from, Buckets buckets, int chosen, counters *c, list results, list kept) {
    __shared__ std::uint32_t sample[splitters];
    share_splitters<Buckets>(c, sample);
    for_candidates(from, [&](std::int64_t i, std::uint32_t key) {
        const int bucket = buckets.bucket(key, sample);
        if (bucket < chosen) {
            results.put(atomicAdd(&c->written, 1u), from, i);
        } else if (bucket == chosen) {
            kept.put(atomicAdd(&c->kept, 1u), from, i);
        }
    });
}

/* The first candidates, which are all of them or tie. */
__global__ void __launch_bounds__(threads_of_block) take(candidates from, list results, std::int64_t first) {
    for_candidates(from, [&](std::int64_t i, std::uint32_t) { results.put(first + i, from, i); });
}

/* Number `i` of a sequence that looks random. */
__host__ __device__ std::uint64_t hash(std::uint64_t i) {
    i = (i + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    i = (i ^ i >> 27) * 0x94d049bb133111ebu;
    return i ^ i >> 31;
}

/* One block. Every fourth key of the sorted sample is a splitter. */
__global__ void __launch_bounds__(drawn) draw_splitters(candidates from, std::uint64_t seed, counters *c) {
    __shared__ std::uint32_t keys[drawn];
    const unsigned mine = threadIdx.x;
    keys[mine] = key_of(from.values[hash(seed + mine) % static_cast<std::uint64_t>(from.count)]);
    for (unsigned sorted = 2; sorted <= drawn; sorted *= 2) {
        for (unsigned distance = sorted / 2; distance > 0; distance /= 2) {
            __syncthreads();
            const unsigned other = mine ^ distance;
            const std::uint32_t a = keys[mine], b = keys[other];
            const bool descends = (mine & sorted) == 0;
            __syncthreads();
            if ((mine < other) == descends) {
                keys[mine] = a > b ? a : b;
            } else {
                keys[mine] = a < b ? a : b;
            }
        }
    }
    __syncthreads();
    if (mine < splitters) {
        c->sample[mine] = keys[(mine + 1) * (drawn / (splitters + 1)) - 1];
    }
}

/* ---- The host's part ---- */

unsigned blocks_for(std::int64_t count) {
    const std::int64_t blocks = (count + elements_of_block - 1) / elements_of_block;
    return static_cast<unsigned>(blocks < blocks_max ? blocks : blocks_max);
}

/* A selection from one row. */
struct selection {
    cudaStream_t stream;
    counters *device;
    candidates from;
    list results, buffers[2]; /* candidates go to one and the other by turns */
    std::int64_t k, missing;  /* how many results the row has, and how many of them are missing */
    int pass;
};

bool wait_for(cudaStream_t stream) {
    return bench_device_ok(cudaStreamSynchronize(stream), "a wait");
}

bool clear(void *what, std::size_t bytes, cudaStream_t stream) {
    return bench_device_ok(cudaMemsetAsync(what, 0, bytes, stream), "clearing");
}

/* What is missing is any of the candidates. */
bool finish_row(const selection &s) {
    const candidates first = {s.from.values, s.from.positions, s.missing};
    return bench_launch(take, blocks_for(s.missing), threads_of_block, s.stream, first, s.results,
                        s.k - s.missing);
}

/* One step. *one_key: all candidates that are left are equal. */
template <typename Buckets> bool divide(selection *s, Buckets buckets, bool *one_key) {
    unsigned counts[Buckets::count];
    counters *const c = s->device;
    if (!clear(c->buckets, sizeof c->buckets, s->stream) ||
        !bench_launch(count_buckets<Buckets>, blocks_for(s->from.count), threads_of_block, s->stream, s->from,
                      buckets, c) ||
        !bench_device_ok(
            cudaMemcpyAsync(counts, c->buckets, sizeof counts, cudaMemcpyDeviceToHost, s->stream),
            "reading counts") ||
        !wait_for(s->stream)) {
        return false;
    }
    int chosen = 0;
    std::int64_t better = 0;
    while (chosen + 1 < Buckets::count && better + counts[chosen] < s->missing) {
        better += counts[chosen++];
    }
    const list kept = s->buffers[s->pass % 2];
    if (!clear(&c->kept, sizeof c->kept, s->stream) ||
        !bench_launch(filter<Buckets>, blocks_for(s->from.count), threads_of_block, s->stream, s->from,
                      buckets, chosen, c, s->results, kept)) {
        return false;
    }
    s->from = {kept.values, kept.positions, static_cast<std::int64_t>(counts[chosen])};
    s->missing -= better;
    ++s->pass;
    *one_key = buckets.is_one_key(chosen);
    return true;
}

bool step_of_radix(selection *s, bool *one_key) {
    return divide(s, of_digit{24 - 8 * s->pass}, one_key);
}

bool step_of_quick(selection *s, bool *one_key) {
    const std::uint64_t at =
        hash(static_cast<std::uint64_t>(s->pass)) % static_cast<std::uint64_t>(s->from.count);
    std::uint32_t bits = 0;
    return bench_device_ok(
               cudaMemcpyAsync(&bits, s->from.values + at, sizeof bits, cudaMemcpyDeviceToHost, s->stream),
               "reading a pivot") &&
           wait_for(s->stream) && divide(s, of_pivot{key_of_bits(bits)}, one_key);
}

bool step_of_sample(selection *s, bool *one_key) {
    const std::uint64_t seed = static_cast<std::uint64_t>(s->pass) * drawn;
    return bench_launch(draw_splitters, 1, static_cast<unsigned>(drawn), s->stream, s->from, seed,
                        s->device) &&
           divide(s, of_sample{}, one_key);
}

template <bool (*Step)(selection *, bool *)> bool select_row(selection *s) {
    bool one_key = false;
    if (!clear(&s->device->written, sizeof s->device->written, s->stream)) {
        return false;
    }
    while (!one_key && s->missing < s->from.count) {
        if (!Step(s, &one_key)) {
            return false;
        }
    }
    return finish_row(*s);
}

bool is_served(const bench_point *point) {
    return bench_can_select(point) && point->order == TOPK_ORDER_ANY && point->ties == TOPK_TIES_ANY &&
           point->rows <= rows_max && point->n <= INT32_MAX;
}

template <bool (*Step)(selection *, bool *)> bool run_steps(bench_rival *rival) {
    const bench_task call(rival);
    constexpr std::size_t alignment = 256;
    const std::size_t of_counters = (sizeof(counters) + alignment - 1) / alignment * alignment;
    const std::size_t of_list =
        (static_cast<std::size_t>(call.n) * sizeof(float) + alignment - 1) / alignment * alignment;
    call.scratch_bytes = of_counters + 4 * of_list;
    rival->threads = threads_of_block;
    if (call.scratch == nullptr) {
        return true;
    }
    char *const scratch = static_cast<char *>(call.scratch), *const lists = scratch + of_counters;
    for (std::int64_t row = 0; row < call.rows; ++row) {
        selection s = {call.stream,
                       reinterpret_cast<counters *>(scratch),
                       {call.input + row * call.n, nullptr, call.n},
                       {call.values + row * call.k, call.indices + row * call.k},
                       {{reinterpret_cast<float *>(lists), reinterpret_cast<std::int32_t *>(lists + of_list)},
                        {reinterpret_cast<float *>(lists + 2 * of_list),
                         reinterpret_cast<std::int32_t *>(lists + 3 * of_list)}},
                       call.k,
                       call.k,
                       0};
        if (!select_row<Step>(&s)) {
            return false;
        }
    }
    return true;
}

constexpr int traits = BENCH_RIVAL_NUMBERS | BENCH_RIVAL_WAITS;

} // namespace

const bench_rival_kind bench_host_selections[] = {
    {"RadixSelect", is_served, run_steps<step_of_radix>, traits},
    {"QuickSelect", is_served, run_steps<step_of_quick>, traits},
    {"SampleSelect", is_served, run_steps<step_of_sample>, traits},
    {},
};
