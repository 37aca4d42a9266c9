/* SPDX-License-Identifier: Apache-2.0
 * Several ranks of one row: see docs/methods/ranks.md.
 *
 * A sample proposes a window for each rank: two keys that very probably enclose the k-th. Windows that
 * overlap become one. One pass over the row then takes a piece at a time into the first-level cache, and each
 * window looks at it there: it counts what ranks above the window and moves to the pool what lies in it. What
 * equals an end is counted apart where many elements do. Where few do, one look at an element does for all
 * windows (collect_part()). A rank at such an end is found by the counts, any
 * other among what its window moved.
 *
 * Ranks that are not in their windows, or whose windows had too little room, are searched one by one, as if
 * each were asked alone. */
#include "ranks.h"

#include <math.h>
#include <stdatomic.h>

#include "../../reached.h"
#include "../team.h"
#include "counting.h"
#include "split.h"
#include "winners.h"

/* At most RANKS_AT_ONCE ranks share a pass. The pool holds about half of a long row, and so has room for all
 * their windows, wherever they lie; the windows of 32 ranks that are spread over a row cover most of it. A
 * piece is small enough that the first-level cache holds it while all windows look at it. */
enum { RANKS_AT_ONCE = RANGES_MAX, PIECE_BYTES = 1 << 14, DRAWS_EACH = 16, MASKS = 4 };
_Static_assert(MASKS *TILE <= 2 * TILE_MAX, "a thread's masks have room for a piece's");

struct rank {
    size_t k;
    int64_t slot; /* which of the row's ranks it is */
};

/* Ends that a window does not have enclose all that lies on their side. Where few elements equal an end, one
 * look is enough: the class of the higher end counts as between the ends, and the lower end's as below.
 */
struct window {
    bool has_high, has_low;
    bool looks_once, has_few_ties; /* at its ends */
    struct threshold_arcs high, low;
    struct threshold_arcs once; /* not_above: of the higher end; equal: what is between both */
    double from, to;            /* places among the samples that enclose its ends */
    size_t begin, capacity;     /* of its part of the pool */
};

/* What a window has seen: above it, at its higher end, between the ends, and at its lower end. A window that
 * looks once has seen nothing at its ends. */
struct tally {
    size_t above, high, between, low;
};

/* The same of all threads. What lies between the ends takes slots, also where the window has none left. */
struct total {
    _Atomic size_t above, high, between, low;
};

struct pass {
    const struct bracket *b;
    struct rank ranks[RANKS_AT_ONCE]; /* ascending */
    size_t rank_count;
    size_t samples;
    struct window windows[RANKS_AT_ONCE]; /* from the best to the worst */
    struct total totals[RANKS_AT_ONCE];
    size_t window_of[RANKS_AT_ONCE]; /* of each rank */
    size_t window_count;
    bool collects;        /* all windows at once */
    size_t piece, pieces; /* elements of one; how many */
    size_t draw;          /* that a thread takes on at once */
    _Atomic size_t next_piece, matches;
};

/* ---- Windows ---- */

/* A key with `from` to `to` of the samples above it, or as close to that as ties let it be. */
static struct threshold_arcs end_between(const struct pass *pass, double from, double to) {
    const struct bracket *b = pass->b;
    const double most = (double)pass->samples, least = from < 1.0 ? 1.0 : from;
    const size_t last = (size_t)(to < most ? to : most), first = (size_t)least < last ? (size_t)least : last;
    return topk_threshold_arcs(b->order,
                               b->kernels->bisect(b->scratch->sample_keys, pass->samples, first, last).key);
}

