/* SPDX-License-Identifier: Apache-2.0
 * The kernels of AIR Top-K (Zhang et al., SC 2023) for elements of KEY_BITS bits. docs/methods/air.md tells
 * the whole.
 *
 * A launch handles one digit of all rows: it narrows the range that the k-th element's code lies in. The last
 * block to finish with a row finds the digit, so that the host need not know. */
#include "../instance.cuh"
#include "extent.cuh"
#include "first.cuh"
#include "fused.cuh"
#include "last.cuh"
#include "row.cuh"
#include "sort.cuh"

namespace WIDTH {
typedef element_of_bits<KEY_BITS>::type element_t;

/* Whether entries have two words in any case. */
static const bool ALWAYS_TWO = KEY_BITS == 64;

static uint32_t pass_shared_bytes(uint32_t candidates) {
    return shared_bytes_of(carve_block<element_t>, AIR_THREADS / SIMT_WARP, candidates);
}

static uint32_t row_shared_bytes(const struct air_args *args, uint32_t candidates) {
    return shared_bytes_of(carve_row<element_t, ALWAYS_TWO>, candidates, args->block_entries);
}

static int64_t row_room(const struct air_args *args, uint32_t shared_bytes_max) {
    const int64_t room = (int64_t)shared_bytes_max - row_shared_bytes(args, 0) - 16; /* alignment */
    const int64_t each = sizeof(key_word_t<element_t>) + sizeof(uint32_t);
    return room < 0 ? -1 : room / each;
}

static int launch_kernel(enum air_kernel kernel, const struct launch_grid *grid,
                         const struct air_args *args) {
    const bool where = args->predicate.is_given, two = args->target.two_words;
    const uint32_t candidates = args->block_candidates, entries = args->block_entries;
    switch (kernel) {
    case AIR_FIRST:
        return launch("air_first", grid, pass_shared_bytes(0),
                      where ? air_first<element_t, true> : air_first<element_t, false>, args);
    case AIR_EXTENT:
        return launch("air_extent", grid, shared_bytes_of(carve_extent), air_extent<element_t>, args);
    case AIR_NEXT:
        return launch("air_next", grid, pass_shared_bytes(candidates),
                      where ? air_next<element_t, true> : air_next<element_t, false>, args);
    case AIR_FUSED:
        return launch("air_fused", grid, pass_shared_bytes(candidates), air_fused<element_t>, args);
    case AIR_LAST:
        return launch("air_last", grid, pass_shared_bytes(0),
                      where ? air_last<element_t, true> : air_last<element_t, false>, args);
    case AIR_SORT:
        return launch("air_sort", grid,
                      two ? shared_bytes_of(carve_sort<true>, entries)
                          : shared_bytes_of(carve_sort<ALWAYS_TWO>, entries),
                      two ? air_sort<element_t, true> : air_sort<element_t, ALWAYS_TWO>, args);
    case AIR_RANK:
        return launch("air_rank", grid,
                      two ? shared_bytes_of(carve_entries<true>, entries)
                          : shared_bytes_of(carve_entries<ALWAYS_TWO>, entries),
                      two ? air_rank<element_t, true> : air_rank<element_t, ALWAYS_TWO>, args);
    default: /* a row for one block is shorter than 2^31: two words with keys of 64 bits alone */
        return launch("air_row", grid, row_shared_bytes(args, candidates),
                      where ? air_row<element_t, true, ALWAYS_TWO> : air_row<element_t, false, ALWAYS_TWO>,
                      args);
    }
}

template <typename Kernel> static int prepare_two(Kernel one, Kernel other, uint32_t bytes) {
    const int error = one != other ? simt_prepare(one, bytes) : 0;
    return error != 0 ? error : simt_prepare(other, bytes);
}

template <bool WHERE> static int prepare_passes(uint32_t shared_bytes_max) {
    int error = prepare_two(air_first<element_t, WHERE>, air_last<element_t, WHERE>, pass_shared_bytes(0));
    error = error != 0 ? error
                       : prepare_two(air_next<element_t, WHERE>,
                                     WHERE ? air_next<element_t, true> : air_fused<element_t>,
                                     pass_shared_bytes(finish_candidates(sizeof(element_t))));
    return error != 0 ? error : simt_prepare(air_row<element_t, WHERE, ALWAYS_TWO>, shared_bytes_max);
}

static int prepare(uint32_t shared_bytes_max) {
    int error = prepare_passes<false>(shared_bytes_max);
    error = error != 0 ? error : prepare_passes<true>(shared_bytes_max);
    error = error != 0 ? error : simt_prepare(air_extent<element_t>, 0);
    error =
        error != 0 ? error : prepare_two(air_sort<element_t, ALWAYS_TWO>, air_sort<element_t, true>, 1 << 16);
    return error != 0 ? error
                      : prepare_two(air_rank<element_t, ALWAYS_TWO>, air_rank<element_t, true>, 1 << 16);
}

extern "C" const struct air_kernels INSTANCE = {prepare, launch_kernel, row_room};
} // namespace WIDTH
