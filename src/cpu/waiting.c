/* SPDX-License-Identifier: Apache-2.0
 * A sleeper adds itself before the kernel compares the value, and the value changes before the sleepers are
 * counted. So one of both sees the other, and nobody sleeps through a change. */
#include "waiting.h"

#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    LOOKS = 32, /* at the value, between two at the clock */
    /* A call of 2^16 elements takes 10 us: the next one finds the threads awake. Whoever waits longer sleeps,
     * since others may want its processor; to be woken takes about as long. */
    AWAKE_NS = 20000,
};

static int64_t now_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * (int64_t)1000000000 + now.tv_nsec;
}

static void pause_briefly(void) {
#ifdef __x86_64__
    __builtin_ia32_pause();
#endif
}

void topk_cpu_await(struct awaited *awaited, int old) {
    const int64_t end_ns = now_ns() + AWAKE_NS;
    do {
        for (int look = 0; look < LOOKS; look++) {
            if (atomic_load_explicit(&awaited->value, memory_order_acquire) != old) {
                return;
            }
            pause_briefly();
        }
    } while (now_ns() < end_ns);
    atomic_fetch_add(&awaited->sleepers, 1);
    if (syscall(SYS_futex, &awaited->value, FUTEX_WAIT_PRIVATE, old, NULL) != 0) {
        atomic_fetch_sub(&awaited->sleepers, 1); /* nobody woke it: it had not slept */
    }
}

void topk_cpu_wake(struct awaited *awaited, int most) {
    if (most > 0 && atomic_load(&awaited->sleepers) > 0) {
        const long woken = syscall(SYS_futex, &awaited->value, FUTEX_WAKE_PRIVATE, most);
        atomic_fetch_sub(&awaited->sleepers, (int)woken);
    }
}
