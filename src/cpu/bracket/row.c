/* SPDX-License-Identifier: Apache-2.0
 * One row by bracketing the k-th key (after Floyd and Rivest, Expected time bounds for selection,
 * 1975): see docs/methods/bracket.md.
 *
 * A hashed sample gives a lower threshold that nearly always has a few more than k elements above it.
 * One pass over the row moves the elements above it to the pool, and counts those equal to it tile by
 * tile. The counts then prove one of
 *   held      at least k above: the k-th key is among the candidates
 *   plateau   fewer than k above, but k above or equal: the threshold is the k-th key
 *   miss      fewer than k above or equal: try a lower threshold
 *   overflow  more above than the pool holds: try a higher one
 * and after ATTEMPTS the k-th key is found by counting passes over the row, which nothing defeats. */
#include "row.h"

#include <math.h>
#include <stdatomic.h>

#include "../../reached.h"
#include "../team.h"
#include "sort.h"
#include "split.h"
#include "winners.h"

enum { ATTEMPTS = 2, DRAWS_EACH = 16 };

enum outcome { HELD, PLATEAU, MISS, OVERFLOWED };

/* ---- Sampling ---- */

struct sampling {
    const struct bracket *b;
    size_t samples;
    uint64_t seed;
};

static void sample_share(void *argument, int part, int parts) {
    const struct sampling *s = argument;
    const struct bracket *b = s->b;
    const size_t runs = s->samples / SAMPLE_GROUP, stretch = b->n / runs;
    const size_t begin = share(runs, part, parts) * SAMPLE_GROUP;
    const size_t end = share(runs, part + 1, parts) * SAMPLE_GROUP;
    if (b->matcher != NULL) {
        topk_cpu_sample_matches(b, stretch, begin, end, s->seed);
    } else {
        b->kernels->sample(b->elements, stretch, begin, end, s->seed, b->map, b->scratch->sample_keys);
    }
}

/* How many samples, in runs of neighbours. The margin above the k-th's rank lets candidates through:
 * about 3 n / m of them, and for larger k, whose rank in the sample varies more, 4 n sqrt(p (1 - p) / m)
 * with p = k / n. A sample costs about as much as half a candidate to as much as two, in cache and
 * out of it; the sum of both costs is least near these two m. */
static size_t sample_count(size_t n, size_t k) {
    const double p = (double)k / (double)n;
    const double for_small_k = sqrt(2.0 * (double)n),
                 for_large_k = cbrt(24.0 * p * (1 - p) * (double)n * (double)n);
    const double most = (double)(n / 4 < SAMPLES_MAX ? n / 4 : SAMPLES_MAX);
    double count = for_small_k > for_large_k ? for_small_k : for_large_k;
    count = count < SAMPLES_MIN ? SAMPLES_MIN : count;
    return (size_t)(count < most ? count : most) / SAMPLE_GROUP * SAMPLE_GROUP;
}

void topk_cpu_draw_samples(const struct bracket *b, size_t samples, uint64_t seed) {
    const size_t padded = words_of(samples) * WORD, bytes = b->kernels->bits / 8;
    struct sampling sampling = {b, samples, b->call->context->seed + seed};
    topk_cpu_team_run(b->call->context, samples >= TEAM_ELEMENTS_MIN / 8 ? b->scratch->threads : 1,
                      sample_share, &sampling);
    memset((char *)b->scratch->sample_keys + samples * bytes, 0, (padded - samples) * bytes);
}

/* A key that about k elements of the row, and `margins` safety margins more, are above or equal to. */
static uint64_t lower_threshold(const struct bracket *b, unsigned attempt, double margins, double *expected) {
    const size_t samples = sample_count(b->n, b->k);
    topk_cpu_draw_samples(b, samples, (attempt + 1) * 0x9e3779b97f4a7c15u);
    const double rank = (double)b->k * (double)samples / (double)b->n;
    const double margin = margins * (4.0 * sqrt(rank * (1.0 - (double)b->k / (double)b->n)) + 3.0);
    const double wanted = rank + margin + 1.0;
    const size_t at = wanted < (double)samples ? (size_t)wanted : samples;
    *expected = (double)at / (double)samples * (double)b->n;
    return b->kernels->bisect(b->scratch->sample_keys, samples, at > 0 ? at : 1, at > 0 ? at : 1).key;
}

