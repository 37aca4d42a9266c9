/* SPDX-License-Identifier: Apache-2.0 */
#include "build.h"

static void put_extent(const instance *i, void *array, int64_t at, int64_t value) {
    if (i->problem.extent_type == TOPK_INDEX_I32) {
        ((int32_t *)array)[at] = value < INT32_MIN   ? INT32_MIN
                                 : value > INT32_MAX ? INT32_MAX
                                                     : (int32_t)value;
    } else {
        ((int64_t *)array)[at] = value;
    }
}

static void *extents_buffer(instance *out, enum instance_buffer buffer, int64_t count) {
    bool narrow = out->problem.extent_type == TOPK_INDEX_I32;
    out->buffers[buffer] = build_buffer(out->source, count, narrow ? sizeof(int32_t) : sizeof(int64_t));
    return out->buffers[buffer].data;
}

static int64_t hostile_length(const instance *i, random_state *random) {
    int64_t n = i->problem.length_max, k = i->problem.k_max;
    int64_t choices[] = {n, 0, -7, k - 1, k, k + 1, n - 1, n + 9, n / 2, INT64_MIN, INT64_MAX};
    return choices[random_below(random, sizeof choices / sizeof choices[0])];
}

static int64_t hostile_offset(const instance *i, random_state *random) {
    int64_t last = i->elements;
    int64_t choices[] = {0, -5, last, last - 1, last + 3, INT64_MIN, INT64_MAX};
    int64_t draw = random_below(random, 2 * sizeof choices / sizeof choices[0]);
    return draw < (int64_t)(sizeof choices / sizeof choices[0]) ? choices[draw]
                                                                : random_below(random, last + 1);
}

static void build_lengths(instance *out, random_state *random) {
    int64_t rows = out->problem.rows;
    if (out->source->value[DIM_LENGTHS] == LENGTHS_FULL) {
        return;
    }
    void *lengths = extents_buffer(out, BUFFER_EXTENTS, rows);
    for (int64_t r = 0; r < rows; r++) {
        put_extent(out, lengths, r,
                   out->source->value[DIM_LENGTHS] == LENGTHS_HOSTILE
                       ? hostile_length(out, random)
                       : random_below(random, out->problem.length_max + 1));
    }
    out->input.lengths = lengths;
}

/* Ragged spans lie anywhere and overlap; hostile ones are out of range, reversed or both; loose ones may be
 * longer than n. */
static void build_spans(instance *out, random_state *random) {
    int64_t n = out->problem.length_max, rows = out->problem.rows;
    void *begins = extents_buffer(out, BUFFER_EXTENTS, rows), *ends = extents_buffer(out, BUFFER_ENDS, rows);
    for (int64_t r = 0; r < rows; r++) {
        int64_t begin = r * n, end = begin + n;
        if (out->source->value[DIM_LENGTHS] == LENGTHS_RAGGED) {
            begin = random_below(random, out->elements + 1);
            end = begin + random_below(random, out->elements - begin + 1);
        } else if (out->source->value[DIM_LENGTHS] == LENGTHS_LOOSE) {
            begin = random_below(random, out->elements + 1);
            end = begin + random_below(random, 2 * n + 1);
        } else if (out->source->value[DIM_LENGTHS] == LENGTHS_HOSTILE) {
            begin = hostile_offset(out, random);
            end = hostile_offset(out, random);
        }
        put_extent(out, begins, r, begin);
        put_extent(out, ends, r, end);
    }
    out->input.begins = begins;
    out->input.ends = ends;
}

static void build_offsets(instance *out, random_state *random) {
    int64_t n = out->problem.length_max, rows = out->problem.rows, offset = 0;
    void *offsets = extents_buffer(out, BUFFER_EXTENTS, rows + 1);
    for (int64_t r = 0; r <= rows; r++) {
        bool hostile = out->source->value[DIM_LENGTHS] == LENGTHS_HOSTILE;
        put_extent(out, offsets, r, hostile ? hostile_offset(out, random) : offset);
        offset += out->source->value[DIM_LENGTHS] == LENGTHS_FULL ? n : random_below(random, n + 1);
    }
    out->input.offsets = offsets;
}

void build_extents(instance *out, random_state *random) {
    switch (out->problem.shape) {
    case TOPK_SHAPE_STRIDED:
        build_lengths(out, random);
        break;
    case TOPK_SHAPE_SPANS:
        build_spans(out, random);
        break;
    default:
        build_offsets(out, random);
    }
}

void build_row_k(instance *out, random_state *random) {
    int64_t k_max = out->problem.k_max, rows = out->problem.rows;
    int64_t choices[] = {k_max, 0, 1, -1, k_max - 1, k_max / 2, k_max + 5, INT64_MIN, INT64_MAX};
    if (out->source->value[DIM_ROW_K] == ROW_K_NONE) {
        return;
    }
    void *k = extents_buffer(out, BUFFER_K, rows);
    for (int64_t r = 0; r < rows; r++) {
        put_extent(out, k, r, choices[random_below(random, sizeof choices / sizeof choices[0])]);
    }
    out->input.k = k;
}

/* Of the row's ranking, near the rank before, or none at all. */
static int64_t draw_rank(const instance *i, int64_t before, random_state *random) {
    const int64_t n = i->source->value[DIM_SIZE];
    const int64_t hostile[] = {0, -1, n + 1, INT64_MIN, INT64_MAX};
    switch (random_below(random, 8)) {
    case 0:
        return hostile[random_below(random, sizeof hostile / sizeof hostile[0])];
    case 1:
        return before;
    case 2:
        return before < INT64_MAX ? before + 1 : before;
    case 3:
        return 1 + random_below(random, 16);
    case 4:
        return n - random_below(random, 16);
    default:
        return 1 + random_below(random, n + 1);
    }
}

/* Random numbers of their own, so that all else of a case is as without ranks. */
void build_ranks(instance *out, int64_t budget) {
    const case_ranks level = case_ranks_of(out->source);
    const int64_t n = out->source->value[DIM_SIZE], rows = out->problem.rows;
    const int64_t most = 4 * budget / (out->elements + 1), wanted = level.ranks < most ? level.ranks : most;
    random_state random = {out->source->seed ^ UINT64_C(0x5851f42d4c957f2d)};
    topk_problem *p = &out->ranks;
    *p = out->problem;
    p->ranks = wanted > 0 ? wanted : 1;
    p->k_stride = level.gap < 0 ? 0 : p->ranks + level.gap;
    if (random_below(&random, 4) > 0) {
        p->k_max = n + 1;
    }
    const int64_t entries = rows > 0 ? (rows - 1) * p->k_stride + p->ranks : 0;
    void *k = extents_buffer(out, BUFFER_RANKS, entries);
    int64_t rank = 1;
    for (int64_t at = 0; at < entries; at++) {
        rank = draw_rank(out, rank, &random);
        put_extent(out, k, at, rank);
    }
    out->ranks_k = k;
}
