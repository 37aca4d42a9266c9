/* SPDX-License-Identifier: Apache-2.0
 * How a block reads: tile after tile, in 16-byte loads.
 *
 * A row need not start or end on a multiple of 16 bytes. Its body is what whole 16-byte groups cover; the
 * head before it and the tail behind it, less than a group each, are tiles of single elements. In its body a
 * tile has GROUPS groups for each thread, and all that the threads of one warp have is contiguous: in the
 * order of warp, group, lane and element a tile is in the order of positions.
 *
 * Every kind of tile offers GROUPS, PER (elements of a group), valid(group), bits(group, element) and
 * position(group, element). */
#ifndef TOPK_SRC_CUDA_TILES_CUH
#define TOPK_SRC_CUDA_TILES_CUH

#include "block.cuh"
#include "rows.cuh"

/* So few that the hits of a tile of 1024 threads can be counted in 16 bits. */
template <typename Element> struct tile_shape {
    static const uint32_t PER = 16 / sizeof(Element);
    static const uint32_t GROUPS = sizeof(Element) == 1 ? 2 : 4;
};

/* How a row divides. */
struct row_parts {
    uint32_t head, tail; /* elements */
    int64_t groups;      /* of the body */
};

template <typename Element> TOPK_DEVICE struct row_parts parts_of(const Element *values, int64_t length) {
    const uint32_t per = tile_shape<Element>::PER;
    uint32_t misaligned = (uint32_t)((uintptr_t)values % 16 / sizeof(Element));
    struct row_parts parts;
    parts.head = misaligned == 0 ? 0 : per - misaligned;
    parts.head = parts.head < length ? parts.head : (uint32_t)length;
    parts.groups = (length - parts.head) / per;
    parts.tail = (uint32_t)(length - parts.head - parts.groups * per);
    return parts;
}

/* Tiles of the body for blocks of this size. */
template <typename Element> TOPK_DEVICE int64_t tiles_of(const struct row_parts &parts) {
    int64_t groups = (int64_t)simt_threads() * tile_shape<Element>::GROUPS;
    return (parts.groups + groups - 1) / groups;
}

template <typename Element> struct body_tile {
    static const uint32_t PER = tile_shape<Element>::PER, GROUPS = tile_shape<Element>::GROUPS;
    simt_u32x4 raw[GROUPS];
    uint32_t count;    /* groups that this thread has: the first ones */
    int64_t position0; /* of its first element */

    TOPK_MEMBER bool valid(uint32_t group) const {
        return group < count;
    }
    TOPK_MEMBER key_word_t<Element> bits(uint32_t group, uint32_t element) const {
        uint32_t byte = element * (uint32_t)sizeof(Element);
        uint32_t word = byte / 4 == 0   ? raw[group].x
                        : byte / 4 == 1 ? raw[group].y
                        : byte / 4 == 2 ? raw[group].z
                                        : raw[group].w;
        if (sizeof(Element) == 8)
            return (key_word_t<Element>)(byte == 0 ? raw[group].x | (uint64_t)raw[group].y << 32
                                                   : raw[group].z | (uint64_t)raw[group].w << 32);
        return (Element)(word >> byte % 4 * 8);
    }
    TOPK_MEMBER int64_t position(uint32_t group, uint32_t element) const {
        return position0 + (int64_t)(group * SIMT_WARP * PER + element);
    }
};

/* The first group of a tile that is the warp's, and how many it has of a row. */
template <typename Element> TOPK_DEVICE int64_t first_group(int64_t tile) {
    return (tile * simt_warps() + simt_warp()) * (SIMT_WARP * tile_shape<Element>::GROUPS);
}

template <typename Element>
TOPK_DEVICE uint32_t groups_of_warp(const struct row_parts &parts, int64_t first) {
    const uint32_t most = SIMT_WARP * tile_shape<Element>::GROUPS;
    const int64_t left = parts.groups - first;
    return left >= most ? most : left > 0 ? (uint32_t)left : 0;
}

