/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE
#include "ranges.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/alloc.h"
#include "../base/fail.h"

enum { BLOCK_BYTES = 1 << 16 };

static uint64_t size_of(const struct text_range *range) {
    struct stat status;
    if (fstat(range->descriptor, &status) != 0)
        fail("%s: %s", range->name, strerror(errno));
    return (uint64_t)status.st_size;
}

size_t ranges_head(const struct text_range *range, char *head, size_t size) {
    size_t filled = 0;
    while (filled < size) {
        const ssize_t got = pread(range->descriptor, head + filled, size - filled, (off_t)filled);
        if (got < 0)
            fail("%s: %s", range->name, strerror(errno));
        if (got == 0)
            break;
        filled += (size_t)got;
    }
    return filled;
}

/* The byte behind the `lines`-th line end from byte `at` on; the size of the file if there are fewer. */
static uint64_t pass_lines(const struct text_range *range, uint64_t at, char line_end, int64_t lines) {
    char block[BLOCK_BYTES];
    while (lines > 0) {
        const ssize_t got = pread(range->descriptor, block, sizeof block, (off_t)at);
        if (got < 0)
            fail("%s: %s", range->name, strerror(errno));
        if (got == 0)
            break;
        const char *from = block, *end = block + got;
        for (; lines > 0 && from < end; lines--) {
            const char *found = memchr(from, line_end, (size_t)(end - from));
            if (found == NULL)
                break;
            from = found + 1;
        }
        at += (uint64_t)((lines > 0 ? end : from) - block);
    }
    return at;
}

/* A place between two lines. */
struct cut {
    int64_t range;
    uint64_t at; /* 0 to the file's size, but not this size */
};

/* The first such place from byte `byte` of all files on. */
static struct cut cut_at(const struct text_range *ranges, int64_t count, uint64_t byte, char line_end,
                         int64_t header) {
    int64_t i = 0;
    while (i < count && byte >= ranges[i].end)
        byte -= ranges[i++].end;
    if (i == count || byte == 0)
        return (struct cut){i, 0};
    const uint64_t begin = pass_lines(&ranges[i], 0, line_end, header);
    const uint64_t at = byte <= begin ? begin : pass_lines(&ranges[i], byte - 1, line_end, 1);
    return at < ranges[i].end ? (struct cut){i, at} : (struct cut){i + 1, 0};
}

int64_t ranges_take_part(struct text_range *ranges, int64_t count, int part, int parts, char line_end,
                         int64_t header) {
    uint64_t all = 0;
    for (int64_t i = 0; i < count; i++)
        all += ranges[i].end = size_of(&ranges[i]);
    const uint64_t share = all / (uint64_t)parts, rest = all % (uint64_t)parts;
    const uint64_t first = share * (uint64_t)part + rest * (uint64_t)part / (uint64_t)parts;
    const uint64_t next = share * (uint64_t)(part + 1) + rest * (uint64_t)(part + 1) / (uint64_t)parts;
    const struct cut from = cut_at(ranges, count, first, line_end, header);
    const struct cut to = cut_at(ranges, count, next, line_end, header);
    int64_t taken = 0;
    for (int64_t i = from.range; i < count && (i < to.range || (i == to.range && to.at > 0)); i++) {
        struct text_range range = ranges[i];
        range.begin = i == from.range ? from.at : 0;
        range.end = i == to.range ? to.at : range.end;
        if (range.begin < range.end)
            ranges[taken++] = range;
    }
    if (taken > 0)
        return taken;
    ranges[0].file = -1;
    ranges[0].begin = ranges[0].end = 0;
    return 1;
}
