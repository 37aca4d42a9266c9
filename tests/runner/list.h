/* SPDX-License-Identifier: Apache-2.0
 *
 * Which cases of the list a run takes. */
#ifndef TESTS_LIST_H
#define TESTS_LIST_H

#include "options.h"

/* Calls visit() for each case with its number in the list, until it returns false. False if the options name
 * no case. */
bool list_cases(const options *o, bool (*visit)(const test_case *c, long number, void *context),
                void *context);

#endif
