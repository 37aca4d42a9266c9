/* SPDX-License-Identifier: Apache-2.0
 *
 * Files that hold the elements of one matrix, one behind the other. The matrix has the bytes of all files'
 * elements, behind as many bytes as the first file has before its elements. */
#ifndef TOPK_CLI_SHARDS_H
#define TOPK_CLI_SHARDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shard {
    const char *name;
    const char *file; /* the mapping; NULL: there is none */
    uint64_t size;
    int descriptor;
    uint64_t from;       /* byte of the file that is the matrix's byte `begin` */
    uint64_t begin, end; /* of the matrix's bytes; begin = end: it has no elements */
};

struct shards {
    struct shard *list;
    int64_t count;
    bool in_place; /* every element lies in a mapping, aligned to its size */
};

/* The shard that has the matrix's byte `at`, which must be one. */
const struct shard *shards_find(const struct shards *shards, uint64_t at);

/* Copies bytes of the matrix. False if a file has them no longer, or they cannot be read. */
bool shards_read(const struct shards *shards, void *to, uint64_t at, uint64_t bytes);

/* Gives back the pages of mappings that hold bytes [begin, end). */
void shards_drop(const struct shards *shards, uint64_t begin, uint64_t end);

/* Whether a file has shrunk. */
bool shards_shrunk(const struct shards *shards);

void shards_close(struct shards *shards);

#endif /* TOPK_CLI_SHARDS_H */
