// SPDX-License-Identifier: Apache-2.0
// Right kernels against plain loops, on the emulated device under many schedules or on a GPU:
// test_kernels [SCHEDULES [FIRST_SEED]].
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/clusters.cuh"
#include "kernels/device_memory.cuh"
#include "kernels/grids.cuh"
#include "kernels/networks.cuh"
#include "kernels/rings.cuh"
#include "kernels/teams.cuh"

typedef std::vector<uint32_t> words;

static uint32_t state = 1;

static words random_words(size_t count, uint32_t limit) {
    words made(count);
    for (uint32_t &word : made) {
        state = state * 1664525u + 1013904223u;
        word = (state >> 8) % limit;
    }
    return made;
}

static simt_launch_shape shape_of(const char *name, uint32_t blocks, uint32_t threads,
                                  uint32_t shared_bytes) {
    simt_launch_shape shape = {};
    shape.name = name;
    shape.blocks = blocks;
    shape.rows = 1;
    shape.threads = threads;
    shape.shared_bytes = shared_bytes;
    return shape;
}

static void check(const char *what, const words &got, const words &expected) {
    for (size_t i = 0; i < expected.size(); i++)
        if (got[i] != expected[i]) {
            fprintf(stderr, "%s: element %zu is %u, not %u\n", what, i, got[i], expected[i]);
            exit(1);
        }
}

static words prefix_sums(const words &in, size_t tile) {
    words out(in.size());
    for (size_t i = 0; i < in.size(); i++)
        out[i] = i % tile == 0 ? 0 : out[i - 1] + in[i - 1];
    return out;
}

static void test_block_scan() {
    const uint32_t blocks = 3, rows = 2, threads = 160, shared_bytes = 100 * 1024;
    words in = random_words(rows * blocks * threads, 1000);
    device_array<uint32_t> input(in), output(in.size());
    require_success(simt_allow_shared(sums_of_block, shared_bytes), "room in shared memory");
    simt_launch_shape shape = shape_of("sums_of_block", blocks, threads, shared_bytes);
    shape.rows = rows;
    require_success(simt_launch(shape, sums_of_block, sums_args{input.data, output.data}), "sums_of_block");
    check("sums_of_block", output.read(), prefix_sums(in, threads));
}

/* Words below 2 find out any network that does not sort; others, that words are not just counted. */
template <uint32_t N> static void test_networks() {
    const uint32_t threads = 64;
    for (uint32_t limit : {2u, 7u, 1u << 24}) {
        const words in = random_words(threads * 2 * N, limit);
        words expected = in;
        for (uint32_t thread = 0; thread < threads; thread++) {
            const auto begin = expected.begin() + thread * 2 * N;
            std::sort(begin, begin + N, std::greater<uint32_t>());
            words all(in.begin() + thread * 2 * N, in.begin() + (thread + 1) * 2 * N);
            std::sort(all.begin(), all.end(), std::greater<uint32_t>());
            std::copy(all.begin(), all.begin() + N, begin + N);
        }
        device_array<uint32_t> input(in), output(in.size());
        require_success(simt_launch(shape_of("networks_of_threads", 1, threads, 0), networks_of_threads<N>,
                                    sums_args{input.data, output.data}),
                        "networks_of_threads");
        check("networks_of_threads", output.read(), expected);
    }
}

/* Words tell the order of rows 0 and 1, whose numbers are equal or near. In the other rows words lose bits:
 * numbers have all sizes, or are small beside a large one. */
static words numbers_to_order(uint32_t row, uint32_t k) {
    words made = random_words(k, row == 1 ? 1u << 20 : 1u << 24);
    for (uint32_t i = 0; i < k; i++)
        made[i] = row == 0   ? 7
                  : row == 1 ? made[i] + 0xf0000000u
                  : row == 2 ? made[i] << 8 >> made[i] % 32
                             : made[i] % 50;
    made[k / 2] = row == 3 ? UINT32_MAX : made[k / 2];
    return made;
}