/* ---- The pass over the row ---- */

struct pass {
    const struct bracket *b;
    struct threshold_arcs arcs; /* of the lower threshold */
    size_t tile_elements, tiles;
    size_t draw; /* tiles that a thread takes on at once: neighbours, so that fetching ahead pays */
    _Atomic size_t next_tile, above, equal;
    _Atomic bool overflowed;
};

/* From this number of candidates in a word, of 32 bits each, the mask moves them faster than a loop. */
enum { DENSE = WORD / 4 };

/* Moves a tile's candidates to their slots in the pool. */
static void move_tile(const struct pass *pass, size_t begin, const uint64_t *mask, size_t words, size_t at,
                      size_t count) {
    const struct bracket *b = pass->b;
    const struct scratch *s = b->scratch;
    const size_t bytes = b->kernels->bits / 8;
    char *values = (char *)s->pool_values + at * bytes;
    if (s->pool_positions != NULL && s->position_bytes == 4 && (bytes != 4 || count < words * DENSE)) {
        uint32_t *positions = (uint32_t *)s->pool_positions + at;
        (void)b->kernels->positions32(mask, words, (uint32_t)begin, positions, count);
        topk_cpu_gather_elements(b->elements, bytes, positions, count, values);
        return;
    }
    (void)b->kernels->take((const char *)b->elements + begin * bytes, mask, words, values, count);
    if (s->pool_positions != NULL && s->position_bytes == 4) {
        (void)b->kernels->positions32(mask, words, (uint32_t)begin, (uint32_t *)s->pool_positions + at,
                                      count);
    } else if (s->pool_positions != NULL) {
        (void)b->kernels->positions64(mask, words, begin, (uint64_t *)s->pool_positions + at, count);
    }
}

/* One tile: masks, slots in the pool, the move. False if the pool is full. */
static bool run_tile(struct pass *pass, int part, size_t tile, size_t *equal) {
    const struct bracket *b = pass->b;
    const struct scratch *s = b->scratch;
    const size_t begin = tile * pass->tile_elements, rest = b->n - begin;
    const size_t count = rest < pass->tile_elements ? rest : pass->tile_elements;
    uint64_t *mask = scratch_mask(s, part, 0);
    const struct split_counts counts = topk_cpu_split_row(b, part, begin, count, &pass->arcs, mask, NULL);
    const size_t at = atomic_fetch_add_explicit(&pass->above, counts.above, memory_order_relaxed);
    if (counts.above > s->capacity - (at < s->capacity ? at : s->capacity)) {
        return false;
    }
    if (counts.above > 0) {
        move_tile(pass, begin, mask, words_of(count), at, counts.above);
    }
    s->tiles[tile] = (struct tile){at, (uint32_t)counts.above, (uint32_t)counts.equal};
    *equal += counts.equal;
    return true;
}

static void pass_part(void *argument, int part, int parts) {
    struct pass *pass = argument;
    size_t equal = 0;
    (void)parts;
    while (!atomic_load_explicit(&pass->overflowed, memory_order_relaxed)) {
        const size_t first = atomic_fetch_add_explicit(&pass->next_tile, pass->draw, memory_order_relaxed);
        if (first >= pass->tiles) {
            break;
        }
        const size_t end = pass->tiles - first < pass->draw ? pass->tiles : first + pass->draw;
        for (size_t tile = first; tile < end; tile++) {
            if (!run_tile(pass, part, tile, &equal)) {
                atomic_store_explicit(&pass->overflowed, true, memory_order_relaxed);
                break;
            }
        }
    }
    atomic_fetch_add_explicit(&pass->equal, equal, memory_order_relaxed);
}

/* The larger a tile, the fewer the pieces that the pool falls into; but it must stay in cache while
 * its candidates are moved, unless they are few. */
