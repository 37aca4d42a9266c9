/* SPDX-License-Identifier: Apache-2.0
 * The nearest of many vectors to each query, in one pass: tensor cores compute distances, and queues of
 * topk_device.cuh select from them in registers and shared memory. No distance is written to memory.
 *
 * A distance is |b|^2 / 2 - q . b here: half the squared distance without |q|^2 / 2, which is the same for
 * all vectors. Sums are float32. They start from |b|^2 / 2 and take the products of 16 dimensions at a time.
 *
 * A block has the vectors of a slice and up to 256 queries. Each warp has 16 or 32 of the queries, in
 * registers, with a list for each. Another warp brings tiles of 64 vectors through a ring in shared memory,
 * so that a warp whose queries take long does not delay the others at once. A warp multiplies its queries by
 * a tile and compares each distance with the bound of its query. Lanes push the few that are wanted to the
 * queues of their queries. Slices tell each other bounds. */
#ifndef TOPK_EXAMPLES_NEIGHBOURS_FUSED_CUH
#define TOPK_EXAMPLES_NEIGHBOURS_FUSED_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline_primitives.h>
#include <topk_device.cuh>

#include "multiply.cuh"

/* Each vector has DIMENSIONS; missing ones are 0. A ring has 2 stages at least, with a tile each. */
enum {
    DIMENSIONS = 128,
    STEPS = DIMENSIONS / 16,
    CHUNKS = DIMENSIONS / 8, /* 16 bytes of a vector */
    TILE = 64,
    STAGES_MAX = 4,
    WARPS_MAX = 8,
    SLICES_MAX = 1024
};

typedef topk_device::best_of_warp<topk_device::smallest_floats, uint32_t> nearest;

template <typename Number> struct neighbours_args {
    const Number *vectors;      /* whole tiles of them */
    const float *half_norms;    /* |b|^2 / 2; infinity behind the last vector */
    const Number *queries;      /* whole blocks of them */
    uint32_t count, queried, k; /* vectors, queries and neighbours of each */
    uint32_t tiles;             /* of each slice but the last */
    uint32_t stages;            /* of a ring */
    unsigned long long *told;   /* of each slice and query a word, all ones before the launch */
    float *distances;           /* of each query and slice, k slots; then of each query */
    uint32_t *indices;          /* the same */
    uint32_t *found;            /* of each query and slice: results */
    float *written;             /* all distances, of each query and vector, or null */
};

/* The shared memory of a block. Chunk c of vector v of a tile lies at v * CHUNKS + (c ^ v % 8). */
struct tile_memory {
    nearest::memory_type lists;                                   /* of each query */
    topk_device::simt_shared<uint4> vectors;                      /* of each stage: a tile */
    topk_device::simt_shared<float4> norms;                       /* of each stage: of its vectors */
    topk_device::simt_shared<topk_device::simt_mbarrier> is_full; /* of each stage: one arrival for a tile */
    topk_device::simt_shared<topk_device::simt_mbarrier>
        is_read; /* of each stage: one of each warp with queries */
};

template <uint32_t GROUPS>
__host__ __device__ inline tile_memory carve_neighbours(topk_device::simt_arena &arena, uint32_t warps,
                                                        uint32_t stages, uint32_t k) {
    tile_memory m = {};
    m.lists = topk_device::carve_best<nearest>(arena, warps * GROUPS * 16, k);
    m.vectors = topk_device::simt_carve<uint4>(arena, stages * TILE * CHUNKS);
    m.norms = topk_device::simt_carve<float4>(arena, stages * TILE / 4);
    m.is_full = topk_device::simt_carve<topk_device::simt_mbarrier>(arena, stages);
    m.is_read = topk_device::simt_carve<topk_device::simt_mbarrier>(arena, stages);
    return m;
}

/* Where a tile is in the ring. `parity` is of its phase: how many tiles a stage has had before. */
struct ring_place {
    uint32_t stage, parity;

    __device__ void advance(uint32_t stages) {
        stage++;
        if (stage == stages) {
            stage = 0;
            parity ^= 1;
        }
    }
};

/* Asks for a tile, whose vectors begin at `first`. A warp. */
template <typename Number>
__device__ inline void ask_for_tile(const neighbours_args<Number> &a, const tile_memory &m, uint32_t stage,
                                    uint32_t first) {
    const uint32_t lane = topk_device::simt_lane();
    const uint4 *from = (const uint4 *)a.vectors + (size_t)first * CHUNKS;
#pragma unroll 8
    for (uint32_t i = lane; i < TILE * CHUNKS; i += 32) {
        const uint32_t vector = i / CHUNKS, chunk = i % CHUNKS ^ vector % 8;
        __pipeline_memcpy_async(&m.vectors[(stage * TILE + vector) * CHUNKS + chunk], from + i, sizeof *from);
    }
    if (lane < TILE / 4)
        __pipeline_memcpy_async(&m.norms[stage * TILE / 4 + lane],
                                (const float4 *)(a.half_norms + first) + lane, sizeof(float4));
    __pipeline_commit();
}

