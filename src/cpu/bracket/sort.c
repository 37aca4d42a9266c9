/* SPDX-License-Identifier: Apache-2.0
 * Prefixes of the codes are counted, and neighbouring prefixes make buckets of about the same size, whatever
 * the data; then each part of the team deals its share of the results to the buckets, behind the parts before
 * it. Results come in the order of their positions, so this is stable. Then threads take buckets one by one:
 * each is sorted in cache, and written while it is there. The second list takes the place of the pool, which
 * has been read by then. */
#include "sort.h"

#include <stdatomic.h>
#include <string.h>

#include "../../reached.h"
#include "../team.h"

enum { EACH_PREFIXES = 64 };

struct at_once {
    struct code_span span;
    size_t listed; /* entries until now */
};

struct sorting {
    const struct bracket *b;
    const struct results *results;
    struct prefixes prefixes;
    size_t entries;       /* of all results */
    struct at_once *once; /* if all are sorted at once */
    size_t buckets;
    uint16_t *bucket_of; /* each prefix */
    uint32_t *begins;    /* of each bucket, and behind the last */
    _Atomic size_t next_bucket;
};

/* Counts of prefixes, and then the offsets of buckets, of one part. */
static uint32_t *counts_of(const struct sorting *s, int part) {
    return s->b->scratch->prefix_counts + (size_t)part * PREFIXES;
}

static uint32_t *offsets_of(const struct sorting *s, int part) {
    return s->b->scratch->bucket_offsets + (size_t)part * 2 * BUCKETS_MAX;
}

/* Of one part: the offsets that it began with, and its lines, which lie where it will sort. */
static struct dealing dealing_of(const struct sorting *s, int part) {
    const struct scratch *scratch = s->b->scratch;
    struct dealing dealing = {
        .buckets = s->bucket_of, .begins = offsets_of(s, part) + BUCKETS_MAX, .offsets = offsets_of(s, part)};
    if (s->entries >= COLLECTED_MIN) {
        dealing.lines = scratch->sort_scratch + (size_t)part * scratch->sort_pitch;
        dealing.slot_lines =
            scratch->slot_lines == NULL ? NULL : scratch->slot_lines + (size_t)part * 2 * BUCKET_LINES;
    }
    return dealing;
}

typedef void (*run_function)(const struct sorting *s, int part, size_t begin, size_t n);

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Calls `run` for each run of neighbours among a part's share of the results. */
static void each_run(const struct sorting *s, int part, int parts, run_function run) {
    const struct results *r = s->results;
    const size_t first = share(s->entries, part, parts), end = share(s->entries, part + 1, parts);
    size_t at = 0;
    for (size_t i = 0; i < r->tile_count && at < end; at += r->tiles[i].above, i++) {
        const size_t from = at > first ? at : first, to = smaller(at + r->tiles[i].above, end);
        if (from < to) {
            run(s, part, r->tiles[i].begin + (from - at), to - from);
        }
    }
    const size_t from = r->listed > first ? r->listed : first;
    if (from < end) {
        run(s, part, from, end - from);
    }
}

static const char *values_at(const struct sorting *s, size_t begin) {
    return (const char *)s->results->values + begin * (s->b->kernels->bits / 8);
}

static void count_run(const struct sorting *s, int part, size_t begin, size_t n) {
    s->b->kernels->count_prefixes(values_at(s, begin), n, s->b->map, &s->prefixes, counts_of(s, part));
}

static void count_share(void *argument, int part, int parts) {
    const struct sorting *s = argument;
    memset(counts_of(s, part), 0, (s->prefixes.last + (size_t)1) * sizeof(uint32_t));
    each_run(s, part, parts, count_run);
}

static void deal_run(const struct sorting *s, int part, size_t begin, size_t n) {
    const uint32_t *positions = s->results->positions;
    const struct dealing dealing = dealing_of(s, part);
    s->b->kernels->deal_entries(values_at(s, begin), positions == NULL ? NULL : positions + begin,
                                (uint32_t)begin, n, s->b->map, &s->prefixes, &dealing,
                                &s->b->scratch->lists[0]);
}

static void deal_share(void *argument, int part, int parts) {
    const struct sorting *s = argument;
    const struct dealing dealing = dealing_of(s, part);
    each_run(s, part, parts, deal_run);
    if (dealing.lines != NULL) {
        TOPK_REACHED(REACHED_SORT_LINES);
        s->b->kernels->finish_dealing(&dealing, s->buckets, &s->b->scratch->lists[0]);
    }
}

/* Makes buckets of neighbouring prefixes, and says where each part begins in each bucket. */
static void make_buckets(struct sorting *s, int parts, size_t wanted) {
    const size_t most = s->entries / wanted + 1;
    size_t bucket = 0, begin = 0, sum = 0;
    s->begins[0] = 0;
    for (size_t prefix = 0; prefix <= s->prefixes.last; prefix++) {
        size_t count = 0;
        for (int part = 0; part < parts; part++) {
            count += counts_of(s, part)[prefix];
        }
        if (sum > begin && count > 0 && sum - begin + count > most && bucket + 1 < BUCKETS_MAX) {
            begin = sum;
            s->begins[++bucket] = (uint32_t)sum;
        }
        s->bucket_of[prefix] = (uint16_t)bucket;
        sum += count;
    }
    s->buckets = bucket + 1;
    s->begins[s->buckets] = (uint32_t)sum;
    for (int part = 0; part < parts; part++) {
        memset(offsets_of(s, part), 0, s->buckets * sizeof(uint32_t));
        for (size_t prefix = 0; prefix <= s->prefixes.last; prefix++) {
            offsets_of(s, part)[s->bucket_of[prefix]] += counts_of(s, part)[prefix];
        }
    }
    for (bucket = 0; bucket < s->buckets; bucket++) {
        size_t at = s->begins[bucket];
        for (int part = 0; part < parts; part++) {
            uint32_t *offset = &offsets_of(s, part)[bucket];
            const size_t count = *offset;
            offset[0] = offset[BUCKETS_MAX] = (uint32_t)at;
            at += count;
        }
    }
}

