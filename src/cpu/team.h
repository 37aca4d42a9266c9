/* SPDX-License-Identifier: Apache-2.0
 * A team of threads for the length of one function. OpenMP appears in team.c alone. */
#ifndef TOPK_SRC_CPU_TEAM_H
#define TOPK_SRC_CPU_TEAM_H

#include "../threads.h"
#include "sizes.h"

/* One part of a job: `part` of `parts`, from 0. */
typedef void (*team_function)(void *job, int part, int parts);

/* Runs function(job, p, parts) once for every p < parts, each on one of the context's threads, and
 * returns when all are done. Parts may run one after the other, in ascending order, where there are
 * fewer threads; a part must not wait for a later one. One part starts no team.
 *
 * A team has all of the context's threads, however few the parts: OpenMP allocates where a team has another
 * size than the one before it. */
void topk_cpu_team_run(const topk_context *context, int parts, team_function function, void *job);

/* Threads that OpenMP would use here, at most `limit`. */
int topk_cpu_team_default_threads(int limit);

/* Part p's share of n things: [share(n, p, parts), share(n, p + 1, parts)). */
static inline size_t share(size_t n, int part, int parts) {
    const size_t p = (size_t)part, m = (size_t)parts;
    return n / m * p + n % m * p / m;
}

/* How many of the available threads are worth starting for so many elements. */
static inline int team_size(int available, size_t elements) {
    const size_t worthwhile = elements / TEAM_ELEMENTS_MIN + 1;
    return worthwhile < (size_t)available ? (int)worthwhile : available;
}

#endif
