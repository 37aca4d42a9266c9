/* SPDX-License-Identifier: Apache-2.0
 * Decoupled look-back (Merrill and Garland 2016): the sum of all tiles before a tile, in one pass over the
 * tiles.
 *
 * Each tile has a word of global memory, zero before the launch. Its two upper bits say what the others hold:
 *
 *   0             nothing yet
 *   TILE_SUM      the tile's own sum
 *   TILE_PREFIX   the sum of this tile and all before it
 *
 * Both travel in one word, so that no fence is needed. A tile reads the words before its own, nearest first,
 * until one shows a prefix, and waits for each that shows nothing. Blocks must therefore draw their tiles in
 * ascending order, by tickets: then a tile that another waits for has a block that runs. */
#ifndef TOPK_SRC_CUDA_LOOKBACK_CUH
#define TOPK_SRC_CUDA_LOOKBACK_CUH

#include "lookback.h"
#include "simt.cuh"

static const uint64_t TILE_SUM = (uint64_t)1 << 62, TILE_PREFIX = (uint64_t)2 << 62,
                      TILE_VALUE = TILE_SUM - 1;

/* ---- One sum, by one warp ----
 *
 * Each block of the device works on a tile, so that the nearest prefix lies as many tiles back as there are
 * blocks. To get there at once, each bundle of 32 tiles has words of its own: the sum of its tiles, below
 * 2^57, with the number of tiles that have added theirs; and the prefix, which its last tile writes. */

/* In the upper bits of a bundle's sum. */
static const uint32_t BUNDLE_COUNT_SHIFT = 57;
static const uint64_t BUNDLE_VALUE = ((uint64_t)1 << BUNDLE_COUNT_SHIFT) - 1;

/* All zero before the launch. */
struct sum_words {
    uint64_t *tiles, *bundle_sums, *bundle_prefixes;
};

/* `words` has look_back_words(tiles) words. */
TOPK_DEVICE struct sum_words sum_words_of(uint64_t *words, int64_t tiles) {
    const int64_t bundles = tiles / LOOK_BACK_BUNDLE + 1;
    return sum_words{words, words + tiles, words + tiles + bundles};
}

/* Publishes the sum of a tile. One thread. */
TOPK_DEVICE void publish_sum(const struct sum_words &words, int64_t tile, uint64_t sum) {
    simt_store_relaxed(&words.tiles[tile], TILE_SUM | sum);
    simt_atomic_add(&words.bundle_sums[tile / LOOK_BACK_BUNDLE], (uint64_t)1 << BUNDLE_COUNT_SHIFT | sum);
}

/* What a lane has seen: the word of a tile of the same bundle; and the words of a bundle before it, lane 0
 * the nearest bundle's. */
struct seen_words {
    uint64_t tile, bundle_sum, bundle_prefix;
};

/* Reads the words of the 32 bundles before bundle `end`. */
TOPK_DEVICE void look_at_bundles(const struct sum_words &words, int64_t end, struct seen_words *seen) {
    int64_t bundle = end - 1 - (int64_t)simt_lane();
    seen->bundle_sum = bundle < 0 ? 0 : simt_load_relaxed(&words.bundle_sums[bundle]);
    seen->bundle_prefix = bundle < 0 ? TILE_PREFIX : simt_load_relaxed(&words.bundle_prefixes[bundle]);
}

TOPK_DEVICE uint64_t look_at_tile(const struct sum_words &words, int64_t tile) {
    int64_t at = tile / LOOK_BACK_BUNDLE * LOOK_BACK_BUNDLE + simt_lane();
    return at < tile ? simt_load_relaxed(&words.tiles[at]) : TILE_SUM;
}

/* Reads the words that look_back() will most likely want. All lanes. */
TOPK_DEVICE struct seen_words look_ahead(const struct sum_words &words, int64_t tile) {
    struct seen_words seen;
    seen.tile = look_at_tile(words, tile);
    look_at_bundles(words, tile / LOOK_BACK_BUNDLE, &seen);
    return seen;
}

/* The sum of all tiles before `tile`, whose own sum has been published. All lanes, with the same
 * arguments but for `seen`. */
