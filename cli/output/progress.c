/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE
#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum { FIRST_MS = 500, INTERVAL_MS = 100, CELLS = 40 };

static void set_due(struct progress *progress, long milliseconds) {
    clock_gettime(CLOCK_MONOTONIC, &progress->due);
    progress->due.tv_nsec += milliseconds * 1000000;
    progress->due.tv_sec += progress->due.tv_nsec / 1000000000;
    progress->due.tv_nsec %= 1000000000;
}

static bool is_due(const struct progress *progress) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec > progress->due.tv_sec ||
           (now.tv_sec == progress->due.tv_sec && now.tv_nsec >= progress->due.tv_nsec);
}

void progress_begin(struct progress *progress, bool quiet, uint64_t total) {
    *progress = (struct progress){.enabled = !quiet && isatty(STDERR_FILENO), .total = total};
    if (progress->enabled)
        set_due(progress, FIRST_MS);
}

void progress_update(struct progress *progress, uint64_t done) {
    static const char bar[] = "########################################";
    static const char gap[] = "                                        ";
    if (!progress->enabled || !is_due(progress))
        return;
    set_due(progress, INTERVAL_MS);
    progress->visible = true;
    if (progress->total == 0) {
        fprintf(stderr, "\r%" PRIu64 " MiB read", done >> 20);
        return;
    }
    double part = done < progress->total ? (double)done / (double)progress->total : 1.0;
    int cells = (int)(part * CELLS);
    fprintf(stderr, "\r[%.*s%.*s] %3d %%", cells, bar, CELLS - cells, gap, (int)(part * 100));
}

void progress_add(struct progress *progress, uint64_t more) {
    progress->added += more;
    progress_update(progress, progress->added);
}

void progress_revise(struct progress *progress, uint64_t before, uint64_t now) {
    progress->total += now - before;
}

void progress_end(struct progress *progress) {
    if (progress->visible)
        fprintf(stderr, "\r\033[K");
}