template <uint32_t MOST> static void test_order(uint32_t order_shift, uint32_t k) {
    const uint32_t rows = 4, shared_bytes = rows * k * sizeof(uint16_t);
    words in, expected;
    for (uint32_t row = 0; row < rows; row++) {
        const words numbers = numbers_to_order(row, k);
        words positions(k);
        for (uint32_t i = 0; i < k; i++)
            positions[i] = i;
        std::stable_sort(positions.begin(), positions.end(),
                         [&](uint32_t a, uint32_t b) { return numbers[a] > numbers[b]; });
        in.insert(in.end(), numbers.begin(), numbers.end());
        expected.insert(expected.end(), positions.begin(), positions.end());
        expected.push_back(row < 2);
    }
    device_array<uint32_t> input(in), output(expected.size());
    order_args args = {};
    args.rtopk.rows.values = input.data;
    args.rtopk.rows.rows = rows;
    args.rtopk.rows.row_stride = k;
    args.rtopk.uniform.k = args.rtopk.uniform.length = k;
    args.rtopk.uniform.map.sign = args.rtopk.uniform.map.unit = 1;
    args.rtopk.uniform.map.highest = args.rtopk.uniform.map.zeros = UINT32_MAX;
    args.rtopk.uniform.order_words = MOST;
    args.rtopk.uniform.order_shift = order_shift;
    args.rtopk.uniform.position_mask = 1023;
    args.out = output.data;
    require_success(
        simt_launch(shape_of("rows_in_order", 1, SIMT_WARP, shared_bytes), rows_in_order<MOST>, args),
        "rows_in_order");
    check("rows_in_order", output.read(), expected);
}

static uint32_t expect_bits(uint64_t word, uint32_t width) {
    uint32_t bits = 0, lowest = 0, highest = 0;
    for (uint32_t i = 0; i < width; i++)
        if ((word >> i & 1) != 0) {
            bits++;
            lowest = lowest != 0 ? lowest : i + 1;
            highest = i + 1;
        }
    return bits + 100 * (width - highest) + 10000 * lowest;
}

static void expect_wide(const uint32_t *v, uint32_t lane, uint32_t *out) {
    uint64_t sums[2] = {}, least[2] = {UINT64_MAX, UINT64_MAX}, greatest[2] = {};
    uint32_t any[2] = {};
    for (uint32_t i = 0; i < SIMT_WARP; i++) {
        bool mine = (i % 3 == 0) == (lane % 3 == 0);
        for (int which = mine ? 0 : 1; which < 2; which++) {
            sums[which] += wide_of(v[i]);
            least[which] = std::min(least[which], wide_of(v[i]));
            greatest[which] = std::max(greatest[which], wide_of(v[i]));
            any[which] |= v[i];
        }
    }
    out[0] = (uint32_t)(sums[0] >> 32) ^ (uint32_t)sums[0];
    out[1] = (uint32_t)(sums[1] >> 32) ^ (uint32_t)sums[1];
    out[2] = (uint32_t)least[1];
    out[3] = (uint32_t)greatest[1];
    out[4] = (uint32_t)least[0];
    out[5] = (uint32_t)greatest[0];
    out[6] = any[0];
    out[7] = any[1] | 64;
    out[8] = expect_bits(v[lane], 32);
    out[9] = expect_bits((uint64_t)v[lane] << 30, 64);
}

/* The parts of `width` bits whose highest bit is set. */
static uint32_t expect_signs(uint32_t word, uint32_t width) {
    uint32_t signs = 0;
    for (uint32_t i = 0; i < 32; i++)
        signs |= (word >> (i / width * width + width - 1) & 1) << i;
    return signs;
}

static void expect_floats(uint32_t value, uint32_t *out) {
    const volatile float third = (float)(value + 1) * 0x1.5p-3f / 3.0f, product = third * third;
    const float difference = product - 1.0f;
    std::memcpy(out, &difference, sizeof difference);
    out[1] = 3;
    out[2] = 7;
}

