/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/read_cuda.h"

#include "gpu/launch_cuda.cuh"

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

/* All threads of the grid go through the input side by side, each with Unroll loads in flight. */
template <load How, int Unroll>
__global__ void read_side_by_side(const uint4 *words, std::int64_t count, int tail_bytes, unsigned *total) {
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    unsigned sum = read_tail(words, count, tail_bytes);
    for (; i + (Unroll - 1) * stride < count; i += Unroll * stride) {
        uint4 taken[Unroll];
#pragma unroll
        for (int u = 0; u < Unroll; ++u) {
            taken[u] = read_word<How>(words + i + u * stride);
        }
#pragma unroll
        for (int u = 0; u < Unroll; ++u) {
            sum += sum_of(taken[u]);
        }
    }
    for (; i < count; i += stride) {
        sum += sum_of(read_word<How>(words + i));
    }
    bench_block_add(total, sum);
}

/* Tiles of blockDim.x x Unroll neighbouring words, dealt out to the blocks in turn. */
template <load How, int Unroll>
__global__ void read_tiles(const uint4 *words, std::int64_t count, int tail_bytes, unsigned *total) {
    const std::int64_t tile = static_cast<std::int64_t>(blockDim.x) * Unroll;
    unsigned sum = read_tail(words, count, tail_bytes);
    for (std::int64_t first = tile * blockIdx.x; first < count; first += tile * gridDim.x) {
        const std::int64_t i = first + threadIdx.x;
        if (first + tile <= count) {
            uint4 taken[Unroll];
#pragma unroll
            for (int u = 0; u < Unroll; ++u) {
                taken[u] = read_word<How>(words + i + u * static_cast<std::int64_t>(blockDim.x));
            }
#pragma unroll
            for (int u = 0; u < Unroll; ++u) {
                sum += sum_of(taken[u]);
            }
        } else {
            for (std::int64_t at = i; at < count; at += blockDim.x) {
                sum += sum_of(read_word<How>(words + at));
            }
        }
    }
    bench_block_add(total, sum);
}

struct read_kernel {
    const char *name;
    void (*kernel)(const uint4 *, std::int64_t, int, unsigned *);
    unsigned threads;
    int unroll;
    unsigned blocks_per_sm; /* at most */
};

const read_kernel kernels[] = {
    {"one word", read_side_by_side<load_plain, 1>, 256, 1, 8},
    {"one word, large blocks", read_side_by_side<load_read_only, 1>, 1024, 1, 2},
    {"4 words, read-only", read_side_by_side<load_read_only, 4>, 512, 4, 4},
    {"8 words, streaming", read_side_by_side<load_streaming, 8>, 256, 8, 8},
    {"tiles of 4", read_tiles<load_read_only, 4>, 512, 4, 4},
    {"tiles of 4, all blocks", read_tiles<load_streaming, 4>, 256, 4, 1u << 16},
    {"tiles of 8, around L1", read_tiles<load_around_l1, 8>, 256, 8, 8},
    {"tiles of 16", read_tiles<load_plain, 16>, 128, 16, 16},
};

struct reading {
    const read_kernel *kernel;
    const unsigned char *base;
    std::size_t bytes, pitch;
    std::int64_t copies;
    unsigned *total; /* on the device */
    int sms;
    cudaStream_t stream;
};

bool enqueue_read(void *state, std::int64_t turn) {
    const reading *self = static_cast<const reading *>(state);
    const read_kernel *kernel = self->kernel;
    const void *input = self->base + static_cast<std::size_t>(turn % self->copies) * self->pitch;
    const std::int64_t words = static_cast<std::int64_t>(self->bytes / sizeof(uint4));
    const std::int64_t of_block = static_cast<std::int64_t>(kernel->threads) * kernel->unroll;
    const std::int64_t wanted = words / of_block + 1;
    const std::int64_t most = static_cast<std::int64_t>(self->sms) * kernel->blocks_per_sm;
    return bench_launch(kernel->kernel, static_cast<unsigned>(wanted < most ? wanted : most), kernel->threads,
                        self->stream, static_cast<const uint4 *>(input), words,
                        static_cast<int>(self->bytes % sizeof(uint4)), self->total);
}

bool reading_make(reading *self, bench_timer *timer) {
    int device = 0;
    self->stream = timer->stream;
    void *total = nullptr;
    const bool ok =
        bench_device_ok(cudaGetDevice(&device), "the device") &&
        bench_device_ok(cudaDeviceGetAttribute(&self->sms, cudaDevAttrMultiProcessorCount, device), "SMs") &&
        bench_device_ok(cudaMalloc(&total, sizeof(unsigned)), "reading") &&
        bench_device_ok(cudaMemsetAsync(total, 0, sizeof(unsigned), timer->stream), "reading");
    self->total = static_cast<unsigned *>(total);
    return ok;
}

struct copying {
    void *to;
    const void *from;
    std::size_t bytes;
    cudaStream_t stream;
};

