/* SPDX-License-Identifier: Apache-2.0
 *
 * One context, several streams at once, from one host thread and from many. */
#include <pthread.h>

#include "check.h"
#include "trial_cuda.h"

enum { STREAMS = 2, ROUNDS = 200, THREADS = 8, THREAD_ROUNDS = 40 };

static topk_context *context;

/* Two calls of one kind run side by side, each on a stream with a workspace of its own. */
static void check_two_streams(int kind) {
    trial trials[STREAMS];
    cudaStream_t streams[STREAMS];
    int wrong = 0;
    for (int s = 0; s < STREAMS; s++) {
        require_cuda(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking), "cudaStreamCreate");
        trial_create(&trials[s], context, (kind + s * 3) % TRIAL_KINDS);
        trial_change(&trials[s], (uint64_t)(kind * STREAMS + s));
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int s = 0; s < STREAMS; s++) {
            CHECK_STATUS(TOPK_OK, trial_call(&trials[s], context, streams[s]));
        }
        for (int s = 0; s < STREAMS && round % 20 == 19; s++) {
            wrong += !trial_is_right(&trials[s]);
        }
        for (int s = 0; s < STREAMS && round % 20 == 19; s++) {
            trial_poison(&trials[s]);
        }
    }
    if (!CHECK(wrong == 0)) {
        fprintf(stderr, "    kinds %d and %d\n", kind, (kind + 3) % TRIAL_KINDS);
    }
    for (int s = 0; s < STREAMS; s++) {
        trial_free(&trials[s]);
        require_cuda(cudaStreamDestroy(streams[s]), "cudaStreamDestroy");
    }
}

typedef struct worker {
    pthread_t thread;
    int number;
    int wrong;
} worker;

static void *work(void *argument) {
    worker *w = argument;
    trial trials[TRIAL_KINDS];
    cudaStream_t stream;
    require_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    for (int kind = 0; kind < TRIAL_KINDS; kind++) {
        trial_create(&trials[kind], context, kind);
        trial_change(&trials[kind], (uint64_t)(w->number * TRIAL_KINDS + kind));
    }
    for (int round = 0; round < THREAD_ROUNDS; round++) {
        for (int kind = 0; kind < TRIAL_KINDS; kind++) {
            w->wrong += trial_call(&trials[(kind + w->number) % TRIAL_KINDS], context, stream) != TOPK_OK;
        }
        require_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
        for (int kind = 0; kind < TRIAL_KINDS && round % 10 == 9; kind++) {
            w->wrong += !trial_is_right(&trials[kind]);
        }
    }
    for (int kind = 0; kind < TRIAL_KINDS; kind++) {
        trial_free(&trials[kind]);
    }
    require_cuda(cudaStreamDestroy(stream), "cudaStreamDestroy");
    return NULL;
}

static void check_threads(void) {
    worker workers[THREADS] = {{.number = 0}};
    for (int t = 0; t < THREADS; t++) {
        workers[t].number = t;
        CHECK(pthread_create(&workers[t].thread, NULL, work, &workers[t]) == 0);
    }
    for (int t = 0; t < THREADS; t++) {
        CHECK(pthread_join(workers[t].thread, NULL) == 0);
        CHECK(workers[t].wrong == 0);
    }
}

int main(void) {
    context = create_cuda_context(0);
    for (int kind = 0; kind < TRIAL_KINDS; kind++) {
        check_two_streams(kind);
    }
    check_threads();
    topk_context_destroy(context);
    return check_report();
}
