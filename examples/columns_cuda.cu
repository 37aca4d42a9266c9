/* SPDX-License-Identifier: Apache-2.0
 * The rows of a table that meet a condition over three columns: their positions, in order, found on a GPU in
 * one pass over the columns, by a kernel of one's own over topk_device.cuh. What comes out is compared with a
 * loop on the host, and the time is printed.
 *
 * usage: columns_cuda [ROWS]...    0 to 2^31 - 1; without any 2^26
 *
 * Without a GPU the program exits with 77. */
#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <vector>

#include <cuda_runtime.h>
#include <topk_device.cuh>

namespace {

enum { SKIPPED = 77, RUNS = 15, OPEN = 1 };

/* ---- The table and the condition ---- */

struct row {
    float price;
    int32_t quantity;
    uint8_t flags;
};

/* Columns in device memory: price and quantity start at multiples of 16 bytes, flags at one of 4. */
struct table {
    float *price;
    int32_t *quantity;
    uint8_t *flags;
    uint32_t rows; /* any number */
};

/* Any code would do. */
__host__ __device__ bool is_wanted(float price, int32_t quantity, uint8_t flags) {
    return (flags & OPEN) != 0 && price * static_cast<float>(quantity) > 45000;
}

/* ---- The kernel ---- */

/* The tiles, as topk_device.cuh wants them. */
struct wanted_rows {
    static const uint32_t THREADS = 1024, ITEMS = 8, PER = 4, GROUPS = ITEMS / PER;

    /* What a thread loads of a tile: PER rows side by side at a time, behind the rows of the lane before it.
     * The flags stay packed, since load() must not touch what it has asked for. */
    struct raw {
        float4 price[GROUPS];
        int4 quantity[GROUPS];
        uint32_t flags[GROUPS];
    };

    struct table table;
    int32_t *positions; /* of the first `capacity` rows that are wanted */
    uint64_t capacity;
    uint64_t *found; /* how many are wanted */
    uint32_t tiles;

    /* The first row of the tile, and of what this thread loads of it. */
    __device__ static uint32_t origin(uint32_t tile) {
        return tile * topk_device::tile_loop_shape<wanted_rows>::SIZE;
    }
    __device__ static uint32_t first_loaded(uint32_t tile) {
        return origin(tile) + topk_device::simt_warp() * 32 * ITEMS + topk_device::simt_lane() * PER;
    }
    __device__ bool is_full(uint32_t tile) const {
        return tile < tiles - 1;
    }

    __device__ void load(uint32_t tile, raw &to) const {
        if (is_full(tile))
            load_full(first_loaded(tile), to);
        else
            load_some(first_loaded(tile), to);
    }

    __device__ void load_full(uint32_t first, raw &to) const {
#pragma unroll
        for (uint32_t g = 0; g < GROUPS; g++) {
            const uint32_t i = first + g * 32 * PER;
            to.price[g] = __ldg(reinterpret_cast<const float4 *>(table.price + i));
            to.quantity[g] = __ldg(reinterpret_cast<const int4 *>(table.quantity + i));
            to.flags[g] = __ldg(reinterpret_cast<const uint32_t *>(table.flags + i));
        }
    }

    /* Of the last tile, row by row; zeros where there is none. */
    template <typename T> __device__ T at(const T *column, uint32_t i) const {
        return i < table.rows ? __ldg(column + i) : T();
    }
    __device__ void load_some(uint32_t first, raw &to) const {
#pragma unroll
        for (uint32_t g = 0; g < GROUPS; g++) {
            const uint32_t i = first + g * 32 * PER;
            const float *p = table.price;
            const int32_t *q = table.quantity;
            const uint8_t *f = table.flags;
            to.price[g] = make_float4(at(p, i), at(p, i + 1), at(p, i + 2), at(p, i + 3));
            to.quantity[g] = make_int4(at(q, i), at(q, i + 1), at(q, i + 2), at(q, i + 3));
            to.flags[g] = static_cast<uint32_t>(at(f, i) | at(f, i + 1) << 8 | at(f, i + 2) << 16) |
                          static_cast<uint32_t>(at(f, i + 3)) << 24;
        }
    }

