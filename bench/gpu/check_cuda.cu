/* SPDX-License-Identifier: Apache-2.0 */
#include "check/passes.hpp"
#include "gpu/launch_cuda.cuh"
#include "gpu/session_cuda.h"

static bool run(bench_session *session, const bench_point *point, const bench_outputs *outputs,
                bench::verdict *found) {
    constexpr std::int64_t busy = 1 << 18;
    const std::size_t bytes = bench::layout(*point).bytes;
    const cudaStream_t stream = static_cast<cudaStream_t>(session->stream);
    bench_buffer *scratch = &static_cast<bench_gpu_state *>(session->state)->scratch;
    return bench_buffer_make(&bench_device_memory, scratch, bytes) &&
           bench_device_ok(cudaMemsetAsync(scratch->data, 0, bytes, stream), "checking") &&
           bench::with_width(point->type,
                             [&](auto width) {
                                 using W = decltype(width);
                                 return bench::run_passes(
                                     bench::subject_of<W>(*point, *outputs, session->truth,
                                                          session->data.buffer.data,
                                                          session->mask.buffer.data, scratch->data),
                                     busy, [stream](std::int64_t count, auto body) {
                                         return bench_for_each(count, body, stream);
                                     });
                             }) &&
           bench_device_memory.copy(found, scratch->data, sizeof *found);
}

bool bench_gpu_check(bench_session *session, const bench_point *point, const bench_outputs *outputs,
                     bench_result *result, std::uint64_t *checksum) {
    bench::verdict found = {};
    const bool ran = run(session, point, outputs, &found);
    *checksum = found.checksum;
    if (!ran) {
        std::snprintf(result->reason, sizeof result->reason, "could not be checked: %s",
                      bench_device_error());
        return false;
    }
    return bench::tell(found, result->reason, sizeof result->reason);
}