bool enqueue_copy(void *state, std::int64_t) {
    const copying *self = static_cast<const copying *>(state);
    return bench_device_ok(
        cudaMemcpyAsync(self->to, self->from, self->bytes, cudaMemcpyDeviceToDevice, self->stream), "a copy");
}

/* Whether the kernel's sum of zeros changes with each single byte. */
bool notices_every_byte(reading *self, unsigned char *zeros) {
    bool all = true;
    for (std::size_t i = 0; all && i<self->bytes; i += self->bytes> 1000 ? 61 : 1) {
        unsigned sum = 0;
        all = bench_device_ok(cudaMemsetAsync(self->total, 0, sizeof sum, self->stream), "reading") &&
              bench_device_ok(cudaMemsetAsync(zeros + i, 1, 1, self->stream), "reading") &&
              enqueue_read(self, 0) &&
              bench_device_ok(cudaMemsetAsync(zeros + i, 0, 1, self->stream), "reading") &&
              bench_device_ok(
                  cudaMemcpyAsync(&sum, self->total, sizeof sum, cudaMemcpyDeviceToHost, self->stream),
                  "reading") &&
              bench_device_ok(cudaStreamSynchronize(self->stream), "reading") && sum != 0;
    }
    return all;
}

} // namespace

bool bench_gpu_read_measure(bench_timer *timer, const bench_gpu_data *data, int runs, bench_gpu_read *read) {
    reading self = {};
    self.base = static_cast<const unsigned char *>(data->buffer.data);
    self.bytes = data->bytes;
    self.pitch = data->pitch;
    self.copies = data->copies;
    bench_turns turns = {0};
    bool ok = reading_make(&self, timer);
    const read_kernel *best = nullptr;
    bench_quartiles least = {0, 0, 0};
    for (const read_kernel &each : kernels) {
        bench_quartiles us = {0, 0, 0};
        self.kernel = &each;
        ok = ok && bench_timer_warm(timer, {enqueue_read, &self, false}, &turns) &&
             bench_timer_runs(timer, {enqueue_read, &self, false}, &turns, calibration_runs, &us);
        if (ok && (best == nullptr || us.median < least.median)) {
            best = &each;
            least = us;
        }
    }
    self.kernel = best;
    ok = ok && bench_timer_runs(timer, {enqueue_read, &self, false}, &turns, runs, &read->us);
    read->name = ok ? best->name : "";
    (void)cudaFree(self.total);
    return ok;
}

double bench_gpu_read_limit_us(const char *device, std::size_t bytes) {
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
    const double size = static_cast<double>(bytes);
    if (size <= measured[0].bytes) {
        return measured[0].us + resolution_us;
    }
    int i = 0;
    while (i < last - 1 && size > measured[i + 1].bytes) {
        ++i;
    }
    const double slope = (measured[i + 1].us - measured[i].us) / (measured[i + 1].bytes - measured[i].bytes);
    const double us = measured[i].us + slope * (size - measured[i].bytes);
    return us + (share * us > resolution_us ? share * us : resolution_us);
}

double bench_gpu_copy_rate(bench_timer *timer) {
    constexpr int runs = 11;
    bench_buffer from = {}, to = {};
    std::size_t bytes = bench_device_free_bytes() / 8;
    bytes = bytes < copy_bytes_most ? bytes : copy_bytes_most;
    bench_turns turns = {0};
    bench_quartiles us = {0, 0, 0};
    bool ok = bytes > 0 && bench_buffer_make(&from, bytes) && bench_buffer_make(&to, bytes) &&
              bench_buffer_poison(&from, timer->stream);
    copying self = {to.data, from.data, bytes, timer->stream};
    ok = ok && bench_timer_warm(timer, {enqueue_copy, &self, false}, &turns) &&
         bench_timer_runs(timer, {enqueue_copy, &self, false}, &turns, runs, &us);
    bench_buffer_free(&from);
    bench_buffer_free(&to);
    return ok ? 2.0 * static_cast<double>(bytes) / (1e-6 * us.median) : 0;
}

const char *bench_gpu_read_self_test(bench_timer *timer) {
    static const std::size_t sizes[] = {1, 15, 16, 17, 900, 100003};
    reading self = {};
    void *zeros = nullptr;
    const char *deaf = nullptr;
    bool ok = reading_make(&self, timer) && bench_device_ok(cudaMalloc(&zeros, sizes[5]), "reading") &&
              bench_device_ok(cudaMemsetAsync(zeros, 0, sizes[5], timer->stream), "reading");
    self.base = static_cast<const unsigned char *>(zeros);
    self.copies = 1;
    for (const read_kernel &each : kernels) {
        for (const std::size_t bytes : sizes) {
            self.kernel = &each;
            self.bytes = bytes;
            ok = ok && notices_every_byte(&self, static_cast<unsigned char *>(zeros));
            deaf = ok || deaf != nullptr ? deaf : each.name;
        }
    }
    (void)cudaFree(zeros);
    (void)cudaFree(self.total);
    return deaf;
}
