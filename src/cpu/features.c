/* SPDX-License-Identifier: Apache-2.0
 * Which instruction sets this machine has and the environment allows; and the kernel sets built
 * for them. */
#include <stdlib.h>
#include <string.h>

#include "../context.h"
#include "../status.h"
#include "kernels/kernels.h"

extern const struct kernels topk_cpu_kernels_scalar_8, topk_cpu_kernels_scalar_16, topk_cpu_kernels_scalar_32,
    topk_cpu_kernels_scalar_64;
#if defined(__x86_64__)
extern const struct kernels topk_cpu_kernels_avx2_8, topk_cpu_kernels_avx2_16, topk_cpu_kernels_avx2_32,
    topk_cpu_kernels_avx2_64;
extern const struct kernels topk_cpu_kernels_avx512_8, topk_cpu_kernels_avx512_16, topk_cpu_kernels_avx512_32,
    topk_cpu_kernels_avx512_64;
#elif defined(__aarch64__)
extern const struct kernels topk_cpu_kernels_neon_8, topk_cpu_kernels_neon_16, topk_cpu_kernels_neon_32,
    topk_cpu_kernels_neon_64;
#endif

static const struct kernels *const kernel_sets[KERNEL_VARIANTS][4] = {
    [KERNELS_SCALAR] = {&topk_cpu_kernels_scalar_8, &topk_cpu_kernels_scalar_16, &topk_cpu_kernels_scalar_32,
                        &topk_cpu_kernels_scalar_64},
#if defined(__x86_64__)
    [KERNELS_AVX2] = {&topk_cpu_kernels_avx2_8, &topk_cpu_kernels_avx2_16, &topk_cpu_kernels_avx2_32,
                      &topk_cpu_kernels_avx2_64},
    [KERNELS_AVX512] = {&topk_cpu_kernels_avx512_8, &topk_cpu_kernels_avx512_16, &topk_cpu_kernels_avx512_32,
                        &topk_cpu_kernels_avx512_64},
#elif defined(__aarch64__)
    [KERNELS_NEON] = {&topk_cpu_kernels_neon_8, &topk_cpu_kernels_neon_16, &topk_cpu_kernels_neon_32,
                      &topk_cpu_kernels_neon_64},
#endif
};

/* What switching a feature off does: a variant from `first` to `last` needs it, and `without` takes its
 * place. Every machine knows all names. */
static const struct {
    const char *name;
    enum kernel_variant first, last, without;
} features[] = {
    {"avx512", KERNELS_AVX512, KERNELS_AVX512, KERNELS_AVX2},
    {"avx2", KERNELS_AVX2, KERNELS_AVX512, KERNELS_SCALAR},
    {"neon", KERNELS_NEON, KERNELS_NEON, KERNELS_SCALAR},
};
enum { FEATURES = sizeof features / sizeof features[0] };

const struct kernels *topk_cpu_kernels_for(const topk_context *context, unsigned bits) {
    const struct kernels *const *set = context->kernels;
    return set[__builtin_ctz(bits / 8)];
}

static enum kernel_variant machine_variant(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
        __builtin_cpu_supports("popcnt")) {
        const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                            __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
        return avx512 ? KERNELS_AVX512 : KERNELS_AVX2;
    }
    return KERNELS_SCALAR;
#elif defined(__aarch64__)
    return KERNELS_NEON;
#else
    return KERNELS_SCALAR;
#endif
}

static void switch_off(size_t feature, enum kernel_variant *variant) {
    if (*variant >= features[feature].first && *variant <= features[feature].last) {
        *variant = features[feature].without;
    }
}

/* The best variant that TOPK_CPU_DISABLE, a list such as "avx512,avx2", leaves. */
static topk_status allowed_variant(enum kernel_variant *variant) {
    const char *list = getenv("TOPK_CPU_DISABLE");
    while (list != NULL && *list != '\0') {
        const size_t length = strcspn(list, ",");
        size_t f = 0;
        while (f < FEATURES &&
               (strlen(features[f].name) != length || strncmp(list, features[f].name, length) != 0)) {
            f++;
        }
        if (f < FEATURES) {
            switch_off(f, variant);
        } else if (length != 0) {
            return topk_fail(TOPK_ERROR_UNKNOWN_ENUM,
                             "TOPK_CPU_DISABLE names '%.*s', must be avx512, avx2 or neon",
                             length > 40 ? 40 : (int)length, list);
        }
        list += length + (list[length] == ',');
    }
    return TOPK_OK;
}

topk_status topk_cpu_kernels_choose(topk_context *context) {
    enum kernel_variant variant = machine_variant();
    const topk_status status = allowed_variant(&variant);
    if (status == TOPK_OK) {
        context->kernels = kernel_sets[variant];
        context->features = kernel_sets[variant][0]->name;
    }
    return status;
}
