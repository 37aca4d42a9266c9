/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs the checks of stubs.c where this machine has their instruction set. Compiled without that set: a
 * compiler may use it anywhere in what it compiles with it, in main above the question, too. */
#include "stubs.h"

#include <stdbool.h>
#include <string.h>

enum { SKIPPED = 77 };

static bool runs_here(void) {
#if defined(__x86_64__)
    if (strcmp(KERNEL_NAME, "avx512") == 0) {
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    }
    if (strcmp(KERNEL_NAME, "avx2") == 0) {
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
    }
#elif defined(__aarch64__)
    if (strcmp(KERNEL_NAME, "neon") == 0) {
        return true;
    }
#endif
    return strcmp(KERNEL_NAME, "portable") == 0;
}

int main(void) {
    return runs_here() ? check_stubs() : SKIPPED;
}
