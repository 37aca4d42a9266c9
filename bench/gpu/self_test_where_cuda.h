/* SPDX-License-Identifier: Apache-2.0
 *
 * The checks of where that no result of the library goes through: of values, and of rivals that promise no
 * order. */
#ifndef BENCH_SELF_TEST_WHERE_CUDA_H
#define BENCH_SELF_TEST_WHERE_CUDA_H

#include "gpu/gpu.h"

/* Whether they notice what they must; tells on stdout. */
bool bench_gpu_self_test_where(bench_gpu_session *session);

#endif /* BENCH_SELF_TEST_WHERE_CUDA_H */