/* What lane `lane` of the warp whose values begin at `v` should report. */
static void expect_warp(const uint32_t *v, uint32_t lane, uint32_t *out) {
    auto lanes_with = [&](auto holds) {
        uint32_t mask = 0;
        for (uint32_t i = 0; i < SIMT_WARP; i++)
            mask |= (uint32_t)holds(v[i]) << i;
        return mask;
    };
    uint32_t odd = lanes_with([](uint32_t x) { return x % 2 != 0; });
    uint32_t equal = lanes_with([&](uint32_t x) { return x % 8 == v[lane] % 8; });
    uint32_t thirds = 0, others = 0;
    out[0] = 0;
    for (uint32_t i = 0; i < SIMT_WARP; i++) {
        out[0] += v[i];
        thirds += i % 3 == 0 ? v[i] : 0;
        others = i % 3 == 0 ? others : std::max(others, v[i]);
    }
    out[1] = *std::min_element(v, v + SIMT_WARP);
    out[2] = *std::max_element(v, v + SIMT_WARP);
    out[3] = odd;
    out[4] = out[5] = equal;
    out[6] = (lanes_with([](uint32_t x) { return x % 16 == 3; }) != 0) +
             2u * (lanes_with([](uint32_t x) { return x % 16 == 5; }) == 0);
    out[7] = v[lane * 7 % SIMT_WARP];
    out[8] = lane + 3 < SIMT_WARP ? v[lane + 3] : v[lane];
    out[9] = v[lane ^ 5];
    out[10] = lane % 3 == 0 ? thirds : others;
    out[11] = (uint32_t)__builtin_popcount(odd);
    expect_wide(v, lane, out + 12);
    out[22] = v[lane] + (lane >= 4 ? v[lane - 4] : 0) + 1000 * (v[lane] + (lane % 8 >= 3 ? v[lane - 3] : 0));
    out[23] = (v[lane ^ 1] % 2 != 0 ? lane ^ 1 : (lane ^ 1) + 100) + 1000 * ((lane ^ 1) + 100) +
              1000000 * ((lane ^ 1) + 200);
    out[24] = v[lane] * 0x9e3779b9u < v[lane ^ 1] * 0x85ebca6bu ? 10 : 17;
    out[24] += 1000 * (v[lane] < v[lane ^ 1] ? 311 : 332);
    expect_floats(v[lane], out + 25);
    out[28] = (v[lane ^ 1] % 2 + 1) * (lane ^ 1) * 2001;
    out[29] = expect_signs(v[lane] * 0x9e3779b1u, 8);
    out[30] = expect_signs(v[lane] * 0x9e3779b1u, 16);
    out[31] = lanes_with([&](uint32_t x) { return (x & 4) == (v[lane] & 4); });
}

static void test_warp_operations() {
    const uint32_t blocks = 4;
    words in = random_words(blocks * SIMT_WARP, 40);
    words expected(in.size() * WARP_WORDS);
    for (uint32_t i = 0; i < in.size(); i++)
        expect_warp(&in[i / SIMT_WARP * SIMT_WARP], i % SIMT_WARP, &expected[i * WARP_WORDS]);
    device_array<uint32_t> input(in), output(expected.size());
    require_success(simt_launch(shape_of("warp_operations", blocks, SIMT_WARP, 708), warp_operations,
                                sums_args{input.data, output.data}),
                    "warp_operations");
    check("warp_operations", output.read(), expected);
}

