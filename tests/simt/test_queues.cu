// SPDX-License-Identifier: Apache-2.0
// The queues of topk_device.cuh against a stable sort, on the emulated device under many schedules or on a
// GPU: test_queues [SCHEDULES [FIRST_SEED]].
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/device_memory.cuh"
#include "kernels/queues.cuh"

namespace {

uint32_t state = 1;

uint32_t draw(uint32_t limit) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % limit;
}

enum law { FEW_CLASSES, BITS, RISING, FALLING, MOSTLY_NAN, LAWS };

float drawn_value(law law, uint32_t at) {
    static const float special[] = {0.0f,   -0.0f,   INFINITY,      -INFINITY, NAN, -NAN,
                                    1e-40f, -1e-40f, 3.4028235e38f, 1,         -1};
    switch (law) {
    case FEW_CLASSES:
        return special[draw(sizeof special / sizeof special[0])];
    case BITS: {
        const uint32_t bits = draw(1 << 16) << 16 | draw(1 << 16);
        float of_bits;
        memcpy(&of_bits, &bits, sizeof bits);
        return of_bits;
    }
    case RISING:
        return (float)(at / 3);
    case FALLING:
        return -(float)(at / 2);
    default:
        return draw(9) == 0 ? (float)draw(5) : draw(2) == 0 ? NAN : -NAN;
    }
}

/* Whether a comes before b in the order of values. */
bool precedes(float a, float b, bool is_largest, bool nan_first) {
    if (std::isnan(a) || std::isnan(b))
        return std::isnan(a) != std::isnan(b) && std::isnan(a) == nan_first;
    return is_largest ? a > b : a < b;
}

struct problem {
    uint32_t rows, length, k;
    bool is_largest, nan_first;
    std::vector<float> values;
};

problem random_problem(bool is_largest, bool nan_first) {
    static const uint32_t ks[] = {1, 2, 7, 31, 32, 33, 64, 100};
    problem p = {1 + draw(5), draw(8) == 0 ? draw(3) : draw(700), ks[draw(8)], is_largest, nan_first, {}};
    for (uint32_t row = 0; row < p.rows; row++) {
        const law law = (enum law)draw(LAWS);
        for (uint32_t i = 0; i < p.length; i++)
            p.values.push_back(drawn_value(law, i));
    }
    return p;
}

bool is_same(float a, float b) {
    return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

/* What stands for a value in the results: zeros and NaN have no sign. */
float plain(float v) {
    return v == 0 ? 0.0f : v;
}

template <typename Index> struct results {
    device_array<float> best;
    device_array<Index> indices;
    device_array<uint32_t> counts, pushes;

    results(const problem &p)
        : best((size_t)p.rows * p.k + 1), indices((size_t)p.rows * p.k + 1), counts(p.rows), pushes(1) {
    }
};

template <typename Index>
void check_row(const char *what, const problem &p, uint32_t row, const float *best, const Index *indices,
               uint32_t count, Index base) {
    const float *values = p.values.data() + (size_t)row * p.length;
    std::vector<uint32_t> order(p.length);
    for (uint32_t i = 0; i < p.length; i++)
        order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
        return precedes(values[a], values[b], p.is_largest, p.nan_first);
    });
    if (count != std::min(p.k, p.length)) {
        fprintf(stderr, "%s: row %u of %u has %u results, not min(%u, %u)\n", what, row, p.rows, count, p.k,
                p.length);
        exit(1);
    }
    for (uint32_t i = 0; i < count; i++)
        if (indices[i] != base + (Index)order[i] || !is_same(best[i], plain(values[order[i]]))) {
            fprintf(stderr,
                    "%s: row %u of %u, k %u of %u, largest %d: result %u is %g at %lld, not %g at %u\n", what,
                    row, p.rows, p.k, p.length, p.is_largest, i, (double)best[i],
                    (long long)indices[i] - (long long)base, (double)values[order[i]], order[i]);
            exit(1);
        }
}

template <typename Index>
void check(const char *what, const problem &p, const results<Index> &found, Index base) {
    const std::vector<float> best = found.best.read();
    const std::vector<Index> indices = found.indices.read();
    const std::vector<uint32_t> counts = found.counts.read();
    for (uint32_t row = 0; row < p.rows; row++)
        check_row(what, p, row, &best[(size_t)row * p.k], &indices[(size_t)row * p.k], counts[row], base);
}

template <typename Best> uint32_t bytes_of(uint32_t lists, uint32_t k) {
    simt_arena arena = simt_measuring_arena();
    (void)carve_best<Best>(arena, lists, k);
    return arena.used_bytes;
}

template <typename Index>
void launch(const char *name, void (*kernel)(queue_args<Index>), uint32_t blocks, uint32_t warps,
            uint32_t bytes, const queue_args<Index> &args) {
    simt_launch_shape shape = {};
    shape.name = name;
    shape.blocks = blocks;
    shape.rows = 1;
    shape.threads = 32 * warps;
    shape.shared_bytes = bytes;
    require_success(simt_allow_shared(kernel, bytes), name);
    require_success(simt_launch(shape, kernel, args), name);
}

