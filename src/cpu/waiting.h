/* SPDX-License-Identifier: Apache-2.0
 * Waiting for another thread to change a word: awake for a while, then asleep. */
#ifndef TOPK_SRC_CPU_WAITING_H
#define TOPK_SRC_CPU_WAITING_H

#include <stdatomic.h>

struct awaited {
    _Atomic int value;
    _Atomic int sleepers; /* threads that sleep, or are about to; whoever wakes them takes them off */
};

/* Returns once the value is, or has been, another one than `old`; perhaps earlier. */
void topk_cpu_await(struct awaited *awaited, int old);

/* Wakes up to `most` of the sleepers, after the value has changed. */
void topk_cpu_wake(struct awaited *awaited, int most);

#endif
