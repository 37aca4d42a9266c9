/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/air/sizes.h"
#include "cuda/gridselect/sizes.h"
#include "cuda/resident/sizes.h"
#include "cuda/rtopk/sizes.h"
#include "cuda/select/sizes.h"
#include "cuda/sort/sizes.h"
#include "row_sizes.h"

const int64_t row_boundaries[] = {AIR_THREADS,
                                  AIR_ROW_CANDIDATES,
                                  AIR_FINISH_CANDIDATES,
                                  GRIDSELECT_K_MAX,
                                  GRIDSELECT_LONE_ROW,
                                  GRIDSELECT_WARPS *GRIDSELECT_WARP_ELEMENTS,
                                  GRIDSELECT_ONE_WORD_ROW,
                                  32 * RTOPK_ITEMS_0,
                                  32 * RTOPK_ITEMS_1,
                                  32 * RTOPK_ITEMS_2,
                                  32 * RTOPK_ITEMS_3,
                                  RTOPK_ROW_MAX,
                                  32 * RESIDENT_ITEMS_2,
                                  RESIDENT_THREADS_MAX *RESIDENT_ITEMS_0,
                                  RESIDENT_THREADS_MAX *RESIDENT_ITEMS_1,
                                  RESIDENT_ROW_MAX,
                                  2 * RESIDENT_CLUSTER_THREADS *RESIDENT_ITEMS_2,
                                  8 * RESIDENT_CLUSTER_THREADS *RESIDENT_ITEMS_2,
                                  16 * RESIDENT_CLUSTER_THREADS *RESIDENT_ITEMS_2,
                                  RESIDENT_KEPT,
                                  RESIDENT_STREAM_THREADS *RESIDENT_SAMPLED,
                                  SELECT_SORT_MAX,
                                  SELECT_TIES_KEPT,
                                  AIR_ROW_MAX,
                                  SORT_THREADS *SORT_ITEMS,
                                  SORT_THREADS *SORT_ITEMS_64,
                                  SORT_ROW_THREADS *SORT_ROW_ITEMS,
                                  SORT_ROW_THREADS_64 *SORT_ROW_ITEMS,
                                  SORT_GROUP_ELEMENTS,
                                  SORT_NARROW_ROW,
                                  AIR_ONE_WORD_ROW,
                                  AIR_NARROW_ROW};
_Static_assert(sizeof row_boundaries <= ROW_BOUNDARIES_MOST * sizeof row_boundaries[0],
               "the table of sizes has no room");
const int row_boundary_count = sizeof row_boundaries / sizeof row_boundaries[0];
