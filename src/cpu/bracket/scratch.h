/* SPDX-License-Identifier: Apache-2.0
 * Where the bracket method works on one row: one layout, for measuring and for use. */
#ifndef TOPK_SRC_CPU_SCRATCH_H
#define TOPK_SRC_CPU_SCRATCH_H

#include "../kernels/kernels.h"
#include "../output.h"
#include "../short_row.h"

/* One tile of a row: which entries of the pool came from it, and how many of its elements equal the
 * lower threshold. */
struct tile {
    uint64_t begin;
    uint32_t above;
    uint32_t equal;
};

struct scratch {
    int threads; /* that share the row */
    /* Candidates of the row: `capacity` elements and their positions, in whole words. Entries of one tile
     * lie together in position order; tiles lie in the order in which they were finished. */
    size_t capacity;
    void *pool_values;
    void *pool_positions;
    size_t position_bytes; /* 4, or 8 in wide rows */
    struct tile *tiles;
    uint64_t *masks;             /* two for a tile, for each thread */
    uint64_t *matches;           /* one for TILE elements, for each thread, where there is a predicate */
    struct split_counts *totals; /* one for each thread */
    void *sample_keys;           /* counting_kth has its keys there, too */
    uint64_t *bins;              /* HISTOGRAM_BINS for each thread */
    uint32_t
        *slots[2]; /* the winners, as slots of the pool or of the row; of listed rows fewer than LISTED_MIN */
    /* What sorts LISTED_MIN results or more, best first; else NULL. The second list lies where the pool does,
     * but in wide rows. */
    struct list lists[2];
    int sort_threads;
    size_t in_cache;        /* entries that a thread sorts in its scratch */
    uint64_t *sort_scratch; /* sort_pitch for each of these threads: in_cache, or BUCKET_LINES if more */
    size_t sort_pitch;
    uint32_t *slot_lines;       /* 2 * BUCKET_LINES for each of them, for keys of 64 bits; else NULL */
    uint32_t *prefix_counts;    /* PREFIXES for each of them */
    uint32_t *bucket_offsets;   /* twice BUCKETS_MAX for each of them */
    uint16_t *prefix_buckets;   /* PREFIXES, for all of them */
    uint32_t *bucket_begins;    /* BUCKETS_MAX, and one more */
    struct short_row short_row; /* also what sorts fewer results */
};

/* How many elements of a row are wanted at most. */
size_t topk_cpu_bracket_slots(const struct plan *plan, int64_t length_cap);

/* Of the buffers, in elements where nothing else is said: what struct scratch says of them is not repeated.
 */
struct scratch_sizes {
    int threads;
    size_t element_bytes, position_bytes;
    size_t capacity, pool_values, pool_positions, tiles, sample_keys, slots[2], lists;
    size_t matches; /* for each thread */
    int sort_threads;
    size_t in_cache;
    struct short_row_sizes short_row;
};

/* For rows of up to length_cap elements, shared by `threads`. Without `pooled` there is no pool but for the
 * positions of wide rows, and rows are counted instead. */
struct scratch_sizes topk_cpu_scratch_sizes(const struct plan *plan, int threads, int64_t length_cap,
                                            bool pooled);

struct scratch topk_cpu_scratch_take(struct arena *arena, const struct scratch_sizes *sizes);

static inline uint64_t *scratch_mask(const struct scratch *scratch, int part, int which) {
    return scratch->masks + ((size_t)part * 2 + (size_t)which) * (TILE_MAX / WORD);
}

static inline uint64_t *scratch_matches(const struct scratch *scratch, int part) {
    return scratch->matches + (size_t)part * (TILE / WORD);
}

#endif