/* Around the rank's place among the samples, with a margin as wide as a counting pass takes. */
static void propose(struct pass *pass, size_t i) {
    struct window *w = &pass->windows[i];
    const double n = (double)pass->b->n, m = (double)pass->samples;
    const double k = (double)pass->ranks[i].k < n ? (double)pass->ranks[i].k : n, place = k / n * m;
    const double margin = COUNTING_DEVIATIONS * sqrt(place * (1.0 - k / n)) + 3.0;
    *w = (struct window){.has_high = place - margin >= 1.0, .has_low = place + margin + 1.0 <= m};
    if (w->has_high) {
        w->high = end_between(pass, place - 1.25 * margin, place - margin);
    }
    if (w->has_low) {
        w->low = end_between(pass, place + margin + 1.0, place + 1.25 * margin + 1.0);
    }
    w->from = w->has_high ? place - 1.25 * margin : 0.0;
    w->to = w->has_low ? place + 1.25 * margin + 1.0 : m + 1.0;
}

/* How many samples equal an end. */
static size_t ties_of(const struct pass *pass, int part, const struct threshold_arcs *end) {
    const struct bracket *b = pass->b;
    const struct threshold_arcs at = {.equal = {end->key, 0}, .not_above = {0, end->key}, .key = end->key};
    uint64_t *mask = scratch_mask(b->scratch, part, 0);
    return b->kernels
        ->split(b->scratch->sample_keys, pass->samples, &topk_unsigned_point_map, &at, mask, NULL)
        .equal;
}

/* So few samples that tie with an end are far fewer than its margin. */
enum { FEW_TIES = 4 };

/* What is not above the higher end but above the lower one is an arc: both arcs begin, or both end, at the
 * worst point. */
static void look_once(const struct pass *pass, int part, struct window *w) {
    const struct arc *high = &w->high.not_above, *low = &w->low.not_above;
    w->has_few_ties = (!w->has_high || ties_of(pass, part, &w->high) <= FEW_TIES) &&
                      (!w->has_low || ties_of(pass, part, &w->low) <= FEW_TIES);
    w->looks_once = w->has_few_ties && w->has_high && w->has_low && w->high.key > w->low.key;
    if (w->looks_once) {
        TOPK_REACHED(REACHED_RANKS_ONCE);
        const uint64_t begin = high->begin == low->begin ? low->begin + low->span + 1 : high->begin;
        w->once = (struct threshold_arcs){
            .not_above = *high, .equal = {begin, high->span - low->span - 1}, .key = w->high.key};
    }
}

static void look_once_share(void *argument, int part, int parts) {
    struct pass *pass = argument;
    for (size_t i = share(pass->window_count, part, parts); i < share(pass->window_count, part + 1, parts);
         i++) {
        look_once(pass, part, &pass->windows[i]);
    }
}

static void propose_share(void *argument, int part, int parts) {
    struct pass *pass = argument;
    for (size_t i = share(pass->rank_count, part, parts); i < share(pass->rank_count, part + 1, parts); i++) {
        propose(pass, i);
    }
}

/* Whether the windows of two ranks have elements in common between their ends; the second rank is not
 * better. */
static bool overlap(const struct window *first, const struct window *second) {
    return !first->has_low || !second->has_high || second->high.key > first->low.key;
}

static void join(struct window *w, const struct window *other) {
    TOPK_REACHED(REACHED_RANKS_JOINED);
    if (w->has_high && (!other->has_high || other->high.key > w->high.key)) {
        w->has_high = other->has_high;
        w->high = other->high;
    }
    if (w->has_low && (!other->has_low || other->low.key < w->low.key)) {
        w->has_low = other->has_low;
        w->low = other->low;
    }
    w->from = other->from < w->from ? other->from : w->from;
    w->to = other->to > w->to ? other->to : w->to;
}

static void join_windows(struct pass *pass) {
    size_t count = 0;
    for (size_t i = 0; i < pass->rank_count; i++) {
        if (count > 0 && overlap(&pass->windows[count - 1], &pass->windows[i])) {
            join(&pass->windows[count - 1], &pass->windows[i]);
        } else {
            pass->windows[count++] = pass->windows[i];
        }
        pass->window_of[i] = count - 1;
    }
    pass->window_count = count;
}

