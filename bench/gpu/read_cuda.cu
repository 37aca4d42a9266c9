/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/session_cuda.h"

#include "gpu/launch_cuda.cuh"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace {

constexpr int calibration_runs = 5;
constexpr std::size_t copy_bytes_most = std::size_t(1) << 30;

enum load { load_plain, load_read_only, load_streaming, load_around_l1 };

template <load How> __device__ uint4 read_word(const uint4 *word) {
    switch (How) {
    case load_read_only:
        return __ldg(word);
    case load_streaming:
        return __ldcs(word);
    case load_around_l1:
        return __ldcg(word);
    default:
        return *word;
    }
}

__device__ unsigned sum_of(uint4 word) {
    return word.x + word.y + word.z + word.w;
}

/* What is left behind the last whole word. */
__device__ unsigned read_tail(const uint4 *words, std::int64_t count, int tail_bytes) {
    const unsigned char *tail = reinterpret_cast<const unsigned char *>(words + count);
    return blockIdx.x == 0 && static_cast<int>(threadIdx.x) < tail_bytes ? tail[threadIdx.x] : 0;
}

/* What is written besides: nothing; or, to find the floor of a selection, as much as its results are. */
struct writing {
    uint4 *to[2];
    std::int64_t words[2];
};

/* Each thread adds up Unroll words at a time, all in flight together. They lie a grid apart, so that all
 * threads go through the input side by side; or a block apart, in tiles that are dealt out to the blocks in
 * turn. */
template <load How, int Unroll, bool Tiles>
__global__ void read_words(const uint4 *words, std::int64_t count, int tail_bytes, unsigned *total,
                           writing results) {
    const std::int64_t block = blockDim.x, blocks = gridDim.x;
    const std::int64_t step = Tiles ? block : block * blocks;
    std::int64_t i = block * blockIdx.x * (Tiles ? Unroll : 1) + threadIdx.x;
    unsigned sum = read_tail(words, count, tail_bytes);
    for (; i + (Unroll - 1) * step < count; i += block * blocks * Unroll) {
        uint4 taken[Unroll];
#pragma unroll
        for (int u = 0; u < Unroll; ++u) {
            taken[u] = read_word<How>(words + i + u * step);
        }
#pragma unroll
        for (int u = 0; u < Unroll; ++u) {
            sum += sum_of(taken[u]);
        }
    }
    for (; i < count; i += step) {
        sum += sum_of(read_word<How>(words + i));
    }
    for (int part = 0; part < 2; ++part) {
        for (i = block * blockIdx.x + threadIdx.x; i < results.words[part]; i += block * blocks) {
            results.to[part][i] = make_uint4(sum, sum, sum, sum);
        }
    }
    bench_block_add(total, sum);
}

struct read_kernel {
    const char *name;
    void (*kernel)(const uint4 *, std::int64_t, int, unsigned *, writing);
    unsigned threads;
    int unroll;
    unsigned blocks_per_sm; /* at most */
};

const read_kernel kernels[] = {
    {"one word", read_words<load_plain, 1, false>, 256, 1, 8},
    {"one word, large blocks", read_words<load_read_only, 1, false>, 1024, 1, 2},
    {"4 words, read-only", read_words<load_read_only, 4, false>, 512, 4, 4},
    {"8 words, streaming", read_words<load_streaming, 8, false>, 256, 8, 8},
    {"tiles of 4", read_words<load_read_only, 4, true>, 512, 4, 4},
    {"tiles of 4, all blocks", read_words<load_streaming, 4, true>, 256, 4, 1u << 16},
    {"tiles of 8, around L1", read_words<load_around_l1, 8, true>, 256, 8, 8},
    {"tiles of 16", read_words<load_plain, 16, true>, 128, 16, 16},
};

struct reading {
    bench_gpu_state *state;
    const bench_data *data;
    const read_kernel *kernel;
    writing results;

