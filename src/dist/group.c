/* SPDX-License-Identifier: Apache-2.0 */
#include "group.h"

#include <stdlib.h>
#include <string.h>

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

static topk_status refuse_broken(void) {
    return topk_dist_fail(TOPK_ERROR_DEVICE, "the group is broken: ranks could not communicate before");
}

static bool is_broken(const topk_dist_group *group) {
    return group->broken || (group->whole != NULL && group->whole->broken);
}

static topk_status done(topk_dist_group *group, topk_status status) {
    group->broken = status != TOPK_OK;
    if (group->broken && group->whole != NULL) {
        group->whole->broken = true;
    }
    return status;
}

topk_status topk_dist_sum(topk_dist_group *group, int64_t *numbers, int64_t count) {
    return is_broken(group) ? refuse_broken()
           : count == 0     ? TOPK_OK
                            : done(group, group->transport->sum(group, numbers, count));
}

topk_status topk_dist_most(topk_dist_group *group, int64_t *numbers, int64_t count) {
    return is_broken(group) ? refuse_broken()
           : count == 0     ? TOPK_OK
                            : done(group, group->transport->most(group, numbers, count));
}

topk_status topk_dist_to_all(topk_dist_group *group, const void *block, size_t bytes, void *blocks) {
    return is_broken(group) ? refuse_broken()
           : bytes == 0     ? TOPK_OK
                            : done(group, group->transport->to_all(group, block, bytes, blocks));
}

topk_status topk_dist_to_root(topk_dist_group *group, int root, const void *block, size_t bytes,
                              void *blocks) {
    return is_broken(group) ? refuse_broken()
           : bytes == 0     ? TOPK_OK
                            : done(group, group->transport->to_root(group, root, block, bytes, blocks));
}

topk_status topk_dist_to_each(topk_dist_group *group, const void *blocks, size_t bytes, void *received) {
    return is_broken(group) ? refuse_broken()
           : bytes == 0     ? TOPK_OK
                            : done(group, group->transport->to_each(group, blocks, bytes, received));
}

topk_status topk_dist_to_all_varied(topk_dist_group *group, const void *block, const int64_t *bytes,
                                    void *blocks) {
    return is_broken(group) ? refuse_broken()
                            : done(group, group->transport->to_all_varied(group, block, bytes, blocks));
}

topk_status topk_dist_to_root_varied(topk_dist_group *group, int root, const void *block,
                                     const int64_t *bytes, void *blocks) {
    return is_broken(group)
               ? refuse_broken()
               : done(group, group->transport->to_root_varied(group, root, block, bytes, blocks));
}

topk_status topk_dist_to_each_varied(topk_dist_group *group, const void *blocks, const int64_t *sent,
                                     const int64_t *bytes, void *received) {
    return is_broken(group)
               ? refuse_broken()
               : done(group, group->transport->to_each_varied(group, blocks, sent, bytes, received));
}

topk_status topk_dist_from_root(topk_dist_group *group, int root, void *block, size_t bytes) {
    return is_broken(group) ? refuse_broken()
           : bytes == 0     ? TOPK_OK
                            : done(group, group->transport->from_root(group, root, block, bytes));
}

topk_status topk_dist_deal(topk_dist_group *group, int root, const void *blocks, size_t bytes, void *block) {
    return is_broken(group) ? refuse_broken()
           : bytes == 0     ? TOPK_OK
                            : done(group, group->transport->deal(group, root, blocks, bytes, block));
}

topk_status topk_dist_split(topk_dist_group *group, int colour, int order, topk_dist_group **part) {
    const topk_status status =
        is_broken(group) ? refuse_broken() : group->transport->split(group, colour, order, part);
    group->broken = group->broken || status == TOPK_ERROR_DEVICE;
    return status;
}

topk_status topk_dist_agree(topk_dist_group *group, topk_status status) {
    /* The first rank that failed: the greatest of their distances to the end. */
    int64_t behind = status != TOPK_OK ? group->ranks - group->rank : 0;
    topk_status sent = topk_dist_most(group, &behind, 1);
    if (sent != TOPK_OK || behind == 0) {
        return sent;
    }
    /* Its words are the only ones that are not zeros, so a sum of them is a broadcast. */
    const int first = group->ranks - (int)behind;
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
    return topk_dist_fail((topk_status)told.status, "rank %d: %s", first, told.text);
}
