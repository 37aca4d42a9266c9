/* SPDX-License-Identifier: Apache-2.0
 * The launch that lists rows: once for all widths. */
#include "../instance.cuh"

#if KEY_BITS == 8
#include "list.cuh"

static uint32_t list_shared_bytes(void) {
    return (SIMT_WARP + 2) * sizeof(uint64_t);
}

int topk_cuda_radik_list(const struct launch_grid *grid, const struct radik_args *args) {
    return launch("radik_list", grid, list_shared_bytes(), radik_list, args);
}

int topk_cuda_radik_prepare_list(void) {
    return simt_prepare(radik_list, list_shared_bytes());
}
#endif
