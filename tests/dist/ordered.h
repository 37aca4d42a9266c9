/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether calls of the core on two streams and the host come in an order that events and waits give them. The
 * emulated GPU has done its work when a call returns, so that a missing wait harms nobody there. Here each
 * stream and the host has a clock; calls of topk_transfer.h and the ones that look at pieces keep them
 * (ordered_calls.c). What is copied over, or written by the host, must have been used before; what is looked
 * at must have been copied before. */
#ifndef TESTS_DIST_ORDERED_H
#define TESTS_DIST_ORDERED_H

#include <stddef.h>

/* The host writes to memory that pieces are copied from. */
void ordered_host_writes(const void *memory, size_t bytes);

/* How many accesses were not in order, and how many pieces were copied. */
long ordered_faults(void);
long ordered_copies(void);

#endif
