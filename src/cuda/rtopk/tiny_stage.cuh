/* SPDX-License-Identifier: Apache-2.0
 * Tiny rows of a warp in shared memory. Rows come from memory as one stretch, and so do results go there:
 * each load and each store of the warp moves neighbouring groups of 16 bytes. */
#ifndef TOPK_SRC_CUDA_RTOPK_TINY_STAGE_CUH
#define TOPK_SRC_CUDA_RTOPK_TINY_STAGE_CUH

#include "uniform.cuh"

/* Results take the slots of rows that are done. */
template <typename Element> struct tiny_stage {
    static const uint32_t PER = 16 / sizeof(Element);
    simt_shared<simt_u32x4> groups; /* of elements: rows, one behind the other; then results */
    simt_shared<uint64_t> fours;    /* of results' positions, in 16 bits each */

    TOPK_MEMBER simt_shared<Element> elements(void) const {
        return simt_shared_as<Element>(groups);
    }
    TOPK_MEMBER simt_shared<uint16_t> positions(void) const {
        return simt_shared_as<uint16_t>(fours);
    }
};

/* The stage of warp `warp` among `warps`. */
template <typename Element>
TOPK_HOST_DEVICE tiny_stage<Element> carve_stage(simt_arena &arena, const struct rtopk_args &a,
                                                 uint32_t warps) {
    const uint32_t rows = SIMT_WARP << a.uniform.row_shift;
    tiny_stage<Element> stage;
    stage.groups =
        simt_carve<simt_u32x4>(arena, warps * (rows * a.uniform.length / tiny_stage<Element>::PER));
    stage.fours = simt_carve<uint64_t>(arena, warps * (a.slots / 4));
    return stage;
}

template <typename Element> TOPK_DEVICE tiny_stage<Element> stage_of_warp(const struct rtopk_args &a) {
    simt_arena arena = simt_shared_arena();
    const tiny_stage<Element> all = carve_stage<Element>(arena, a, simt_warps());
    const uint32_t rows = SIMT_WARP << a.uniform.row_shift, fours = a.slots / 4;
    const uint32_t groups = rows * a.uniform.length / tiny_stage<Element>::PER;
    return tiny_stage<Element>{simt_shared_part(all.groups, simt_warp() * groups, groups),
                               simt_shared_part(all.fours, simt_warp() * fours, fours)};
}

/* Copies groups of 16 bytes; four loads of a lane are on their way at once. All lanes. */
template <typename Element>
TOPK_DEVICE void stage_groups(const Element *from, uint32_t count, const tiny_stage<Element> &stage) {
    const uint32_t AT_ONCE = 4;
    simt_u32x4 groups[AT_ONCE];
#pragma unroll 1
    for (uint32_t first = simt_lane(); first < count; first += AT_ONCE * SIMT_WARP) {
#pragma unroll
        for (uint32_t i = 0; i < AT_ONCE; i++)
            if (first + i * SIMT_WARP < count)
                groups[i] = simt_load16_read_only(from + (first + i * SIMT_WARP) * tiny_stage<Element>::PER);
#pragma unroll
        for (uint32_t i = 0; i < AT_ONCE; i++)
            if (first + i * SIMT_WARP < count)
                stage.groups[first + i * SIMT_WARP] = groups[i];
    }
}

/* All lanes. */
template <typename Element>
TOPK_DEVICE void stage_rows(const struct rtopk_args &a, const served_rows &s,
                            const tiny_stage<Element> &stage) {
    const Element *values = simt_in_register(uniform_row<Element>(a, s.first));
    const simt_shared<Element> elements = stage.elements();
    const uint32_t n = a.uniform.length;
    if (a.rows.row_stride == n) {
        const uint32_t count = s.count * n;
        const uint32_t groups = (uintptr_t)values % 16 == 0 ? count / tiny_stage<Element>::PER : 0;
        stage_groups(values, groups, stage);
#pragma unroll 1
        for (uint32_t at = groups * tiny_stage<Element>::PER + simt_lane(); at < count; at += SIMT_WARP)
            elements[at] = simt_load_read_only(values + at);
        return;
    }
#pragma unroll 1
    for (uint32_t row = simt_lane(); row < s.count; row += SIMT_WARP)
#pragma unroll 1
        for (uint32_t i = 0; i < n; i++)
            elements[row * n + i] = simt_load_read_only(values + row * a.rows.row_stride + i);
}

/* Four positions from the lowest bits on. */
TOPK_DEVICE simt_u32x4 indices_of_four(uint64_t four, uint32_t base) {
    const uint32_t low = (uint32_t)four, high = (uint32_t)(four >> 32);
    return simt_u32x4{(low & 0xffff) + base, (low >> 16) + base, (high & 0xffff) + base, (high >> 16) + base};
}

/* Writes the results. All lanes. */
template <typename Element>
TOPK_DEVICE void write_stage(const struct rtopk_args &a, const served_rows &s,
                             const tiny_stage<Element> &stage) {
    const uint32_t PER = tiny_stage<Element>::PER, slots = s.count * a.uniform.k;
    const uint32_t base = (uint32_t)a.rows.index_base, groups = slots / PER, fours = slots / 4;
    Element *values = (Element *)a.rows.out_values + s.first * a.uniform.k;
    int32_t *indices = (int32_t *)a.rows.out_indices + s.first * a.uniform.k;
    if (!a.uniform.has_plain_outputs || a.uniform.has_padding ||
        ((uintptr_t)values | (uintptr_t)indices) % 16 != 0) {
        write_results<Element>(a, s, stage.positions(), rows_from<Element>(a, s));
        return;
    }
#pragma unroll 1
    for (uint32_t g = simt_lane(); g < groups; g += SIMT_WARP)
        simt_store16(values + g * PER, stage.groups[g]);
#pragma unroll 1
    for (uint32_t g = simt_lane(); g < fours; g += SIMT_WARP)
        simt_store16(indices + 4 * g, indices_of_four(stage.fours[g], base));
#pragma unroll 1
    for (uint32_t at = groups * PER + simt_lane(); at < slots; at += SIMT_WARP)
        values[at] = stage.elements()[at];
#pragma unroll 1
    for (uint32_t at = 4 * fours + simt_lane(); at < slots; at += SIMT_WARP)
        indices[at] = (int32_t)((uint16_t)stage.positions()[at] + base);
}

#endif
