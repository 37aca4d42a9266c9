/* SPDX-License-Identifier: Apache-2.0
 *
 * A warp's list of the k best elements so far, in its registers, with a queue for each lane: WarpSelect of
 * Billion-scale Similarity Search with GPUs by Johnson, Douze and Jégou, sections 4.2 and 4.3.
 *
 * A lane puts what is better than the k-th of the list into its own queue. When the queue of some lane is
 * full, the warp sorts all queues as one array and merges them with the list. Networks of odd and even size
 * do both: they compare registers of one lane with each other, or a register with that of another lane, and
 * always the same ones. All functions are inlined: arrays stay in registers only in the function that has
 * them. */
#ifndef BENCH_WARP_LIST_CUDA_CUH
#define BENCH_WARP_LIST_CUDA_CUH

#include <cmath>
#include <cstdint>

namespace bench_warp {

constexpr int lanes = 32;
constexpr unsigned all_lanes = 0xffffffffu;

__device__ __forceinline__ int lane() {
    return static_cast<int>(threadIdx.x) % lanes;
}

/* An array in the registers of a warp: element i is in register i / 32 of lane i % 32. An empty place holds
 * -infinity, so that no element may be -infinity or NaN. */
template <int Registers> struct elements {
    float values[Registers];
    std::int32_t positions[Registers];

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int r = 0; r < Registers; ++r) {
            values[r] = -INFINITY;
            positions[r] = -1;
        }
    }
    /* Register r keeps the better of its element and another one, or the worse. Both sides of a comparison
     * keep their own elements if these are equal, so that none is lost. */
    __device__ __forceinline__ void keep(int r, float value, std::int32_t position, bool better) {
        const bool takes = better ? value > values[r] : value < values[r];
        values[r] = takes ? value : values[r];
        positions[r] = takes ? position : positions[r];
    }
};

/* ---- Networks: the best first ---------------------------------------------------------------- */

/* Compares register r with the one of lane ^ mask; the lower lane keeps the better element. */
template <int Registers>
__device__ __forceinline__ void compare_lanes(elements<Registers> &a, int r, int mask) {
    const float value = __shfl_xor_sync(all_lanes, a.values[r], mask);
    const std::int32_t position = __shfl_xor_sync(all_lanes, a.positions[r], mask);
    a.keep(r, value, position, lane() < (lane() ^ mask));
}

/* Compares registers of each lane; `first` keeps the better element. */
template <int Registers>
__device__ __forceinline__ void compare_registers(elements<Registers> &a, int first, int second) {
    const float value = a.values[first];
    const std::int32_t position = a.positions[first];
    a.keep(first, a.values[second], a.positions[second], true);
    a.keep(second, value, position, false);
}

/* Compares the registers of each lane that are `Distance` apart, and then those that are half of it apart. */
template <int First, int Count, int Distance, int Registers>
__device__ __forceinline__ void compare_all_registers(elements<Registers> &a) {
    if constexpr (Distance > 0) {
#pragma unroll
        for (int r = 0; r < Count; ++r) {
            if ((r & Distance) == 0) {
                compare_registers(a, First + r, First + r + Distance);
            }
        }
        compare_all_registers<First, Count, Distance / 2>(a);
    }
}

/* Sorts `Count` registers from `First` on, a power of two, that hold a bitonic sequence. */
template <int First, int Count, int Registers>
__device__ __forceinline__ void sort_bitonic(elements<Registers> &a) {
    static_assert((Count & (Count - 1)) == 0, "halves are compared");
    compare_all_registers<First, Count, Count / 2>(a);
#pragma unroll
    for (int r = First; r < First + Count; ++r) {
        compare_lanes(a, r, 16);
        compare_lanes(a, r, 8);
        compare_lanes(a, r, 4);
        compare_lanes(a, r, 2);
        compare_lanes(a, r, 1);
    }
}

/* Sorts one register: merges halves of 1, 2, 4, 8 and 16 lanes. Each merge first compares a half with the
 * other one reversed. */
template <int Registers> __device__ __forceinline__ void sort_register(elements<Registers> &a, int r) {
#pragma unroll
    for (int size = 2; size <= lanes; size *= 2) {
        compare_lanes(a, r, size - 1);
#pragma unroll
        for (int distance = size / 4; distance > 0; distance /= 2) {
            compare_lanes(a, r, distance);
        }
    }
}

