/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of the core that fail as a GPU does: what a run enqueues, and its waits. */
#ifndef TESTS_DIST_FAILING_H
#define TESTS_DIST_FAILING_H

#include <stdbool.h>

/* Call number `at` from now on fails, counted from 0; -1: none does. */
void failing_call_at(long at);
long failing_calls(void); /* since then */

/* Whether this call fails. */
bool failing_now(void);

#endif