template <uint32_t WARPS> static void test_team() {
    const uint32_t blocks = 3, threads = WARPS * SIMT_WARP;
    words in = random_words(blocks * threads, 40), expected;
    for (uint32_t i = 0; i < in.size(); i++) {
        const uint32_t *first = &in[i / threads * threads], *end = first + threads;
        uint32_t before = 0, sum = 0;
        uint64_t wide = 0, least = UINT64_MAX;
        for (const uint32_t *v = first; v < end; v++) {
            before += v < &in[i] ? *v : 0;
            sum += *v;
            wide += wide_of(*v);
            least = std::min(least, wide_of(*v));
        }
        words of_thread = {sum,
                           *std::min_element(first, end),
                           *std::max_element(first, end),
                           (uint32_t)(wide >> 32) ^ (uint32_t)wide,
                           (uint32_t)least,
                           before,
                           sum,
                           *std::min_element(first, end) + 1000 * *std::max_element(first, end),
                           (uint32_t)std::count_if(first, end, [](uint32_t v) { return v % 3 == 1; }),
                           end[-1]};
        expected.insert(expected.end(), of_thread.begin(), of_thread.end());
    }
    device_array<uint32_t> input(in), output(expected.size());
    require_success(simt_launch(shape_of("team_operations", blocks, threads, (4 * WARPS + threads) * 4),
                                team_operations<WARPS>, sums_args{input.data, output.data}),
                    "team_operations");
    check("team_operations", output.read(), expected);
}

/* The weighted sum of rings.cuh, of each chunk. */
static words chunk_sums(const words &in, uint32_t added) {
    const uint32_t weights[] = {1, 3, 5, 7};
    words sums(in.size() / SLOT_WORDS, added);
    for (size_t i = 0; i < in.size(); i++)
        sums[i / SLOT_WORDS] += in[i] * weights[i % 4] + (i % 4 == 1 ? in[i] % 65536 : 0);
    return sums;
}

static void test_rings_of_warps() {
    const uint32_t blocks = 2, warps = 2;
    for (uint32_t chunks : {1u, 4u, 11u, 29u}) {
        words in = random_words((size_t)chunks * SLOT_WORDS, 1 << 20);
        device_array<uint32_t> input(in), output(chunks);
        require_success(simt_launch(shape_of("rings_of_warps", blocks, warps * SIMT_WARP, ring_bytes(warps)),
                                    rings_of_warps, ring_args{input.data, chunks, 1, output.data}),
                        "rings_of_warps");
        check("rings_of_warps", output.read(), chunk_sums(in, 0));
    }
}

static void test_ring_of_block() {
    const uint32_t threads = 4 * SIMT_WARP, chunks = 5, rounds = 3;
    words in = random_words(chunks * SLOT_WORDS, 1 << 20), expected;
    for (uint32_t round = 0; round < rounds; round++) {
        words sums = chunk_sums(in, round);
        expected.insert(expected.end(), sums.begin(), sums.end());
    }
    device_array<uint32_t> input(in), output(expected.size());
    require_success(simt_launch(shape_of("ring_of_block", 1, threads, ring_bytes(1)), ring_of_block,
                                ring_args{input.data, chunks, rounds, output.data}),
                    "ring_of_block");
    check("ring_of_block", output.read(), expected);
}

/* Whether simt_append_at, simt_shared_part, simt_bulk_copy and simt_shared_of_rank take such an array. */
template <typename Array, typename = void> struct takes_append : std::false_type {};
template <typename Array>
struct takes_append<Array, decltype((void)simt_append_at(std::declval<Array>(), 0u))> : std::true_type {};
template <typename Array, typename = void> struct takes_copy : std::false_type {};
template <typename Array>
struct takes_copy<Array, decltype((void)simt_bulk_copy(std::declval<Array>(), 0u, nullptr, 1u,
                                                       std::declval<simt_shared<simt_mbarrier>>(), 0u))>
    : std::true_type {};
template <typename Array, typename = void> struct takes_rank : std::false_type {};
template <typename Array>
struct takes_rank<Array, decltype((void)simt_shared_of_rank(std::declval<Array>(), 0u))> : std::true_type {};
template <typename Array, typename = void> struct takes_part : std::false_type {};
template <typename Array>
struct takes_part<Array, decltype((void)simt_shared_part(std::declval<Array>(), 0u, 1u))> : std::true_type {};

