/* SPDX-License-Identifier: Apache-2.0
 * Which architecture's path is compiled, and what it has: simt.cuh. Included by simt.cuh alone. */
#ifndef TOPK_SRC_CUDA_SIMT_ARCHITECTURE_CUH
#define TOPK_SRC_CUDA_SIMT_ARCHITECTURE_CUH

#ifdef TOPK_PORTABLE
#define SIMT_PORTABLE (TOPK_PORTABLE == 80 ? 80 : 75)
#endif

#ifndef __CUDA_ARCH__
#define SIMT_ARCHITECTURE 0
#elif defined(TOPK_PORTABLE)
#define SIMT_ARCHITECTURE (__CUDA_ARCH__ >= 800 ? SIMT_PORTABLE : 75)
#else
#define SIMT_ARCHITECTURE (__CUDA_ARCH__ / 10)
#endif

/* Those that this file is compiled for: a list of numbers such as 900. */
#define SIMT_ARCHITECTURES __CUDA_ARCH_LIST__

#if SIMT_ARCHITECTURE >= 80
#define SIMT_HAS_REDUX 1
#define SIMT_HAS_ASYNC_COPIES 1
#endif
#if SIMT_ARCHITECTURE >= 90
#define SIMT_HAS_BULK_COPIES 1
#define SIMT_HAS_CLUSTERS 1
#define SIMT_HAS_DEPENDENT_LAUNCHES 1
#endif

#endif
