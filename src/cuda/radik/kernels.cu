/* SPDX-License-Identifier: Apache-2.0
 * The kernels of RadiK (Li et al., ICS 2024) for elements of KEY_BITS bits. docs/methods/radik.md tells the
 * whole. */
#include "../instance.cuh"
#include "begin.cuh"
#include "first.cuh"
#include "next.cuh"
#include "order.cuh"
#include "sort.cuh"

namespace WIDTH {
typedef element_of_bits<KEY_BITS>::type element_t;

/* Whether entries have two words in any case. */
static const bool ALWAYS_TWO = KEY_BITS == 64;

static uint32_t begin_shared_bytes(uint32_t bits) {
    return shared_bytes_of(carve_begin, bits);
}

static uint32_t first_shared_bytes(uint32_t bits) {
    return shared_bytes_of(carve_pass, bits);
}

static uint32_t next_shared_bytes(bool many, uint32_t bits) {
    return many ? shared_bytes_of(carve_next<element_t, true>, bits)
                : shared_bytes_of(carve_next<element_t, false>, bits);
}

template <bool WHERE> static int launch_next(const struct launch_grid *grid, const struct radik_args *args) {
    const bool many = args->has_many;
    return launch("radik_next", grid, next_shared_bytes(many, args->digits.bits),
                  many ? radik_next<element_t, WHERE, true> : radik_next<element_t, WHERE, false>, args);
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
        return launch("radik_first", grid, first_shared_bytes(bits),
                      where ? radik_first<element_t, true> : radik_first<element_t, false>, args);
    case RADIK_NEXT:
        return where ? launch_next<true>(grid, args) : launch_next<false>(grid, args);
    case RADIK_ORDER:
        return launch("radik_order", grid, first_shared_bytes(0),
                      where ? radik_order<element_t, true> : radik_order<element_t, false>, args);
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

/* What a device has no room for is not launched there. */
template <typename Kernel> static int prepare_two(Kernel one, Kernel other, uint32_t bytes, uint32_t most) {
    const uint32_t room = bytes < most ? bytes : most;
    const int error = one != other ? simt_prepare(one, room) : 0;
    return error != 0 ? error : simt_prepare(other, room);
}

template <bool WHERE> static int prepare_passes(uint32_t most) {
    const uint32_t bits = RADIK_DIGIT_BITS_MAX;
    int error = prepare_two(radik_first<element_t, WHERE>, radik_order<element_t, WHERE>,
                            first_shared_bytes(bits), most);
    error = error != 0 ? error
                       : prepare_two(radik_begin<element_t, WHERE>, radik_next<element_t, WHERE, false>,
                                     next_shared_bytes(false, bits), most);
    return error != 0 ? error
                      : prepare_two(radik_next<element_t, WHERE, true>, radik_next<element_t, WHERE, true>,
                                    next_shared_bytes(true, bits), most);
}

static int prepare(uint32_t shared_bytes_max) {
    const uint32_t most = shared_bytes_max, sort = 1 << 16;
    int error = prepare_passes<false>(most);
    error = error != 0 ? error : prepare_passes<true>(most);
    error = error != 0
                ? error
                : prepare_two(radik_sort<element_t, ALWAYS_TWO>, radik_sort<element_t, true>, sort, most);
    return error != 0
               ? error
               : prepare_two(radik_rank<element_t, ALWAYS_TWO>, radik_rank<element_t, true>, sort, most);
}

extern "C" const struct radik_kernels INSTANCE = {prepare, launch_kernel, next_shared_bytes};
} // namespace WIDTH
