/* SPDX-License-Identifier: Apache-2.0
 * The primitives of simt.cuh, each in a kernel of its own. tests/tree/ptx.py compiles this file to PTX and
 * compares the instructions of each kernel, as far as they touch memory or other threads or round, with the
 * comment before it. "portable:" begins what the path for older GPUs has instead.
 *
 * Where a primitive orders memory, the kernel writes *data before it and after it. If the compiler were free
 * to move the first store, it would leave it out. */
#include "simt.cuh"
#include "simt/bytes.cuh"
#include "simt/grid.cuh"
#include "simt/system.cuh"

struct primitive_args {
    uint32_t *data, *out, *word;
    uint64_t *out64, *word64;
};

#define PRIMITIVE(name) extern "C" TOPK_KERNEL void name(struct primitive_args a)

TOPK_DEVICE simt_shared<uint32_t> shared_words(void) {
    simt_arena arena = simt_shared_arena();
    return simt_carve<uint32_t>(arena, 64);
}

/* ---- Barriers ---- */

/* st.global.u32 bar.sync st.global.u32 */
PRIMITIVE(block_sync) {
    *a.data = 1;
    simt_block_sync();
    *a.data = 2;
}

/* ld.global.u32 st.global.u32 bar.red.popc.u32 st.global.u32 st.global.u32 */
PRIMITIVE(block_count) {
    bool voted = *a.word == 3;
    *a.data = 1;
    *a.out = simt_block_count(voted);
    *a.data = 2;
}

/* st.global.u32 bar.warp.sync st.global.u32 */
PRIMITIVE(warp_sync) {
    *a.data = 1;
    simt_warp_sync(SIMT_ALL_LANES);
    *a.data = 2;
}

/* st.global.u32 barrier.cluster.arrive barrier.cluster.wait st.global.u32
 * portable: st.global.u32 bar.sync st.global.u32 */
PRIMITIVE(cluster_sync) {
    *a.data = 1;
    simt_cluster_sync();
    *a.data = 2;
}

/* st.global.u32 barrier.cluster.arrive st.global.u32 barrier.cluster.wait st.global.u32
 * portable: st.global.u32 bar.sync st.global.u32 */
PRIMITIVE(cluster_halves) {
    *a.data = 1;
    simt_cluster_arrive();
    *a.data = 2;
    simt_cluster_wait();
    *a.data = 3;
}

/* st.global.u32 barrier.cluster.arrive.relaxed barrier.cluster.wait st.global.u32
 * portable: st.global.u32 bar.sync st.global.u32 */
PRIMITIVE(cluster_halves_relaxed) {
    *a.data = 1;
    simt_cluster_arrive_relaxed();
    simt_cluster_wait();
    *a.data = 2;
}

/* st.global.u32 barrier.sync atom.add.release.gpu.u32 ld.acquire.gpu.u32 barrier.sync st.global.u32 */
PRIMITIVE(grid_sync) {
    *a.data = 1;
    simt_grid_sync();
    *a.data = 2;
}

/* st.global.u32 barrier.sync atom.add.release.gpu.u32 st.global.u32 ld.acquire.gpu.u32 barrier.sync
 * st.global.u32 */
PRIMITIVE(grid_halves) {
    *a.data = 1;
    const simt_grid_arrival arrival = simt_grid_arrive();
    *a.word = 2;
    simt_grid_wait(arrival);
    *a.data = 3;
}

/* st.global.u32 griddepcontrol.wait st.global.u32
 * portable: st.global.u32 */
PRIMITIVE(wait_predecessor) {
    *a.data = 1;
    simt_wait_predecessor();
    *a.data = 2;
}

/* st.global.u32 griddepcontrol.launch_dependents st.global.u32
 * portable: st.global.u32 */
PRIMITIVE(allow_successor) {
    *a.data = 1;
    simt_allow_successor();
    *a.data = 2;
}

/* ---- Order ---- */

/* st.global.u32 fence.acq_rel.gpu st.global.u32 */
PRIMITIVE(fence_device) {
    *a.data = 1;
    simt_fence_device();
    *a.data = 2;
}

