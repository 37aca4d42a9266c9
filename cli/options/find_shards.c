/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE
#include <glob.h>

#include "../base/alloc.h"
#include "../base/fail.h"
#include "keys.h"

void find_shards(struct options *options, const char *pattern) {
    static glob_t found; /* keeps the names for the whole run */
    const int status = glob(pattern, GLOB_ERR, NULL, &found);
    if (status == GLOB_NOMATCH)
        fail("--shards: no file matches '%s'", pattern);
    if (status != 0)
        fail("--shards: '%s': %s", pattern,
             status == GLOB_NOSPACE ? "out of memory" : "a folder cannot be read");
    options->path = pattern;
    options->shard_count = (int64_t)found.gl_pathc;
    options->shards = allocate(found.gl_pathc, sizeof *options->shards);
    for (size_t i = 0; i < found.gl_pathc; i++)
        options->shards[i] = (struct shard_file){found.gl_pathv[i], -1};
}