static size_t tile_size(size_t n, double expected) {
    size_t elements = TILE;
    while (elements < TILE_MAX && (double)elements * expected < (double)TILE_CANDIDATES * (double)n) {
        TOPK_REACHED(REACHED_LARGER_TILE);
        elements *= 2;
    }
    return elements;
}

/* Counts the matches, if that has not been done, and lowers k to them. */
static void count_eligible(struct bracket *b) {
    if (b->eligible == UNCOUNTED) {
        b->eligible = topk_cpu_count_matches(b);
    }
    if (b->eligible < b->k) {
        TOPK_REACHED(REACHED_FEW_MATCHES);
        b->k = b->eligible;
    }
}

/* Whether fewer elements match than kth needs. */
static bool is_short(const struct bracket *b) {
    return b->search != NULL && b->k < b->search->k;
}

static enum outcome run_pass(struct pass *pass, struct bracket *b, uint64_t threshold, double expected) {
    pass->arcs = topk_threshold_arcs(b->order, threshold);
    pass->tile_elements = tile_size(b->n, expected);
    pass->tiles = (b->n + pass->tile_elements - 1) / pass->tile_elements;
    const size_t fair = pass->tiles / ((size_t)b->scratch->threads * DRAWS_EACH);
    pass->draw = fair > 0 ? fair : 1;
    topk_cpu_team_run(b->call->context, b->scratch->threads, pass_part, pass);
    if (pass->overflowed) {
        TOPK_REACHED(REACHED_BRACKET_OVERFLOW);
        return OVERFLOWED;
    }
    if (pass->above + pass->equal < b->k) {
        count_eligible(b);
    }
    if (pass->above >= b->k || is_short(b)) {
        TOPK_REACHED(REACHED_BRACKET_HELD);
        return HELD;
    }
    if (pass->above + pass->equal >= b->k) {
        TOPK_REACHED(REACHED_BRACKET_PLATEAU);
        return PLATEAU;
    }
    TOPK_REACHED(REACHED_BRACKET_MISS);
    return MISS;
}

/* ---- Putting it together ---- */

struct counting topk_cpu_counting_of(const struct bracket *b, const void *elements, size_t n) {
    const struct scratch *s = b->scratch;
    return (struct counting){.context = b->call->context,
                             .kernels = b->kernels,
                             .map = b->map,
                             .elements = elements,
                             .n = n,
                             .threads = s->threads,
                             .keys = s->sample_keys,
                             .bins = s->bins};
}

size_t topk_cpu_count_equal(const struct bracket *b, const struct counting *counting, uint64_t key) {
    const struct threshold_arcs arcs = topk_threshold_arcs(b->order, key);
    const size_t n = counting->n, bytes = b->kernels->bits / 8;
    uint64_t *mask = scratch_mask(b->scratch, 0, 0);
    size_t equal = 0;
    for (size_t begin = 0; begin < n; begin += TILE) {
        const size_t count = n - begin < TILE ? n - begin : TILE;
        const char *elements = (const char *)counting->elements + begin * bytes;
        equal += counting->matcher != NULL
                     ? topk_cpu_split_row(b, 0, begin, count, &arcs, mask, NULL).equal
                     : b->kernels->split(elements, count, b->point_map, &arcs, mask, NULL).equal;
    }
    return equal;
}

static void write_kth(const struct bracket *b, struct threshold t, size_t equal) {
    struct kth kth = {t.key, t.above, equal};
    topk_cpu_kth_found(b->search, b->eligible, &kth);
    topk_cpu_write_kth(b->call, b->row, &kth);
}

/* The k-th is among the elements that are counted, those of the row or the pool; or fewer than k match. */
static void finish_kth(const struct bracket *b, const struct counting *counting) {
    if (is_short(b)) {
        topk_cpu_write_kth_padding(b->call, b->row, (int64_t)b->search->k, (int64_t)b->eligible);
        return;
    }
    const struct threshold t = topk_cpu_counting_kth(counting, b->k, true);
    write_kth(b, t, topk_cpu_count_equal(b, counting, t.key));
}

