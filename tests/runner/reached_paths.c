/* SPDX-License-Identifier: Apache-2.0 */
#include "reached_paths.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef TOPK_SHRINK

#include "reached.h"

void reached_paths_read(unsigned long *counts, int most) {
    if (topk_reached_total > most) {
        fprintf(stderr, "%d paths, but counts of %d\n", topk_reached_total, most);
        abort();
    }
    for (int p = 0; p < topk_reached_total; p++) {
        counts[p] += topk_reached_counts[p];
    }
}

static bool belongs(const char *path, const char *backend, const char *run) {
    char label[64];
    const char *const end = run != NULL && strchr(run, ':') != NULL ? "" : ":";
    const int length = snprintf(label, sizeof label, "%s%s%s%s", backend, run != NULL ? " " : "",
                                run != NULL ? run : "", end);
    return strncmp(path, label, (size_t)length) == 0;
}

long reached_paths_of(const char *backend, const char *run) {
    long count = 0;
    for (int p = 0; p < topk_reached_total; p++) {
        count += belongs(topk_reached_names[p], backend, run);
    }
    return count;
}

long reached_paths_missing(const unsigned long *counts, const char *backend, const char *run) {
    long missing = 0;
    for (int p = 0; p < topk_reached_total; p++) {
        if (!belongs(topk_reached_names[p], backend, run)) {
            continue;
        }
        printf("%-50s reached %10lu times\n", topk_reached_names[p], counts[p]);
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

long reached_paths_of(const char *backend, const char *run) {
    (void)backend;
    (void)run;
    return 0;
}

long reached_paths_missing(const unsigned long *counts, const char *backend, const char *run) {
    (void)counts;
    (void)backend;
    (void)run;
    return 0;
}

#endif