typedef simt_shared<uint16_t> own_words;
template <typename T> using own = simt_shared<T>;

static_assert(takes_append<own_words>::value && takes_part<own_words>::value, "of the block's own memory");
static_assert(takes_copy<own<simt_u32x4>>::value && takes_rank<own<uint32_t>>::value, "of the block's own");
static_assert(!takes_append<simt_remote<uint32_t>>::value && !takes_part<simt_remote<uint32_t>>::value &&
                  !takes_copy<simt_remote<uint32_t>>::value && !takes_rank<simt_remote<uint32_t>>::value,
              "of another block's");

/* Launches in clusters, and false, where there are some. */
template <typename Args>
static bool launch_clusters(const char *name, void (*kernel)(Args), uint32_t cluster, uint32_t threads,
                            uint32_t shared_bytes, Args args) {
    simt_launch_shape shape = shape_of(name, 2 * cluster, threads, shared_bytes);
    shape.cluster = cluster;
    const uint32_t resident = simt_resident_clusters(kernel, threads, shared_bytes, cluster);
#ifdef TOPK_PORTABLE
    require_success(resident != 0, "no clusters");
    if (simt_launch(shape, kernel, args) == 0)
        require_success(-1, "a launch in clusters that there are none of");
    return false;
#else
    require_success(resident == 0, "room for a cluster");
    require_success(simt_launch(shape, kernel, args), name);
    return true;
#endif
}

static void test_cluster_sum(uint32_t cluster) {
    const uint32_t threads = 64;
    words in = random_words(2 * cluster * threads, 1000), expected(2);
    for (size_t i = 0; i < in.size(); i++)
        expected[i / (threads * cluster)] += in[i];
    device_array<uint32_t> input(in), output(expected.size());
    if (launch_clusters("cluster_sum", cluster_sum, cluster, threads, 4, sums_args{input.data, output.data}))
        check("cluster_sum", output.read(), expected);
}

static void test_cluster_list(uint32_t cluster) {
    const uint32_t threads = 32, bound = 1500, members = cluster * threads;
    words in = random_words(2 * members, 2000), found;
    std::vector<uint64_t> listed(in.size());
    for (uint32_t first = 0; first < in.size(); first += members) {
        uint32_t number = 0, most = 0;
        for (uint32_t i = 0; i < members; i++)
            if (in[first + i] < bound) {
                listed[first + number++] = (uint64_t)in[first + i] << 32 | i;
                most = std::max(most, in[first + i]);
            }
        std::sort(&listed[first], &listed[first] + number);
        for (uint32_t block = 0; block < cluster; block++)
            found.insert(found.end(), {number, most});
    }
    device_array<uint32_t> input(in), of_blocks(found.size());
    device_array<uint64_t> output(in.size());
    if (!launch_clusters("cluster_list", cluster_list, cluster, threads, 8 + 8 * members,
                         list_args{input.data, bound, output.data, of_blocks.data}))
        return;
    std::vector<uint64_t> got = output.read();
    for (uint32_t group = 0; group < 2; group++)
        std::sort(&got[group * members], &got[group * members] + found[2 * group * cluster]);
    require_success(got != listed, "cluster_list, the list");
    check("cluster_list, found", of_blocks.read(), found);
}

static void test_histogram() {
    const uint32_t blocks = 6, threads = 64, n = 2000;
    words in = random_words(n, 1000), expected(BINS);
    for (uint32_t value : in)
        expected[value % BINS]++;
    device_array<uint32_t> input(in), partial(blocks * BINS), ticket(1), output(BINS);
    require_success(simt_launch(shape_of("histogram", blocks, threads, (BINS + 1) * 4), histogram,
                                histogram_args{input.data, n, partial.data, ticket.data, output.data}),
                    "histogram");
    check("histogram", output.read(), expected);
    check("histogram's ticket", ticket.read(), words{0});
}

