/* SPDX-License-Identifier: Apache-2.0
 * What the neutral middle sees of the CPU backend. */
#ifndef TOPK_SRC_CPU_BACKEND_H
#define TOPK_SRC_CPU_BACKEND_H

#include "../method.h"

extern const struct backend topk_cpu_backend;

#endif
