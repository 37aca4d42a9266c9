/* SPDX-License-Identifier: Apache-2.0 */
#include "reached.h"

/* The backend; the run of the tests that must take the path, if not all runs together; the path. */
const char *const topk_reached_names[REACHED_PATHS] = {
    [REACHED_BRACKET_HELD] = "cpu: bracket held",
    [REACHED_BRACKET_PLATEAU] = "cpu: bracket plateau",
    [REACHED_BRACKET_MISS] = "cpu: bracket miss",
    [REACHED_BRACKET_OVERFLOW] = "cpu: bracket overflow",
    [REACHED_BRACKET_FALLBACK] = "cpu: bracket fallback",
    [REACHED_COUNTING_MISS] = "cpu: counting miss",
    [REACHED_NO_POOL] = "cpu: no pool",
    [REACHED_WHOLE_ROW] = "cpu: whole row",
    [REACHED_TEAM_SORT] = "cpu: team sort",
    [REACHED_FEW_MATCHES] = "cpu: few matches",
    [REACHED_COUNTING_MATCHES] = "cpu: counting matches",
    [REACHED_LARGER_TILE] = "cpu: larger tile",
    [REACHED_SORT_GROUPS] = "cuda sort: groups of rows",
    [REACHED_SORT_LIMIT] = "cuda sort: smaller groups",
    [REACHED_SORT_WIDE] = "cuda sort: wide positions",
    [REACHED_SORT_NEXT_ROW] = "cuda sort: row behind the grid's",
    [REACHED_SORT_NEXT_LIST] = "cuda sort: another row for a block",
    [REACHED_TILES_BACK] = "cuda sort: several tiles back",
};
unsigned long topk_reached_counts[REACHED_PATHS];
const int topk_reached_total = REACHED_PATHS;
