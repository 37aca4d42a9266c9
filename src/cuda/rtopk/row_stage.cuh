/* SPDX-License-Identifier: Apache-2.0
 * A warp's rows in shared memory, where many elements of 64 bits are results: a lead does not tell them, and
 * to read them once more takes as long as all else. */
#ifndef TOPK_SRC_CUDA_RTOPK_ROW_STAGE_CUH
#define TOPK_SRC_CUDA_RTOPK_ROW_STAGE_CUH

#include "parts.cuh"

/* Whether a kernel keeps rows there. */
template <typename Element, uint32_t ITEMS, uint32_t KEPT> struct stages_rows {
    static const bool value = KEPT == 0 && sizeof(Element) == 8 && ITEMS <= RTOPK_STAGED_ITEMS;
};

/* Groups of 16 bytes that have room for all items of `lanes` lanes. */
template <typename Element, uint32_t ITEMS> TOPK_HOST_DEVICE uint32_t staged_groups(uint32_t lanes) {
    return lanes * ITEMS * (uint32_t)sizeof(Element) / 16;
}

/* A row, as it is loaded. */
struct row_stage {
    simt_shared<simt_u32x4> groups;
    uint32_t first_group;

    template <typename Element> TOPK_MEMBER void put_group(uint32_t position, const held_group &group) const {
        const uint32_t *words = group.words;
        groups[first_group + position * (uint32_t)sizeof(Element) / 16] =
            simt_u32x4{words[0], words[1], words[2], words[3]};
    }
    template <typename Element> TOPK_MEMBER void put(uint32_t position, Element element) const {
        simt_shared_as<Element>(groups)[first_group * (16 / (uint32_t)sizeof(Element)) + position] = element;
    }
};

/* The same, once it is there. */
template <typename Element> struct row_in_stage {
    simt_shared<Element> elements;
    uint32_t first;

    TOPK_MEMBER Element element(uint32_t position) const {
        return elements[first + position];
    }
    TOPK_MEMBER row_in_stage in_register(void) const {
        return *this;
    }
};

/* A warp's rows. */
template <typename Element> struct rows_in_stage {
    simt_shared<Element> elements;
    uint32_t first, stride;

    TOPK_MEMBER row_in_stage<Element> row(uint32_t index) const {
        return row_in_stage<Element>{elements, first + index * stride};
    }
};

/* What a warp has: room for as many rows as share it, and a list of positions. */
template <typename Element, uint32_t ITEMS> struct staged_rows {
    simt_shared<simt_u32x4> groups; /* the block's, so that all threads have their address in common */
    uint32_t first_group;
    simt_shared<uint16_t> positions;

    TOPK_MEMBER row_stage row(uint32_t index, const lane_part &part) const {
        return row_stage{groups, first_group + index * staged_groups<Element, ITEMS>(part.lanes())};
    }
    TOPK_MEMBER rows_in_stage<Element> rows(const lane_part &part) const {
        return rows_in_stage<Element>{simt_shared_as<Element>(groups),
                                      first_group * (16 / (uint32_t)sizeof(Element)), ITEMS << part.shift};
    }
};

/* The stage of a warp of the block. */
template <typename Element, uint32_t ITEMS>
TOPK_HOST_DEVICE staged_rows<Element, ITEMS> carve_row_stage(simt_arena &arena, const struct rtopk_args &a,
                                                             uint32_t warp) {
    const uint32_t groups = staged_groups<Element, ITEMS>(SIMT_WARP), warps = RTOPK_THREADS / SIMT_WARP;
    staged_rows<Element, ITEMS> stage;
    stage.groups = simt_carve<simt_u32x4>(arena, warps * groups);
    stage.first_group = warp * groups;
    stage.positions = simt_shared_part(simt_carve<uint16_t>(arena, warps * a.slots), warp * a.slots, a.slots);
    return stage;
}

#endif
