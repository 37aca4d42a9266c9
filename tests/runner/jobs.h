/* SPDX-License-Identifier: Apache-2.0
 *
 * A run that is shared by several processes. */
#ifndef TESTS_JOBS_H
#define TESTS_JOBS_H

#include "session.h"

/* Starts o->jobs children and waits for them, adding up what they did. A child that dies is replaced by one
 * that goes on behind the case in which it died. False if no case was run. */
bool jobs_run(const options *o, const backend *b, tally *sum);

#endif