/* st.global.u32 atom.acq_rel.gpu.add.u32 st.global.u32 st.global.u32 */
PRIMITIVE(atomic_ticket) {
    *a.data = 1;
    *a.out = simt_atomic_ticket(a.word);
    *a.data = 2;
}

/* st.global.u32 ld.acquire.gpu.b32 st.global.u32 ld.acquire.gpu.b64 st.global.u32 */
PRIMITIVE(load_acquire) {
    *a.data = 1;
    uint32_t word = simt_load_acquire(a.word);
    *a.data = 2;
    *a.data = word + (uint32_t)simt_load_acquire(a.word64);
}

/* st.global.u32 st.release.gpu.b32 st.global.u32 st.release.gpu.b64 st.global.u32 */
PRIMITIVE(store_release) {
    *a.data = 1;
    simt_store_release(a.word, 5);
    *a.data = 2;
    simt_store_release(a.word64, 5);
    *a.data = 3;
}

/* st.global.u32 ld.relaxed.gpu.b32 st.global.u32 ld.relaxed.gpu.b64 st.global.u32 */
PRIMITIVE(load_relaxed) {
    *a.data = 1;
    uint32_t word = simt_load_relaxed(a.word);
    *a.data = 2;
    *a.data = word + (uint32_t)simt_load_relaxed(a.word64);
}

/* st.global.u32 st.relaxed.gpu.b32 st.global.u32 st.relaxed.gpu.b64 st.global.u32 */
PRIMITIVE(store_relaxed) {
    *a.data = 1;
    simt_store_relaxed(a.word, 5);
    *a.data = 2;
    simt_store_relaxed(a.word64, 5);
    *a.data = 3;
}

/* ---- Atomics: of device scope and relaxed, which is what PTX takes them for where it says nothing ---- */

/* atom.global.add.u32 st.global.u32 atom.global.add.u64 st.global.u64 */
PRIMITIVE(atomic_add) {
    *a.out = simt_atomic_add(a.word, 5u);
    *a.out64 = simt_atomic_add(a.word64, (uint64_t)5);
}

/* atom.global.min.u32 st.global.u32 atom.global.min.u64 st.global.u64 */
PRIMITIVE(atomic_min) {
    *a.out = simt_atomic_min(a.word, 5u);
    *a.out64 = simt_atomic_min(a.word64, (uint64_t)5);
}

/* atom.global.max.u32 st.global.u32 atom.global.max.u64 st.global.u64 */
PRIMITIVE(atomic_max) {
    *a.out = simt_atomic_max(a.word, 5u);
    *a.out64 = simt_atomic_max(a.word64, (uint64_t)5);
}

/* atom.global.or.b32 st.global.u32 atom.global.or.b64 st.global.u64 */
PRIMITIVE(atomic_or) {
    *a.out = simt_atomic_or(a.word, 5u);
    *a.out64 = simt_atomic_or(a.word64, (uint64_t)5);
}

/* atom.shared.add.u32 st.global.u32 */
PRIMITIVE(atomic_add_shared) {
    *a.out = simt_atomic_add(&shared_words()[3], 5u);
}

/* ---- Ways to memory ---- */

/* ld.global.v4.u32 st.global.v4.u32 */
PRIMITIVE(load16) {
    simt_store16(a.out, simt_load16(a.data));
}

/* ld.global.nc.v4.u32 st.global.v4.u32 */
PRIMITIVE(load16_read_only) {
    simt_store16(a.out, simt_load16_read_only(a.data));
}

/* ld.global.u64 ld.global.u32 st.global.u32 */
PRIMITIVE(global) {
    *a.out = *simt_global((const uint32_t *)*a.word64);
}

/* prefetch.global.L2 */
PRIMITIVE(read_ahead) {
    simt_read_ahead(a.data);
}

/* ld.global.nc.u32 st.global.u32 */
PRIMITIVE(load_read_only) {
    *a.out = simt_load_read_only(a.data);
}

/* ld.shared.u32 st.global.u32 */
PRIMITIVE(shared_part) {
    *a.out = simt_shared_part(shared_words(), 8, 8)[3];
}

/* ld.shared.u16 st.global.u32 */
PRIMITIVE(shared_as) {
    *a.out = simt_shared_as<uint16_t>(shared_words())[3];
}

/* ---- Other blocks' shared memory ---- */

