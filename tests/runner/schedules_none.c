/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules.h"

bool schedules_exist(void) {
    return false;
}

void schedules_seed(uint64_t seed) {
    (void)seed;
}

bool schedules_may_start_early(void) {
    return false;
}
