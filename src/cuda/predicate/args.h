/* SPDX-License-Identifier: Apache-2.0
 * A call's predicate as kernels get it, by value. */
#ifndef TOPK_SRC_CUDA_PREDICATE_ARGS_H
#define TOPK_SRC_CUDA_PREDICATE_ARGS_H

#include "../../keys.h"
#include "../grid.h"

/* A comparison whose bounds the device reads, or AT_LEAST. */
struct device_bounds {
    const void *
        values; /* topk_bound low and high, or an element, in device memory; NULL: the host knows the match */
    topk_predicate_kind kind;
    bool largest, by_magnitude, nan_best; /* AT_LEAST: how elements rank */
    struct type_traits traits;
    struct match *found; /* the match, once a launch has read the bounds */
};

struct predicate_args {
    bool is_given;      /* otherwise all elements match */
    bool mask_has_bits; /* otherwise bytes */
    const void *mask;   /* NULL: elements are compared */
    uint64_t flip;      /* of an element's point: keys.h; 0 where the match holds without it */
    struct match match; /* of elements, or of the bytes of a mask; unless the device reads the bounds */
    struct device_bounds bounds;
};

struct bounds_args {
    const uint32_t *condition; /* of struct call */
    struct predicate_args predicate;
};

#ifdef __cplusplus
extern "C" {
#endif

int topk_cuda_launch_bounds(const struct launch_grid *grid, const struct bounds_args *args);
int topk_cuda_prepare_bounds(void);

#ifdef __cplusplus
}
#else
#include "../../method.h"

/* The call has a predicate. `found`: room for a match, in device memory. */
struct predicate_args topk_cuda_predicate_args(const struct call *call, struct match *found);

/* struct backend, check_predicate. */
topk_status topk_cuda_check_predicate(const struct plan *plan, const topk_predicate *predicate);

/* Launches the reading of the bounds, if they lie in device memory. */
int topk_cuda_read_bounds(const struct call *call, const struct predicate_args *args);

/* Both. */
int topk_cuda_take_predicate(const struct call *call, struct match *found, struct predicate_args *args);
#endif
#endif
