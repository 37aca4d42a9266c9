/* SPDX-License-Identifier: Apache-2.0
 * Decoupled look-back (Merrill and Garland 2016): the sum of all tiles before a tile, in one pass over the
 * tiles.
 *
 * Each tile has a state word of global memory, zero before the launch. It holds, below two bits that say
 * which:
 *
 *   0             nothing yet
 *   TILE_SUM      the tile's own sum, below 2^62
 *   TILE_PREFIX   the sum of all tiles up to and with it
 *
 * The bits travel with the sum in one word, so that no fence is needed. A tile waits for those before it
 * until one shows a prefix: tiles must therefore be handed out in ascending order, by tickets that an atomic
 * counts, so that whoever is waited for is running. */
#ifndef TOPK_SRC_CUDA_LOOKBACK_CUH
#define TOPK_SRC_CUDA_LOOKBACK_CUH

#include "simt.cuh"

static const uint64_t TILE_SUM = (uint64_t)1 << 62, TILE_PREFIX = (uint64_t)2 << 62,
                      TILE_VALUE = TILE_SUM - 1;

/* The word of a tile, waited for. */
TOPK_DEVICE uint64_t await_tile(const uint64_t *word) {
    uint64_t seen;
    do
        seen = simt_load_relaxed(word);
    while (seen == 0);
    return seen;
}

/* ---- One sum, by one warp ---- */

/* Publishes the tile's sum and returns that of all tiles before it. All lanes, with the same arguments. Reads
 * 32 tiles at a time. */
TOPK_DEVICE uint64_t look_back(uint64_t *words, int64_t tile, uint64_t sum) {
    if (simt_lane() == 0)
        simt_store_relaxed(&words[tile], (tile == 0 ? TILE_PREFIX : TILE_SUM) | sum);
    uint64_t before = 0;
    bool found = tile == 0;
    for (int64_t end = tile; !found; end -= SIMT_WARP) {
        int64_t at = end - 1 - (int64_t)simt_lane();
        uint64_t seen = at < 0 ? TILE_PREFIX : await_tile(&words[at]);
        uint32_t prefixes = simt_ballot(SIMT_ALL_LANES, seen >= TILE_PREFIX);
        uint32_t nearer = (1u << simt_lane()) - 1;
        uint64_t part = (prefixes & nearer) == 0 ? seen & TILE_VALUE : 0;
        for (uint32_t lanes = SIMT_WARP / 2; lanes > 0; lanes /= 2)
            part += simt_shuffle_xor(SIMT_ALL_LANES, part, lanes);
        before += part;
        found = prefixes != 0;
    }
    if (simt_lane() == 0 && tile != 0)
        simt_store_relaxed(&words[tile], TILE_PREFIX | (before + sum));
    return before;
}

/* ---- Many sums at once, one for each thread ---- */

/* Words of one sum lie `stride` apart. Publishes the tile's own sum; what is added to that of tile 0 comes
 * before all. */
TOPK_DEVICE void publish_tile(uint64_t *words, int64_t stride, int64_t tile, uint64_t sum) {
    simt_store_relaxed(&words[tile * stride], (tile == 0 ? TILE_PREFIX : TILE_SUM) | sum);
}

/* The sum of all tiles before `tile`, whose own sum has been published. Tile 0 has none to look for. */
TOPK_DEVICE uint64_t collect_tiles(uint64_t *words, int64_t stride, int64_t tile, uint64_t sum) {
    uint64_t before = 0, seen = 0;
    for (int64_t at = tile - 1; at >= 0 && seen < TILE_PREFIX; at--) {
        seen = await_tile(&words[at * stride]);
        before += seen & TILE_VALUE;
    }
    if (tile != 0)
        simt_store_relaxed(&words[tile * stride], TILE_PREFIX | (before + sum));
    return before;
}

#endif