/* The warp that brings tiles: when it has asked for one, it waits for the one before. */
template <typename Number>
__device__ inline void bring_tiles(const neighbours_args<Number> &a, const tile_memory &m, uint32_t first,
                                   uint32_t tiles) {
    ring_place next = {0, 1}, asked = {0, 0}; /* before the first tiles stages count as read */
    for (uint32_t t = 0; t <= tiles; t++) {
        if (t < tiles) {
            topk_device::simt_mbarrier_wait(m.is_read, next.stage, next.parity);
            ask_for_tile(a, m, next.stage, first + t * TILE);
            next.advance(a.stages);
        }
        if (t == 0)
            continue;
        if (t < tiles)
            __pipeline_wait_prior(1);
        else
            __pipeline_wait_prior(0);
        __syncwarp();
        if (topk_device::simt_lane() == 0)
            topk_device::simt_mbarrier_arrive(m.is_full, asked.stage);
        asked.advance(a.stages);
    }
}

/* A warp's part of a block: GROUPS groups of 16 queries. A lane has rows lane / 4 and lane / 4 + 8 of each
 * group, and of a row the distances to vectors 8 * j + 2 * (lane % 4) and the next. A warp takes COLUMNS
 * vectors of a tile at a time. */
template <typename Number, uint32_t GROUPS, bool WRITES> struct neighbours_warp {
    static const uint32_t ROWS = 16 * GROUPS, COLUMNS = TILE / GROUPS, FRAGMENTS = COLUMNS / 8,
                          ITEMS = 4 * GROUPS * FRAGMENTS;
    typedef fragment_of_queries queries_t[GROUPS][STEPS];
    typedef float sums_t[GROUPS][FRAGMENTS][4];
    typedef float limits_t[GROUPS][2];
    typedef uint4 vectors_t[FRAGMENTS];

    const neighbours_args<Number> &a;
    const tile_memory &m;
    uint32_t first_query, first_list; /* of the warp */
    limits_t limits;                  /* the lane's queries' bounds */

    __device__ static uint32_t lane(void) {
        return topk_device::simt_lane();
    }

    __device__ void load_queries(queries_t &to) const {
#pragma unroll
        for (uint32_t g = 0; g < GROUPS; g++)
#pragma unroll
            for (uint32_t step = 0; step < STEPS; step++)
                to[g][step] = negative_fragment(
                    a.queries + (size_t)(first_query + 16 * g) * DIMENSIONS + 16 * step, DIMENSIONS);
    }

    __device__ void begin_lists(void) {
        for (uint32_t row = 0; row < ROWS; row++) {
            nearest best(m.lists, first_list + row);
            best.begin(a.k);
            best.save();
        }
        read_limits();
    }

    /* Rows without a query want nothing. */
    __device__ float limit_of(uint32_t row) const {
        return first_query + row < a.queried ? topk_device::saved_bound<nearest>(m.lists, first_list + row)
                                             : -__int_as_float(0x7f800000);
    }
    __device__ void read_limits(void) {
#pragma unroll
        for (uint32_t i = 0; i < 2 * GROUPS; i++)
            limits[i / 2][i % 2] = limit_of(8 * i + lane() / 4);
    }

    /* So that the lists know all that their queues do. */
    __device__ void empty_queues(void) const {
#pragma unroll 1
        for (uint32_t row = 0; row < ROWS; row++) {
            nearest best(m.lists, first_list + row);
            best.resume(a.k);
            best.finish();
            best.save();
        }
    }

    /* Tells other slices the row's part of k, and learns the bound of all. A lane for each row. */
    __device__ void meet_slices(uint32_t slice, uint32_t slices) {
        empty_queues();
        const uint32_t query = first_query + lane(), part = (a.k + slices - 1) / slices;
        __syncwarp();
        if (lane() < ROWS && query < a.queried) {
            const uint64_t mine = topk_device::saved_word<nearest>(m.lists, first_list + lane(), part - 1);
            __stcg(a.told + (size_t)slice * a.queried + query, (unsigned long long)mine);
            uint64_t last = mine;
#pragma unroll 8
            for (uint32_t other = 0; other < slices; other++) {
                const uint64_t word = __ldcg(a.told + (size_t)other * a.queried + query);
                last = word > last ? word : last;
            }
            topk_device::tighten_saved<nearest>(m.lists, first_list + lane(), last);
        }
        __syncwarp();
        read_limits();
    }

    /* Of 32 dimensions, from 32 * `part` on. */
    __device__ void load_vectors(uint32_t stage, uint32_t column, uint32_t part, vectors_t &to) const {
        const uint32_t first = stage * TILE + column + lane() % 8;
        const uint32_t chunk = (4 * part + lane() / 8) ^ lane() % 8;
#pragma unroll
        for (uint32_t j = 0; j < FRAGMENTS; j++)
            to[j] = load_matrices(&m.vectors[(first + 8 * j) * CHUNKS + chunk]);
    }

    __device__ void load_norms(uint32_t stage, uint32_t column, sums_t &sums) const {
        const float2 *norms = (const float2 *)&m.norms[(stage * TILE + column) / 4];
#pragma unroll
        for (uint32_t j = 0; j < FRAGMENTS; j++) {
            const float2 of_vectors = norms[4 * j + lane() % 4];
#pragma unroll
            for (uint32_t g = 0; g < GROUPS; g++) {
                sums[g][j][0] = sums[g][j][2] = of_vectors.x;
                sums[g][j][1] = sums[g][j][3] = of_vectors.y;
            }
        }
    }

    /* Neighbouring products have different sums, so that none waits for another; the next vectors are loaded
     * meanwhile. */
    __device__ void multiply(const queries_t &queries, uint32_t stage, uint32_t column, sums_t &sums) const {
        vectors_t vectors[2];
        load_vectors(stage, column, 0, vectors[0]);
        load_norms(stage, column, sums);
#pragma unroll
        for (uint32_t step = 0; step < STEPS; step++) {
            const vectors_t &now = vectors[step / 2 % 2];
            if (step % 2 == 0 && step + 2 < STEPS)
                load_vectors(stage, column, step / 2 + 1, vectors[(step / 2 + 1) % 2]);
#pragma unroll
            for (uint32_t j = 0; j < FRAGMENTS; j++)
#pragma unroll
                for (uint32_t g = 0; g < GROUPS; g++)
                    multiply_add<Number>(sums[g][j], queries[g][step], step % 2 == 0 ? now[j].x : now[j].z,
                                         step % 2 == 0 ? now[j].y : now[j].w);
        }
    }

    /* What the lane's item is, 0 to 31: a distance of that row to that vector of the columns. */
    __device__ static uint32_t row_of(uint32_t item) {
        return item / (4 * FRAGMENTS) * 16 + item / 2 % 2 * 8 + lane() / 4;
    }
    __device__ static uint32_t column_of(uint32_t item) {
        return item / 4 % FRAGMENTS * 8 + lane() % 4 * 2 + item % 2;
    }
    __device__ static float item_of(const sums_t &sums, uint32_t item) {
        return sums[item / (4 * FRAGMENTS)][item / 4 % FRAGMENTS][item % 4];
    }
    __device__ bool wants(const sums_t &sums, uint32_t item) const {
        return !(item_of(sums, item) > limits[item / (4 * FRAGMENTS)][item / 2 % 2]);
    }

    /* Few lanes want anything. Each pushes its own items, one at a time. */
    __device__ void select(const sums_t &sums, uint32_t first_vector) {
        bool wants_any = false;
#pragma unroll
        for (uint32_t item = 0; item < ITEMS; item++)
            wants_any |= wants(sums, item);
        if (!__any_sync(0xffffffffu, wants_any))
            return;
        uint32_t wanted = 0;
        float items[ITEMS]; /* in local memory, where a variable can choose one */
#pragma unroll
        for (uint32_t item = 0; item < ITEMS; item++) {
            wanted |= wants(sums, item) ? 1u << item : 0;
            items[item] = item_of(sums, item);
        }
#pragma unroll 1
        for (; __any_sync(0xffffffffu, wanted != 0); wanted &= wanted - 1) {
            const uint32_t item = wanted != 0 ? (uint32_t)__ffs((int)wanted) - 1 : 0;
            const uint32_t row = row_of(item), vector = first_vector + column_of(item);
            topk_device::push_saved<nearest>(m.lists, a.k,
                                             wanted != 0 && vector < a.count && first_query + row < a.queried,
                                             first_list + row, items[item], vector);
        }
        read_limits();
    }

    __device__ void write(const sums_t &sums, uint32_t first_vector) const {
#pragma unroll
        for (uint32_t item = 0; item < ITEMS; item++) {
            const uint32_t query = first_query + row_of(item), vector = first_vector + column_of(item);
            if (query < a.queried && vector < a.count)
                a.written[(size_t)query * a.count + vector] = item_of(sums, item);
        }
    }

    __device__ void take_tile(const queries_t &queries, const ring_place &place, uint32_t first_vector) {
        topk_device::simt_mbarrier_wait(m.is_full, place.stage, place.parity);
#pragma unroll 1
        for (uint32_t column = 0; column < TILE; column += COLUMNS) {
            sums_t sums;
            multiply(queries, place.stage, column, sums);
            if (column + COLUMNS == TILE) {
                __syncwarp();
                if (lane() == 0)
                    topk_device::simt_mbarrier_arrive(m.is_read, place.stage);
            }
            if (WRITES)
                write(sums, first_vector + column);
            select(sums, first_vector + column);
        }
    }

    /* From the first tile of a slice to its results. */
    __device__ void take_slice(uint32_t first, uint32_t tiles) {
        const uint32_t slice = blockIdx.y, slices = gridDim.y;
        queries_t queries;
        load_queries(queries);
        begin_lists();
        ring_place place = {0, 0};
        uint32_t meeting = 0;
#pragma unroll 1
        for (uint32_t t = 0; t < tiles; t++) {
            take_tile(queries, place, first + t * TILE);
            place.advance(a.stages);
            if (t == meeting && slices > 1) {
                meet_slices(slice, slices);
                meeting = 2 * t + 1;
            }
        }
        finish(slice, slices);
    }

    /* The results of the slice. */
    __device__ void finish(uint32_t slice, uint32_t slices) const {
        for (uint32_t row = 0; row < ROWS && first_query + row < a.queried; row++) {
            nearest best(m.lists, first_list + row);
            best.resume(a.k);
            best.finish();
            const size_t list = (size_t)(first_query + row) * slices + slice;
            for (uint32_t rank = lane(); rank < best.count(); rank += 32) {
                a.distances[list * a.k + rank] = best.value_at(rank);
                a.indices[list * a.k + rank] = best.index_at(rank);
            }
            if (lane() == 0)
                a.found[list] = best.count();
        }
    }
};

