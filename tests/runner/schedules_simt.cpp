/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules.h"

#include "launch.cuh"

bool schedules_exist(void) {
    return true;
}

void schedules_seed(uint64_t seed) {
    simt_runtime::seed(seed);
}

bool schedules_may_start_early(void) {
    return simt_runtime::may_start_early();
}
