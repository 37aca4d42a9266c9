/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOPK_SRC_CPU_PROCESSORS_H
#define TOPK_SRC_CPU_PROCESSORS_H

/* `root` goes before the paths of /proc and /sys: "", or a test's own folder. Neither function allocates. */

/* The least CPU quota of this process's control groups in processors, rounded up; INT_MAX: there is none. */
int topk_cpu_quota(const char *root);

/* How many processors this process may keep busy, at least 1: its affinity's, but no more than the
 * quota. */
int topk_cpu_processors(const char *root);

#endif
