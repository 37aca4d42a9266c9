/* SPDX-License-Identifier: Apache-2.0
 * Kernels with one mistake each about bulk copies, mbarriers, clusters or grid barriers, which `mended` takes
 * out. */
#ifndef TOPK_TESTS_SIMT_BROKEN_RINGS_CUH
#define TOPK_TESTS_SIMT_BROKEN_RINGS_CUH

#include "broken.cuh"
#include "simt/grid.cuh"

/* A slot of 32 groups, with which one warp works. */
struct one_slot {
    simt_shared<simt_mbarrier> barriers;
    simt_shared<simt_u32x4> groups;
};

TOPK_DEVICE struct one_slot carve_slot(void) {
    simt_arena arena = simt_shared_arena();
    struct one_slot s;
    s.barriers = simt_carve<simt_mbarrier>(arena, 1);
    s.groups = simt_carve<simt_u32x4>(arena, SIMT_WARP);
    return s;
}

TOPK_DEVICE void fill_slot(const struct broken_args &args, struct one_slot s) {
    simt_bulk_copy(s.groups, 0, args.data, SIMT_WARP, s.barriers, 0);
}

/* Its mbarrier is made, and the first copy started. */
TOPK_DEVICE struct one_slot started_slot(const struct broken_args &args, uint32_t arrivals) {
    struct one_slot s = carve_slot();
    if (simt_lane() == 0)
        simt_mbarrier_init(s.barriers, 0, 1, arrivals);
    simt_warp_sync(SIMT_ALL_LANES);
    fill_slot(args, s);
    return s;
}

TOPK_DEVICE void read_slot(const struct broken_args &args, struct one_slot s) {
    simt_u32x4 group = s.groups[simt_lane()];
    args.out[simt_lane()] = group.w;
}

/* A slot is read before its copy arrived. */
TOPK_KERNEL void slot_read_early(struct broken_args args) {
    struct one_slot s = started_slot(args, 1);
    simt_ballot(SIMT_ALL_LANES, true);
    if (args.mended)
        simt_mbarrier_wait(s.barriers, 0, 0);
    read_slot(args, s);
    simt_mbarrier_wait(s.barriers, 0, 0);
}

/* One lane waits, and the others take its word for it. */
TOPK_KERNEL void slot_read_without_wait(struct broken_args args) {
    struct one_slot s = started_slot(args, 1);
    if (args.mended || simt_lane() == 0)
        simt_mbarrier_wait(s.barriers, 0, 0);
    simt_ballot(SIMT_ALL_LANES, true);
    read_slot(args, s);
}

/* A slot is filled again while others may be reading it. */
TOPK_KERNEL void slot_refilled_early(struct broken_args args) {
    struct one_slot s = started_slot(args, 1);
    simt_mbarrier_wait(s.barriers, 0, 0);
    read_slot(args, s);
    if (args.mended)
        simt_warp_sync(SIMT_ALL_LANES);
    fill_slot(args, s);
    simt_mbarrier_wait(s.barriers, 0, 1);
}

/* A slot is filled again while its copy is on its way. */
TOPK_KERNEL void slot_filled_twice(struct broken_args args) {
    struct one_slot s = started_slot(args, 1);
    if (args.mended)
        simt_mbarrier_wait(s.barriers, 0, 0);
    simt_warp_sync(SIMT_ALL_LANES);
    fill_slot(args, s);
    simt_mbarrier_wait(s.barriers, 0, 1);
}

/* Threads wrote where the copy goes. */
TOPK_KERNEL void slot_written_before(struct broken_args args) {
    struct one_slot s = carve_slot();
    if (simt_lane() == 0)
        simt_mbarrier_init(s.barriers, 0, 1, 1);
    simt_warp_sync(SIMT_ALL_LANES);
    s.groups[simt_lane()] = simt_u32x4{0, 0, 0, 0};
    if (args.mended)
        simt_fence_bulk();
    simt_warp_sync(SIMT_ALL_LANES);
    fill_slot(args, s);
    simt_mbarrier_wait(s.barriers, 0, 0);
}

/* The block ends before its copy arrived. */
TOPK_KERNEL void slot_left_behind(struct broken_args args) {
    struct one_slot s = started_slot(args, 1);
    if (args.mended)
        simt_mbarrier_wait(s.barriers, 0, 0);
}

/* The mbarrier expects one more arrival than there is. */
TOPK_KERNEL void arrival_forgotten(struct broken_args args) {
    struct one_slot s = started_slot(args, 2);
    if (args.mended && simt_lane() == 5)
        simt_mbarrier_arrive(s.barriers, 0);
    simt_mbarrier_wait(s.barriers, 0, 0);
}

