/* SPDX-License-Identifier: Apache-2.0 */
#include "reached.h"

const char *const topk_reached_names[REACHED_PATHS] = {
#define PATH(path, name) name,
#include "reached_paths.def"
};
unsigned long topk_reached_counts[REACHED_PATHS];
const int topk_reached_total = REACHED_PATHS;