TOPK_DEVICE simt_remote<uint32_t> remote_words(void) {
    return simt_shared_of_rank(shared_words(), simt_cluster_size() - 1 - simt_cluster_rank());
}

TOPK_DEVICE simt_remote<uint64_t> wide_remote_words(void) {
    simt_arena arena = simt_shared_arena();
    return simt_shared_of_rank(simt_carve<uint64_t>(arena, 64), 0);
}

/* st.global.u32 mapa.shared::cluster.u32 ld.shared::cluster.u32 st.global.u32 mapa.shared::cluster.u32
 * ld.shared::cluster.u64 st.global.u64
 * portable: st.global.u32 ld.shared.u32 st.global.u32 ld.shared.u64 st.global.u64 */
PRIMITIVE(remote_load) {
    *a.data = 1;
    uint32_t word = simt_remote_load(remote_words(), 3);
    *a.data = 2;
    *a.out64 = word + simt_remote_load(wide_remote_words(), 3);
}

/* st.global.u32 mapa.shared::cluster.u32 st.shared::cluster.u32 st.global.u32 mapa.shared::cluster.u32
 * st.shared::cluster.u64
 * portable: st.global.u32 st.shared.u32 st.global.u32 st.shared.u64 */
PRIMITIVE(remote_store) {
    *a.data = 1;
    simt_remote_store(remote_words(), 3, 5);
    *a.data = 2;
    simt_remote_store(wide_remote_words(), 3, 5);
}

/* mapa.shared::cluster.u32 atom.shared::cluster.add.u32 st.global.u32
 * portable: atom.shared.add.u32 st.global.u32 */
PRIMITIVE(remote_add) {
    *a.out = simt_remote_add(remote_words(), 3, 5);
}

/* mapa.shared::cluster.u32 atom.shared::cluster.max.u32 st.global.u32
 * portable: atom.shared.max.u32 st.global.u32 */
PRIMITIVE(remote_max) {
    *a.out = simt_remote_max(remote_words(), 3, 5);
}

/* ---- Mbarriers and bulk copies ---- */

TOPK_DEVICE simt_shared<simt_mbarrier> mbarriers(void) {
    simt_arena arena = simt_shared_arena();
    return simt_carve<simt_mbarrier>(arena, 4);
}

/* st.global.u32 mbarrier.init.shared::cta.b64*2 fence.proxy.async.shared::cta st.global.u32
 * portable: st.shared.v2.u32*2 st.global.u32
 * sm_80: st.global.u32 mbarrier.init.shared::cta.b64*2 st.global.u32 */
PRIMITIVE(mbarrier_init) {
    *a.data = 1;
    simt_mbarrier_init(mbarriers(), 1, 2, 32);
    *a.data = 2;
}

/* st.global.u32 mbarrier.arrive.shared::cta.b64 st.global.u32
 * portable: st.global.u32 membar.cta atom.shared.add.u32 st.global.u32
 * sm_80: st.global.u32 mbarrier.arrive.shared.b64 st.global.u32 */
PRIMITIVE(mbarrier_arrive) {
    *a.data = 1;
    simt_mbarrier_arrive(mbarriers(), 1);
    *a.data = 2;
}

/* st.global.u32 mbarrier.try_wait.parity.shared::cta.b64 st.global.u32
 * portable: st.global.u32 ld.shared.u32 ld.volatile.shared.u32 membar.cta st.global.u32
 * sm_80: st.global.u32 mbarrier.test_wait.parity.shared.b64 st.global.u32 */
PRIMITIVE(mbarrier_wait) {
    *a.data = 1;
    simt_mbarrier_wait(mbarriers(), 1, 0);
    *a.data = 2;
}

/* st.global.u32 fence.proxy.async.shared::cta st.global.u32
 * portable: st.global.u32 */
PRIMITIVE(fence_bulk) {
    *a.data = 1;
    simt_fence_bulk();
    *a.data = 2;
}

/* st.global.u32 mbarrier.arrive.expect_tx.shared::cta.b64
 * cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint st.global.u32
 * portable: st.global.u32 ld.global.v4.u32 st.shared.v4.u32 bar.warp.sync membar.cta atom.shared.add.u32
 * st.global.u32
 * sm_80: st.global.u32 cp.async.cg.shared.global.L2::cache_hint cp.async.mbarrier.arrive.shared.b64
 * bar.warp.sync mbarrier.arrive.shared.b64 st.global.u32 */
