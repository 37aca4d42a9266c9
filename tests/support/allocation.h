/* SPDX-License-Identifier: Apache-2.0
 *
 * Linked into a test, this takes the place of the C library's allocator: it counts calls and can
 * make one fail. Not for builds with a sanitizer, which does the same. */
#ifndef TESTS_ALLOCATION_H
#define TESTS_ALLOCATION_H

/* Allocations so far, and blocks that are not freed yet. Of all threads. */
long allocation_count(void);
long allocation_live(void);

/* The `nth` allocation from now on fails, once; 0 is the next. Below 0: none. */
void allocation_fail_nth(long nth);

#endif
