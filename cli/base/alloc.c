/* SPDX-License-Identifier: Apache-2.0 */
#include "alloc.h"

#include <inttypes.h>
#include <stdlib.h>

#include "fail.h"

void *reallocate(void *array, uint64_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        fail("out of memory: %" PRIu64 " elements of %zu bytes are beyond the address space", count, size);
    void *memory = realloc(array, bytes > 0 ? bytes : 1);
    if (memory == NULL)
        fail("out of memory: cannot allocate %zu bytes", bytes);
    return memory;
}

void *allocate(uint64_t count, size_t size) {
    return reallocate(NULL, count, size);
}

void release(void *array) {
    free(array);
}