PRIMITIVE(bulk_copy) {
    simt_arena arena = simt_shared_arena();
    simt_shared<simt_u32x4> slot = simt_carve<simt_u32x4>(arena, 64, 128);
    simt_shared<simt_mbarrier> full = simt_carve<simt_mbarrier>(arena, 4);
    *a.out = 1;
    simt_bulk_copy(slot, 8, a.data, 32, full, 1);
    *a.out = 2;
}

/* ld.global.u32 ld.global.u16 st.shared.u16 st.shared.u16 st.shared.u16 st.global.u32 */
PRIMITIVE(appender) {
    simt_arena arena = simt_shared_arena();
    simt_appender list = simt_append_at(simt_carve<uint16_t>(arena, 64), 4);
    const uint32_t wanted = *a.data;
    list.append_if(wanted, (uint16_t)*a.word);
    list.prepend(3);
    list.prepend_if(wanted, 4);
    *a.out = list.address;
}

/* ld.global.u32 st.shared.u32 st.shared.u32 st.shared.u32 st.shared.u32 st.global.u32 */
PRIMITIVE(pair_appender) {
    simt_arena arena = simt_shared_arena();
    const simt_shared<uint32_t> first = simt_carve<uint32_t>(arena, 64),
                                second = simt_carve<uint32_t>(arena, 64);
    simt_pair_appender list = simt_append_pairs_at(first, second, 4);
    const uint32_t wanted = *a.data;
    list.append_if(wanted, 5, 6);
    list.append_below(9, wanted, 7, 8);
    *a.out = list.slot_bytes;
}

/* ld.global.u32 st.shared.u32 st.global.u32 */
PRIMITIVE(shared_store) {
    simt_arena arena = simt_shared_arena();
    const simt_shared<uint32_t> array = simt_carve<uint32_t>(arena, 64);
    simt_shared_store(array, 8, *a.data);
    *a.out = 2;
}

/* ---- Warp operations ---- */

/* ld.global.u32 shfl.sync.idx.b32 st.global.u32 */
PRIMITIVE(shuffle) {
    *a.out = simt_shuffle(SIMT_ALL_LANES, *a.data, 3);
}

/* ld.global.u32 shfl.sync.up.b32 st.global.u32 */
PRIMITIVE(shuffle_up) {
    *a.out = simt_shuffle_up(SIMT_ALL_LANES, *a.data, 3);
}

/* ld.global.u32 shfl.sync.down.b32 st.global.u32 */
PRIMITIVE(shuffle_down) {
    *a.out = simt_shuffle_down(SIMT_ALL_LANES, *a.data, 3);
}

/* ld.global.u32 shfl.sync.bfly.b32 st.global.u32 */
PRIMITIVE(shuffle_xor) {
    *a.out = simt_shuffle_xor(SIMT_ALL_LANES, *a.data, 3);
}

/* ld.global.u32 shfl.sync.up.b32 st.global.u32 */
PRIMITIVE(add_lane_before) {
    *a.out = simt_add_lane_before(*a.data, 3);
}

/* ld.global.u32 vote.sync.ballot.b32 st.global.u32 */
PRIMITIVE(ballot) {
    *a.out = simt_ballot(SIMT_ALL_LANES, *a.data == 3);
}

/* ld.global.u32 vote.sync.ballot.b32 st.global.u32 */
PRIMITIVE(ballot_alike) {
    *a.out = simt_ballot_alike(*a.data);
}

/* ld.global.u32 vote.sync.any.pred st.global.u32 */
PRIMITIVE(any) {
    *a.out = simt_any(SIMT_ALL_LANES, *a.data == 3);
}

/* ld.global.u32 vote.sync.all.pred st.global.u32 */
PRIMITIVE(all) {
    *a.out = simt_all(SIMT_ALL_LANES, *a.data == 3);
}

/* ld.global.u32 match.any.sync.b32 st.global.u32 ld.global.u64 match.any.sync.b64 st.global.u32 */
PRIMITIVE(match_any) {
    *a.out = simt_match_any(SIMT_ALL_LANES, *a.data);
    *a.out = simt_match_any(SIMT_ALL_LANES, *a.word64);
}