    bench_work work() {
        const std::size_t most = 900, piece = state->piece_bytes;
        return {enqueue, this, piece > 0 && data->bytes / piece > most};
    }
    /* Launch after launch. The sum goes to the scratch. */
    static bool enqueue(void *self, std::int64_t turn) {
        const reading *all = static_cast<const reading *>(self);
        const std::size_t bytes = all->data->bytes, piece = std::min(all->state->piece_bytes, bytes);
        const unsigned char *from = static_cast<const unsigned char *>(bench_data_copy(all->data, turn));
        bool ok = all->enqueue_piece(from, piece > 0 ? piece : bytes);
        for (std::size_t at = piece; ok && piece > 0 && at < bytes; at += piece) {
            ok = all->enqueue_piece(from + at, std::min(piece, bytes - at));
        }
        return ok;
    }
    bool enqueue_piece(const unsigned char *from, std::size_t bytes) const {
        const std::int64_t words = static_cast<std::int64_t>(bytes / sizeof(uint4));
        const std::int64_t of_block = static_cast<std::int64_t>(kernel->threads) * kernel->unroll;
        const std::int64_t most = static_cast<std::int64_t>(state->sms) * kernel->blocks_per_sm;
        return bench_launch(kernel->kernel, static_cast<unsigned>(std::min(words / of_block + 1, most)),
                            kernel->threads, state->timer.stream, reinterpret_cast<const uint4 *>(from),
                            words, static_cast<int>(bytes % sizeof(uint4)),
                            static_cast<unsigned *>(state->scratch.data), results);
    }
    /* Whether the kernel's sum of zeros changes with each single byte. */
    bool notices_every_byte() {
        const cudaStream_t stream = state->timer.stream;
        unsigned char *zeros = static_cast<unsigned char *>(data->buffer.data);
        bool all = true;
        for (std::size_t i = 0; all && i<data->bytes; i += data->bytes> 1000 ? 61 : 1) {
            unsigned sum = 0;
            all = bench_device_ok(cudaMemsetAsync(state->scratch.data, 0, sizeof sum, stream), "reading") &&
                  bench_device_ok(cudaMemsetAsync(zeros + i, 1, 1, stream), "reading") && enqueue(this, 0) &&
                  bench_device_ok(cudaMemsetAsync(zeros + i, 0, 1, stream), "reading") &&
                  bench_device_memory.copy(&sum, state->scratch.data, sizeof sum) && sum != 0;
        }
        return all;
    }
};

/* What one read of `bytes` should take at most on the GPU of that name; where it takes longer, the
 * machine is not what it is when its figures count. 0: nothing is known about this GPU. */
double limit_us(const char *device, std::size_t bytes) {
    /* One H200 with 132 SMs, driver 580.159.04, 2026-11-20: the best of six read kernels on inputs that
     * are not in the cache. Between the points time grows with the bytes. */
    static const struct {
        double bytes, us;
    } measured[] = {{524288, 5.1},   {4194304, 6.1},      {33554432, 13},
                    {134217728, 34}, {1073741824.0, 235}, {4294967296.0, 922}};
    constexpr int last = sizeof measured / sizeof *measured - 1;
    /* A share, but no less than what events resolve. */
    constexpr double share = 0.05, resolution_us = 0.5;
    /* Not a GH200, whose memory is another. */
    if (std::strstr(device, " H200") == nullptr) {
        return 0;
    }
    const double size = std::max(static_cast<double>(bytes), measured[0].bytes);
    int i = 0;
    while (i < last - 1 && size > measured[i + 1].bytes) {
        ++i;
    }
    const double slope = (measured[i + 1].us - measured[i].us) / (measured[i + 1].bytes - measured[i].bytes);
    const double us = measured[i].us + slope * (size - measured[i].bytes);
    return us + std::max(share * us, resolution_us);
}

/* Tries all kernels, and times the fastest. */
bool measure(bench_gpu_state *state, const writing &results, int runs, const char **name,
             bench_quartiles *fastest) {
    reading self = {state, state->subject, kernels, results};
    const read_kernel *best = nullptr;
    bench_quartiles us = {0, 0, 0};
    double least_us = 0;
    bool ok = bench_buffer_make(&bench_device_memory, &state->scratch, sizeof(unsigned)) &&
              bench_buffer_poison(&state->scratch);
    for (const read_kernel &each : kernels) {
        self.kernel = &each;
        ok = ok && bench_timer_host(&state->timer, self.work(), 1, &us) &&
             bench_timer_runs(&state->timer, self.work(), calibration_runs, &us);
        if (best == nullptr || us.median < least_us) {
            best = &each;
            least_us = us.median;
        }
    }
    self.kernel = best;
    *name = best->name;
    return ok && bench_timer_runs(&state->timer, self.work(), runs, fastest);
}

