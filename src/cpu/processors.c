/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "processors.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GROUPS_BYTES = 16384, NUMBERS_BYTES = 64 };

/* Where control groups are: a folder for each group, below the one that everything is mounted in. */
struct hierarchy {
    const char *root, *folder;
    bool unified; /* version 2 */
};

/* The beginning of a file, as a string that fills `room` bytes at most. False: there is none. */
static bool read_text(const char *path, char *text, size_t room) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    size_t size = 0;
    ssize_t more = 0;
    while (file >= 0 && size < room - 1 && (more = read(file, text + size, room - 1 - size)) > 0) {
        size += (size_t)more;
    }
    text[size] = '\0';
    return file >= 0 && close(file) == 0 && more >= 0;
}

static bool read_of_group(const struct hierarchy *h, const char *group, const char *name, char *text) {
    char path[PATH_MAX];
    const int length = snprintf(path, sizeof path, "%s%s%s/%s", h->root, h->folder, group, name);
    return length < (int)sizeof path && read_text(path, text, NUMBERS_BYTES);
}

/* Microseconds of processor time in a period, and the period: "50000 100000" in one file of version 2, "max
 * 100000" without a quota; in version 1 each has a file, and -1 is no quota. */
static int quota_of_group(const struct hierarchy *h, const char *group) {
    char quota[NUMBERS_BYTES], period[NUMBERS_BYTES];
    char *rest = period;
    if (!read_of_group(h, group, h->unified ? "cpu.max" : "cpu.cfs_quota_us", quota) ||
        (!h->unified && !read_of_group(h, group, "cpu.cfs_period_us", period))) {
        return INT_MAX;
    }
    const long long quota_us = strtoll(quota, h->unified ? &rest : NULL, 10);
    const long long period_us = strtoll(rest, NULL, 10);
    if (quota_us <= 0 || period_us <= 0) {
        return INT_MAX;
    }
    const long long processors = quota_us / period_us + (quota_us % period_us != 0);
    return processors < INT_MAX ? (int)processors : INT_MAX;
}

/* The least quota of a group and of all groups around it. In a container some have no folder: they are passed
 * over. Cuts `group` short. */
static int quota_of_groups(const struct hierarchy *h, char *group) {
    int least = INT_MAX;
    for (char *end = group; end != NULL;) {
        const int quota = quota_of_group(h, group);
        least = quota < least ? quota : least;
        end = strrchr(group, '/');
        if (end != NULL) {
            *end = '\0';
        }
    }
    return least;
}

/* If `controllers`, as "cpu,cpuacct", has the one that sets quotas. */
static bool has_cpu(const char *controllers) {
    for (; *controllers != '\0'; controllers += *controllers == ',') {
        const size_t length = strcspn(controllers, ",");
        if (length == 3 && strncmp(controllers, "cpu", length) == 0) {
            return true;
        }
        controllers += length;
    }
    return false;
}

/* The file has a line for each hierarchy: "0::/group" in version 2, "4:cpu,cpuacct:/group" in version 1. */
int topk_cpu_quota(const char *root) {
    const struct hierarchy unified = {root, "/sys/fs/cgroup", true},
                           cpu = {root, "/sys/fs/cgroup/cpu", false};
    char path[PATH_MAX], groups[GROUPS_BYTES];
    int least = INT_MAX;
    if (snprintf(path, sizeof path, "%s/proc/self/cgroup", root) >= (int)sizeof path ||
        !read_text(path, groups, sizeof groups)) {
        return INT_MAX;
    }
    for (char *line = groups, *rest; line != NULL && *line != '\0'; line = rest) {
        rest = strchr(line, '\n');
        if (rest != NULL) {
            *rest++ = '\0';
        }
        char *controllers = strchr(line, ':'),
             *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
        if (group == NULL) {
            continue;
        }
        *group++ = '\0';
        controllers++;
        const bool is_unified = *controllers == '\0';
        if (is_unified || has_cpu(controllers)) {
            const int limit = quota_of_groups(is_unified ? &unified : &cpu, group);
            least = limit < least ? limit : least;
        }
    }
    return least;
}

int topk_cpu_processors(const char *root) {
    cpu_set_t set;
    const int allowed =
        sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : (int)sysconf(_SC_NPROCESSORS_ONLN);
    const int limit = topk_cpu_quota(root);
    const int least = limit < allowed ? limit : allowed;
    return least > 0 ? least : 1;
}
