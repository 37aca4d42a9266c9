/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "watch.h"

#include <time.h>

static const double idle_share = 1e-3;

static double seconds_of(clockid_t clock) {
    struct timespec t;
    return clock_gettime(clock, &t) == 0 ? (double)t.tv_sec + 1e-9 * (double)t.tv_nsec : 0;
}

static double processor_seconds(pid_t process) {
    clockid_t clock;
    return clock_getcpuclockid(process, &clock) == 0 ? seconds_of(clock) : 0;
}

watch watch_begin(pid_t process) {
    return (watch){.process = process, .idle_since = seconds_of(CLOCK_MONOTONIC)};
}

bool watch_is_over(watch *w, unsigned long step, double limit) {
    const double used = processor_seconds(w->process), now = seconds_of(CLOCK_MONOTONIC);
    const double idle = now - w->idle_since;
    if (step != w->step) {
        *w = (watch){w->process, step, used, used, now};
        return false;
    }
    if (used - w->idle_seconds > idle_share * (idle > 1 ? idle : 1)) {
        w->idle_seconds = used;
        w->idle_since = now;
        return used - w->step_seconds > limit;
    }
    return idle > 2 * limit;
}