struct copying {
    void *to;
    const void *from;
    std::size_t bytes;
    cudaStream_t stream;
};

bool copy(void *self, std::int64_t) {
    const auto [to, from, bytes, stream] = *static_cast<const copying *>(self);
    return bench_device_ok(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream), "a copy");
}

} // namespace

bool bench_gpu_read_measure(bench_gpu_state *state, int runs) {
    const std::size_t bytes = state->subject->bytes, piece = state->piece_bytes;
    const double most_us = piece == 0 || piece >= bytes
                               ? limit_us(state->name, bytes)
                               : limit_us(state->name, piece) *
                                     std::ceil(static_cast<double>(bytes) / static_cast<double>(piece));
    /* A clock that is still rising gets a second chance. */
    for (int attempt = 0; attempt < 2; ++attempt) {
        if (!measure(state, {}, runs, &state->read_name, &state->read_us)) {
            return false;
        }
        state->read_slow = most_us > 0 && state->read_us.median > most_us;
        if (!state->read_slow) {
            break;
        }
    }
    return true;
}

bool bench_gpu_floor_measure(bench_gpu_state *state, const bench_outputs *outputs, int runs, double *us) {
    constexpr std::size_t word = sizeof(uint4);
    const writing results = {{static_cast<uint4 *>(outputs->values), static_cast<uint4 *>(outputs->indices)},
                             {static_cast<std::int64_t>(outputs->value_bytes / word),
                              static_cast<std::int64_t>(outputs->index_bytes / word)}};
    const char *name;
    bench_quartiles floor = {0, 0, 0};
    const bool ok = measure(state, results, runs, &name, &floor);
    *us = floor.median;
    return ok;
}

double bench_gpu_copy_rate(bench_timer *timer) {
    constexpr int runs = 11;
    bench_buffer from = {}, to = {};
    const std::size_t bytes = std::min(bench_device_free_bytes() / 8, copy_bytes_most);
    bench_quartiles us = {0, 0, 0};
    bool ok = bytes > 0 && bench_buffer_make(&bench_device_memory, &from, bytes) &&
              bench_buffer_make(&bench_device_memory, &to, bytes) && bench_buffer_poison(&from);
    copying self = {to.data, from.data, bytes, timer->stream};
    const bench_work work = {copy, &self, false};
    ok = ok && bench_timer_host(timer, work, 1, &us) && bench_timer_runs(timer, work, runs, &us);
    bench_buffer_free(&from);
    bench_buffer_free(&to);
    return ok ? 2.0 * static_cast<double>(bytes) / (1e-6 * us.median) : 0;
}

const char *bench_gpu_deaf_reader(bench_session *session) {
    constexpr std::size_t most = 100003;
    bench_gpu_state *state = static_cast<bench_gpu_state *>(session->state);
    bench_data zeros = {};
    const char *deaf = nullptr;
    bool ok = bench_buffer_make(&bench_device_memory, &state->scratch, sizeof(unsigned)) &&
              bench_buffer_make(&bench_device_memory, &zeros.buffer, most) &&
              bench_device_memory.fill(zeros.buffer.data, 0, most);
    zeros.copies = 1;
    for (const read_kernel &each : kernels) {
        reading self = {state, &zeros, &each, {}};
        for (const std::size_t bytes :
             {std::size_t(1), std::size_t(15), std::size_t(16), std::size_t(17), std::size_t(900), most}) {
            zeros.bytes = bytes;
            ok = ok && self.notices_every_byte();
            deaf = ok || deaf != nullptr ? deaf : each.name;
        }
    }
    bench_buffer_free(&zeros.buffer);
    return deaf;
}
