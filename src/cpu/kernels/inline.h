/* SPDX-License-Identifier: Apache-2.0
 * What the compiler must inline, and what it must not. */
#ifndef TOPK_SRC_CPU_KERNELS_INLINE_H
#define TOPK_SRC_CPU_KERNELS_INLINE_H

#define INLINE inline __attribute__((always_inline))
#define NO_INLINE __attribute__((noinline))

#endif
