/* SPDX-License-Identifier: Apache-2.0 */
#include "group.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "error.h"

/* What the first rank that failed tells the others. */
struct told {
    int64_t status;
    char text[TOPK_DIST_TEXT_BYTES - 16]; /* with room for "rank N: " */
};

int topk_dist_group_rank(const topk_dist_group *group) {
    return group != NULL ? group->rank : -1;
}

int topk_dist_group_ranks(const topk_dist_group *group) {
    return group != NULL ? group->ranks : 0;
}

/* A hash (FNV-1a), without its sign. */
static uint64_t hashed(uint64_t hash, const char *bytes, size_t count) {
    for (size_t b = 0; b < count; b++) {
        hash = (hash ^ (unsigned char)bytes[b]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

int64_t topk_dist_machine(void) {
    char name[256] = "", boot[64];
    FILE *const file = fopen("/proc/sys/kernel/random/boot_id", "r"); /* names alone may be the same */
    const size_t read = file != NULL ? fread(boot, 1, sizeof boot, file) : 0;
    if (file != NULL) {
        (void)fclose(file);
    }
    (void)gethostname(name, sizeof name - 1);
    const uint64_t hash = hashed(UINT64_C(0xcbf29ce484222325), name, strlen(name));
    return (int64_t)(hashed(hash, boot, read) & INT64_MAX);
}

topk_status topk_dist_intact(const topk_dist_group *group) {
    return group->broken || (group->whole != NULL && group->whole->broken)
               ? topk_dist_fail(TOPK_ERROR_DEVICE, "the group is broken: ranks could not communicate before")
               : TOPK_OK;
}

void topk_dist_break(topk_dist_group *group) {
    group->broken = true;
    if (group->whole != NULL) {
        group->whole->broken = true;
    }
}

static bool is_broken(const topk_dist_group *group) {
    return topk_dist_intact(group) != TOPK_OK;
}

static topk_status done(topk_dist_group *group, topk_status status) {
    if (status != TOPK_OK) {
        topk_dist_break(group);
    }
    return status;
}

topk_status topk_dist_sum(topk_dist_group *group, int64_t *numbers, int64_t count) {
    return is_broken(group) ? TOPK_ERROR_DEVICE
           : count == 0     ? TOPK_OK
                            : done(group, group->transport->sum(group, numbers, count));
}

topk_status topk_dist_most(topk_dist_group *group, int64_t *numbers, int64_t count) {
    return is_broken(group) ? TOPK_ERROR_DEVICE
           : count == 0     ? TOPK_OK
                            : done(group, group->transport->most(group, numbers, count));
}

topk_status topk_dist_to_all(topk_dist_group *group, const void *block, size_t bytes, void *blocks) {
    return is_broken(group) ? TOPK_ERROR_DEVICE
           : bytes == 0     ? TOPK_OK
                            : done(group, group->transport->to_all(group, block, bytes, blocks));
}

topk_status topk_dist_to_root(topk_dist_group *group, int root, const void *block, size_t bytes,
                              void *blocks) {
    return is_broken(group) ? TOPK_ERROR_DEVICE
           : bytes == 0     ? TOPK_OK
                            : done(group, group->transport->to_root(group, root, block, bytes, blocks));
}

topk_status topk_dist_to_each(topk_dist_group *group, const void *blocks, size_t bytes, void *received) {
    return is_broken(group) ? TOPK_ERROR_DEVICE
           : bytes == 0     ? TOPK_OK
                            : done(group, group->transport->to_each(group, blocks, bytes, received));
}

topk_status topk_dist_to_all_varied(topk_dist_group *group, const void *block, const int64_t *bytes,
                                    void *blocks) {
    return is_broken(group) ? TOPK_ERROR_DEVICE
                            : done(group, group->transport->to_all_varied(group, block, bytes, blocks));
}

topk_status topk_dist_to_root_varied(topk_dist_group *group, int root, const void *block,
                                     const int64_t *bytes, void *blocks) {
    return is_broken(group)
               ? TOPK_ERROR_DEVICE
               : done(group, group->transport->to_root_varied(group, root, block, bytes, blocks));
}

topk_status topk_dist_to_each_varied(topk_dist_group *group, const void *blocks, const int64_t *sent,
                                     const int64_t *bytes, void *received) {
    return is_broken(group)
               ? TOPK_ERROR_DEVICE
               : done(group, group->transport->to_each_varied(group, blocks, sent, bytes, received));
}

topk_status topk_dist_from_root(topk_dist_group *group, int root, void *block, size_t bytes) {
    return is_broken(group) ? TOPK_ERROR_DEVICE
           : bytes == 0     ? TOPK_OK
                            : done(group, group->transport->from_root(group, root, block, bytes));
}

topk_status topk_dist_deal(topk_dist_group *group, int root, const void *blocks, size_t bytes, void *block) {
    return is_broken(group) ? TOPK_ERROR_DEVICE
           : bytes == 0     ? TOPK_OK
                            : done(group, group->transport->deal(group, root, blocks, bytes, block));
}

topk_status topk_dist_split(topk_dist_group *group, int colour, int order, int ranks,
                            topk_dist_group **part) {
    const topk_status status =
        is_broken(group) ? TOPK_ERROR_DEVICE : group->transport->split(group, colour, order, ranks, part);
    return status == TOPK_ERROR_DEVICE ? done(group, status) : status;
}

topk_status topk_dist_agree(topk_dist_group *group, topk_status status) {
    return topk_dist_agree_or_break(group, status, false);
}

topk_status topk_dist_agree_or_break(topk_dist_group *group, topk_status status, bool breaks) {
    /* The first rank that failed: the greatest of their distances to the end. */
    int64_t numbers[2] = {status != TOPK_OK ? group->ranks - group->rank : 0, status != TOPK_OK && breaks};
    topk_status sent = topk_dist_most(group, numbers, 2);
    if (sent != TOPK_OK || numbers[0] == 0) {
        return sent;
    }
    /* Its words are the only ones that are not zeros, so a sum of them is a broadcast. */
    const int first = group->ranks - (int)numbers[0];
    struct told told;
    memset(&told, 0, sizeof told);
    if (first == group->rank) {
        told.status = (int64_t)status;
        strncpy(told.text, topk_dist_last_error(), sizeof told.text - 1);
    }
    int64_t words[sizeof told / sizeof(int64_t)];
    memcpy(words, &told, sizeof told);
    sent = topk_dist_sum(group, words, sizeof words / sizeof words[0]);
    if (sent != TOPK_OK) {
        return sent;
    }
    memcpy(&told, words, sizeof told);
    if (numbers[1] != 0) {
        topk_dist_break(group);
    }
    return topk_dist_fail((topk_status)told.status, "rank %d: %s", first, told.text);
}
