/* SPDX-License-Identifier: Apache-2.0
 * An internal size and what it shrinks to: TOPK_SHRINK makes sizes tiny, so that tests reach every boundary
 * with small inputs and few emulated threads. */
#ifndef TOPK_SRC_CUDA_SIZE_H
#define TOPK_SRC_CUDA_SIZE_H

#ifdef TOPK_SHRINK
#define SIZE(usual, shrunk) (shrunk)
#else
#define SIZE(usual, shrunk) (usual)
#endif

#endif
