/* SPDX-License-Identifier: Apache-2.0
 *
 * The CPU quotas of control groups, of both versions and nested, and the scheduler's affinity: in folders
 * that look like /proc and /sys. */
#define _GNU_SOURCE
#include "cpu/processors.h"

#include <ftw.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

enum { FILES_MAX = 6 };

struct text_file {
    const char *path, *text;
};

struct tree {
    struct text_file files[FILES_MAX];
    int quota;
};

#define GROUPS "/proc/self/cgroup"
#define UNIFIED "/sys/fs/cgroup"
#define CPU "/sys/fs/cgroup/cpu"

static const struct tree trees[] = {
    {{{NULL, NULL}}, INT_MAX},
    {{{GROUPS, ""}}, INT_MAX},
    /* Version 2. */
    {{{GROUPS, "0::/\n"}, {UNIFIED "/cpu.max", "max 100000\n"}}, INT_MAX},
    {{{GROUPS, "0::/\n"}, {UNIFIED "/cpu.max", "200000 100000\n"}}, 2},
    {{{GROUPS, "0::/\n"}, {UNIFIED "/cpu.max", "200001 100000\n"}}, 3},
    {{{GROUPS, "0::/\n"}, {UNIFIED "/cpu.max", "1000 100000\n"}}, 1},
    {{{GROUPS, "0::/\n"}, {UNIFIED "/cpu.max", "1600000 50000\n"}}, 32},
    {{{GROUPS, "0::/a/b"}, {UNIFIED "/a/b/cpu.max", "300000 100000\n"}}, 3},
    /* The least of nested groups, wherever it is; what has no file is passed over. */
    {{{GROUPS, "0::/a/b\n"},
      {UNIFIED "/a/b/cpu.max", "max 100000\n"},
      {UNIFIED "/a/cpu.max", "150000 100000\n"}},
     2},
    {{{GROUPS, "0::/a/b\n"},
      {UNIFIED "/a/b/cpu.max", "500000 100000\n"},
      {UNIFIED "/a/cpu.max", "700000 100000\n"},
      {UNIFIED "/cpu.max", "600000 100000\n"}},
     5},
    {{{GROUPS, "0::/a/b/c\n"},
      {UNIFIED "/a/b/c/cpu.max", "900000 100000\n"},
      {UNIFIED "/a/cpu.max", "400000 100000\n"}},
     4},
    {{{GROUPS, "0::/gone/too\n"}, {UNIFIED "/cpu.max", "400000 100000\n"}}, 4},
    {{{GROUPS, "0::/a\n"}, {UNIFIED "/ab/cpu.max", "100000 100000\n"}}, INT_MAX},
    /* Version 1. */
    {{{GROUPS, "4:cpu,cpuacct:/\n"},
      {CPU "/cpu.cfs_quota_us", "-1\n"},
      {CPU "/cpu.cfs_period_us", "100000\n"}},
     INT_MAX},
    {{{GROUPS, "9:memory:/m\n4:cpuacct,cpu:/a\n1:name=systemd:/\n0::/\n"},
      {CPU "/a/cpu.cfs_quota_us", "250000\n"},
      {CPU "/a/cpu.cfs_period_us", "100000\n"}},
     3},
    {{{GROUPS, "1:cpu:/a/b\n"},
      {CPU "/a/b/cpu.cfs_quota_us", "-1\n"},
      {CPU "/a/b/cpu.cfs_period_us", "100000\n"},
      {CPU "/a/cpu.cfs_quota_us", "150000\n"},
      {CPU "/a/cpu.cfs_period_us", "50000\n"}},
     3},
    {{{GROUPS, "1:cpu:/docker/12ab\n"},
      {CPU "/cpu.cfs_quota_us", "700000\n"},
      {CPU "/cpu.cfs_period_us", "100000\n"}},
     7},
    {{{GROUPS, "3:cpuset:/a\n2:cpuacct:/a\n"},
      {CPU "/a/cpu.cfs_quota_us", "100000\n"},
      {CPU "/a/cpu.cfs_period_us", "100000\n"}},
     INT_MAX},
    /* What no kernel writes is no quota. */
    {{{GROUPS, "0::/\n"}, {UNIFIED "/cpu.max", ""}}, INT_MAX},
    {{{GROUPS, "0::/\n"}, {UNIFIED "/cpu.max", "100000\n"}}, INT_MAX},
    {{{GROUPS, "0::/\n"}, {UNIFIED "/cpu.max", "100000 0\n"}}, INT_MAX},
    {{{GROUPS, "0::/\n"}, {UNIFIED "/cpu.max", "0 100000\n"}}, INT_MAX},
    {{{GROUPS, "0::/\n"}, {UNIFIED "/cpu.max", "9223372036854775807 1\n"}}, INT_MAX},
    {{{GROUPS, "1:cpu:/\n"}, {CPU "/cpu.cfs_quota_us", "100000\n"}}, INT_MAX},
    {{{GROUPS, "nothing\n:\n::\n0::/a\n"}, {UNIFIED "/a/cpu.max", "100000 100000\n"}}, 1},
};

static void write_file(const char *root, const struct text_file *file) {
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s%s", root, file->path);
    for (char *end = strchr(path + strlen(root) + 1, '/'); end != NULL; end = strchr(end + 1, '/')) {
        *end = '\0';
        (void)mkdir(path, 0700); /* another file may have made it */
        *end = '/';
    }
    FILE *stream = fopen(path, "w");
    CHECK(stream != NULL && fputs(file->text, stream) >= 0 && fclose(stream) == 0);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)status, (void)kind, (void)place;
    return remove(path);
}

static void check_tree(const struct tree *tree) {
    char root[] = "/tmp/topk-processors-XXXXXX";
    cpu_set_t set;
    if (!CHECK(mkdtemp(root) != NULL && sched_getaffinity(0, sizeof set, &set) == 0)) {
        return;
    }
    for (int i = 0; i < FILES_MAX && tree->files[i].path != NULL; i++) {
        write_file(root, &tree->files[i]);
    }
    const int allowed = CPU_COUNT(&set), quota = topk_cpu_quota(root);
    if (!CHECK(quota == tree->quota)) {
        fprintf(stderr, "    tree %d: %d, not %d\n", (int)(tree - trees), quota, tree->quota);
    }
    CHECK(topk_cpu_processors(root) == (quota < allowed ? quota : allowed));
    CHECK(nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0);
}

/* A quota beyond the affinity changes nothing. */
static void check_affinity(void) {
    const struct tree wide = {{{GROUPS, "0::/\n"}, {UNIFIED "/cpu.max", "10000000 100000\n"}}, 100};
    cpu_set_t all, one;
    CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
    CPU_ZERO(&one);
    for (int cpu = 0; CPU_COUNT(&one) == 0; cpu++) {
        if (CPU_ISSET(cpu, &all)) {
            CPU_SET(cpu, &one);
        }
    }
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    check_tree(&wide);
    CHECK(topk_cpu_processors("/nowhere") == 1);
    CHECK(sched_setaffinity(0, sizeof all, &all) == 0);
    CHECK(topk_cpu_processors("/nowhere") == CPU_COUNT(&all));
}

/* Paths that are too long name no file. */
static void check_long_root(void) {
    static char root[2 * PATH_MAX];
    memset(root, 'a', sizeof root - 1);
    root[0] = '/';
    CHECK(topk_cpu_quota(root) == INT_MAX);
}

int main(void) {
    for (size_t i = 0; i < sizeof trees / sizeof trees[0]; i++) {
        check_tree(&trees[i]);
    }
    check_affinity();
    check_long_root();
    return check_report();
}
