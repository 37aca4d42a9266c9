/* SPDX-License-Identifier: Apache-2.0
 * The kernels of accumulators for elements of KEY_BITS bits. ARCHITECTURE.md tells the whole. */
#include "kernels.h"

#include "../instance.cuh"
#include "apart.cuh"
#include "bytes.cuh"
#include "merge.cuh"
#include "push.cuh"
#include "write.cuh"

namespace WIDTH {
typedef element_of_bits<KEY_BITS>::type element_t;

static uint32_t list_bytes(void) {
    return shared_bytes_of(carve_lists);
}

static uint32_t shared_bytes(uint32_t threads) {
    return shared_bytes_of(carve_push<element_t>, threads / SIMT_WARP);
}

static int launch_init(const struct launch_grid *grid, const struct accumulate_args *args) {
    return launch("accumulate_init", grid, 0, accumulate_init<element_t>, args);
}

static int launch_push(const struct launch_grid *grid, const struct accumulate_args *args) {
    return launch("accumulate_push", grid, shared_bytes(grid->threads), accumulate_push<element_t>, args);
}

static int launch_where(const struct launch_grid *grid, const struct accumulate_where_args *args) {
    return launch("accumulate_where", grid, shared_bytes(grid->threads), accumulate_where<element_t>, args);
}

static int launch_merge(const struct launch_grid *grid, const struct accumulate_args *args) {
    return launch("accumulate_merge", grid, list_bytes(), accumulate_merge<element_t>, args);
}

static int launch_carry(const struct launch_grid *grid, const struct accumulate_args *args) {
    return launch("accumulate_carry", grid, 0, accumulate_carry<element_t>, args);
}

static int launch_ask(const struct launch_grid *grid, const struct accumulate_args *args) {
    return launch("accumulate_ask", grid, 0, accumulate_ask<element_t>, args);
}

static int launch_gather(const struct launch_grid *grid, const struct accumulate_args *args) {
    return launch("accumulate_gather", grid, 0, accumulate_gather<element_t>, args);
}

static int launch_keep(const struct launch_grid *grid, const struct accumulate_args *args) {
    return launch("accumulate_keep", grid, shared_bytes_of(carve_keep), accumulate_keep<element_t>, args);
}

static int launch_arrange(const struct launch_grid *grid, const struct accumulate_args *args) {
    return launch("accumulate_arrange", grid, 0, accumulate_arrange<element_t>, args);
}

static int launch_write(const struct launch_grid *grid, const struct accumulate_args *args) {
    return launch("accumulate_write", grid, 0, accumulate_write<element_t>, args);
}

static int launch_export(const struct launch_grid *grid, const struct accumulate_bytes_args *args) {
    return launch("accumulate_export", grid, 0, accumulate_export<element_t>, args);
}

static int launch_import(const struct launch_grid *grid, const struct accumulate_bytes_args *args) {
    return launch("accumulate_import", grid, 0, accumulate_import<element_t>, args);
}

static int prepare(uint32_t shared_bytes_max) {
    const uint32_t most = shared_bytes(ACCUMULATE_THREADS),
                   bytes = most < shared_bytes_max ? most : shared_bytes_max;
    int error = simt_prepare(accumulate_push<element_t>, bytes);
    error = error != 0 ? error : simt_prepare(accumulate_where<element_t>, bytes);
    error = error != 0 ? error : simt_prepare(accumulate_merge<element_t>, list_bytes());
    error = error != 0 ? error : simt_prepare(accumulate_init<element_t>, 0);
    error = error != 0 ? error : simt_prepare(accumulate_carry<element_t>, 0);
    error = error != 0 ? error : simt_prepare(accumulate_ask<element_t>, 0);
    error = error != 0 ? error : simt_prepare(accumulate_gather<element_t>, 0);
    error = error != 0 ? error : simt_prepare(accumulate_keep<element_t>, 0);
    error = error != 0 ? error : simt_prepare(accumulate_arrange<element_t>, 0);
    error = error != 0 ? error : simt_prepare(accumulate_export<element_t>, 0);
    error = error != 0 ? error : simt_prepare(accumulate_import<element_t>, 0);
    return error != 0 ? error : simt_prepare(accumulate_write<element_t>, 0);
}

extern "C" const struct accumulate_kernels INSTANCE = {
    prepare,    shared_bytes,  launch_init, launch_push,    launch_where, launch_merge,  launch_carry,
    launch_ask, launch_gather, launch_keep, launch_arrange, launch_write, launch_export, launch_import};
} // namespace WIDTH
