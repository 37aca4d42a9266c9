/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "spin_cuda.h"

#include <pthread.h>
#include <time.h>

#include "trial_cuda.h"

enum { PATIENCE_SECONDS = 20 };

static volatile int *flag;
static pthread_t watchdog;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool ended, barked;

static void *watch(void *unused) {
    struct timespec until;
    (void)unused;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_SECONDS;
    pthread_mutex_lock(&mutex);
    while (!ended && !barked) {
        if (pthread_cond_timedwait(&changed, &mutex, &until) != 0 && !ended) {
            barked = true;
            *flag = 1;
        }
    }
    pthread_mutex_unlock(&mutex);
    return NULL;
}

void spin_begin(cudaStream_t stream) {
    if (flag == NULL) {
        void *mapped;
        require_cuda(cudaHostAlloc(&mapped, sizeof *flag, cudaHostAllocMapped), "cudaHostAlloc");
        flag = mapped;
        /* Once without blocking, so that the kernel is loaded. */
        *flag = 1;
        require_cuda((cudaError_t)spin_enqueue(stream, flag), "spin");
        require_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    }
    ended = barked = false;
    *flag = 0;
    require_cuda((cudaError_t)spin_enqueue(stream, flag), "spin");
    if (pthread_create(&watchdog, NULL, watch, NULL) != 0) {
        require_cuda(cudaErrorUnknown, "pthread_create");
    }
}

bool spin_end(void) {
    pthread_mutex_lock(&mutex);
    ended = true;
    *flag = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
    pthread_join(watchdog, NULL);
    return !barked;
}
