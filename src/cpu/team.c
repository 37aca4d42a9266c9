/* SPDX-License-Identifier: Apache-2.0 */
#include "team.h"

#ifdef _OPENMP
#include <omp.h>
#endif

#include "backend.h"

void topk_team_run(int parts, team_function function, void *job) {
#ifdef _OPENMP
    if (parts > 1) {
#pragma omp parallel num_threads(parts) default(none) shared(parts, function, job)
        for (int part = omp_get_thread_num(); part < parts; part += omp_get_num_threads()) {
            function(job, part, parts);
        }
        return;
    }
#endif
    for (int part = 0; part < parts; part++) {
        function(job, part, parts);
    }
}

int topk_cpu_default_threads(int limit) {
#ifdef _OPENMP
    const int threads = omp_get_max_threads();
    return threads < limit ? threads : limit;
#else
    (void)limit;
    return 1;
#endif
}