static void test_grid_rounds() {
    const uint32_t blocks = 5, threads = 64, rounds = 3;
    words cells(blocks * (rounds + 1)), expected(cells.size());
    for (uint32_t i = 0, value = 1; i < cells.size(); i++) {
        value *= i != 0 && i % blocks == 0 ? blocks : 1;
        cells[i] = i < blocks;
        expected[i] = value;
    }
    device_array<uint32_t> memory(cells);
    simt_launch_shape shape = shape_of("grid_rounds", blocks, threads, 0);
    shape.cooperative = true;
    require_success(simt_launch(shape, grid_rounds, rounds_args{memory.data, rounds}), "grid_rounds");
    check("grid_rounds", memory.read(), expected);
}

static void test_too_large_for_cooperation() {
    const uint32_t threads = SIMT_WARP, shared_bytes = 100 * 1024;
    require_success(simt_allow_shared(grid_rounds, shared_bytes), "room in shared memory");
    const uint32_t resident = simt_resident_blocks(grid_rounds, threads, shared_bytes);
    device_array<uint32_t> memory(2 * (resident + 1));
    simt_launch_shape shape = shape_of("grid_rounds", resident, threads, shared_bytes);
    shape.cooperative = true;
    require_success(simt_launch(shape, grid_rounds, rounds_args{memory.data, 1}), "all resident");
    shape.blocks++;
    if (simt_launch(shape, grid_rounds, rounds_args{memory.data, 1}) == 0)
        require_success(-1, "a cooperative launch of too many blocks");
}

/* A device that holds less than its SMs would: a launch that it does not hold is refused before it begins. */
static void test_small_room() {
#ifndef __CUDACC__
    const uint32_t threads = SIMT_WARP;
    device_array<uint32_t> memory(words(6, 1)), output(16 * 16 * SIMT_WARP);
    const rounds_args rounds = {memory.data, 1};
    simt_launch_shape together = shape_of("grid_rounds", 3, threads, 0);
    simt_launch_shape clustered = shape_of("cluster_sum", 16, threads, 4);
    together.cooperative = true;
    clustered.cluster = 16;
    for (uint32_t room : {0u, 2u, 3u, 16u, UINT32_MAX}) {
        simt_runtime::limit_device(room, std::max(room, 1u));
        const uint32_t blocks = simt_resident_blocks(grid_rounds, threads, 0);
        const uint32_t clusters = simt_resident_clusters(cluster_sum, threads, 4, 16);
        require_success(blocks != std::min(room, 64u) || (clusters != 0) != (room >= 16), "resident");
        const bool ran = simt_launch(together, grid_rounds, rounds) == 0;
        require_success(ran != (blocks >= 3), "a cooperative launch");
        const sums_args sums = {output.data, output.data};
        require_success((simt_launch(clustered, cluster_sum, sums) == 0) != (clusters != 0), "clusters");
    }
#endif
}

static void test_look_back() {
    const uint32_t blocks = 40, threads = 64;
    words in = random_words(blocks * threads, 1000);
    device_array<uint32_t> input(in), output(in.size()), ticket(1);
    device_array<uint64_t> tiles(blocks);
    require_success(simt_launch(shape_of("look_back_scan", blocks, threads, (threads / SIMT_WARP + 2) * 4),
                                look_back_scan,
                                look_back_args{input.data, output.data, ticket.data, tiles.data}),
                    "look_back_scan");
    check("look_back_scan", output.read(), prefix_sums(in, in.size()));
}

/* More than 32 bundles of tiles, and the first warp has to look at all; the last of a bundle, which
 * makes its prefix; and the first two bundles. */