/* Each window gets as much of the pool as it will have of all that is moved. */
static void share_pool(struct pass *pass) {
    double expected = 0.0, before = 0.0;
    for (size_t i = 0; i < pass->window_count; i++) {
        expected += pass->windows[i].to - pass->windows[i].from;
    }
    const double each = (double)pass->b->scratch->capacity / expected;
    for (size_t i = 0; i < pass->window_count; i++) {
        struct window *w = &pass->windows[i];
        w->begin = (size_t)(before * each);
        before += w->to - w->from;
        const size_t end = (size_t)(before * each), most = pass->b->scratch->capacity;
        w->capacity = (end < most ? end : most) - w->begin;
    }
}

/* Whether one look at an element tells its window: ties at the ends are few, so none need be counted apart.
 */
static bool can_collect(const struct pass *pass) {
    bool can = pass->b->matcher == NULL && pass->b->kernels->collect_ranges != NULL;
    for (size_t i = 0; i < pass->window_count; i++) {
        const struct window *w = &pass->windows[i];
        can = can && w->has_few_ties && (w->looks_once || !w->has_high || !w->has_low);
    }
    return can;
}

/* Returns false where the row has no pool. */
static bool make_windows(struct pass *pass) {
    const struct bracket *b = pass->b;
    const size_t most = b->n / 8 < SAMPLES_MAX ? b->n / 8 : SAMPLES_MAX;
    if (b->scratch->tiles == NULL || most < SAMPLE_GROUP) {
        return false;
    }
    pass->samples = most / SAMPLE_GROUP * SAMPLE_GROUP;
    topk_cpu_draw_samples(b, pass->samples, pass->ranks[0].k);
    topk_cpu_team_run(b->call->context, b->scratch->threads, propose_share, pass);
    join_windows(pass);
    topk_cpu_team_run(b->call->context, b->scratch->threads, look_once_share, pass);
    pass->collects = can_collect(pass);
    share_pool(pass);
    return true;
}

/* ---- The pass over the row ---- */

/* Elements of the row, with masks for them. */
struct piece {
    const char *elements;
    size_t n, words;
    const uint64_t *matches; /* NULL: all match */
    size_t match_count;
    uint64_t *masks[MASKS];
};

/* Masks and counts of the matches above and at a threshold. */
static struct split_counts split_piece(const struct bracket *b, const struct piece *piece,
                                       const struct threshold_arcs *threshold, uint64_t *above,
                                       uint64_t *equal) {
    const struct split_counts counts =
        b->kernels->split(piece->elements, piece->n, b->point_map, threshold, above, equal);
    if (piece->matches == NULL) {
        return counts;
    }
    for (size_t w = 0; w < piece->words; w++) {
        above[w] &= piece->matches[w];
        equal[w] &= piece->matches[w];
    }
    return (struct split_counts){b->kernels->count(above, piece->words),
                                 b->kernels->count(equal, piece->words)};
}

/* Leaves the mask of what lies between the window's ends in masks[0], and counts. */
static struct tally look(const struct bracket *b, const struct window *w, const struct piece *piece) {
    uint64_t *above_low = piece->masks[0], *at_low = piece->masks[1];
    uint64_t *above_high = piece->masks[2], *at_high = piece->masks[3];
    struct split_counts high = {0, 0}, low = {piece->match_count, 0};
    if (w->looks_once) {
        const struct split_counts once = split_piece(b, piece, &w->once, above_high, above_low);
        return (struct tally){once.above, 0, once.equal, 0};
    }
    if (w->has_high) {
        high = split_piece(b, piece, &w->high, above_high, at_high);
    }
    if (w->has_high && w->has_low && w->high.key == w->low.key) {
        TOPK_REACHED(REACHED_RANKS_TIED);
        return (struct tally){high.above, high.equal, 0, 0};
    }
    if (w->has_low) {
        low = split_piece(b, piece, &w->low, above_low, at_low);
    } else if (piece->matches != NULL) {
        memcpy(above_low, piece->matches, piece->words * sizeof *above_low);
    } else {
        memset(above_low, 0xff, piece->words * sizeof *above_low);
        mask_keep_first(above_low, piece->words, piece->n);
    }
    for (size_t i = 0; w->has_high && i < piece->words; i++) {
        above_low[i] &= ~(above_high[i] | at_high[i]);
    }
    return (struct tally){high.above, high.equal, low.above - high.above - high.equal, low.equal};
}

