/* SPDX-License-Identifier: Apache-2.0
 * Which elements meet a comparison. For the host and for kernels. */
#ifndef TOPK_SRC_BOUNDS_H
#define TOPK_SRC_BOUNDS_H

#include "keys.h"

/* The elements whose points (keys.h) lie in an arc, or, complemented, outside of it. Points are those of
 * predicate_order(), so that NaN, which meets no comparison but NE, is in no arc of numbers. */
struct match {
    struct arc arc;
    bool complement;
};

#endif
