/* SPDX-License-Identifier: Apache-2.0
 * The kernel of streamed rows, for elements of KEY_BITS bits. */
#include "stream.h"

#include "../instance.cuh"
#include "stream.cuh"

namespace WIDTH {
typedef element_of_bits<KEY_BITS>::type element_t;

static uint32_t shared_bytes(const struct resident_args *args) {
    return shared_bytes_of(carve_stream<element_t>, *args);
}

static int launch_stream(const struct launch_grid *teams, const struct resident_args *args,
                         uint32_t cluster) {
    struct simt_launch_shape shape = {};
    shape.name = "resident_stream";
    shape.blocks = teams->blocks * cluster;
    shape.rows = 1;
    shape.threads = RESIDENT_STREAM_THREADS;
    shape.cluster = cluster;
    shape.shared_bytes = shared_bytes(args);
    shape.stream = teams->stream;
    return simt_launch(shape, resident_stream<element_t>, *args);
}

/* With the most results. */
static bool has_room(uint32_t cluster) {
    struct resident_args args = {};
    args.rows.k_max = RESIDENT_STREAM_RESULTS;
    args.entries = RESIDENT_LIST;
    return simt_resident_clusters(resident_stream<element_t>, RESIDENT_STREAM_THREADS, shared_bytes(&args),
                                  cluster) > 0;
}

static int prepare(uint32_t shared_bytes_max, uint32_t *blocks) {
    const int error = simt_prepare(resident_stream<element_t>, shared_bytes_max);
    *blocks = RESIDENT_STREAM_CLUSTER;
    while (error == 0 && *blocks > 1 && !has_room(*blocks))
        *blocks /= 2;
    return error;
}

extern "C" const struct resident_stream_kernels INSTANCE = {prepare, shared_bytes, launch_stream};
} // namespace WIDTH