/* The grid has a block for each group of queries, and a second dimension for the slices. The last warp of a
 * block brings tiles, the others have queries. */
template <typename Number, uint32_t GROUPS, bool WRITES>
__global__ void __launch_bounds__((WARPS_MAX + 1) * 32, 1)
    find_neighbours(const __grid_constant__ neighbours_args<Number> a) {
    typedef neighbours_warp<Number, GROUPS, WRITES> warp_t;
    topk_device::simt_arena arena = topk_device::simt_shared_arena();
    const uint32_t warps = topk_device::simt_warps() - 1, list = topk_device::simt_warp() * warp_t::ROWS;
    const tile_memory m = carve_neighbours<GROUPS>(arena, warps, a.stages, a.k);
    const uint32_t first = blockIdx.y * a.tiles * TILE, end = min(a.count, first + a.tiles * TILE);
    const uint32_t tiles = (end - first + TILE - 1) / TILE;
    if (threadIdx.x == 0) {
        topk_device::simt_mbarrier_init(m.is_full, 0, a.stages, 1);
        topk_device::simt_mbarrier_init(m.is_read, 0, a.stages, warps);
    }
    __syncthreads();
    if (topk_device::simt_warp() == warps) {
        bring_tiles(a, m, first, tiles);
    } else {
        warp_t warp = {a, m, blockIdx.x * warps * warp_t::ROWS + list, list, {}};
        warp.take_slice(first, tiles);
    }
}

