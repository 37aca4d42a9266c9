/* SPDX-License-Identifier: Apache-2.0
 * A team of threads, which a context keeps from its creation to its end and which does jobs part by part. */
#ifndef TOPK_SRC_CPU_TEAM_H
#define TOPK_SRC_CPU_TEAM_H

#include "../threads.h"
#include "sizes.h"

/* One part of a job: `part` of `parts`, from 0. */
typedef void (*team_function)(void *job, int part, int parts);

/* Gives the context a team of `threads`, the caller's included, or of fewer if the system gives no more.
 * False without memory. */
bool topk_cpu_team_start(topk_context *context, int threads);

/* Ends the threads, unless they are another process's: a forked child has none. */
void topk_cpu_team_end(topk_context *context);

/* Runs function(job, p, parts) once for every p < parts and returns when all are done. Parts begin in
 * ascending order; a part must not wait for a later one. The caller runs all of them where the team has
 * another job, in a forked child, and within a part of a job. */
void topk_cpu_team_run(const topk_context *context, int parts, team_function function, void *job);

/* Threads of a context that asks for no number: OMP_NUM_THREADS, else the processors that this process may
 * run on; at most `limit`. */
int topk_cpu_team_default_threads(int limit);

/* Part p's share of n things: [share(n, p, parts), share(n, p + 1, parts)). */
static inline size_t share(size_t n, int part, int parts) {
    const size_t p = (size_t)part, m = (size_t)parts;
    return n / m * p + n % m * p / m;
}

/* How many of the available threads are worth waking for `elements`. */
static inline int team_size(int available, size_t elements) {
    const size_t worthwhile = elements / TEAM_ELEMENTS_MIN + 1;
    return worthwhile < (size_t)available ? (int)worthwhile : available;
}

/* The threads of a decision, as far as this process has them. */
static inline int threads_here(const topk_context *context, int decided) {
    const int available = topk_context_threads(context);
    return available < decided ? available : decided;
}

#endif
