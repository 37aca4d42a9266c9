/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/prepare_cuda.h"

#include <stdio.h>

bool bench_gpu_fail(bench_gpu_result *result, bench_gpu_outcome outcome, const char *why) {
    result->outcome = outcome;
    snprintf(result->reason, sizeof result->reason, "%s", why);
    return false;
}

bool bench_gpu_fail_somewhere(bench_gpu_result *result) {
    const char *device = bench_device_error();
    return bench_gpu_fail(result, BENCH_GPU_WRONG, device[0] != '\0' ? device : topk_last_error());
}

size_t bench_gpu_cold_bytes(const bench_gpu_session *session) {
    return session->options.warm || session->options.once ? 0 : (size_t)1 << 28;
}

bool bench_gpu_fail_to_make(bench_gpu_result *result, const char *what) {
    const char *why = bench_device_error();
    return why[0] != '\0' ? bench_gpu_fail(result, BENCH_GPU_WRONG, why)
                          : bench_gpu_fail(result, BENCH_GPU_SKIPPED, what);
}

static bool measure_read(bench_gpu_session *session) {
    struct bench_gpu_state *state = session->state;
    const double limit_us = bench_gpu_read_limit_us(session->device, state->subject->bytes);
    /* A clock that is still rising gets a second chance. */
    for (int attempt = 0; attempt < 2; ++attempt) {
        if (!bench_gpu_read_measure(&state->timer, state->subject, session->options.runs, &state->read)) {
            return false;
        }
        state->read_slow = limit_us > 0 && state->read.us.median > limit_us;
        if (!state->read_slow) {
            break;
        }
    }
    return true;
}

/* A check of nothing, for the checksum of the input. */
static bool take_checksum(struct bench_gpu_state *state, const bench_point *point, uint64_t *checksum,
                          char *reason, size_t reason_bytes) {
    bench_point nothing = *point;
    const bench_gpu_outputs none = {0};
    nothing.operation = TOPK_OPERATION_SELECT;
    nothing.k = 0;
    return bench_gpu_check(&state->checker, &nothing, state->data.buffer.data, &none, state->timer.stream,
                           checksum, reason, reason_bytes);
}

/* The truth about the matches, and a mask if the point has one. */
static bool prepare_predicate(bench_gpu_session *session, const bench_point *point,
                              bench_gpu_result *result) {
    struct bench_gpu_state *state = session->state;
    bench_gpu_checker *checker = &state->checker;
    const cudaStream_t stream = state->timer.stream;
    const void *input = state->data.buffer.data;
    if (!bench_gpu_truth_find(&checker->truth, point, input, &state->scratch, stream)) {
        return bench_gpu_fail_to_make(result, "out of memory");
    }
    result->k = bench_has_k(point) ? point->k : checker->truth.matches;
    if (!bench_has_mask(point)) {
        return true;
    }
    if (!bench_gpu_mask_make(&state->mask, point, point->predicate, input, &checker->truth,
                             bench_gpu_cold_bytes(session), stream)) {
        return bench_gpu_fail_to_make(result, "the mask does not fit");
    }
    checker->mask = state->mask.buffer.data;
    return true;
}

/* Times one read of what the calls will read, unless that is known: of the input, or of a mask that is read
 * in its place. */
static bool prepare_read(bench_gpu_session *session, const bench_point *point, bench_gpu_result *result) {
    struct bench_gpu_state *state = session->state;
    const bool mask_alone = state->checker.mask != NULL && !bench_has_k(point);
    const bench_gpu_data *subject = mask_alone ? &state->mask : &state->data;
    if (state->subject == subject && !mask_alone) {
        return true;
    }
    state->subject = subject;
    if (session->options.once || measure_read(session)) {
        return true;
    }
    state->subject = NULL;
    bench_gpu_data_free(&state->data);
    return bench_gpu_fail_somewhere(result);
}

bool bench_gpu_prepare(bench_gpu_session *session, const bench_point *point, bench_gpu_result *result) {
    struct bench_gpu_state *state = session->state;
    bool made;
    state->checker.mask = NULL;
    bench_gpu_data_free(&state->mask);
    if (!bench_gpu_data_make(&state->data, point, session->options.seed, bench_gpu_cold_bytes(session),
                             state->timer.stream, &made)) {
        return bench_gpu_fail_to_make(result, "the input does not fit");
    }
    state->subject = made ? NULL : state->subject;
    if (made && !take_checksum(state, point, &state->checksum, result->reason, sizeof result->reason)) {
        bench_gpu_data_free(&state->data);
        result->outcome = BENCH_GPU_WRONG;
        return false;
    }
    if ((bench_has_predicate(point) && !prepare_predicate(session, point, result)) ||
        !prepare_read(session, point, result)) {
        return false;
    }
    if (!bench_gpu_outputs_make(&state->outputs, point, result->k)) {
        return bench_gpu_fail(result, BENCH_GPU_SKIPPED, "the outputs do not fit");
    }
    return true;
}
