/* SPDX-License-Identifier: Apache-2.0
 * The kernels of shards for elements of KEY_BITS bits. */
#include "../instance.cuh"
#include "advance.cuh"
#include "select.cuh"

namespace WIDTH {
typedef element_of_bits<KEY_BITS>::type element_t;

/* A first round with a predicate is like any other: that spares a kernel. */
static int launch_count(const struct launch_grid *grid, uint32_t bytes, const struct sharded_args *args) {
    if (args->predicate.is_given)
        return launch("sharded_count_where", grid, bytes, sharded_count<element_t, false, true>, args);
    return args->is_first
               ? launch("sharded_count_first", grid, bytes, sharded_count<element_t, true, false>, args)
               : launch("sharded_count", grid, bytes, sharded_count<element_t, false, false>, args);
}

static int launch_kernel(enum sharded_kernel kernel, const struct launch_grid *grid,
                         const struct sharded_args *args) {
    const uint32_t bytes = shared_bytes_of(carve_count<element_t>, args->bins, args->lists);
    switch (kernel) {
    case SHARDED_BEGIN:
        return launch("sharded_begin", grid, 0, sharded_begin<element_t>, args);
    case SHARDED_COUNT:
        return launch_count(grid, bytes, args);
    case SHARDED_ADVANCE:
        return launch("sharded_advance", grid, SIMT_WARP * sizeof(uint64_t), sharded_advance<element_t>,
                      args);
    case SHARDED_RESULT:
        return launch("sharded_result", grid, 0, sharded_result<element_t>, args);
    case SHARDED_OPEN:
        return launch("sharded_open", grid, 0, sharded_open<element_t>, args);
    default:
        return launch("sharded_select", grid, shared_bytes_of(carve_tiles<shard_tiles<element_t>>),
                      sharded_select<element_t>, args);
    }
}

static int prepare(void) {
    typedef table_shape<element_t> shape;
    const uint32_t bytes = shared_bytes_of(carve_count<element_t>, 1u << shape::DIGIT_MOST, shape::LISTS);
    int error = simt_prepare(sharded_begin<element_t>, 0);
    error = error != 0 ? error : simt_prepare(sharded_count<element_t, true, false>, 0);
    error = error != 0 ? error : simt_prepare(sharded_count<element_t, false, false>, bytes);
    error = error != 0 ? error : simt_prepare(sharded_count<element_t, false, true>, bytes);
    error = error != 0 ? error : simt_prepare(sharded_advance<element_t>, 0);
    error = error != 0 ? error : simt_prepare(sharded_result<element_t>, 0);
    error = error != 0 ? error : simt_prepare(sharded_open<element_t>, 0);
    return error != 0 ? error
                      : simt_prepare(sharded_select<element_t>,
                                     shared_bytes_of(carve_tiles<shard_tiles<element_t>>));
}

extern "C" const struct sharded_kernels INSTANCE = {
    prepare, launch_kernel,
    (int64_t)SHARDED_THREADS *tile_shape<element_t>::GROUPS *tile_shape<element_t>::PER};
} // namespace WIDTH
