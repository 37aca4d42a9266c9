/* SPDX-License-Identifier: Apache-2.0
 * The winners lie in pieces: the entries of one tile in the pool, or the tiles of the row. Each part
 * of the team takes a run of pieces, counts first, and then writes behind the parts before it. */
#include "winners.h"

#include <string.h>

#include "../team.h"
#include "split.h"

struct collect {
    const struct bracket *b;
    const void *elements;
    const struct tile *tiles; /* NULL: pieces are the tiles of `elements` */
    size_t pieces;
    struct threshold_arcs threshold;
    bool to_pool; /* move elements and positions to the pool, whose first k slots they then are */
};

struct piece {
    size_t begin, count;
};

static struct piece piece_at(const struct collect *c, size_t i) {
    if (c->tiles != NULL) {
        return (struct piece){c->tiles[i].begin, c->tiles[i].above};
    }
    const size_t begin = i * TILE, rest = c->b->n - begin;
    return (struct piece){begin, rest < TILE ? rest : TILE};
}

static struct split_counts split_piece(const struct collect *c, int part, struct piece piece, uint64_t *above,
                                       uint64_t *equal) {
    if (c->tiles == NULL) {
        return topk_cpu_split_row(c->b, part, piece.begin, piece.count, &c->threshold, above, equal);
    }
    const char *elements = (const char *)c->elements + piece.begin * (c->b->kernels->bits / 8);
    return c->b->kernels->split(elements, piece.count, c->b->point_map, &c->threshold, above, equal);
}

static void count_share(void *argument, int part, int parts) {
    const struct collect *c = argument;
    const struct scratch *s = c->b->scratch;
    struct split_counts total = {0, 0};
    for (size_t i = share(c->pieces, part, parts); i < share(c->pieces, part + 1, parts); i++) {
        const struct split_counts counts =
            split_piece(c, part, piece_at(c, i), scratch_mask(s, part, 0), NULL);
        total.above += counts.above;
        total.equal += counts.equal;
    }
    s->totals[part] = total;
}

/* Moves one piece's `count` winners, given as a mask, to slots (and the pool) from `at` on. */
static void move_piece(const struct collect *c, struct piece piece, const uint64_t *mask, size_t at,
                       size_t count) {
    const struct scratch *s = c->b->scratch;
    const struct kernels *kernels = c->b->kernels;
    const size_t words = words_of(piece.count), bytes = kernels->bits / 8;
    if (!c->to_pool) {
        (void)kernels->positions32(mask, words, (uint32_t)piece.begin, s->slots[0] + at, count);
        return;
    }
    const char *elements = (const char *)c->elements + piece.begin * bytes;
    (void)kernels->take(elements, mask, words, (char *)s->pool_values + at * bytes, count);
    if (s->position_bytes == 4) {
        (void)kernels->positions32(mask, words, (uint32_t)piece.begin, (uint32_t *)s->pool_positions + at,
                                   count);
    } else {
        (void)kernels->positions64(mask, words, piece.begin, (uint64_t *)s->pool_positions + at, count);
    }
    for (size_t i = 0; i < count && !is_listed(c->b); i++) {
        s->slots[0][at + i] = (uint32_t)(at + i);
    }
}

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

static void collect_share(void *argument, int part, int parts) {
    const struct collect *c = argument;
    const struct scratch *s = c->b->scratch;
    uint64_t *above = scratch_mask(s, part, 0), *equal = scratch_mask(s, part, 1);
    size_t at = 0, ties = c->b->k;
    for (int any = 0; any < parts; any++) {
        ties -= s->totals[any].above;
    }
    for (int before = 0; before < part; before++) {
        const size_t taken = smaller(s->totals[before].equal, ties);
        at += s->totals[before].above + taken;
        ties -= taken;
    }
    size_t remaining = s->totals[part].above + smaller(s->totals[part].equal, ties);
    for (size_t i = share(c->pieces, part, parts); i < share(c->pieces, part + 1, parts) && remaining > 0;
         i++) {
        const struct piece piece = piece_at(c, i);
        const struct split_counts counts = split_piece(c, part, piece, above, ties > 0 ? equal : NULL);
        const size_t taken = smaller(counts.equal, ties);
        if (taken > 0) {
            mask_keep_first(equal, words_of(piece.count), taken);
            for (size_t w = 0; w < words_of(piece.count); w++) {
                above[w] |= equal[w];
            }
        }
        const size_t winners = counts.above + taken;
        if (winners > 0) {
            move_piece(c, piece, above, at, winners);
        }
        at += winners;
        remaining -= winners;
        ties -= taken;
    }
}

/* One part alone need not count: it takes what is above, and as many ties as are missing. */
static void collect(struct collect *c, size_t elements, size_t above) {
    const int parts = elements >= TEAM_ELEMENTS_MIN ? c->b->scratch->threads : 1;
    if (parts > 1) {
        topk_cpu_team_run(c->b->call->context, parts, count_share, c);
    } else {
        c->b->scratch->totals[0] = (struct split_counts){above, c->b->k - above};
    }
    topk_cpu_team_run(c->b->call->context, parts, collect_share, c);
}

void topk_cpu_winners_from_pool(const struct bracket *b, size_t tiles, size_t candidates,
                                struct threshold t) {
    struct collect c = {
        b, b->scratch->pool_values, b->scratch->tiles, tiles, topk_threshold_arcs(b->order, t.key), false};
    collect(&c, candidates, t.above);
}

