/* SPDX-License-Identifier: Apache-2.0
 * The kernels of RadiK (Li et al., ICS 2024) for elements of KEY_BITS bits. docs/methods/radik.md tells the
 * whole. */
#include "../instance.cuh"
#include "begin.cuh"
#include "next.cuh"
#include "sort.cuh"

/* Whether entries have two words in any case. */
static const bool ALWAYS_TWO = KEY_BITS == 64;

static uint32_t begin_shared_bytes(uint32_t bits) {
    return shared_bytes_of(carve_digits, bits);
}

static uint32_t pass_shared_bytes(uint32_t bits) {
    return shared_bytes_of(carve_pass<element_t>, bits);
}

static uint32_t shared_bytes(void) {
    return pass_shared_bytes(RADIK_DIGIT_BITS_MAX);
}

static int launch_kernel(enum radik_kernel kernel, const struct launch_grid *grid,
                         const struct radik_args *args) {
    const bool where = args->predicate.is_given, two = args->target.two_words;
    const uint32_t bits = args->digits.bits, entries = args->block_entries;
    switch (kernel) {
    case RADIK_BEGIN:
        return launch("radik_begin", grid, begin_shared_bytes(bits),
                      where ? radik_begin<element_t, true> : radik_begin<element_t, false>, args);
    case RADIK_FIRST:
        return launch("radik_first", grid, pass_shared_bytes(bits),
                      where ? radik_first<element_t, true> : radik_first<element_t, false>, args);
    case RADIK_NEXT:
        return launch("radik_next", grid, pass_shared_bytes(bits),
                      where ? radik_next<element_t, true> : radik_next<element_t, false>, args);
    case RADIK_SORT:
        return launch("radik_sort", grid,
                      two ? shared_bytes_of(carve_sort<true>, entries)
                          : shared_bytes_of(carve_sort<ALWAYS_TWO>, entries),
                      two ? radik_sort<element_t, true> : radik_sort<element_t, ALWAYS_TWO>, args);
    default:
        return launch("radik_rank", grid,
                      two ? shared_bytes_of(carve_entries<true>, entries)
                          : shared_bytes_of(carve_entries<ALWAYS_TWO>, entries),
                      two ? radik_rank<element_t, true> : radik_rank<element_t, ALWAYS_TWO>, args);
    }
}

template <typename Kernel> static int prepare_two(Kernel one, Kernel other, uint32_t bytes) {
    const int error = one != other ? simt_prepare(one, bytes) : 0;
    return error != 0 ? error : simt_prepare(other, bytes);
}

static int prepare(void) {
    const uint32_t pass = shared_bytes(), begin = begin_shared_bytes(RADIK_DIGIT_BITS_MAX), sort = 1 << 16;
    int error = prepare_two(radik_begin<element_t, false>, radik_begin<element_t, true>, begin);
    error =
        error != 0 ? error : prepare_two(radik_first<element_t, false>, radik_first<element_t, true>, pass);
    error = error != 0 ? error : prepare_two(radik_next<element_t, false>, radik_next<element_t, true>, pass);
    error = error != 0 ? error
                       : prepare_two(radik_sort<element_t, ALWAYS_TWO>, radik_sort<element_t, true>, sort);
    return error != 0 ? error
                      : prepare_two(radik_rank<element_t, ALWAYS_TWO>, radik_rank<element_t, true>, sort);
}

extern "C" const struct radik_kernels INSTANCE = {prepare, launch_kernel, shared_bytes};
