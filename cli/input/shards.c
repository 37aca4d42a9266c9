/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE
#include "shards.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/alloc.h"

const struct shard *shards_find(const struct shards *shards, uint64_t at) {
    int64_t low = 0, high = shards->count - 1;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (shards->list[middle].end > at)
            high = middle;
        else
            low = middle + 1;
    }
    return &shards->list[low];
}

static bool read_file(const struct shard *shard, char *to, uint64_t at, size_t bytes) {
    while (bytes > 0) {
        const ssize_t length = pread(shard->descriptor, to, bytes, (off_t)at);
        if (length <= 0)
            return false;
        to += length;
        at += (uint64_t)length;
        bytes -= (size_t)length;
    }
    return true;
}

bool shards_read(const struct shards *shards, void *to, uint64_t at, uint64_t bytes) {
    char *end = to;
    while (bytes > 0) {
        const struct shard *shard = shards_find(shards, at);
        const uint64_t part = bytes < shard->end - at ? bytes : shard->end - at;
        if (!read_file(shard, end, shard->from + (at - shard->begin), (size_t)part))
            return false;
        end += part;
        at += part;
        bytes -= part;
    }
    return true;
}

static uint64_t page_of(uint64_t byte) {
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    return byte / page * page;
}

void shards_drop(const struct shards *shards, uint64_t begin, uint64_t end) {
    while (begin < end) {
        const struct shard *shard = shards_find(shards, begin);
        const uint64_t stop = end < shard->end ? end : shard->end;
        const uint64_t low = page_of(shard->from + (begin - shard->begin));
        const uint64_t high = shard->from + (stop - shard->begin);
        const uint64_t last = stop == shard->end ? high : page_of(high); /* of the next piece, too */
        if (shard->file != NULL && last > low)
            madvise((char *)(uintptr_t)shard->file + low, last - low, MADV_DONTNEED);
        begin = stop;
    }
}

bool shards_shrunk(const struct shards *shards) {
    for (int64_t i = 0; i < shards->count; i++) {
        struct stat status;
        const struct shard *shard = &shards->list[i];
        if (fstat(shard->descriptor, &status) != 0 || (uint64_t)status.st_size < shard->size)
            return true;
    }
    return false;
}

void shards_close(struct shards *shards) {
    for (int64_t i = 0; i < shards->count; i++) {
        struct shard *shard = &shards->list[i];
        if (shard->file != NULL)
            munmap((void *)(uintptr_t)shard->file, shard->size);
        close(shard->descriptor);
    }
    release(shards->list);
}
