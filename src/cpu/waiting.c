/* SPDX-License-Identifier: Apache-2.0
 * A sleeper adds itself before the kernel compares the value, and the value changes before the sleepers are
 * counted. So one of both sees the other, and nobody sleeps through a change. */
#include "waiting.h"

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* FUTEX_WAIT_PRIVATE and FUTEX_WAKE_PRIVATE of <linux/futex.h>, which need not be there beside musl. */
enum { FUTEX_WAIT_HERE = 128, FUTEX_WAKE_HERE = 129 };

enum {
    LOOKS = 32, /* at the value, between two at the clock */
    /* A thread without work stays awake for longer than a call goes on without it, unless something else has
     * run in between: then the processor is wanted. */
    IDLE_NS = 1000000,
    DISPLACED_NS = 50000,
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

static bool changes_soon(const struct awaited *awaited, int old) {
    for (int look = 0; look < LOOKS; look++) {
        if (atomic_load_explicit(&awaited->value, memory_order_acquire) != old) {
            return true;
        }
        pause_briefly();
    }
    return false;
}

static void sleep_until_woken(struct awaited *awaited, int old) {
    atomic_fetch_add(&awaited->sleepers, 1);
    if (syscall(SYS_futex, &awaited->value, FUTEX_WAIT_HERE, old, NULL) != 0) {
        atomic_fetch_sub(&awaited->sleepers, 1); /* nobody woke it: it had not slept */
    }
}

void topk_cpu_await(struct awaited *awaited, int old, enum awake_ns awake_ns) {
    const int64_t end_ns = now_ns() + awake_ns;
    do {
        if (changes_soon(awaited, old)) {
            return;
        }
    } while (now_ns() < end_ns);
    sleep_until_woken(awaited, old);
}

void topk_cpu_await_work(struct awaited *awaited, int old) {
    const int64_t end_ns = now_ns() + IDLE_NS;
    int64_t before_ns, after_ns = end_ns - IDLE_NS;
    do {
        if (changes_soon(awaited, old)) {
            return;
        }
        (void)sched_yield();
        before_ns = after_ns;
        after_ns = now_ns();
    } while (after_ns < end_ns && after_ns - before_ns < DISPLACED_NS);
    sleep_until_woken(awaited, old);
}

void topk_cpu_wake(struct awaited *awaited, int most) {
    if (most > 0 && atomic_load(&awaited->sleepers) > 0) {
        const long woken = syscall(SYS_futex, &awaited->value, FUTEX_WAKE_HERE, most);
        if (woken > 0) {
            atomic_fetch_sub(&awaited->sleepers, (int)woken);
        }
    }
}
