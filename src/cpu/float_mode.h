/* SPDX-License-Identifier: Apache-2.0
 * The floating-point mode of the calling thread. Between the two functions it is the default: rounding to
 * nearest, denormals kept, no exception trapped. The caller's mode comes back with the caller's flags. */
#ifndef TOPK_SRC_CPU_FLOAT_MODE_H
#define TOPK_SRC_CPU_FLOAT_MODE_H

#if defined(__x86_64__)
#include <xmmintrin.h>

struct float_mode {
    unsigned control;
};

static inline struct float_mode float_mode_default(void) {
    const struct float_mode caller = {_mm_getcsr()};
    _mm_setcsr(0x1f80); /* what a program starts with */
    return caller;
}

static inline void float_mode_restore(const struct float_mode *caller) {
    _mm_setcsr(caller->control);
}
#else
#include <fenv.h>

struct float_mode {
    fenv_t environment;
};

static inline struct float_mode float_mode_default(void) {
    struct float_mode caller;
    (void)fegetenv(&caller.environment);
    (void)fesetenv(FE_DFL_ENV);
    return caller;
}

static inline void float_mode_restore(const struct float_mode *caller) {
    (void)fesetenv(&caller->environment);
}
#endif

#endif