static void run_piece(struct pass *pass, const struct piece *piece, struct tally *tallies) {
    const struct bracket *b = pass->b;
    const size_t bytes = b->kernels->bits / 8;
    for (size_t i = 0; i < pass->window_count; i++) {
        const struct window *w = &pass->windows[i];
        const struct tally seen = look(b, w, piece);
        tallies[i].above += seen.above;
        tallies[i].high += seen.high;
        tallies[i].low += seen.low;
        if (seen.between == 0) {
            continue;
        }
        const size_t at =
            atomic_fetch_add_explicit(&pass->totals[i].between, seen.between, memory_order_relaxed);
        if (at < w->capacity && seen.between <= w->capacity - at) {
            char *to = (char *)b->scratch->pool_values + (w->begin + at) * bytes;
            (void)b->kernels->take(piece->elements, piece->masks[0], piece->words, to, seen.between);
        }
    }
}

static void run_pieces(struct pass *pass, int part, size_t first, size_t end, struct tally *tallies) {
    const struct bracket *b = pass->b;
    struct piece piece = {.matches = NULL};
    for (int i = 0; i < MASKS; i++) {
        piece.masks[i] = scratch_mask(b->scratch, part, 0) + i * (TILE / WORD);
    }
    for (size_t at = first; at < end; at++) {
        const size_t begin = at * pass->piece, rest = b->n - begin;
        piece.elements = (const char *)b->elements + begin * (b->kernels->bits / 8);
        piece.n = piece.match_count = rest < pass->piece ? rest : pass->piece;
        piece.words = words_of(piece.n);
        if (b->matcher != NULL) {
            uint64_t *matches = scratch_matches(b->scratch, part);
            piece.match_count = topk_cpu_matcher_mask(b->matcher, (size_t)b->begin + begin, piece.n, matches);
            piece.matches = matches;
            atomic_fetch_add_explicit(&pass->matches, piece.match_count, memory_order_relaxed);
        }
        if (piece.match_count > 0) {
            run_piece(pass, &piece, tallies);
        }
    }
}

/* The next pieces that nobody has taken: from *first on. Returns where they end, *first if none are left. */
static size_t take_pieces(struct pass *pass, size_t *first) {
    *first = atomic_fetch_add_explicit(&pass->next_piece, pass->draw, memory_order_relaxed);
    return *first >= pass->pieces               ? *first
           : pass->pieces - *first < pass->draw ? pass->pieces
                                                : *first + pass->draw;
}

/* ---- All windows at once ---- */

/* Ranges of keys begin with the worst, windows with the best. */
static size_t range_of(const struct pass *pass, size_t window) {
    return pass->window_count - 1 - window;
}

static void make_ranges(const struct pass *pass, struct ranges *ranges) {
    const uint64_t greatest = topk_ones(pass->b->kernels->bits);
    ranges->count = pass->window_count;
    ranges->is_open = !pass->windows[pass->window_count - 1].has_low;
    for (size_t i = 0; i < pass->window_count; i++) {
        const struct window *w = &pass->windows[i];
        const size_t r = range_of(pass, i);
        ranges->ends[2 * r] = w->has_low ? w->low.key : greatest;
        ranges->ends[2 * r + 1] = w->has_high ? w->high.key : greatest;
        ranges->above[r] = ranges->filled[r] = 0;
    }
}