    __device__ static uint32_t bit(uint32_t item, float price, int32_t quantity, uint32_t flags) {
        return static_cast<uint32_t>(is_wanted(price, quantity, static_cast<uint8_t>(flags))) << item;
    }
    __device__ uint32_t hits(uint32_t tile, const raw &from) const {
        uint32_t bits = 0;
#pragma unroll
        for (uint32_t g = 0; g < GROUPS; g++) {
            const float4 p = from.price[g];
            const int4 q = from.quantity[g];
            const uint32_t f = from.flags[g];
            bits |= bit(g * PER, p.x, q.x, f) | bit(g * PER + 1, p.y, q.y, f >> 8) |
                    bit(g * PER + 2, p.z, q.z, f >> 16) | bit(g * PER + 3, p.w, q.w, f >> 24);
        }
        bits = topk_device::gather_bits<PER, GROUPS>(bits);
        if (is_full(tile))
            return bits;
        const uint32_t mine = origin(tile) + topk_device::simt_thread() * ITEMS; /* that the bits are for */
        return bits & topk_device::low_bits(table.rows > mine ? table.rows - mine : 0);
    }

    __device__ void write(uint32_t tile, topk_device::simt_shared<uint16_t> offsets, uint64_t base,
                          uint32_t count) const {
        const uint64_t room = base < capacity ? capacity - base : 0;
        const uint32_t fitting = room < count ? static_cast<uint32_t>(room) : count;
        topk_device::write_positions<topk_device::tile_loop_shape<wanted_rows>::WORKERS>(
            positions + base, offsets, static_cast<int32_t>(origin(tile)), fitting);
        if (tile == tiles - 1 && topk_device::simt_thread() == 0)
            *found = base + count;
    }

    __device__ bool lists() const {
        return true;
    }
};

__global__ void __launch_bounds__(wanted_rows::THREADS, 1) find_rows(wanted_rows wanted, void *state) {
    topk_device::simt_arena arena = topk_device::simt_shared_arena();
    topk_device::run_tiles(wanted, topk_device::tile_sequence_of(state, wanted.tiles),
                           topk_device::carve_tiles<wanted_rows>(arena));
}

/* ---- Around it ---- */

void check(cudaError_t error) {
    if (error != cudaSuccess) {
        (void)fprintf(stderr, "columns_cuda: %s\n", cudaGetErrorString(error));
        exit(EXIT_FAILURE);
    }
}

template <typename T> T *on_device(size_t count) {
    void *memory;
    check(cudaMalloc(&memory, std::max<size_t>(count, 1) * sizeof(T)));
    return static_cast<T *>(memory);
}

/* A launch of find_rows, and all that it needs. */
struct search {
    wanted_rows wanted;
    void *state;
    uint32_t blocks;

    size_t state_bytes() const {
        return topk_device::tile_state_bytes(wanted.tiles);
    }
};

/* As many blocks as the device holds at once. */
uint32_t resident_blocks() {
    const uint32_t shared_bytes = topk_device::tile_shared_bytes<wanted_rows>();
    int sms, per_sm;
    check(cudaFuncSetAttribute(find_rows, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shared_bytes)));
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, find_rows, wanted_rows::THREADS,
                                                        shared_bytes));
    return static_cast<uint32_t>(sms * per_sm);
}

search make_search(const table &table, uint64_t capacity) {
    const uint32_t size = topk_device::tile_loop_shape<wanted_rows>::SIZE;
    const uint32_t tiles = table.rows == 0 ? 1 : (table.rows - 1) / size + 1; /* one, to write *found */
    search s = {{table, on_device<int32_t>(capacity), capacity, on_device<uint64_t>(1), tiles}, nullptr, 0};
    s.state = on_device<unsigned char>(s.state_bytes());
    s.blocks = std::min(resident_blocks(), tiles);
    return s;
}

void enqueue(const search &s, cudaStream_t stream) {
    check(cudaMemsetAsync(s.state, 0, s.state_bytes(), stream));
    find_rows<<<s.blocks, wanted_rows::THREADS, topk_device::tile_shared_bytes<wanted_rows>(), stream>>>(
        s.wanted, s.state);
    check(cudaGetLastError());
}

void end_search(const search &s) {
    check(cudaFree(s.wanted.positions));
    check(cudaFree(s.wanted.found));
    check(cudaFree(s.state));
}

/* ---- Data: the same on the device and on the host ---- */