/* Other lanes use an mbarrier that nothing tells them to be made. */
TOPK_KERNEL void mbarrier_made_late(struct broken_args args) {
    struct one_slot s = carve_slot();
    if (simt_lane() == 0)
        simt_mbarrier_init(s.barriers, 0, 1, SIMT_WARP);
    simt_ballot(SIMT_ALL_LANES, true);
    if (args.mended)
        simt_warp_sync(SIMT_ALL_LANES);
    simt_mbarrier_arrive(s.barriers, 0);
    simt_mbarrier_wait(s.barriers, 0, 0);
}

/* A copy reads what the same launch wrote. */
TOPK_KERNEL void copy_after_write(struct broken_args args) {
    uint32_t *words = args.mended ? args.out : args.data;
    words[simt_lane()] = 1;
    simt_warp_sync(SIMT_ALL_LANES);
    struct one_slot s = started_slot(args, 1);
    simt_mbarrier_wait(s.barriers, 0, 0);
}

TOPK_KERNEL void misaligned_copy(struct broken_args args) {
    args.data += args.mended ? 4 : 2;
    struct one_slot s = started_slot(args, 1);
    simt_mbarrier_wait(s.barriers, 0, 0);
}

TOPK_KERNEL void copy_beyond_input(struct broken_args args) {
    args.data += DATA_WORDS - (args.mended ? 4 : 3) * SIMT_WARP;
    struct one_slot s = started_slot(args, 1);
    simt_mbarrier_wait(s.barriers, 0, 0);
}

/* A block stores to another one of its cluster, which may not have started, before it has waited. */
TOPK_KERNEL void remote_store_early(struct broken_args args) {
    simt_arena arena = simt_shared_arena();
    simt_shared<uint32_t> value = simt_carve<uint32_t>(arena, 1);
    simt_remote<uint32_t> other = simt_shared_of_rank(value, simt_cluster_rank() ^ 1);
    simt_cluster_arrive_relaxed();
    if (args.mended)
        simt_cluster_wait();
    if (simt_thread() == 0)
        simt_remote_store(other, 0, simt_block());
    if (!args.mended)
        simt_cluster_wait();
    simt_cluster_sync();
    args.out[grid_thread()] = value[0];
}

/* A block reads from another one when it has arrived at the last barrier, which thus does not hold that one
 * up. */
TOPK_KERNEL void remote_load_late(struct broken_args args) {
    simt_arena arena = simt_shared_arena();
    simt_shared<uint32_t> value = simt_carve<uint32_t>(arena, 1);
    simt_remote<uint32_t> other = simt_shared_of_rank(value, simt_cluster_rank() ^ 1);
    if (simt_thread() == 0)
        value[0] = 7;
    simt_cluster_sync();
    if (args.mended)
        args.out[grid_thread()] = simt_remote_load(other, 0);
    simt_cluster_arrive();
    if (!args.mended)
        args.out[grid_thread()] = simt_remote_load(other, 0);
    simt_cluster_wait();
}

/* A block reads what another one wrote before it arrived, publishing nothing. */
TOPK_KERNEL void remote_load_unpublished(struct broken_args args) {
    simt_arena arena = simt_shared_arena();
    simt_shared<uint32_t> value = simt_carve<uint32_t>(arena, 1);
    if (simt_thread() == 0)
        value[0] = 7;
    if (args.mended)
        simt_cluster_arrive();
    else
        simt_cluster_arrive_relaxed();
    simt_cluster_wait();
    args.out[grid_thread()] = simt_remote_load(simt_shared_of_rank(value, simt_cluster_rank() ^ 1), 0);
    simt_cluster_sync();
}

/* Two blocks store to the same word. */
TOPK_KERNEL void remote_stores_race(struct broken_args args) {
    simt_arena arena = simt_shared_arena();
    simt_shared<uint32_t> values = simt_carve<uint32_t>(arena, 2);
    simt_cluster_sync();
    if (simt_thread() == 0)
        simt_remote_store(simt_shared_of_rank(values, 0), args.mended ? simt_cluster_rank() : 0, 1);
    simt_cluster_sync();
}

TOPK_KERNEL void cluster_wait_alone(struct broken_args args) {
    if (args.mended)
        simt_cluster_arrive();
    simt_cluster_wait();
}

TOPK_KERNEL void cluster_arrival_alone(struct broken_args args) {
    simt_cluster_arrive();
    if (args.mended)
        simt_cluster_wait();
}

/* One block leaves out a barrier of the grid. */
TOPK_KERNEL void grid_barrier_skipped(struct broken_args args) {
    args.data[grid_thread()] = 1;
    if (args.mended || simt_block() != 2)
        simt_grid_sync();
    simt_grid_sync();
}

#endif
