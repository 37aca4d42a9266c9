/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/check_cuda.h"

#include "check/passes.hpp"
#include "gpu/launch_cuda.cuh"

static bool run(bench_gpu_checker *checker, const bench_point *point, const void *input,
                const bench_outputs *outputs, cudaStream_t stream, bench::verdict *found) {
    constexpr std::int64_t busy = 1 << 18;
    const std::size_t bytes = bench::layout(*point).bytes;
    void *const *const memory = &checker->memory.data;
    return bench_buffer_make(&bench_device_memory, &checker->memory, bytes) &&
           bench_device_ok(cudaMemsetAsync(*memory, 0, bytes, stream), "checking") &&
           bench::with_width(point->type,
                             [&](auto width) {
                                 using W = decltype(width);
                                 return bench::run_passes(bench::subject_of<W>(*point, *outputs,
                                                                               checker->truth, input,
                                                                               checker->mask, *memory),
                                                          busy, [stream](std::int64_t count, auto body) {
                                                              return bench_for_each(count, body, stream);
                                                          });
                             }) &&
           bench_device_memory.copy(found, *memory, sizeof *found);
}

bool bench_gpu_check(bench_gpu_checker *checker, const bench_point *point, const void *input,
                     const bench_outputs *outputs, cudaStream_t stream, std::uint64_t *checksum, char *reason,
                     std::size_t reason_bytes) {
    bench::verdict found = {};
    const bool ran = run(checker, point, input, outputs, stream, &found);
    *checksum = found.checksum;
    if (!ran) {
        std::snprintf(reason, reason_bytes, "could not be checked: %s", bench_device_error());
        return false;
    }
    return bench::tell(found, reason, reason_bytes);
}

void bench_gpu_checker_free(bench_gpu_checker *checker) {
    bench_buffer_free(&checker->memory);
}
