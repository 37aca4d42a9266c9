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
 * the candidates. RadixOverwrite keeps no candidates: it is the selection in place that Dr. Top-k is compared
 * with (Gaihre et al., Figure 12; after GGKS, the library of Alabi et al.). One row is served after the
 * other. Results come in any order. */
#include "baselines/buckets_cuda.cuh"
#include "gpu/launch_cuda.cuh"
#include "gpu/rivals_cuda.h"

namespace {

using namespace bench_buckets;

constexpr std::int64_t elements_of_block = 4096, blocks_max = 2048;
constexpr std::int64_t rows_max = 1024;

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

/* Finds the bucket of the k-th element, with *left candidates. Elements of better buckets are no longer
 * missing. */
template <typename Buckets> bool choose(selection *s, Buckets buckets, int *chosen, std::int64_t *left) {
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
    for (*chosen = 0; *chosen + 1 < Buckets::count && counts[*chosen] < s->missing; ++*chosen) {
        s->missing -= counts[*chosen];
    }
    *left = counts[*chosen];
    return true;
}

/* Writes the results of better buckets, and leaves the candidates of the chosen one. */
template <typename Buckets> bool keep(selection *s, Buckets buckets, int chosen, std::int64_t left) {
    counters *const c = s->device;
    const list kept = s->buffers[s->pass++ % 2];
    const candidates from = s->from;
    s->from = {kept.values, kept.positions, left};
    return clear(&c->kept, sizeof c->kept, s->stream) &&
           bench_launch(filter<Buckets>, blocks_for(from.count), threads_of_block, s->stream, from, buckets,
                        chosen, c, s->results, kept);
}

/* One step. *one_key: all candidates that are left are equal. */
template <typename Buckets> bool divide(selection *s, Buckets buckets, bool *one_key) {
    int chosen;
    std::int64_t left;
    const bool ok = choose(s, buckets, &chosen, &left) && keep(s, buckets, chosen, left);
    *one_key = ok && buckets.is_one_key(chosen);
    return ok;
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
    while (!one_key && s->missing < s->from.count) {
        if (!Step(s, &one_key)) {
            return false;
        }
    }
    return finish_row(*s);
}

/* Each pass reads a copy of the whole row. What a pass rules out it overwrites, so the next one looks at its
 * own digit alone. The passes find the k-th key; then the results are taken from the row. */
bool select_overwriting(selection *s) {
    const candidates row = s->from;
    float *const copy = s->buffers[1].values;
    std::uint32_t kth = 0;
    std::int64_t left = 0;
    s->from.values = copy;
    if (!bench_device_ok(cudaMemcpyAsync(copy, row.values, static_cast<std::size_t>(row.count) * sizeof *copy,
                                         cudaMemcpyDeviceToDevice, s->stream),
                         "copying a row")) {
        return false;
    }
    for (int shift = 24; shift >= 0; shift -= 8) {
        int chosen;
        if (!choose(s, of_digit{shift}, &chosen, &left) ||
            (shift > 0 && !bench_launch(overwrite, blocks_for(row.count), threads_of_block, s->stream, copy,
                                        row.count, of_digit{shift}, chosen))) {
            return false;
        }
        kth |= static_cast<std::uint32_t>(255 - chosen) << shift;
    }
    s->from = row;
    return keep(s, of_pivot{kth}, 1, left) && finish_row(*s);
}

bool is_served(const bench_point *point) {
    return bench_can_select(point) && point->order == TOPK_ORDER_ANY && point->ties == TOPK_TIES_ANY &&
           point->rows <= rows_max && point->n <= INT32_MAX;
}

template <bool (*SelectRow)(selection *)> bool run_rows(bench_rival *rival) {
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
        if (!clear(&s.device->written, sizeof s.device->written, s.stream) || !SelectRow(&s)) {
            return false;
        }
    }
    return true;
}

constexpr int traits = BENCH_RIVAL_NUMBERS | BENCH_RIVAL_WAITS;

} // namespace

const bench_rival_kind bench_host_selections[] = {
    {"RadixSelect", is_served, run_rows<select_row<step_of_radix>>, traits},
    {"RadixOverwrite", is_served, run_rows<select_overwriting>, traits},
    {"QuickSelect", is_served, run_rows<select_row<step_of_quick>>, traits},
    {"SampleSelect", is_served, run_rows<select_row<step_of_sample>>, traits},
    {},
};