/* The best and the worst few of `wanted` samples may be far away from all others, such as numbers near zero:
 * this part of them, at either end, is left out. */
enum { FAR_SAMPLES = 64 };

/* Keys between which most of the best k samples lie; none of `results` that are sorted at once. */
static struct key_span sampled_span(const struct bracket *b, size_t samples, size_t results) {
    if (topk_cpu_sorts_at_once(b, results)) {
        return (struct key_span){0, 0};
    }
    const size_t wanted = (size_t)((double)b->k / (double)b->n * (double)samples);
    const size_t far = wanted / FAR_SAMPLES, last = wanted - far > 0 ? wanted - far : 1;
    const void *keys = b->scratch->sample_keys;
    return (struct key_span){b->kernels->bisect(keys, samples, last, last + far).key,
                             b->kernels->bisect(keys, samples, far + 1, 2 * far + 1).key};
}

/* The candidates of the pool, and the ties behind them: k results or more. */
static void sort_pooled(const struct bracket *b, const struct pass *pass, enum outcome outcome) {
    const struct scratch *s = b->scratch;
    const struct threshold plateau = {pass->arcs.key, pass->above};
    const bool wide = s->position_bytes == 8;
    const struct results results = {.values = s->pool_values,
                                    .positions = wide ? NULL : s->pool_positions,
                                    .tiles = s->tiles,
                                    .tile_count = pass->tiles,
                                    .listed = pass->above,
                                    .rest = outcome == PLATEAU ? b->k - pass->above : 0,
                                    .source = wide ? pool_source(s) : (struct source){b->elements, NULL, 0}};
    const size_t samples = sample_count(b->n, b->k);
    if (outcome == PLATEAU) {
        topk_cpu_winners_add_ties(b, pass->tiles, pass->tile_elements, plateau);
    }
    topk_cpu_sort_results(b, &results, sampled_span(b, samples, results.listed + results.rest));
}

/* The k best of the row itself, above a threshold. */
static void sort_counted(const struct bracket *b, struct threshold threshold) {
    const struct scratch *s = b->scratch;
    const size_t most = b->n / SAMPLE_GROUP < COUNTING_SAMPLES ? b->n / SAMPLE_GROUP : COUNTING_SAMPLES;
    const size_t samples = most / SAMPLE_GROUP * SAMPLE_GROUP;
    const bool wide = s->position_bytes == 8, whole = b->k == b->n && b->matcher == NULL && !wide;
    struct results results = {.values = b->elements, .rest = b->k, .source = {b->elements, NULL, 0}};
    if (!whole) {
        topk_cpu_winners_from_row(b, threshold);
        results.values = s->pool_values;
        results.positions = wide ? NULL : s->pool_positions;
        results.source = wide ? pool_source(s) : results.source;
    }
    if (!topk_cpu_sorts_at_once(b, results.rest)) {
        topk_cpu_draw_samples(b, samples, b->k);
    }
    topk_cpu_sort_results(b, &results, sampled_span(b, samples, results.rest));
}

static void finish_pooled(const struct bracket *b, const struct pass *pass, enum outcome outcome) {
    const struct scratch *s = b->scratch;
    const struct source source = pool_source(s);
    const struct threshold plateau = {pass->arcs.key, pass->above};
    const struct counting counting = topk_cpu_counting_of(b, s->pool_values, pass->above);
    if (b->search != NULL && outcome == PLATEAU) {
        write_kth(b, plateau, pass->equal);
        return;
    }
    if (b->search != NULL) {
        finish_kth(b, &counting);
        return;
    }
    if (b->k == 0) {
        return;
    }
    if (is_listed(b)) {
        sort_pooled(b, pass, outcome);
        return;
    }
    if (outcome == PLATEAU) {
        topk_cpu_winners_from_plateau(b, pass->tiles, pass->tile_elements, plateau);
    } else {
        topk_cpu_winners_from_pool(b, pass->tiles, pass->above,
                                   topk_cpu_counting_kth(&counting, b->k, false));
    }
    topk_cpu_winners_write(b, &source);
}

