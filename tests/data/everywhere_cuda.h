/* SPDX-License-Identifier: Apache-2.0
 *
 * Marks a function that code for a GPU may call as well. */
#ifndef TESTS_EVERYWHERE_CUDA_H
#define TESTS_EVERYWHERE_CUDA_H

#ifdef __CUDACC__
#define EVERYWHERE __host__ __device__
#else
#define EVERYWHERE
#endif

#endif