/* Loads tile `tile` of the body of the row at `values`. */
template <typename Element>
TOPK_DEVICE body_tile<Element> load_body(const Element *values, const struct row_parts &parts, int64_t tile) {
    typedef tile_shape<Element> shape;
    body_tile<Element> t;
    const int64_t group0 = first_group<Element>(tile);
    const uint32_t here = groups_of_warp<Element>(parts, group0);
    const Element *from = values + parts.head + (group0 + simt_lane()) * shape::PER;
    t.position0 = parts.head + (group0 + simt_lane()) * shape::PER;
    t.count = (here + SIMT_WARP - 1 - simt_lane()) / SIMT_WARP;
#pragma unroll
    for (uint32_t g = 0; g < shape::GROUPS; g++)
        t.raw[g] =
            g < t.count ? simt_load16_read_only(from + g * SIMT_WARP * shape::PER) : simt_u32x4{0, 0, 0, 0};
    return t;
}

/* `count` elements from `first` on, one for each thread. */
template <typename Element> struct edge_tile {
    static const uint32_t PER = 1, GROUPS = 1;
    key_word_t<Element> element;
    bool inside;
    int64_t at;

    TOPK_MEMBER bool valid(uint32_t) const {
        return inside;
    }
    TOPK_MEMBER key_word_t<Element> bits(uint32_t, uint32_t) const {
        return element;
    }
    TOPK_MEMBER int64_t position(uint32_t, uint32_t) const {
        return at;
    }
};

template <typename Element>
TOPK_DEVICE edge_tile<Element> load_edge(const Element *values, int64_t first, uint32_t count) {
    edge_tile<Element> t;
    t.inside = simt_thread() < count;
    t.at = first + simt_thread();
    t.element = t.inside ? simt_load_read_only(values + t.at) : (Element)0;
    return t;
}

template <typename Element>
TOPK_DEVICE edge_tile<Element> load_head(const Element *values, const struct row_parts &parts) {
    return load_edge(values, 0, parts.head);
}

template <typename Element>
TOPK_DEVICE edge_tile<Element> load_tail(const Element *values, const struct row_parts &parts) {
    return load_edge(values, parts.head + parts.groups * (int64_t)tile_shape<Element>::PER, parts.tail);
}

/* ---- Hits ---- */

/* The bits of a tile's element, `item` = group * PER + element. Without a load, which would be one of local
 * memory. */
template <typename Element, typename Tile>
TOPK_DEVICE key_word_t<Element> bits_of_item(const Tile &tile, uint32_t item) {
    key_word_t<Element> bits = 0;
#pragma unroll
    for (uint32_t i = 0; i < Tile::GROUPS * Tile::PER; i++)
        bits = i == item ? tile.bits(i / Tile::PER, i % Tile::PER) : bits;
    return bits;
}

/* Hits of two kinds are counted together, each in 16 bits. */
TOPK_DEVICE uint32_t hit_counts(bool low, bool high) {
    return (uint32_t)low | (uint32_t)high << 16;
}

TOPK_DEVICE uint32_t low_hits(uint32_t counts) {
    return counts & 0xffff;
}

TOPK_DEVICE uint32_t high_hits(uint32_t counts) {
    return counts >> 16;
}

/* counts[g], the hits in this thread's group g, becomes the hits before it in the tile, in the order of
 * positions; returns the hits of the tile. All threads, and as scan_of_warps(). */
template <uint32_t GROUPS>
TOPK_DEVICE uint32_t rank_hits(simt_shared<uint32_t> scratch, uint32_t (&counts)[GROUPS]) {
    uint32_t of_warp = 0, total;
#pragma unroll
    for (uint32_t g = 0; g < GROUPS; g++) {
        uint32_t of_group;
        counts[g] = of_warp + warp_scan(counts[g], &of_group);
        of_warp += of_group;
    }
    uint32_t before = scan_of_warps(scratch, of_warp, &total);
#pragma unroll
    for (uint32_t g = 0; g < GROUPS; g++)
        counts[g] += before;
    return total;
}

#endif