static void finish_counted(struct bracket *b) {
    struct counting counting = topk_cpu_counting_of(b, b->elements, b->n);
    counting.matcher = b->matcher;
    counting.first = (size_t)b->begin;
    counting.masks = b->scratch->matches;
    const struct source source = row_source(b);
    const struct threshold everything = {0, 0}; /* any number of ties will do */
    count_eligible(b);
    if (b->search != NULL) {
        finish_kth(b, &counting);
        return;
    }
    if (b->k == 0) {
        return;
    }
    if (b->k == b->eligible) {
        TOPK_REACHED(REACHED_WHOLE_ROW);
    }
    const struct threshold threshold =
        b->k == b->eligible ? everything : topk_cpu_counting_kth(&counting, b->k, false);
    if (is_listed(b)) {
        sort_counted(b, threshold);
    } else {
        topk_cpu_winners_from_row(b, threshold);
        topk_cpu_winners_write(b, &source);
    }
}

/* True if the row is done. */
static bool run_pooled(struct bracket *b) {
    double margins = 1.0;
    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        struct pass pass = {.b = b};
        double expected;
        const uint64_t threshold = lower_threshold(b, attempt, margins, &expected);
        const enum outcome outcome = run_pass(&pass, b, threshold, expected);
        if (outcome == HELD || outcome == PLATEAU) {
            finish_pooled(b, &pass, outcome);
            return true;
        }
        margins = outcome == MISS ? 4.0 : 0.25;
    }
    TOPK_REACHED(REACHED_BRACKET_FALLBACK);
    return false;
}

/* Makes the search for the k-th of what matches. How many that are is counted before only if the k-th may be
 * nearer to the other end. False if the row has no k-th: it is done. */
static bool begin_kth(struct bracket *b, size_t k, struct kth_search *search) {
    if (b->matcher != NULL && k > b->n / 2) {
        b->eligible = topk_cpu_count_matches(b);
    }
    if (k == 0 || k > b->eligible) {
        topk_cpu_write_kth_padding(b->call, b->row, (int64_t)k, (int64_t)b->eligible);
        return false;
    }
    topk_cpu_kth_search(b->call->plan, b->eligible == UNCOUNTED ? 0 : b->eligible, k, search);
    b->search = search;
    b->order = search->order;
    b->map = search->map;
    b->k = search->k;
    return true;
}

void topk_cpu_bracket_row(const struct call *call, const struct kernels *kernels,
                          const struct matcher *matcher, int64_t row, struct row_extent extent,
                          const struct scratch *scratch) {
    const struct plan *plan = call->plan;
    const int64_t wanted = plan_row_k(plan, &call->input, row);
    const bool kth = operation_is_kth(plan->operation);
    const size_t n = (size_t)extent.length;
    size_t k = (size_t)(wanted < extent.length ? wanted : extent.length);
    const void *elements = (const char *)call->input.values + (size_t)extent.begin * plan->element_bytes;
    if (k > 0 || kth) {
        struct bracket b = {.call = call,
                            .kernels = kernels,
                            .matcher = matcher,
                            .scratch = scratch,
                            .order = &plan->order,
                            .map = &plan->map,
                            .point_map = &plan->point_map,
                            .elements = elements,
                            .n = n,
                            .k = k,
                            .eligible = matcher != NULL ? UNCOUNTED : n,
                            .row = row,
                            .begin = extent.begin};
        struct kth_search search;
        if (kth && !begin_kth(&b, (size_t)wanted, &search)) {
            return;
        }
        const bool pooled = scratch->tiles != NULL && b.k < n;
        if (scratch->tiles == NULL) {
            TOPK_REACHED(REACHED_NO_POOL);
        }
        if (!pooled || !run_pooled(&b)) {
            finish_counted(&b);
        }
        k = b.k;
    }
    if (!kth) {
        topk_cpu_write_padding(call, row, k);
    }
}
