/* SPDX-License-Identifier: Apache-2.0
 *
 * A progress bar on standard error, for long jobs that a person watches. */
#ifndef TOPK_CLI_PROGRESS_H
#define TOPK_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct progress {
    bool enabled;
    bool visible;
    uint64_t total; /* 0: not known */
    uint64_t added; /* by progress_add() */
    struct timespec due;
};

/* Shows nothing when `quiet`, when standard error is no terminal, or during the first moments. */
void progress_begin(struct progress *progress, bool quiet, uint64_t total);
void progress_update(struct progress *progress, uint64_t done);

/* The same, for jobs that say how much more is done. */
void progress_add(struct progress *progress, uint64_t more);

/* Says that `now` bytes are likely left to do, and no longer `before`. */
void progress_revise(struct progress *progress, uint64_t before, uint64_t now);

void progress_end(struct progress *progress);

#endif /* TOPK_CLI_PROGRESS_H */
