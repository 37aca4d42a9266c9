/* SPDX-License-Identifier: Apache-2.0 */
#include "structs.h"

#include <stdbool.h>
#include <string.h>

#include "status.h"
#include "topk_advanced.h"
#include "topk_merge.h"
#include "topk_peer.h"
#include "topk_route.h"
#include "topk_sharded.h"
#include "topk_transfer.h"

/* A struct has grown by whole words since its first release, each of them a field or two. Nothing lies in the
 * padding of an earlier release. So every release's struct ends where a word ends. */
enum { WORD_BYTES = 8, BYTES_MAX = 4096 };

static const struct {
    const char *name;
    size_t first_bytes; /* in the first release that had it: pinned */
    size_t bytes;
} structs[] = {
    [STRUCT_CONTEXT_OPTIONS] = {"options", 32, sizeof(topk_context_options)},
    [STRUCT_CONTEXT_PROPERTIES] = {"properties", 32, sizeof(topk_context_properties)},
    [STRUCT_PROBLEM] = {"problem", 144, sizeof(topk_problem)},
    [STRUCT_INPUT] = {"input", 64, sizeof(topk_input)},
    [STRUCT_PREDICATE] = {"predicate", 64, sizeof(topk_predicate)},
    [STRUCT_ROUTING] = {"routing", 48, sizeof(topk_routing)},
    [STRUCT_LISTS] = {"lists", 48, sizeof(topk_lists)},
    [STRUCT_OUTPUT] = {"output", 80, sizeof(topk_output)},
    [STRUCT_PLAN_WHAT] = {"what", 16, sizeof(topk_plan_what)},
    [STRUCT_PLAN_PROPERTIES] = {"properties", 48, sizeof(topk_plan_properties)},
    [STRUCT_PLAN_METHOD] = {"row", 56, sizeof(topk_plan_method)},
    [STRUCT_SHARDED_PROPERTIES] = {"properties", 32, sizeof(topk_sharded_properties)},
    [STRUCT_SHARDED_OUTPUT] = {"output", 64, sizeof(topk_sharded_output)},
    [STRUCT_PEER_GROUP] = {"group", 56, sizeof(topk_peer_group)},
    [STRUCT_PEER_LISTS] = {"lists", 56, sizeof(topk_peer_lists)},
    [STRUCT_RENUMBERING] = {"renumbering", 40, sizeof(topk_renumbering)},
};

static size_t size_of(const void *caller) {
    size_t size;
    memcpy(&size, caller, sizeof size);
    return size;
}

topk_status topk_read_struct(enum struct_kind kind, const void *caller, void *copy) {
    const char *const name = structs[kind].name;
    const size_t known = structs[kind].bytes, first = structs[kind].first_bytes;
    if (caller == NULL) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "%s is NULL", name);
    }
    const size_t size = size_of(caller);
    if (size < first || size > BYTES_MAX || (size < known && size % WORD_BYTES != 0)) {
        return topk_fail(
            TOPK_ERROR_STRUCT_SIZE,
            "%s->size is %zu: this library takes %zu to %zu in steps of %d, or a longer one of zeros", name,
            size, first, known, WORD_BYTES);
    }
    for (size_t i = known; i < size; i++) {
        if (((const unsigned char *)caller)[i] != 0) {
            return topk_fail(TOPK_ERROR_STRUCT_SIZE,
                             "%s sets a field at byte %zu that this library does not know", name, i);
        }
    }
    if (size >= known) {
        memcpy(copy, caller, known);
    } else {
        memcpy(copy, caller, size);
        memset((char *)copy + size, 0, known - size);
    }
    memcpy(copy, &known, sizeof known);
    return TOPK_OK;
}

topk_status topk_view_struct(enum struct_kind kind, const void *caller, void *copy, const void **view) {
    const bool is_known = caller != NULL && size_of(caller) == structs[kind].bytes;
    *view = is_known ? caller : copy;
    return is_known ? TOPK_OK : topk_read_struct(kind, caller, copy);
}

void topk_write_struct(enum struct_kind kind, const void *written, void *caller) {
    const size_t size = size_of(caller), known = structs[kind].bytes;
    memcpy((char *)caller + sizeof size, (const char *)written + sizeof size,
           (size < known ? size : known) - sizeof size);
}
