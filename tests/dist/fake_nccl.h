/* SPDX-License-Identifier: Apache-2.0
 *
 * NCCL between threads, over memory of the host: the functions of fake/nccl.h, for the emulated GPU. A call
 * of a blocking communicator returns when the data have come, and one of a non-blocking communicator is then
 * no longer in progress. Ranks that do not make the same calls end the program. */
#ifndef TESTS_DIST_FAKE_NCCL_CONTROL_H
#define TESTS_DIST_FAKE_NCCL_CONTROL_H

#include <nccl.h>

/* The calling thread's call number `at` from now on fails, counted from 0; -1: none does. So do then the
 * calls of all ranks that wait for it. */
void fake_fail(long at);
long fake_calls(void); /* since fake_fail() */

/* What ncclGetLastError() says of such a failure. */
extern const char fake_reason[];

/* Which GPU communicators say they are on; 0 at first. */
extern int fake_device;

#endif
