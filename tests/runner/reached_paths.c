/* SPDX-License-Identifier: Apache-2.0 */
#include "reached_paths.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#ifdef TOPK_SHRINK

#include "reached.h"

void reached_paths_read(unsigned long *counts, int most) {
    for (int p = 0; p < topk_reached_total && p < most; p++) {
        counts[p] += topk_reached_counts[p];
    }
}

static bool belongs(const char *path, const char *backend) {
    const char *colon = strchr(path, ':');
    return colon == NULL ? strcmp(backend, "cpu") == 0 : strncmp(path, backend, (size_t)(colon - path)) == 0;
}

long reached_paths_missing(const unsigned long *counts, const char *backend) {
    long missing = 0;
    for (int p = 0; p < topk_reached_total; p++) {
        if (!belongs(topk_reached_names[p], backend)) {
            continue;
        }
        printf("%-40s reached %10lu times\n", topk_reached_names[p], counts[p]);
        if (counts[p] == 0) {
            printf("FAILED: this path was never reached\n");
            missing++;
        }
    }
    return missing;
}

#else

void reached_paths_read(unsigned long *counts, int most) {
    (void)counts;
    (void)most;
}

long reached_paths_missing(const unsigned long *counts, const char *backend) {
    (void)counts;
    (void)backend;
    return 0;
}

#endif
