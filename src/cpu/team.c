/* SPDX-License-Identifier: Apache-2.0 */
#include "team.h"

#ifdef _OPENMP
#include <omp.h>
#endif

void topk_cpu_team_run(const topk_context *context, int parts, team_function function, void *job) {
#ifdef _OPENMP
    /* Within a region of the caller's own, OpenMP allocates each team, even of one thread. */
    const int threads = parts > 1 && omp_get_level() == 0 ? topk_context_threads(context) : 1;
    if (threads > 1) {
#pragma omp parallel num_threads(threads) default(none) shared(parts, function, job)
        for (int part = omp_get_thread_num(); part < parts; part += omp_get_num_threads()) {
            function(job, part, parts);
        }
        return;
    }
#else
    (void)context;
#endif
    for (int part = 0; part < parts; part++) {
        function(job, part, parts);
    }
}

int topk_cpu_team_default_threads(int limit) {
#ifdef _OPENMP
    const int threads = omp_get_max_threads();
    return threads < limit ? threads : limit;
#else
    (void)limit;
    return 1;
#endif
}
