/* SPDX-License-Identifier: Apache-2.0
 * The kernels for rows of a cluster, for elements of KEY_BITS bits. */
#include "cluster.h"

#include "../instance.cuh"
#include "where.cuh"

namespace WIDTH {
typedef element_of_bits<KEY_BITS>::type element_t;

static const uint32_t ITEMS = RESIDENT_ITEMS_2 / (KEY_BITS == 64 ? 2 : 1);

/* Of each the second is for results by position. */
static void (*const row_kernels[2])(struct resident_args) = {
    resident_cluster<element_t, ITEMS, cluster_team>,
    resident_cluster<element_t, ITEMS, cluster_team_of<true>>};
static void (*const where_kernels[2])(struct resident_where_args) = {
    resident_cluster_where<element_t, ITEMS, cluster_team>,
    resident_cluster_where<element_t, ITEMS, cluster_team_of<true>>};

template <typename Args>
static int launch_clusters(const char *name, const struct launch_grid *rows, uint32_t cluster,
                           const struct resident_args &of_row, void (*kernel)(Args), const Args *args) {
    struct simt_launch_shape shape = {};
    shape.name = name;
    shape.blocks = rows->blocks * cluster;
    shape.rows = 1;
    shape.threads = rows->threads;
    shape.cluster = cluster;
    shape.shared_bytes = row_shared_bytes<element_t, cluster_team>(of_row, rows->threads);
    shape.stream = rows->stream;
    return simt_launch(shape, kernel, *args);
}

static int launch_row(const struct launch_grid *rows, const struct resident_args *args, uint32_t cluster) {
    return launch_clusters("resident_cluster", rows, cluster, *args, row_kernels[args->by_position], args);
}

static int launch_where(const struct launch_grid *rows, const struct resident_where_args *args,
                        uint32_t cluster) {
    return launch_clusters("resident_cluster_where", rows, cluster, args->of_row,
                           where_kernels[args->of_row.by_position], args);
}

/* With the largest blocks that shape.c makes. */
static bool has_room(uint32_t cluster) {
    struct resident_args args = {};
    args.positions = RESIDENT_CLUSTER_THREADS * ITEMS;
    args.entries = RESIDENT_CLUSTER_THREADS * RESIDENT_ENTRIES_PER_THREAD;
    const uint32_t bytes = row_shared_bytes<element_t, cluster_team>(args, RESIDENT_CLUSTER_THREADS);
    bool has = true;
    for (uint32_t i = 0; i < 2; i++)
        has = has && simt_resident_clusters(row_kernels[i], RESIDENT_CLUSTER_THREADS, bytes, cluster) > 0 &&
              simt_resident_clusters(where_kernels[i], RESIDENT_CLUSTER_THREADS, bytes, cluster) > 0;
    return has;
}

static int prepare(uint32_t shared_bytes_max, uint32_t *blocks) {
    int error = 0;
    for (uint32_t i = 0; i < 2 && error == 0; i++) {
        error = simt_prepare(row_kernels[i], shared_bytes_max);
        error = error != 0 ? error : simt_prepare(where_kernels[i], shared_bytes_max);
    }
    *blocks = RESIDENT_CLUSTER_MAX;
    while (error == 0 && *blocks > 1 && !has_room(*blocks))
        *blocks /= 2;
    return error;
}

extern "C" const struct resident_cluster_kernels INSTANCE = {prepare, launch_row, launch_where};
} // namespace WIDTH
