/* SPDX-License-Identifier: Apache-2.0
 * Sorts up to NETWORK_MAX integers of 32 bits. network.c is compiled once for each instruction set, with
 * SORT_NETWORK for the function's name. */
#ifndef TOPK_SRC_CPU_KERNELS_NETWORK_H
#define TOPK_SRC_CPU_KERNELS_NETWORK_H

#include <stddef.h>
#include <stdint.h>

#if defined(__AVX2__)
enum { NETWORK_MAX = 1024 };
#else
enum { NETWORK_MAX = 512 };
#endif

void SORT_NETWORK(uint32_t *integers, size_t n);

#endif
