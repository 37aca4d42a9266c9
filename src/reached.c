/* SPDX-License-Identifier: Apache-2.0 */
#include "reached.h"

const char *const topk_reached_names[REACHED_PATHS] = {
    [REACHED_BRACKET_HELD] = "bracket held",
    [REACHED_BRACKET_PLATEAU] = "bracket plateau",
    [REACHED_BRACKET_MISS] = "bracket miss",
    [REACHED_BRACKET_OVERFLOW] = "bracket overflow",
    [REACHED_BRACKET_FALLBACK] = "bracket fallback",
    [REACHED_COUNTING_MISS] = "counting miss",
    [REACHED_NO_POOL] = "no pool",
    [REACHED_WHOLE_ROW] = "whole row",
    [REACHED_TEAM_SORT] = "team sort",
    [REACHED_FEW_MATCHES] = "few matches",
    [REACHED_COUNTING_MATCHES] = "counting matches",
    [REACHED_LARGER_TILE] = "larger tile",
};
unsigned long topk_reached_counts[REACHED_PATHS];
const int topk_reached_total = REACHED_PATHS;
