/* SPDX-License-Identifier: Apache-2.0
 * Internal sizes of bracket. */
#ifndef TOPK_SRC_CUDA_BRACKET_SIZES_H
#define TOPK_SRC_CUDA_BRACKET_SIZES_H

#include <stdint.h>

#include "../select/sizes.h"
#include "../size.h"

enum {
    BRACKET_THREADS = SIZE(512, 64),
    /* Shared memory that a block of each shape makes do with (shapes.cuh). */
    BRACKET_LARGE_KIB = 214,
    BRACKET_HALF_KIB = 99,
    BRACKET_QUARTER_KIB = 64,
    /* Candidates that a block keeps in shared memory at a time; in small shapes their bytes. */
    BRACKET_PAGE = SIZE(6144, 160),
    BRACKET_HALF_PAGE_BYTES = SIZE(21504, 768),
    BRACKET_QUARTER_PAGE_BYTES = SIZE(18432, 512),
    /* Candidates that one block puts in order; and so few that it does so by counting. */
    BRACKET_SENT = SIZE(4096, 128),
    BRACKET_QUARTER_SENT = SIZE(2048, 64),
    BRACKET_RANKED = SIZE(384, 32),
    /* Results that one block puts in order, of so many candidates: as many as 3 of 4 of these. More of them
     * take longer there than in a cluster (ordering.h). */
    BRACKET_SORTED = BRACKET_SENT / 4 * 3,
    /* Candidates that are compared with each other where results go by position, at most. */
    BRACKET_COMPARED = SIZE(256, 8),
    /* The most elements that a thread samples; and the groups of a row that each thread samples, by the row's
     * length. */
    BRACKET_SAMPLES_OF_THREAD = 32,
    BRACKET_GROUPS_FEW = 2,
    BRACKET_GROUPS_MORE = 4,
    BRACKET_GROUPS_MANY = 8,
    /* Octaves beyond the best sample that bins of candidates reach. */
    BRACKET_OCTAVES_BEYOND = 5,
    /* Rounds in which a rank is found in a sample, each finer by a factor of a bin's width. */
    BRACKET_SAMPLE_ROUNDS = 4,
    /* All of a mask is read if it would be asked for more than one element in this number. */
    BRACKET_ASKED = 512,
    /* How often a row is read before it takes the way out. */
    BRACKET_READS = 2,
    /* How often a row is read to find its k-th element between a pair of thresholds. */
    BRACKET_PAIR_READS = 4,
    /* A larger sample has a piece of each stretch of the row's body, both in groups. On either side of the
     * k-th element its pair is this number of half standard deviations away. */
    BRACKET_PIECE = 8,
    BRACKET_STRETCH = SIZE(256, 32),
    BRACKET_HALF_DEVIATIONS = SIZE(7, 2),
    /* Elements between these that the lanes of a warp share at a time. */
    BRACKET_SHARED_HITS = SIZE(128, 16),
    /* Buffers of bins that the blocks of a row share in turns. */
    BRACKET_TURNS = 3,
    /* Of a grid in which each block has rows of its own, at most. */
    BRACKET_GRID_BLOCKS = SIZE(INT32_MAX, 2),
};

#define BRACKET_LONG_ROW SIZE((INT64_C(1) << 23), INT64_C(1000))
#define BRACKET_LONGEST_ROW SIZE((INT64_C(1) << 26), INT64_C(3000))
/* A position and a key of 32 bits make one word (entries.cuh). */
#define BRACKET_ROW_MAX SIZE((INT64_C(1) << 31), INT64_C(1) << 20)

#endif
