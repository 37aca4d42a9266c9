/* SPDX-License-Identifier: Apache-2.0
 * Waiting for another thread to change a word: awake for a while, then asleep. */
#ifndef TOPK_SRC_CPU_WAITING_H
#define TOPK_SRC_CPU_WAITING_H

#include <stdatomic.h>

struct awaited {
    _Atomic int value;
    _Atomic int sleepers; /* threads that sleep, or are about to; whoever wakes them takes them off */
};

/* How long who waits for another thread stays awake. It costs 8 us to wake it, and it goes on 23 us later, or
 * far later if it is woken where that thread runs. */
enum awake_ns {
    AWAKE_FOR_TURN_NS = 20000, /* many may wait for one that the kernel keeps waiting */
    AWAKE_FOR_END_NS = 200000, /* the caller alone */
};

/* Returns once the value is, or has been, another one than `old`; perhaps earlier. */
void topk_cpu_await(struct awaited *awaited, int old, enum awake_ns awake_ns);

/* The same for threads that have nothing to do: they leave the processor to whatever wants it. */
void topk_cpu_await_work(struct awaited *awaited, int old);

/* Wakes up to `most` of the sleepers, after the value has changed. */
void topk_cpu_wake(struct awaited *awaited, int most);

#endif
