/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE
#include "alloc.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* ---- How much there may be ------------------------------------------------------------------- */

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* The number that a file holds. UINT64_MAX: there is no file, or no number in it. */
static uint64_t number_in(const char *folder, const char *group, const char *name) {
    char path[PATH_MAX];
    uint64_t number = UINT64_MAX;
    const int length = snprintf(path, sizeof path, "%s%s/%s", folder, group, name);
    FILE *file = length < (int)sizeof path ? fopen(path, "re") : NULL;
    if (file == NULL)
        return UINT64_MAX;
    if (fscanf(file, "%" SCNu64, &number) != 1)
        number = UINT64_MAX;
    fclose(file);
    return number;
}

/* The least limit of a control group and of all groups around it. In a container some have no folder: they
 * are passed over. */
static uint64_t limit_of_group(const char *folder, char *group, const char *name) {
    uint64_t limit = UINT64_MAX;
    for (char *end = group; end != NULL;) {
        limit = least(limit, number_in(folder, group, name));
        end = strrchr(group, '/');
        if (end != NULL)
            *end = '\0';
    }
    return limit;
}

/* What the control groups of the process allow. The file has a line for each: "0::/group" in version 2, and
 * "4:memory:/group" in version 1. */
static uint64_t limit_of_groups(void) {
    char line[PATH_MAX];
    uint64_t limit = UINT64_MAX;
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *controllers = strchr(line, ':');
        char *group = strchr(line, '/');
        if (controllers == NULL || group == NULL)
            continue;
        group[strcspn(group, "\n")] = '\0';
        if (strncmp(controllers, "::/", 3) == 0)
            limit = least(limit, limit_of_group("/sys/fs/cgroup", group, "memory.max"));
        else if (strncmp(controllers, ":memory:/", 9) == 0)
            limit = least(limit, limit_of_group("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes"));
    }
    if (file != NULL)
        fclose(file);
    return limit;
}

void require_memory(uint64_t count, size_t size, const char *what) {
    uint64_t most = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0)
        most = least(most, limit.rlim_cur);
    most = least(most, limit_of_groups());
    uint64_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        bytes = UINT64_MAX;
    if (bytes > most)
        fail("out of memory: %s take %" PRIu64 " MiB, and there are %" PRIu64, what, bytes >> 20, most >> 20);
}

void release(void *array) {
    free(array);
}
