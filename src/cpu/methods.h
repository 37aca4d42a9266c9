/* SPDX-License-Identifier: Apache-2.0
 * The methods of the CPU, in the order in which topk_explain lists them; the last one serves what no other
 * does. */
#ifndef TOPK_SRC_CPU_METHODS_H
#define TOPK_SRC_CPU_METHODS_H

#include "../method.h"

#define TOPK_CPU_METHODS(ROW)                                                                                \
    ROW(topk_cpu_rows)                                                                                       \
    ROW(topk_cpu_rtopk)                                                                                      \
    ROW(topk_cpu_bracket)                                                                                    \
    ROW(topk_cpu_compact)                                                                                    \
    ROW(topk_cpu_route)                                                                                      \
    ROW(topk_cpu_groups)                                                                                     \
    ROW(topk_cpu_merge)                                                                                      \
    ROW(topk_cpu_reference)

TOPK_CPU_METHODS(METHOD_DECLARATION)

/* accumulator.h */
extern const struct accumulators topk_cpu_accumulators;

/* sharded.h */
extern const struct sharding topk_cpu_sharding;

/* transfer.h */
extern const struct transfers topk_cpu_transfers;

#endif
