/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a process still gets anywhere. */
#ifndef TESTS_WATCH_H
#define TESTS_WATCH_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct watch {
    pid_t process;
    unsigned long step;  /* the last that was seen */
    double step_seconds; /* processor time of the process when that step began */
    double idle_seconds; /* its processor time when the clock last showed idle_since */
    double idle_since;
} watch;

watch watch_begin(pid_t process);

/* True if the process, now in its `step`, has spent more than `limit` seconds of processor time on it, or has
 * used next to none for twice as many seconds of the clock. A busy machine makes neither true. */
bool watch_is_over(watch *w, unsigned long step, double limit);

#endif