/* Moves buffers with more than `most` elements to the windows' parts of the pool, if there is room. */
static void empty_buffers(struct pass *pass, struct ranges *ranges, size_t most) {
    const size_t bytes = pass->b->kernels->bits / 8;
    for (size_t i = 0; i < pass->window_count; i++) {
        const struct window *w = &pass->windows[i];
        const size_t r = range_of(pass, i), count = ranges->filled[r];
        if (count <= most) {
            continue;
        }
        const size_t at = atomic_fetch_add_explicit(&pass->totals[i].between, count, memory_order_relaxed);
        if (at < w->capacity && count <= w->capacity - at) {
            memcpy((char *)pass->b->scratch->pool_values + (w->begin + at) * bytes,
                   (const char *)ranges->buffers + r * RANGE_ROOM * bytes, count * bytes);
        }
        ranges->filled[r] = 0;
    }
}

static void collect_part(void *argument, int part, int parts) {
    struct pass *pass = argument;
    const struct bracket *b = pass->b;
    uint64_t buffers[RANKS_AT_ONCE * RANGE_ROOM];
    struct ranges ranges = {.buffers = buffers};
    (void)part, (void)parts;
    make_ranges(pass, &ranges);
    for (size_t first, end; end = take_pieces(pass, &first), first < end;) {
        const size_t last = end * pass->piece < b->n ? end * pass->piece : b->n;
        for (size_t at = first * pass->piece; at < last;) {
            at += b->kernels->collect_ranges((const char *)b->elements + at * (b->kernels->bits / 8),
                                             last - at, b->map, &ranges);
            empty_buffers(pass, &ranges, RANGE_ROOM / 3);
        }
    }
    empty_buffers(pass, &ranges, 0);
    for (size_t i = 0; i < pass->window_count; i++) {
        atomic_fetch_add_explicit(&pass->totals[i].above, ranges.above[range_of(pass, i)],
                                  memory_order_relaxed);
    }
}

/* ---- Window by window ---- */

static void pass_part(void *argument, int part, int parts) {
    struct pass *pass = argument;
    struct tally tallies[RANKS_AT_ONCE];
    (void)parts;
    memset(tallies, 0, pass->window_count * sizeof *tallies);
    for (size_t first, end; end = take_pieces(pass, &first), first < end;) {
        run_pieces(pass, part, first, end, tallies);
    }
    for (size_t i = 0; i < pass->window_count; i++) {
        atomic_fetch_add_explicit(&pass->totals[i].above, tallies[i].above, memory_order_relaxed);
        atomic_fetch_add_explicit(&pass->totals[i].high, tallies[i].high, memory_order_relaxed);
        atomic_fetch_add_explicit(&pass->totals[i].low, tallies[i].low, memory_order_relaxed);
    }
}

static void run_pass(struct pass *pass) {
    const struct bracket *b = pass->b;
    const size_t in_cache = PIECE_BYTES / (b->kernels->bits / 8);
    pass->piece = in_cache < TILE ? in_cache : TILE;
    pass->pieces = (b->n + pass->piece - 1) / pass->piece;
    const size_t fair = pass->pieces / ((size_t)b->scratch->threads * DRAWS_EACH);
    pass->draw = fair > 0 ? fair : 1;
    pass->matches = b->matcher == NULL ? b->n : 0;
    topk_cpu_team_run(b->call->context, b->scratch->threads, pass->collects ? collect_part : pass_part, pass);
}

/* ---- Results ---- */

/* The k-th among what the window has between its ends; `before` elements rank above. */
static struct kth among_moved(const struct pass *pass, const struct window *w, size_t count, size_t before,
                              size_t k) {
    const struct bracket *b = pass->b;
    const char *moved = (const char *)b->scratch->pool_values + w->begin * (b->kernels->bits / 8);
    const struct counting counting = topk_cpu_counting_of(b, moved, count);
    const struct threshold t = topk_cpu_counting_kth(&counting, k - before, true);
    return (struct kth){t.key, before + t.above, topk_cpu_count_equal(b, &counting, t.key)};
}

