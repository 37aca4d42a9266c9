/* SPDX-License-Identifier: Apache-2.0
 *
 * A launch of the caller's that may start early, behind a call: nothing of the call is written after it
 * (CONTRACT.md, 10.5). */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "follow_cuda.h"
#include "trial_cuda.h"

enum { ROUNDS = 20, VALUE = 0xab };

static cudaStream_t stream;

static bool holds_only(const trial_array *output) {
    unsigned char *seen = malloc(output->bytes + 1);
    bool same = seen != NULL;
    require_cuda(cudaMemcpy(seen, output->device, output->bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
    for (size_t byte = 0; same && byte < output->bytes; byte++) {
        same = seen[byte] == VALUE;
    }
    free(seen);
    return same;
}

static void check_follower(const trial *t, topk_context *context, int kind) {
    follow_buffers outputs;
    for (int o = 0; o < TRIAL_OUTPUTS; o++) {
        outputs.data[o] = t->outputs[o].device;
        outputs.bytes[o] = t->outputs[o].bytes;
    }
    for (int round = 0; round < ROUNDS; round++) {
        CHECK_STATUS(TOPK_OK, trial_call(t, context, stream));
        require_cuda(follow_with_fill(stream, &outputs, VALUE), "a dependent launch");
        require_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
        for (int o = 0; o < TRIAL_OUTPUTS; o++) {
            if (!CHECK(holds_only(&t->outputs[o]))) {
                fprintf(stderr, "    output %d of kind %d was written after the follower\n", o, kind);
            }
        }
    }
}

/* One row that all blocks share: its last kernel runs for long. */
static void check_long_row(topk_context *context, const char *method, topk_operation operation) {
    trial t;
    topk_problem problem = TOPK_PROBLEM_INIT;
    problem.type = TOPK_F32;
    problem.length_max = 1 << 22;
    problem.k_max = operation == TOPK_OPERATION_KTH || strcmp(method, "bitonic") == 0 ? 1000 : 20000;
    problem.method = method;
    trial_create_for(&t, context, operation, &problem, false);
    trial_change(&t, 7);
    check_follower(&t, context, -1);
    trial_free(&t);
}

int main(void) {
    topk_context *context = create_cuda_context(0);
    require_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    for (int kind = 0; kind < TRIAL_KINDS; kind++) {
        trial t;
        trial_create(&t, context, kind);
        trial_change(&t, 5);
        check_follower(&t, context, kind);
        trial_free(&t);
    }
    for (int operation = TOPK_OPERATION_SELECT; operation <= TOPK_OPERATION_KTH; operation++) {
        check_long_row(context, "air", (topk_operation)operation);
        check_long_row(context, "radik", (topk_operation)operation);
        check_long_row(context, "bucket", (topk_operation)operation);
        check_long_row(context, "drtopk", (topk_operation)operation);
        check_long_row(context, "sort", (topk_operation)operation);
    }
    check_long_row(context, "bitonic", TOPK_OPERATION_SELECT); /* it does no kth */
    topk_context_destroy(context);
    require_cuda(cudaStreamDestroy(stream), "cudaStreamDestroy");
    return check_report();
}
