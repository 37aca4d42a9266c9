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

/* Each thread adds up Unroll words at a time, all in flight together. They lie a grid apart, so that all
 * threads go through the input side by side; or a block apart, in tiles that are dealt out to the blocks in
 * turn. */
template <load How, int Unroll, bool Tiles>
__global__ void read_words(const uint4 *words, std::int64_t count, int tail_bytes, unsigned *total) {
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
    const read_kernel *kernel;
    const bench_data *data;
    bench_buffer total; /* an unsigned on the device */
    int sms;
    cudaStream_t stream;
};

bool enqueue_read(void *state, std::int64_t turn) {
    const reading *self = static_cast<const reading *>(state);
    const read_kernel *kernel = self->kernel;
    const void *input = bench_data_copy(self->data, turn);
    const std::int64_t words = static_cast<std::int64_t>(self->data->bytes / sizeof(uint4));
    const std::int64_t of_block = static_cast<std::int64_t>(kernel->threads) * kernel->unroll;
    const std::int64_t wanted = words / of_block + 1;
    const std::int64_t most = static_cast<std::int64_t>(self->sms) * kernel->blocks_per_sm;
    return bench_launch(kernel->kernel, static_cast<unsigned>(wanted < most ? wanted : most), kernel->threads,
                        self->stream, static_cast<const uint4 *>(input), words,
                        static_cast<int>(self->data->bytes % sizeof(uint4)),
                        static_cast<unsigned *>(self->total.data));
}

bool reading_make(reading *self, bench_timer *timer) {
    int device = 0;
    self->stream = timer->stream;
    return bench_device_ok(cudaGetDevice(&device), "the device") &&
           bench_device_ok(cudaDeviceGetAttribute(&self->sms, cudaDevAttrMultiProcessorCount, device),
                           "SMs") &&
           bench_buffer_make(&bench_device_memory, &self->total, sizeof(unsigned)) &&
           bench_buffer_poison(&self->total);
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
bool notices_every_byte(reading *self) {
    unsigned char *zeros = static_cast<unsigned char *>(self->data->buffer.data);
    const std::size_t bytes = self->data->bytes;
    bool all = true;
    for (std::size_t i = 0; all && i<bytes; i += bytes> 1000 ? 61 : 1) {
        unsigned sum = 0;
        all = bench_device_ok(cudaMemsetAsync(self->total.data, 0, sizeof sum, self->stream), "reading") &&
              bench_device_ok(cudaMemsetAsync(zeros + i, 1, 1, self->stream), "reading") &&
              enqueue_read(self, 0) &&
              bench_device_ok(cudaMemsetAsync(zeros + i, 0, 1, self->stream), "reading") &&
              bench_device_memory.copy(&sum, self->total.data, sizeof sum) && sum != 0;
    }
    return all;
}

} // namespace

bool bench_gpu_read_measure(bench_timer *timer, const bench_data *data, int runs, bench_gpu_read *read) {
    reading self = {};
    self.data = data;
    std::int64_t turn = 0;
    bool ok = reading_make(&self, timer);
    const read_kernel *best = nullptr;
    bench_quartiles least = {0, 0, 0};
    for (const read_kernel &each : kernels) {
        bench_quartiles us = {0, 0, 0};
        self.kernel = &each;
        ok = ok && bench_timer_warm(timer, {enqueue_read, &self, false}, &turn) &&
             bench_timer_runs(timer, {enqueue_read, &self, false}, &turn, calibration_runs, &us);
        if (ok && (best == nullptr || us.median < least.median)) {
            best = &each;
            least = us;
        }
    }
    self.kernel = best;
    ok = ok && bench_timer_runs(timer, {enqueue_read, &self, false}, &turn, runs, &read->us);
    read->name = ok ? best->name : "";
    bench_buffer_free(&self.total);
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
    std::int64_t turn = 0;
    bench_quartiles us = {0, 0, 0};
    bool ok = bytes > 0 && bench_buffer_make(&bench_device_memory, &from, bytes) &&
              bench_buffer_make(&bench_device_memory, &to, bytes) && bench_buffer_poison(&from);
    copying self = {to.data, from.data, bytes, timer->stream};
    ok = ok && bench_timer_warm(timer, {enqueue_copy, &self, false}, &turn) &&
         bench_timer_runs(timer, {enqueue_copy, &self, false}, &turn, runs, &us);
    bench_buffer_free(&from);
    bench_buffer_free(&to);
    return ok ? 2.0 * static_cast<double>(bytes) / (1e-6 * us.median) : 0;
}

const char *bench_gpu_read_self_test(bench_timer *timer) {
    constexpr std::size_t most = 100003;
    reading self = {};
    bench_data zeros = {};
    const char *deaf = nullptr;
    bool ok = reading_make(&self, timer) && bench_buffer_make(&bench_device_memory, &zeros.buffer, most) &&
              bench_device_ok(cudaMemsetAsync(zeros.buffer.data, 0, most, timer->stream), "reading");
    self.data = &zeros;
    zeros.copies = 1;
    for (const read_kernel &each : kernels) {
        self.kernel = &each;
        for (const std::size_t bytes :
             {std::size_t(1), std::size_t(15), std::size_t(16), std::size_t(17), std::size_t(900), most}) {
            zeros.bytes = bytes;
            ok = ok && notices_every_byte(&self);
            deaf = ok || deaf != nullptr ? deaf : each.name;
        }
    }
    bench_buffer_free(&zeros.buffer);
    bench_buffer_free(&self.total);
    return deaf;
}