void topk_cpu_winners_from_row(const struct bracket *b, struct threshold t) {
    struct collect c = {b,
                        b->elements,
                        NULL,
                        (b->n + TILE - 1) / TILE,
                        topk_threshold_arcs(b->order, t.key),
                        b->scratch->position_bytes == 8 || is_listed(b)};
    collect(&c, b->n, t.above);
}

/* Elements on a plateau: the tiles' numbers of equal elements say where the first ones lie. */
struct plateau {
    const struct bracket *b;
    size_t tiles, tile_elements, above;
    struct threshold_arcs threshold;
};

static void plateau_share(void *argument, int part, int parts) {
    const struct plateau *p = argument;
    const struct bracket *b = p->b;
    const struct scratch *s = b->scratch;
    const size_t bytes = b->kernels->bits / 8;
    uint64_t *above = scratch_mask(s, part, 0), *equal = scratch_mask(s, part, 1);
    size_t at = p->above;
    for (size_t i = 0; i < p->tiles && at < b->k; at += s->tiles[i].equal, i++) {
        const size_t begin = i * p->tile_elements, count = smaller(p->tile_elements, b->n - begin);
        const size_t taken = smaller(s->tiles[i].equal, b->k - at), words = words_of(count);
        if (taken == 0 || i % (size_t)parts != (size_t)part) {
            continue;
        }
        const char *elements = (const char *)b->elements + begin * bytes;
        (void)topk_cpu_split_row(b, part, begin, count, &p->threshold, above, equal);
        mask_keep_first(equal, words, taken);
        (void)b->kernels->take(elements, equal, words, (char *)s->pool_values + at * bytes, taken);
        if (s->position_bytes == 4) {
            (void)b->kernels->positions32(equal, words, (uint32_t)begin, (uint32_t *)s->pool_positions + at,
                                          taken);
        } else {
            (void)b->kernels->positions64(equal, words, begin, (uint64_t *)s->pool_positions + at, taken);
        }
        for (size_t j = at; j < at + taken && !is_listed(b); j++) {
            s->slots[0][j] = (uint32_t)j;
        }
    }
}

static uint64_t pool_position(const struct scratch *s, uint32_t slot) {
    return s->position_bytes == 4 ? ((const uint32_t *)s->pool_positions)[slot]
                                  : ((const uint64_t *)s->pool_positions)[slot];
}

/* Merges the first `above` slots and the others, up to k; each part is in the order of positions. */
static void merge_slots(const struct scratch *s, size_t above, size_t k) {
    const uint32_t *from = s->slots[0];
    uint32_t *to = s->slots[1];
    for (size_t a = 0, tie = above, i = 0; i < k; i++) {
        const bool is_tie =
            a == above || (tie < k && pool_position(s, from[tie]) < pool_position(s, from[a]));
        to[i] = from[is_tie ? tie++ : a++];
    }
    memcpy(s->slots[0], to, k * sizeof *to);
}

void topk_cpu_winners_add_ties(const struct bracket *b, size_t tiles, size_t tile_elements,
                               struct threshold t) {
    struct plateau plateau = {b, tiles, tile_elements, t.above, topk_threshold_arcs(b->order, t.key)};
    topk_cpu_team_run(b->call->context, b->k - t.above >= TEAM_ELEMENTS_MIN ? b->scratch->threads : 1,
                      plateau_share, &plateau);
}

void topk_cpu_winners_from_plateau(const struct bracket *b, size_t tiles, size_t tile_elements,
                                   struct threshold t) {
    struct bracket all = *b;
    all.k = t.above; /* everything in the pool wins */
    topk_cpu_winners_from_pool(&all, tiles, t.above, t);
    topk_cpu_winners_add_ties(b, tiles, tile_elements, t);
    if (b->call->plan->problem.order == TOPK_ORDER_BY_POSITION) {
        merge_slots(b->scratch, t.above, b->k);
    }
}

/* ---- Sorting and writing ---- */

struct write {
    const struct bracket *b;
    const struct source *source;
    const uint32_t *slots;
};

/* The slots of fewer than LISTED_MIN results, best first. */
static const uint32_t *sort_slots(const struct bracket *b, const struct source *source) {
    const struct scratch *s = b->scratch;
    void *const *keys = s->short_row.hit_keys;
    topk_cpu_gather_elements(source->values, b->kernels->bits / 8, s->slots[0], b->k, keys[1]);
    b->kernels->encode(keys[1], b->k, b->map, keys[0]);
    return b->kernels->sort_pairs(keys[0], s->slots[0], b->k, s->short_row.entries, s->short_row.slots[1]);
}

static void write_share(void *argument, int part, int parts) {
    const struct write *w = argument;
    const struct bracket *b = w->b;
    const size_t begin = share(b->k, part, parts), count = share(b->k, part + 1, parts) - begin;
    topk_cpu_write_slots(b->call, b->row * b->call->plan->problem.k_max + (int64_t)begin, w->source, b->begin,
                         w->slots + begin, count);
}

void topk_cpu_winners_write(const struct bracket *b, const struct source *source) {
    const struct scratch *s = b->scratch;
    const int parts = b->k >= TEAM_ELEMENTS_MIN ? s->threads : 1;
    struct write w = {b, source, s->slots[0]};
    if (b->call->plan->problem.order == TOPK_ORDER_BEST_FIRST) {
        w.slots = sort_slots(b, source);
    }
    topk_cpu_team_run(b->call->context, parts, write_share, &w);
}