template <typename Order, typename Index> void test_rows(bool is_largest, bool nan_first, Index base) {
    const problem p = random_problem(is_largest, nan_first);
    const uint32_t warps = 1 + draw(3), of_warp = 1 + draw(4);
    device_array<float> values(p.values.empty() ? std::vector<float>(1) : p.values);
    queue_args<Index> args = {values.data, p.rows,  p.length, p.k,          base,         of_warp,
                              nullptr,     nullptr, nullptr,  draw(2) != 0, draw(2) != 0, nullptr};
    const auto run = [&](const char *name, void (*kernel)(queue_args<Index>), uint32_t blocks,
                         uint32_t bytes) {
        results<Index> found(p);
        args.best = found.best.data;
        args.indices = found.indices.data;
        args.counts = found.counts.data;
        args.pushes = found.pushes.data;
        launch(name, kernel, blocks, warps, bytes, args);
        check(name, p, found, base);
    };
    typedef best_of_warp<Order, Index> of_warp_t;
    typedef best_of_block<Order, Index> of_block_t;
    run("rows_by_warps", rows_by_warps<Order, Index>, (p.rows - 1) / (warps * of_warp) + 1,
        bytes_of<of_warp_t>(warps * of_warp, p.k));
    run("rows_by_lanes", rows_by_lanes<Order, Index>, (p.rows - 1) / (warps * of_warp) + 1,
        bytes_of<of_warp_t>(warps * of_warp, p.k));
    run("rows_by_blocks", rows_by_blocks<Order, Index>, 1 + draw(p.rows), bytes_of<of_block_t>(warps, p.k));
    run("rows_in_parts", rows_in_parts<Order, Index>, (p.rows - 1) / warps + 1,
        bytes_of<of_warp_t>(warps * (of_warp + 1), p.k));
}

/* Ranks keep the order of values, and values come back. */
template <typename Order> void test_ranks(bool is_largest, bool nan_first) {
    std::vector<float> in;
    for (uint32_t i = 0; i < 300; i++)
        in.push_back(drawn_value(i % 2 == 0 ? FEW_CLASSES : BITS, i));
    device_array<float> values(in), back(in.size());
    device_array<uint32_t> ranks(in.size());
    queue_args<uint32_t> args = {
        values.data, 1, (uint32_t)in.size(), 1, 0, 1, back.data, ranks.data, nullptr, false, false, nullptr};
    launch("ranks_of_values", ranks_of_values<Order>, 1, 2, 0, args);
    const std::vector<float> again = back.read();
    const std::vector<uint32_t> rank = ranks.read();
    for (size_t i = 0; i < in.size(); i++) {
        require_success(!is_same(again[i], plain(in[i])), "a value that comes back");
        for (size_t j = 0; j < in.size(); j++)
            require_success((rank[i] < rank[j]) != precedes(in[i], in[j], is_largest, nan_first),
                            "an order of ranks");
    }
}

/* A value is pushed only where it may come before the bound: few of many. */
void test_few_pushes(void) {
    const uint32_t length = 4000, k = 10;
    problem p = {1, length, k, true, false, {}};
    for (uint32_t i = 0; i < length; i++)
        p.values.push_back((float)draw(1 << 24));
    device_array<float> values(p.values);
    results<uint32_t> found(p);
    launch("few pushes", rows_by_blocks<largest_floats, uint32_t>, 1, 2,
           bytes_of<best_of_block<largest_floats, uint32_t>>(2, k),
           queue_args<uint32_t>{values.data, 1, length, k, 0, 1, found.best.data, found.indices.data,
                                found.counts.data, false, true, found.pushes.data});
    check("few pushes", p, found, 0u);
    require_success(found.pushes.read()[0] >= length / 4, "few pushes: their number");
}

} // namespace

int main(int count, char **words_given) {
    const unsigned long schedules = count > 1 ? strtoul(words_given[1], nullptr, 0) : 1;
    const unsigned long first = count > 2 ? strtoul(words_given[2], nullptr, 0) : 1;
    printf("%lu schedules, seeds from %lu\n", schedules, first);
    const int64_t far = (int64_t)1 << 40;
    for (unsigned long seed = first; seed < first + schedules; seed++) {
#ifndef __CUDACC__
        simt_runtime::seed(seed * 1000);
#endif
        state = (uint32_t)seed;
        test_rows<smallest_floats>(false, false, 0u);
        test_rows<largest_floats>(true, false, 0xffff0000u);
        test_rows<float_order<true, true>>(true, true, 7u);
        test_rows<float_order<false, true>>(false, true, far);
        test_rows<largest_floats>(true, false, far);
        test_few_pushes();
    }
    test_ranks<smallest_floats>(false, false);
    test_ranks<largest_floats>(true, false);
    test_ranks<float_order<true, true>>(true, true);
    test_ranks<float_order<false, true>>(false, true);
    return 0;
}