constexpr int power_below(int count) {
    int power = 1;
    while (2 * power < count) {
        power *= 2;
    }
    return power;
}

/* Sorts `Count` registers from `First` on. The paper's odd-size merge: the left part is a power of two, the
 * right part may be shorter. It stands for one of the same size that ends in the worst elements, which stay
 * where they are. */
template <int First, int Count, int Registers> __device__ __forceinline__ void sort(elements<Registers> &a) {
    if constexpr (Count == 1) {
        sort_register(a, First);
    } else {
        constexpr int left = power_below(Count), right = Count - left;
        sort<First, left>(a);
        sort<First + left, right>(a);
#pragma unroll
        for (int i = 0; i < right; ++i) {
            const int l = First + left - 1 - i, r = First + left + i;
            const float from_left = __shfl_xor_sync(all_lanes, a.values[l], lanes - 1);
            const float from_right = __shfl_xor_sync(all_lanes, a.values[r], lanes - 1);
            const std::int32_t left_position = __shfl_xor_sync(all_lanes, a.positions[l], lanes - 1);
            const std::int32_t right_position = __shfl_xor_sync(all_lanes, a.positions[r], lanes - 1);
            a.keep(l, from_right, right_position, true);
            a.keep(r, from_left, left_position, false);
        }
        sort_bitonic<First, left>(a);
        sort_bitonic<First + left, right>(a);
    }
}

/* ---- The list and the queues ----------------------------------------------------------------- */

/* Lists of up to 32 x Registers elements, and queues of `Queued` elements for each lane. */
template <int Registers, int Queued> struct list {
    static constexpr int room = lanes * Registers;

    elements<Registers> best; /* sorted */
    elements<Queued> queue;   /* of this lane, the newest first; as an array of the warp in any order */
    int queued;
    float threshold; /* the k-th best: only better elements can be results */

    __device__ __forceinline__ void clear() {
        best.clear();
        queue.clear();
        queued = 0;
        threshold = -INFINITY;
    }
    /* All lanes add an element each; one that is -infinity is none. */
    __device__ __forceinline__ void add(float value, std::int32_t position, int k) {
        if (value > threshold) {
#pragma unroll
            for (int i = Queued - 1; i > 0; --i) {
                queue.values[i] = queue.values[i - 1];
                queue.positions[i] = queue.positions[i - 1];
            }
            queue.values[0] = value;
            queue.positions[0] = position;
            ++queued;
        }
        if (__any_sync(all_lanes, queued == Queued)) {
            merge_queues(k);
        }
    }
    /* The list gets the best of itself and of the queues, which are empty then. */
    __device__ __forceinline__ void merge_queues(int k) {
        sort<0, Queued>(queue);
#pragma unroll
        for (int r = 0; r < Registers; ++r) {
            const int other = Registers - 1 - r;
            if (other < Queued) {
                best.keep(r, __shfl_xor_sync(all_lanes, queue.values[other], lanes - 1),
                          __shfl_xor_sync(all_lanes, queue.positions[other], lanes - 1), true);
            }
        }
        sort_bitonic<0, Registers>(best);
        queue.clear();
        queued = 0;
        threshold = find(k);
    }
    /* The list gets the best of itself and of a sorted list of `room` elements in memory. */
    __device__ __forceinline__ void merge_list(const float *values, const std::int32_t *positions) {
#pragma unroll
        for (int r = 0; r < Registers; ++r) {
            const int other = room - 1 - (r * lanes + lane());
            best.keep(r, values[other], positions[other], true);
        }
        sort_bitonic<0, Registers>(best);
    }
    /* The k-th best. */
    __device__ __forceinline__ float find(int k) const {
        float value = -INFINITY;
#pragma unroll
        for (int r = 0; r < Registers; ++r) {
            value = r == (k - 1) / lanes ? best.values[r] : value;
        }
        return __shfl_sync(all_lanes, value, (k - 1) % lanes);
    }
    /* Writes the `count` best. */
    __device__ __forceinline__ void write(int count, float *values, std::int32_t *positions) const {
#pragma unroll
        for (int r = 0; r < Registers; ++r) {
            const int i = r * lanes + lane();
            if (i < count) {
                values[i] = best.values[r];
                positions[i] = best.positions[r];
            }
        }
    }
};

} // namespace bench_warp

#endif // BENCH_WARP_LIST_CUDA_CUH
