/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/session_cuda.h"

#include <stdio.h>

static bool tell(bool ok, const char *what, const char *but) {
    printf("%-5s %s%s%s\n", ok ? "ok" : "FAIL", what, but != NULL ? ", but for " : "",
           but != NULL ? but : "");
    return ok;
}

/* A byte in front of or behind a buffer. */
static bool guards_notice(cudaStream_t stream) {
    static const size_t sizes[] = {0, 1, 255, 256, 1000};
    bool all = true;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        for (int behind = 0; behind < 2; ++behind) {
            bench_buffer buffer = {0};
            all = bench_buffer_make(&buffer, sizes[i]) && bench_buffer_intact(&buffer, stream) && all;
            unsigned char *next = buffer.data;
            next = behind ? next + sizes[i] : next - 1;
            all = buffer.base != NULL && bench_device_ok(cudaMemset(next, 0, 1), "spoiling a guard") &&
                  bench_device_ok(cudaDeviceSynchronize(), "spoiling a guard") &&
                  !bench_buffer_intact(&buffer, stream) && all;
            bench_buffer_free(&buffer);
        }
    }
    return all;
}

/* An input that is not the one the checksum was taken of. */
static bool checksum_notices(struct bench_gpu_state *state) {
    bench_point point = state->data.point;
    const bench_outputs none = {0};
    unsigned char byte = 0;
    uint64_t checksum = state->checksum;
    char reason[64];
    point.operation = TOPK_OPERATION_SELECT;
    point.k = 0;
    const bool ok =
        state->data.copies > 0 &&
        bench_device_ok(cudaMemcpy(&byte, state->data.buffer.data, 1, cudaMemcpyDeviceToHost), "spoiling") &&
        bench_device_ok(cudaMemset(state->data.buffer.data, byte ^ 1, 1), "spoiling") &&
        bench_device_ok(cudaDeviceSynchronize(), "spoiling") &&
        bench_gpu_check(&state->checker, &point, state->data.buffer.data, &none, state->timer.stream,
                        &checksum, reason, sizeof reason) &&
        checksum != state->checksum;
    bench_gpu_data_free(&state->data);
    return ok;
}

bool bench_gpu_self_test(bench_session *session) {
    struct bench_gpu_state *state = session->state;
    const char *deaf = bench_gpu_read_self_test(&state->timer);
    bool ok = tell(deaf == NULL, "every read kernel reads every byte", deaf);
    ok = tell(guards_notice(state->timer.stream), "a byte beside a buffer", NULL) && ok;
    return tell(checksum_notices(state), "a changed input", NULL) && ok;
}
