/* SPDX-License-Identifier: Apache-2.0
 * The structs that callers give. Each begins with its size and grows from release to release, so a caller's
 * may be smaller than the library's own, or larger (CONTRACT.md, 8.2). */
#ifndef TOPK_SRC_STRUCTS_H
#define TOPK_SRC_STRUCTS_H

#include "topk.h"

enum struct_kind {
    STRUCT_CONTEXT_OPTIONS,
    STRUCT_CONTEXT_PROPERTIES,
    STRUCT_PROBLEM,
    STRUCT_INPUT,
    STRUCT_PREDICATE,
    STRUCT_ROUTING,
    STRUCT_LISTS,
    STRUCT_OUTPUT,
    STRUCT_PLAN_WHAT,
    STRUCT_PLAN_PROPERTIES,
    STRUCT_PLAN_METHOD,
    STRUCT_SHARDED_PROPERTIES,
    STRUCT_SHARDED_OUTPUT,
    STRUCT_PEER_GROUP,
    STRUCT_PEER_LISTS,
    STRUCT_RENUMBERING,
};

/* Copies a caller's struct to the library's own of that kind. Fields that the caller's has no room for become
 * 0; fields that the library does not know must be 0. */
topk_status topk_read_struct(enum struct_kind kind, const void *caller, void *copy);

/* The same without a copy where there is no need for one: *view is the caller's struct, or else `copy`. */
topk_status topk_view_struct(enum struct_kind kind, const void *caller, void *copy, const void **view);

/* Writes the library's own struct to a caller's that could be read, as far as that reaches. The caller's size
 * stays. */
void topk_write_struct(enum struct_kind kind, const void *written, void *caller);

#endif
