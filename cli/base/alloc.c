/* SPDX-License-Identifier: Apache-2.0 */
#include "alloc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

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

void require_memory(uint64_t count, size_t size, const char *what) {
    uint64_t most = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur < most)
        most = limit.rlim_cur;
    uint64_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        bytes = UINT64_MAX;
    if (bytes > most)
        fail("out of memory: %s take %" PRIu64 " MiB, and there are %" PRIu64, what, bytes >> 20, most >> 20);
}

void release(void *array) {
    free(array);
}
