/* SPDX-License-Identifier: Apache-2.0
 *
 * A call returns while the GPU is still busy with what came before it, also the first one of a context; and
 * no call takes memory of the device (CONTRACT.md, 7.1 and 7.3). */
#include <stdlib.h>

#include "check.h"
#include "spin_cuda.h"
#include "trial_cuda.h"

static cudaStream_t stream;

/* Kernels that are loaded at their first launch, or that need more local memory than those before, make that
 * launch wait until the GPU is idle. */
static void check_first_call(int kind) {
    trial t;
    topk_context *context = create_cuda_context(0);
    trial_create(&t, context, kind);
    trial_change(&t, 2);
    trial_poison(&t);
    spin_begin(stream);
    CHECK_STATUS(TOPK_OK, trial_call(&t, context, stream));
    const bool busy = cudaStreamQuery(stream) == cudaErrorNotReady;
    if (!CHECK(spin_end()) || !CHECK(busy)) {
        fprintf(stderr, "    the first call of kind %d waited\n", kind);
    }
    CHECK(trial_is_right(&t));
    trial_free(&t);
    topk_context_destroy(context);
}

static size_t free_bytes(void) {
    size_t free, total;
    require_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    require_cuda(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    return free;
}

/* Calls of all kinds, first ones included, behind one spinning kernel. Few enough that the queue of launches,
 * some thousand, does not fill up, which blocks whoever launches. */
static void check_many_calls(const trial *trials, topk_context *context) {
    for (int round = 0; round < 5; round++) {
        const size_t before = free_bytes();
        spin_begin(stream);
        for (int call = 0; call < 3 * TRIAL_KINDS; call++) {
            CHECK_STATUS(TOPK_OK, trial_call(&trials[call % TRIAL_KINDS], context, stream));
        }
        const bool busy = cudaStreamQuery(stream) == cudaErrorNotReady;
        CHECK(spin_end());
        CHECK(busy);
        CHECK(free_bytes() == before);
        for (int kind = 0; kind < TRIAL_KINDS; kind++) {
            CHECK(trial_is_right(&trials[kind]));
        }
    }
}

int main(int argc, char **argv) {
    const int first = argc > 1 ? atoi(argv[1]) : 0; /* the kind whose call is the process's first */
    trial trials[TRIAL_KINDS];
    topk_context_destroy(create_cuda_context(0)); /* or the test is skipped */
    require_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    for (int kind = 0; kind < TRIAL_KINDS; kind++) {
        check_first_call((first + kind) % TRIAL_KINDS);
    }
    topk_context *context = create_cuda_context(0);
    for (int kind = 0; kind < TRIAL_KINDS; kind++) {
        trial_create(&trials[kind], context, kind);
        trial_change(&trials[kind], 3);
    }
    check_many_calls(trials, context);
    for (int kind = 0; kind < TRIAL_KINDS; kind++) {
        trial_free(&trials[kind]);
    }
    topk_context_destroy(context);
    require_cuda(cudaStreamDestroy(stream), "cudaStreamDestroy");
    return check_report();
}
