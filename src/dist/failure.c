/* SPDX-License-Identifier: Apache-2.0
 *
 * Failures between two collectives, in a group that waits. The other ranks are on their way to the next
 * collective, so this one takes part in all of them, and does nothing else, until all agree. What it sends is
 * bytes 0xfe (move.c), as of an exchange that failed: lists that are invalid, and sums below 0. */
#include <string.h>

#include "error.h"
#include "run.h"

bool topk_dist_has_failed(const struct run *r) {
    return r->failure->status != TOPK_OK;
}

topk_status topk_dist_kept(const struct run *r, topk_status status) {
    if (status == TOPK_OK || !r->plan->on_device || r->plan->group->on_stream != NULL) {
        return status;
    }
    if (!topk_dist_has_failed(r)) {
        r->failure->status = status;
        strncpy(r->failure->text, topk_dist_last_error(), sizeof r->failure->text - 1);
    }
    return TOPK_OK;
}

topk_status topk_dist_agree_in_run(struct run *r, topk_status status) {
    struct failure *const kept = r->failure;
    if (status == TOPK_OK && topk_dist_has_failed(r)) {
        status = topk_dist_fail(kept->status, "%s", kept->text);
    }
    status =
        topk_dist_agree_or_break(r->plan->group, status, status == TOPK_ERROR_DEVICE && !kept->is_of_read);
    r->all_know = status != TOPK_OK;
    return status;
}