/* Finds a rank that the row has. False if it is not where the sample said, or was not moved. */
static bool find(const struct pass *pass, size_t rank, struct kth *kth) {
    const struct window *w = &pass->windows[pass->window_of[rank]];
    const struct total *total = &pass->totals[pass->window_of[rank]];
    const size_t k = pass->ranks[rank].k, above = total->above, high = above + total->high;
    const size_t low = high + total->between;
    if (k <= above || k > low + total->low) {
        TOPK_REACHED(REACHED_RANKS_MISSED);
        return false;
    }
    if (k <= high) {
        *kth = (struct kth){w->high.key, above, total->high};
    } else if (k > low) {
        *kth = (struct kth){w->low.key, low, total->low};
    } else if (total->between > w->capacity) {
        TOPK_REACHED(REACHED_RANKS_UNMOVED);
        return false;
    } else {
        *kth = among_moved(pass, w, total->between, high, k);
    }
    return true;
}

/* Writes all ranks that the pass tells, and leaves the others in pass->ranks. Ranks ascend, so one that ties
 * with the rank before it has the same k-th. */
static void write_found(struct pass *pass) {
    const struct bracket *b = pass->b;
    struct kth kth = {0, 0, 0};
    size_t left = 0;
    for (size_t i = 0; i < pass->rank_count; i++) {
        const struct rank rank = pass->ranks[i];
        const struct call one = topk_cpu_rank_call(b->call, rank.slot);
        if (rank.k > pass->matches) {
            topk_cpu_write_kth_padding(&one, b->row, (int64_t)rank.k, (int64_t)pass->matches);
        } else if ((rank.k > kth.above && rank.k <= kth.above + kth.equal) || find(pass, i, &kth)) {
            topk_cpu_write_kth(&one, b->row, &kth);
        } else {
            pass->ranks[left++] = rank;
        }
    }
    pass->rank_count = left;
}

/* Up to RANKS_AT_ONCE of the row's ranks from `first` on. Those beyond any match are padding at once. */
static void list_ranks(struct pass *pass, int64_t first) {
    const struct bracket *b = pass->b;
    const int64_t rest = b->call->plan->ranks - first, end = rest < RANKS_AT_ONCE ? rest : RANKS_AT_ONCE;
    for (int64_t slot = first; slot < first + end; slot++) {
        const struct call one = topk_cpu_rank_call(b->call, slot);
        const struct rank rank = {(size_t)plan_row_k(one.plan, &one.input, b->row), slot};
        if (rank.k == 0 || (rank.k > b->n && b->matcher == NULL)) {
            topk_cpu_write_kth_padding(&one, b->row, (int64_t)rank.k, (int64_t)b->n);
            continue;
        }
        size_t to = pass->rank_count++;
        for (; to > 0 && pass->ranks[to - 1].k > rank.k; to--) {
            pass->ranks[to] = pass->ranks[to - 1];
        }
        pass->ranks[to] = rank;
    }
}

void topk_cpu_bracket_ranks(const struct call *call, const struct kernels *kernels,
                            const struct matcher *matcher, int64_t row, struct row_extent extent,
                            const struct scratch *scratch) {
    const struct plan *plan = call->plan;
    const struct bracket b = {.call = call,
                              .kernels = kernels,
                              .matcher = matcher,
                              .scratch = scratch,
                              .order = &plan->order,
                              .map = &plan->map,
                              .point_map = &plan->point_map,
                              .elements = (const char *)call->input.values +
                                          (size_t)extent.begin * plan->element_bytes,
                              .n = (size_t)extent.length,
                              .row = row,
                              .begin = extent.begin};
    for (int64_t first = 0; first < plan->ranks; first += RANKS_AT_ONCE) {
        struct pass pass = {.b = &b};
        list_ranks(&pass, first);
        if (pass.rank_count > 0 && make_windows(&pass)) {
            run_pass(&pass);
            write_found(&pass);
        }
        for (size_t i = 0; i < pass.rank_count; i++) {
            const struct call one = topk_cpu_rank_call(call, pass.ranks[i].slot);
            topk_cpu_bracket_row(&one, kernels, matcher, row, extent, scratch);
        }
    }
}
