/* SPDX-License-Identifier: Apache-2.0
 *
 * Of a selection that takes all elements that are equal to the k-th: how many results that makes. The input
 * is read twice, once for the k-th of each row and once for the results. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/alloc.h"
#include "../base/fail.h"
#include "../engine/session.h"
#include "../input/spool.h"
#include "../ranks/ranks.h"
#include "run.h"

static bool is_file(int descriptor) {
    struct stat status;
    return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

static void go(int descriptor, off_t to, const char *name) {
    if (lseek(descriptor, to, SEEK_SET) < 0)
        fail("%s: %s", name, strerror(errno));
}

/* Makes a stream a file. */
static void keep_stream(struct options *options) {
    if (is_file(options->descriptor))
        return;
    const int file = spool(options->descriptor, options->head, options->head_bytes, options->name);
    if (options->descriptor != STDIN_FILENO)
        close(options->descriptor);
    options->descriptor = file;
    options->head_bytes = 0;
    go(file, 0, options->name);
}

/* Whoever reads the copy closes it. */
static int duplicate(int descriptor, const char *name) {
    const int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (copy < 0)
        fail("%s: %s", name, strerror(errno));
    return copy;
}

/* Shards that are read as these are, from their begins. */
static struct shard_file *duplicate_shards(const struct options *options) {
    const struct shard_file *shards = options->shards;
    for (int64_t i = 0; i < options->shard_count; i++)
        if (!is_file(shards[i].descriptor))
            fail("%s: --ties=all reads shards twice, so they are regular files", shards[i].path);
    struct shard_file *copies = allocate((uint64_t)options->shard_count, sizeof *copies);
    for (int64_t i = 0; i < options->shard_count; i++)
        copies[i] = (struct shard_file){shards[i].path, duplicate(shards[i].descriptor, shards[i].path)};
    return copies;
}

void take_all_ties(struct options *options, struct reach *reach) {
    struct options first = *options;
    off_t begin = 0;
    if (options->shards != NULL) {
        first.shards = duplicate_shards(options);
        first.descriptor = first.shards[0].descriptor;
    } else {
        keep_stream(options);
        begin = lseek(options->descriptor, 0, SEEK_CUR);
        first.head_bytes = 0;
        first.descriptor = duplicate(options->descriptor, options->name);
    }
    first.quiet = true;
    first.values_path = first.indices_path = NULL;
    session_choose_freely(&first.problem);
    find_reach(&first, reach);
    for (int64_t i = 0; i < options->shard_count; i++)
        go(options->shards[i].descriptor, 0, options->shards[i].path);
    if (options->shards == NULL)
        go(options->descriptor, begin, options->name);
    else
        release(first.shards);
    options->k = options->ranks != NULL ? options->ranks->sum(options->ranks->rank == 0 ? reach->most : 0)
                                        : reach->most;
    if (reach->matrix && options->problem.order == TOPK_ORDER_BY_POSITION)
        fail_usage("--ties=all gives the results of a matrix best first, not by position");
    if (reach->matrix) /* some rows have fewer results, and those come first */
        options->problem.order = TOPK_ORDER_BEST_FIRST;
}
