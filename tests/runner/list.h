/* SPDX-License-Identifier: Apache-2.0
 *
 * Which cases of the list a run takes. */
#ifndef TESTS_LIST_H
#define TESTS_LIST_H

#include "options.h"

/* Calls visit() for each case, until it returns false. Returns how many were visited, or -1 if the options
 * name no case. */
long list_cases(const options *o, bool (*visit)(const test_case *c, void *context), void *context);

#endif
