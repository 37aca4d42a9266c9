/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that stands for a device's: while it is protected, only the calls of the core that enqueue work can
 * get at it, and code between protected_open() and protected_close(). All else faults. The program is linked
 * with
 * --wrap for these calls. */
#ifndef TESTS_PROTECTED_H
#define TESTS_PROTECTED_H

#include "guarded.h"

/* Another buffer, which may be none. Before protected_begin(). */
void protected_add(const guarded *buffer, bool read_only);

void protected_begin(void);
void protected_open(void);
void protected_close(void);

/* All buffers are accessible again, and forgotten. */
void protected_end(void);

#endif