/* Selects from the results of all slices: a warp for each query. Each lane goes through the list of a slice.
 */
__global__ void __launch_bounds__(128)
    join_slices(const float *distances, const uint32_t *indices, const uint32_t *found, uint32_t slices,
                uint32_t queried, uint32_t k, float *best_distances, uint32_t *best_indices) {
    topk_device::simt_arena arena = topk_device::simt_shared_arena();
    const nearest::memory_type memory = topk_device::carve_best<nearest>(arena, blockDim.x / 32, k);
    const uint32_t warp = topk_device::simt_warp(), lane = topk_device::simt_lane();
    const size_t query = (size_t)blockIdx.x * (blockDim.x / 32) + warp;
    if (query >= queried)
        return;
    nearest best(memory, warp);
    best.begin(k);
    for (uint32_t first = 0; first < slices; first += 32) {
        const size_t list = query * slices + first + lane;
        const uint32_t count = first + lane < slices ? found[list] : 0;
        bool is_open = true;
        for (uint32_t rank = 0; __any_sync(0xffffffffu, is_open); rank++) {
            const float distance = rank < count && is_open ? distances[list * k + rank] : 0;
            is_open = is_open && rank < count && best.wants(distance);
            best.push(is_open, distance, is_open ? indices[list * k + rank] : 0);
        }
    }
    best.finish();
    for (uint32_t rank = lane; rank < best.count(); rank += 32) {
        best_distances[query * k + rank] = best.value_at(rank);
        best_indices[query * k + rank] = best.index_at(rank);
    }
}

#endif