static void test_distant_sums() {
    const int64_t tiles = 36 * LOOK_BACK_BUNDLE;
    const std::vector<int64_t> from = {tiles - 2, 34 * LOOK_BACK_BUNDLE - 1, 2 * LOOK_BACK_BUNDLE - 1,
                                       LOOK_BACK_BUNDLE + 1, 1};
    device_array<int64_t> looks(from);
    device_array<uint64_t> memory((size_t)look_back_words(tiles)), before(from.size());
    require_success(simt_launch(shape_of("distant_sums", 1, (uint32_t)from.size() * SIMT_WARP, 0),
                                distant_sums, distant_args{memory.data, tiles, looks.data, before.data}),
                    "distant_sums");
    words got, expected;
    for (size_t i = 0; i < from.size(); i++) {
        got.push_back((uint32_t)before.read()[i]);
        expected.push_back((uint32_t)(from[i] * (from[i] + 1) / 2));
    }
    check("distant_sums", got, expected);
}

static void test_pipeline() {
    const uint32_t blocks = 12;
    words expected(blocks);
    for (uint32_t i = 0; i < blocks; i++)
        expected[i] = (i + 1) * (i + 2) / 2;
    device_array<uint32_t> cells(blocks), flags(blocks), ticket(1);
    require_success(simt_launch(shape_of("pipeline", blocks, SIMT_WARP, 0), pipeline,
                                pipeline_args{cells.data, flags.data, ticket.data}),
                    "pipeline");
    check("pipeline", cells.read(), expected);
}

static void test_dependent_launches() {
    const uint32_t blocks = 20, threads = 64, links = 7;
    words in = random_words(blocks * threads, 1000), expected(in.size());
    for (size_t i = 0; i < in.size(); i++) {
        size_t from = links % 2 != 0 ? (blocks - 1 - i / threads) * threads + i % threads : i;
        expected[i] = in[from] + links;
    }
    device_array<uint32_t> input(in), odd(in.size()), even(in.size());
    require_success(simt_prepare(relay, 4), "relay prepared");
    simt_launch_shape shape = shape_of("relay", blocks, threads, 4);
    const uint32_t *from = input.data;
    for (uint32_t i = 0; i < links; i++) {
        uint32_t *to = i % 2 == 0 ? even.data : odd.data;
        require_success(simt_launch(shape, relay, relay_args{from, to}), "relay");
        from = to;
        shape.dependent = simt_architecture(relay) >= 90;
    }
#ifndef __CUDACC__
    if (!simt_runtime::may_start_early())
        require_success(-1, "relay allows a successor");
#endif
    check("relay", even.read(), expected);
}

int main(int count, char **words_given) {
    unsigned long schedules = count > 1 ? strtoul(words_given[1], nullptr, 0) : 1;
    unsigned long first = count > 2 ? strtoul(words_given[2], nullptr, 0) : 1;
    printf("%lu schedules, seeds from %lu\n", schedules, first);
    test_networks<1>(); /* no schedule changes what a thread does alone */
    test_networks<2>();
    test_networks<8>();
    test_networks<64>();
    test_order<2>(0, 2);
    test_order<2>(5, 63);
    test_order<4>(2, 13);
    test_order<8>(2, 32);
    test_order<8>(5, 250);
    test_order<16>(1, 31);
    test_order<32>(2, 128);
    test_order<32>(5, 1023);
    for (unsigned long seed = first; seed < first + schedules; seed++) {
#ifndef __CUDACC__
        simt_runtime::seed(seed * 1000);
#endif
        state = (uint32_t)seed;
        test_block_scan();
        test_warp_operations();
        test_team<1>();
        test_team<5>();
        test_rings_of_warps();
        test_ring_of_block();
        test_cluster_sum(4);
        test_cluster_sum(16);
        test_cluster_list(2);
        test_cluster_list(16);
        test_small_room();
        test_histogram();
        test_grid_rounds();
        test_too_large_for_cooperation();
        test_look_back();
        test_distant_sums();
        test_pipeline();
        test_dependent_launches();
    }
    return 0;
}