__host__ __device__ uint32_t mix(uint32_t x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

__host__ __device__ row make_row(uint32_t i) {
    const uint32_t hash = mix(3 * i), other = mix(3 * i + 1);
    return row{static_cast<float>(hash >> 8) * (100.0f / (1 << 24)), static_cast<int32_t>(other % 1000),
               static_cast<uint8_t>(hash)};
}

__global__ void fill(table table) {
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < table.rows; i += gridDim.x * blockDim.x) {
        const row row = make_row(i);
        table.price[i] = row.price;
        table.quantity[i] = row.quantity;
        table.flags[i] = row.flags;
    }
}

std::vector<int32_t> rows_by_loop(uint32_t rows) {
    std::vector<int32_t> expected;
    for (uint32_t i = 0; i < rows; i++) {
        const row row = make_row(i);
        if (is_wanted(row.price, row.quantity, row.flags))
            expected.push_back(static_cast<int32_t>(i));
    }
    return expected;
}

/* ---- What comes out ---- */

void verify(const search &s, const std::vector<int32_t> &expected) {
    uint64_t found;
    check(cudaMemcpy(&found, s.wanted.found, sizeof found, cudaMemcpyDeviceToHost));
    std::vector<int32_t> positions(std::min<uint64_t>(expected.size(), s.wanted.capacity));
    check(cudaMemcpy(positions.data(), s.wanted.positions, positions.size() * sizeof positions[0],
                     cudaMemcpyDeviceToHost));
    if (found != expected.size() || !std::equal(positions.begin(), positions.end(), expected.begin())) {
        (void)fprintf(stderr, "columns_cuda: the GPU and the loop differ\n");
        exit(EXIT_FAILURE);
    }
}

/* The median of several runs, in seconds. All are enqueued at once, so that the device never waits. */
double time_of(const search &s, cudaStream_t stream) {
    std::vector<cudaEvent_t> events(RUNS + 1);
    std::vector<float> milliseconds(RUNS);
    for (cudaEvent_t &event : events)
        check(cudaEventCreate(&event));
    for (int run = 0; run <= RUNS; run++) {
        enqueue(s, stream); /* the first is not timed */
        check(cudaEventRecord(events[run], stream));
    }
    check(cudaStreamSynchronize(stream));
    for (int run = 0; run < RUNS; run++)
        check(cudaEventElapsedTime(&milliseconds[run], events[run], events[run + 1]));
    for (cudaEvent_t event : events)
        check(cudaEventDestroy(event));
    std::nth_element(milliseconds.begin(), milliseconds.begin() + RUNS / 2, milliseconds.end());
    return milliseconds[RUNS / 2] * 1e-3;
}

void demonstrate(uint32_t rows, cudaStream_t stream) {
    const table table = {on_device<float>(rows), on_device<int32_t>(rows), on_device<uint8_t>(rows), rows};
    fill<<<1024, 256, 0, stream>>>(table);
    check(cudaGetLastError());
    const std::vector<int32_t> expected = rows_by_loop(rows);

    const search all = make_search(table, rows);
    const double seconds = time_of(all, stream);
    verify(all, expected);
    const double bytes = 9.0 * rows + 4.0 * static_cast<double>(expected.size());
    (void)printf("%zu of %u rows: %.1f us, %.0f GB/s\n", expected.size(), rows, seconds * 1e6,
                 bytes / seconds * 1e-9);
    end_search(all);

    const search some = make_search(table, expected.size() / 2); /* there is room for half of them */
    enqueue(some, stream);
    check(cudaStreamSynchronize(stream));
    verify(some, expected);
    end_search(some);
    check(cudaFree(table.price));
    check(cudaFree(table.quantity));
    check(cudaFree(table.flags));
}

} // namespace

int main(int argc, char **argv) {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        (void)fprintf(stderr, "skipped: no GPU\n");
        return SKIPPED;
    }
    cudaStream_t stream;
    check(cudaStreamCreate(&stream));
    for (int i = 1; i < argc; i++) {
        const unsigned long rows = strtoul(argv[i], nullptr, 10);
        if (rows > INT32_MAX) {
            (void)fprintf(stderr, "columns_cuda: at most 2^31 - 1 rows\n");
            return EXIT_FAILURE;
        }
        demonstrate(static_cast<uint32_t>(rows), stream);
    }
    if (argc == 1)
        demonstrate(1u << 26, stream);
    check(cudaStreamDestroy(stream));
    return EXIT_SUCCESS;
}