TOPK_DEVICE uint64_t look_back(const struct sum_words &words, int64_t tile, uint64_t sum,
                               struct seen_words seen) {
    while (simt_any(SIMT_ALL_LANES, seen.tile == 0))
        seen.tile = look_at_tile(words, tile);
    uint64_t before = seen.tile & TILE_VALUE; /* this lane's share */
    bool found = false;
    for (int64_t end = tile / LOOK_BACK_BUNDLE; !found;) {
        uint32_t prefixes = simt_ballot(SIMT_ALL_LANES, seen.bundle_prefix != 0),
                 nearer = (prefixes & (0 - prefixes)) - 1;
        bool full = seen.bundle_sum >> BUNDLE_COUNT_SHIFT == LOOK_BACK_BUNDLE;
        if ((simt_ballot(SIMT_ALL_LANES, full) & nearer) == nearer) {
            uint32_t mine = 1u << simt_lane();
            if ((nearer & mine) != 0) {
                TOPK_REACHED(REACHED_LOOK_BACK_BUNDLES);
                before += seen.bundle_sum & BUNDLE_VALUE;
            } else if (mine == nearer + 1) {
                before += seen.bundle_prefix & TILE_VALUE;
            }
            found = prefixes != 0;
            end -= SIMT_WARP;
        }
        if (!found)
            look_at_bundles(words, end, &seen);
    }
    before = simt_reduce_add(SIMT_ALL_LANES, before);
    if (simt_lane() == 0 && tile % LOOK_BACK_BUNDLE == LOOK_BACK_BUNDLE - 1)
        simt_store_relaxed(&words.bundle_prefixes[tile / LOOK_BACK_BUNDLE], TILE_PREFIX | (before + sum));
    return before;
}

/* ---- Many sums at once, one for each thread ---- */

/* Words of 32 bits have sums below 2^30. */
template <typename Word> struct tile_word {
    static const Word SUM = (Word)1 << (8 * sizeof(Word) - 2), PREFIX = 2 * SUM, VALUE = SUM - 1;
};

/* Waits for the word of a tile. */
template <typename Word> TOPK_DEVICE Word await_tile(const Word *word) {
    Word seen;
    do
        seen = simt_load_relaxed(word);
    while (seen == 0);
    return seen;
}

/* Publishes the sum of a tile. The words of one sum lie `stride` apart. A number that comes before all tiles
 * is added to the sum of tile 0. */
template <typename Word>
TOPK_DEVICE void publish_tile(Word *words, int64_t stride, int64_t tile, uint64_t sum) {
    typedef tile_word<Word> word;
    simt_store_relaxed(&words[tile * stride], (Word)((tile == 0 ? word::PREFIX : word::SUM) | (Word)sum));
}

/* The sum of all tiles before `tile`, whose own sum has been published. Tile 0 has none to look for. A read
 * takes so long that several are under way at once. */
template <typename Word>
TOPK_DEVICE uint64_t collect_tiles(Word *words, int64_t stride, int64_t tile, uint64_t sum) {
    typedef tile_word<Word> word;
    Word before = 0;
    bool found = tile == 0;
    for (int64_t at = tile - 1; !found; at -= LOOK_BACK_TILES) {
        Word seen[LOOK_BACK_TILES];
#pragma unroll
        for (uint32_t j = 0; j < LOOK_BACK_TILES; j++)
            seen[j] = at < j ? (Word)word::PREFIX : simt_load_relaxed(&words[(at - j) * stride]);
        if (at < tile - 1)
            TOPK_REACHED(REACHED_TILES_BACK);
#pragma unroll
        for (uint32_t j = 0; j < LOOK_BACK_TILES; j++) {
            if (found)
                continue;
            if (seen[j] == 0)
                seen[j] = await_tile(&words[(at - j) * stride]);
            before += seen[j] & word::VALUE;
            found = seen[j] >= word::PREFIX;
        }
    }
    if (tile != 0)
        simt_store_relaxed(&words[tile * stride], (Word)(word::PREFIX | (before + (Word)sum)));
    return before;
}

#endif
