/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu/sizes.h"
#include "row_sizes.h"

const int64_t row_boundaries[] = {
    RANKED_KEYS,       FEW_KEYS,     WORD,          TILE,          TILE_MAX,
    SAMPLES_MIN,       SAMPLES_MAX,  SHORT_ROW_MAX, BISECT_MAX,    POOL_SLACK,
    TEAM_ELEMENTS_MIN, TEAM_ROW_MIN, SPLIT_ROW_MIN, WIDE_ROW,      HISTOGRAM_BINS,
    RTOPK_ROW_MAX,     LISTED_MIN,   IN_CACHE_MAX,  COLLECTED_MIN, AT_ONCE_MAX};
_Static_assert(sizeof row_boundaries <= ROW_BOUNDARIES_MOST * sizeof row_boundaries[0],
               "the table of sizes has no room");
const int row_boundary_count = sizeof row_boundaries / sizeof row_boundaries[0];
