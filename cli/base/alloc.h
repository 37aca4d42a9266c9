/* SPDX-License-Identifier: Apache-2.0
 *
 * The tool's only door to memory. A request that cannot be met ends the tool with one line. */
#ifndef TOPK_CLI_ALLOC_H
#define TOPK_CLI_ALLOC_H

#include <stddef.h>
#include <stdint.h>

/* count * size bytes, not initialised; the caller owns them and ends them with release(). Pages that
 * are never written take no memory. */
__attribute__((malloc, alloc_size(1, 2))) void *allocate(uint64_t count, size_t size);

/* Makes an array of allocate() as long as asked, and keeps what it holds. */
void *reallocate(void *array, uint64_t count, size_t size);

/* Ends the tool if count * size bytes are more than the machine has, or than the limits of the process and of
 * its control groups allow. `what` takes them. */
void require_memory(uint64_t count, size_t size, const char *what);

/* NULL is ignored. */
void release(void *array);

#endif /* TOPK_CLI_ALLOC_H */
