/* SPDX-License-Identifier: Apache-2.0
 *
 * The emulated GPU runs its threads in a random order. schedules_simt.cpp is linked with it,
 * schedules_none.c with everything else. */
#ifndef TESTS_SCHEDULES_H
#define TESTS_SCHEDULES_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whether there is anything to seed. */
bool schedules_exist(void);

/* Of the launches that follow. */
void schedules_seed(uint64_t seed);

/* Whether a dependent launch behind the last call could start before the call's work is done. */
bool schedules_may_start_early(void);

#ifdef __cplusplus
}
#endif

#endif