/* ld.global.u32 redux.sync.add.u32 redux.sync.min.u32 redux.sync.max.u32 redux.sync.or.b32
 * st.global.u32
 * portable: ld.global.u32 shfl.sync.bfly.b32*20 st.global.u32 */
PRIMITIVE(reductions) {
    const uint32_t all = SIMT_ALL_LANES;
    uint32_t value = simt_reduce_max(all, simt_reduce_min(all, simt_reduce_add(all, *a.data) + 1) + 2) + 3;
    *a.out = simt_reduce_or(all, value);
}

/* ---- Arithmetic that rounds: to nearest even, denormals kept, nothing fused ---- */

/* ld.global.f32 ld.global.f32 mul.rn.f32 add.rn.f32 div.rn.f32 st.global.f32 */
PRIMITIVE(float_arithmetic) {
    const float *numbers = (const float *)a.data;
    float x = numbers[0], y = numbers[1];
    *(float *)a.out = simt_float_divide(simt_float_add(simt_float_multiply(x, y), y), x);
}

/* ld.global.f64 ld.global.f64 mul.rn.f64 add.rn.f64 st.global.f64 */
PRIMITIVE(double_arithmetic) {
    const double *numbers = (const double *)a.word64;
    double x = numbers[0], y = numbers[1];
    *(double *)a.out64 = simt_float_add(simt_float_multiply(x, y), y);
}

/* ld.global.f32 ex2.approx.ftz.f32 rcp.approx.ftz.f32 st.global.f32 */
PRIMITIVE(float_near) {
    *(float *)a.out = simt_float_reciprocal_near(simt_float_exp2_near(*(const float *)a.data));
}

/* ld.global.u16 cvt.f32.f16 st.global.f32 */
PRIMITIVE(float_of_half) {
    *(float *)a.out = simt_float_of_half(*(const uint16_t *)a.data);
}

/* ld.global.f32 ld.global.f32 max.NaN.f32 st.global.f32
 * portable: ld.global.f32 ld.global.f32 add.f32 st.global.f32 */
PRIMITIVE(float_max_or_nan) {
    const float *numbers = (const float *)a.data;
    *(float *)a.out = simt_float_max_or_nan(numbers[0], numbers[1]);
}

/* ---- Other launches ---- */

/* st.global.u32 fence.acq_rel.sys st.global.u32 */
PRIMITIVE(fence_system) {
    *a.data = 1;
    simt_fence_system();
    *a.data = 2;
}

/* st.global.u32 ld.acquire.sys.b32 st.global.u32 st.global.u32 */
PRIMITIVE(load_acquire_system) {
    *a.data = 1;
    uint32_t value = simt_load_acquire_system(a.word);
    *a.data = 2;
    *a.out = value;
}

/* st.global.u32 ld.acquire.sys.b64 st.global.u32 st.global.u64 */
PRIMITIVE(load_acquire_system64) {
    *a.data = 1;
    uint64_t value = simt_load_acquire_system(a.word64);
    *a.data = 2;
    *a.out64 = value;
}

/* st.global.u32 st.release.sys.b64 st.global.u32 */
PRIMITIVE(store_release_system64) {
    *a.data = 1;
    simt_store_release_system(a.word64, 3u);
    *a.data = 2;
}

/* st.global.u32 ld.relaxed.sys.v2.b64 st.global.u32 st.global.u64 */
PRIMITIVE(load_pair_system) {
    *a.data = 1;
    simt_pair pair = simt_load_pair_system(a.word64);
    *a.data = 2;
    *a.out64 = pair.first ^ pair.second;
}

/* st.global.u32 st.relaxed.sys.v2.b64 st.global.u32 */
PRIMITIVE(store_pair_system) {
    *a.data = 1;
    simt_store_pair_system(a.word64, simt_pair{3, 4});
    *a.data = 2;
}

/* st.global.u32 st.global.u32 st.global.u64 */
PRIMITIVE(nanoseconds) {
    *a.data = 1;
    uint64_t time = simt_nanoseconds();
    *a.data = 2;
    *a.out64 = time;
}
