/* SPDX-License-Identifier: Apache-2.0 */
#include "reached_paths.h"

#include <stdio.h>

#include "reached.h"

long reached_paths_missing(void) {
    long missing = 0;
#ifdef TOPK_SHRINK
    for (int p = 0; p < topk_reached_total; p++) {
        printf("%-40s reached %10lu times\n", topk_reached_names[p], topk_reached_counts[p]);
        if (topk_reached_counts[p] == 0) {
            printf("FAILED: this path was never reached\n");
            missing++;
        }
    }
#endif
    return missing;
}