/* list_function */
static void write_run(void *argument, const struct list *list, size_t begin, size_t place, size_t n) {
    const struct sorting *s = argument;
    const struct bracket *b = s->b;
    const struct call *call = b->call;
    const size_t bytes = b->kernels->bits / 8, end = smaller(place + n, b->k);
    uint32_t slots[HANDED_AT_ONCE];
    for (; place < end; begin += HANDED_AT_ONCE, place += HANDED_AT_ONCE) {
        const size_t count = smaller(end - place, HANDED_AT_ONCE);
        const int64_t at = b->row * call->plan->problem.k_max + (int64_t)place;
        char *values = call->values == NULL ? NULL : (char *)call->values + (size_t)at * bytes;
        b->kernels->decode_list(list, begin, count, b->map, s->results->source.values, values, slots);
        topk_cpu_write_indices(call, at, &s->results->source, b->begin, slots, count);
    }
}

static void sort_share(void *argument, int part, int parts) {
    struct sorting *s = argument;
    const struct scratch *scratch = s->b->scratch;
    (void)parts;
    for (;;) {
        const size_t bucket = atomic_fetch_add_explicit(&s->next_bucket, 1, memory_order_relaxed);
        if (bucket >= s->buckets || s->begins[bucket] >= s->b->k) {
            return;
        }
        const size_t begin = s->begins[bucket], count = s->begins[bucket + 1] - begin;
        s->b->kernels->sort_list(scratch->lists, 0, begin, count,
                                 scratch->sort_scratch + (size_t)part * scratch->sort_pitch,
                                 scratch->in_cache, write_run, s);
    }
}

static void widen_run(const struct sorting *s, int part, size_t begin, size_t n) {
    (void)part;
    s->b->kernels->widen_span(values_at(s, begin), n, s->b->map, &s->once->span);
}

static void list_run(const struct sorting *s, int part, size_t begin, size_t n) {
    const uint32_t *positions = s->results->positions;
    (void)part;
    s->b->kernels->list_entries(values_at(s, begin), positions == NULL ? NULL : positions + begin,
                                (uint32_t)begin, n, s->b->map, &s->once->span,
                                s->b->scratch->lists[0].entries + s->once->listed);
    s->once->listed += n;
}

static void sort_at_once(struct sorting *s) {
    const struct bracket *b = s->b;
    struct at_once once = {.span = {UINT64_MAX, 0}};
    s->once = &once;
    each_run(s, 0, 1, widen_run);
    each_run(s, 0, 1, list_run);
    b->kernels->sort_listed(b->scratch->lists, s->entries, &once.span, s->results->source.values, b->map,
                            write_run, s);
}

static struct prefixes prefixes_of(struct key_span span, unsigned bits, size_t buckets) {
    struct prefixes prefixes = {.low = ~span.high & topk_ones(bits),
                                .last = (uint32_t)smaller(buckets * EACH_PREFIXES, PREFIXES) - 1};
    while (span.low < span.high && (span.high - span.low) >> prefixes.shift > prefixes.last) {
        prefixes.shift++;
    }
    return prefixes;
}

static size_t buckets_wanted(size_t entries) {
    const size_t small = entries / BUCKET_ENTRIES + 1, large = entries / LARGE_BUCKET_ENTRIES + 1;
    return large > BUCKETS_FEW ? smaller(large, BUCKETS_MAX) : smaller(small, BUCKETS_FEW);
}

static int parts_of(const struct bracket *b, size_t entries) {
    return entries >= TEAM_ELEMENTS_MIN / 2 ? b->scratch->sort_threads : 1;
}

bool topk_cpu_sorts_at_once(const struct bracket *b, size_t entries) {
    return entries <= AT_ONCE_MAX && parts_of(b, entries) == 1;
}

void topk_cpu_sort_results(const struct bracket *b, const struct results *results, struct key_span span) {
    const struct scratch *scratch = b->scratch;
    const size_t entries = results->listed + results->rest;
    const size_t wanted = buckets_wanted(entries);
    const int parts = parts_of(b, entries);
    struct sorting s = {.b = b,
                        .results = results,
                        .prefixes = prefixes_of(span, b->kernels->bits, wanted),
                        .entries = entries,
                        .bucket_of = scratch->prefix_buckets,
                        .begins = scratch->bucket_begins};
    const topk_context *context = b->call->context;
    if (topk_cpu_sorts_at_once(b, entries)) {
        TOPK_REACHED(REACHED_SORT_AT_ONCE);
        sort_at_once(&s);
        return;
    }
    if (parts > 1) {
        TOPK_REACHED(REACHED_TEAM_SORT);
    }
    topk_cpu_team_run(context, parts, count_share, &s);
    make_buckets(&s, parts, wanted);
    topk_cpu_team_run(context, parts, deal_share, &s);
    topk_cpu_team_run(context, parts, sort_share, &s);
}
