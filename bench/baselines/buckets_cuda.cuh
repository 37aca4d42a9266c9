/* SPDX-License-Identifier: Apache-2.0
 *
 * What host_selections_cuda.cu launches: kernels that count how many candidates each bucket has, keep those
 * of one bucket, or overwrite the others; and three ways of telling buckets apart. */
#ifndef BENCH_BUCKETS_CUDA_CUH
#define BENCH_BUCKETS_CUDA_CUH

#include <cstdint>

namespace bench_buckets {

constexpr unsigned threads_of_block = 256;
constexpr int splitters = 255, drawn = 1024, buckets_max = 2 * splitters + 1;

/* An unsigned number that ascends with the float; no float is NaN. */
__host__ __device__ inline std::uint32_t key_of_bits(std::uint32_t bits) {
    return (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
}

__device__ inline std::uint32_t key_of(float value) {
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
__host__ __device__ inline std::uint64_t hash(std::uint64_t i) {
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

/* Every element of the copy whose digit is not the chosen one gets the lowest code, which no float has. */
__global__ void __launch_bounds__(threads_of_block)
    overwrite(float *copy, std::int64_t count, of_digit digit, int chosen) {
    for_candidates({copy, nullptr, count}, [&](std::int64_t i, std::uint32_t key) {
        if (digit.bucket(key, nullptr) != chosen) {
            copy[i] = __uint_as_float(~0u);
        }
    });
}

} // namespace bench_buckets

#endif // BENCH_BUCKETS_CUDA_CUH
