/* SPDX-License-Identifier: Apache-2.0 */
#include "narrow.h"

#include <math.h>
#include <string.h>

#include "../base/alloc.h"

enum {
    ROOM_DIVISOR = 4,      /* the list takes so much of a piece's bytes: 64 MiB by default */
    ROOM_MIN = 1 << 12,    /* elements: from fewer nothing could be told */
    RUN_DIVISOR = 1 << 12, /* one run of the sample for so much, 64 KiB: it never takes as long as a pass */
    SAMPLE_RUNS = 1 << 16, /* at most */
    HEAVY_DIVISOR = 64,    /* a class of more than this part of the list stays out of the next one */
    PASSES_MAX = 8,        /* that the progress bar expects, even if the sample narrows nothing down */
};

/* An end of what the list takes. A class that many elements are in stays out of it, and is counted. */
struct end {
    uint64_t class;
    bool apart;
    int64_t count;
    char element[8]; /* one that was counted */
};

struct narrowing {
    struct session *host;
    struct classes *classes; /* shared by all that narrow down side by side */
    size_t element;          /* bytes of one */

    /* The list has one of `stride` elements that were added to it. */
    char *list;
    int64_t room;
    int64_t listed;
    int64_t added;
    int64_t stride;
    int64_t skip; /* so many are passed over before the next one is listed */

    /* What a pass looks for: the k-th is in `range`, and most likely from `low` to `high`. */
    struct class_range range;
    int64_t better; /* than the range */
    struct end low, high;
    int64_t above; /* in the range, and better than `high` */
    char *matches; /* of one chunk; shared */
    bool found;    /* the place */
};

/* What narrows down side by side. */
struct narrowings {
    struct narrowing *list;
    int count;
    struct classes classes;
};

/* ---- The list -------------------------------------------------------------------------------- */

static void empty_list(struct narrowing *n) {
    n->listed = n->added = n->skip = 0;
    n->stride = 1;
}

static char *slot(const struct narrowing *n, int64_t at) {
    return n->list + (size_t)at * n->element;
}

/* Keeps every other element. */
static void thin_list(struct narrowing *n) {
    int64_t kept = 0;
    for (int64_t i = 0; i < n->listed; i += 2)
        memcpy(slot(n, kept++), slot(n, i), n->element);
    n->skip += n->listed % 2 * n->stride;
    n->listed = kept;
    n->stride *= 2;
}

static void add_to_list(struct narrowing *n, const char *values, int64_t count) {
    n->added += count;
    while (n->skip < count) {
        if (n->listed == n->room) {
            thin_list(n);
            continue;
        }
        const int64_t left = count - n->skip, room = n->room - n->listed;
        const int64_t taken = n->stride > 1 ? 1 : left < room ? left : room;
        memcpy(slot(n, n->listed), values + (size_t)n->skip * n->element, (size_t)taken * n->element);
        n->listed += taken;
        n->skip += taken * n->stride;
    }
    n->skip -= count;
}

/* The k-th of some elements. */
static void rank(struct narrowing *n, const char *elements, int64_t count, int64_t k, struct place *place) {
    topk_problem problem = n->classes->problem;
    problem.length_max = count;
    problem.k_max = k;
    session_kth(n->host, &problem, elements, NULL, place->kth, &place->better, &place->equal);
    place->class = classes_of(n->classes, place->kth);
}

/* ---- Passes ---------------------------------------------------------------------------------- */

static void count_end(struct narrowing *n, struct end *end, const struct shown *shown) {
    const struct class_range range = {end->class, end->class};
    char element[8];
    const int64_t found =
        classes_collect(n->classes, range, shown->values, shown->count, 0, element, NULL, 1);
    if (found > 0)
        memcpy(end->element, element, n->element);
    end->count += found;
}

/* What the list takes. */
static struct class_range listed_range(const struct narrowing *n) {
    if (n->low.class == n->high.class && n->high.apart)
        return (struct class_range){CLASS_BEST, CLASS_WORST};
    return (struct class_range){n->low.class + n->low.apart, n->high.class - n->high.apart};
}

static void take_chunk(struct narrowing *n, const struct shown *shown) {
    if (n->high.class < n->range.best) {
        const struct class_range above = {n->high.class + 1, n->range.best};
        n->above += classes_count(n->classes, above, shown->values, shown->count);
    }
    if (n->high.apart)
        count_end(n, &n->high, shown);
    if (n->low.apart && n->low.class < n->high.class)
        count_end(n, &n->low, shown);
    const struct class_range listed = listed_range(n);
    if (listed.worst <= listed.best)
        add_to_list(n, n->matches,
                    classes_collect(n->classes, listed, shown->values, shown->count, 0, n->matches, NULL,
                                    shown->count));
}

static struct end end_at(struct narrowing *n, int64_t k) {
    struct place place;
    rank(n, n->list, n->listed, k, &place);
    return (struct end){.class = place.class, .apart = place.equal > n->listed / HEAVY_DIVISOR};
}

/* Sets the ends to both sides of the element that has rank `expected` among `drawn`, of which the list has
 * those that count. That is right but for four standard deviations. Elements of a run may all be alike. */
static void aim(struct narrowing *n, double expected, double drawn) {
    const double spread = expected < drawn ? sqrt(expected * (1 - expected / drawn) * SAMPLE_RUN) : 0;
    const double margin = 4 * spread + 2 * SAMPLE_RUN;
    n->low = (struct end){.class = n->range.worst};
    n->high = (struct end){.class = n->range.best};
    if (expected + margin < (double)n->listed)
        n->low = end_at(n, (int64_t)(expected + margin) + 1);
    if (expected - margin >= 1)
        n->high = end_at(n, (int64_t)(expected - margin));
    if (n->low.class == n->high.class)
        n->low.apart = n->high.apart = n->low.apart || n->high.apart;
}

/* Estimates the share of elements in a range. The sample has `drawn` elements, and the list holds the ones
 * that meet the predicate. */
static double part_in(struct narrowing *n, struct class_range range, double drawn) {
    return drawn > 0 ? (double)classes_count(n->classes, range, n->list, n->listed) / drawn : 0;
}

/* Estimates how many passes find the place among `elements` elements. Each pass is taken to shrink the list
 * by the same factor. */
static int passes_for(struct narrowing *n, double elements, double drawn) {
    const double part = part_in(n, listed_range(n), drawn);
    int passes = 1;
    for (double listed = elements * part; listed > (double)n->room && passes < PASSES_MAX; listed *= part)
        passes++;
    return passes;
}

static void found_end(struct narrowing *n, const struct end *end, int64_t better, struct place *place) {
    rank(n, end->element, 1, 1, place);
    place->better = better;
    place->equal = end->count;
}

/* After a pass: whether the place is found. If not, the range is what is left of it, and the list is a sample
 * of that, or empty. */
static bool decide(struct narrowing *n, int64_t k, struct place *place) {
    const int64_t from_high = n->better + n->above;
    const int64_t between = from_high + n->high.count;
    const int64_t from_low = between + n->added;
    const int64_t below = from_low + n->low.count;
    if (k <= from_high) {
        n->range.worst = n->high.class + 1;
        empty_list(n);
    } else if (k <= between) {
        found_end(n, &n->high, from_high, place);
        return true;
    } else if (k <= from_low && n->stride == 1) {
        rank(n, n->list, n->listed, k - between, place);
        place->better += between;
        return true;
    } else if (k <= from_low) {
        n->range = listed_range(n);
        n->better = between;
    } else if (k <= below) {
        found_end(n, &n->low, from_low, place);
        return true;
    } else if (n->low.class > n->range.worst) {
        n->range.best = n->low.class - 1;
        n->better = below;
        empty_list(n);
    } else {
        *place = (struct place){.class = CLASS_WORST, .better = below};
        return true;
    }
    return false;
}

static void begin(struct narrowings *all, int count, struct reader *reader, const struct options *options) {
    const topk_type type = reader->problem.type;
    const int64_t element = (int64_t)topk_type_size(type);
    const int64_t room = options->piece_bytes / ROOM_DIVISOR / element / count;
    all->count = count;
    all->list = allocate((uint64_t)count, sizeof *all->list);
    classes_begin(&all->classes, reader->host, options, type, reader->chunk);
    char *matches = allocate((uint64_t)reader->chunk, (size_t)element);
    for (int i = 0; i < count; i++) {
        struct narrowing *n = &all->list[i];
        *n = (struct narrowing){.host = reader->host,
                                .classes = &all->classes,
                                .element = (size_t)element,
                                .room = room > ROOM_MIN ? room : ROOM_MIN,
                                .range = {CLASS_WORST, CLASS_BEST},
                                .matches = matches};
        n->list = allocate((uint64_t)n->room, n->element);
        empty_list(n);
    }
}

static void end(struct narrowings *all) {
    classes_end(&all->classes);
    release(all->list[0].matches);
    for (int i = 0; i < all->count; i++)
        release(all->list[i].list);
    release(all->list);
}

static void take_samples(void *state, const struct shown *shown) {
    struct narrowings *all = state;
    for (int i = 0; i < all->count; i++)
        add_to_list(&all->list[i], shown->values, shown->count);
}

static void take_chunks(void *state, const struct shown *shown) {
    struct narrowings *all = state;
    for (int i = 0; i < all->count; i++)
        if (!all->list[i].found)
            take_chunk(&all->list[i], shown);
}

/* Returns how many elements were drawn for each list. */
static double aim_by_sample(struct narrowings *all, struct reader *reader, const struct options *options,
                            const int64_t *ks) {
    const int64_t per_run = options->piece_bytes / RUN_DIVISOR / (int64_t)all->list->element;
    const int64_t runs = reader->length / (per_run > SAMPLE_RUN ? per_run : SAMPLE_RUN);
    const int64_t taken = runs < SAMPLE_RUNS ? runs : SAMPLE_RUNS;
    reader_sample(reader, taken, take_samples, all);
    const double drawn = (double)taken * SAMPLE_RUN / (double)all->list->stride;
    for (int i = 0; i < all->count; i++)
        aim(&all->list[i], (double)ks[i] / (double)reader->length * drawn, drawn);
    return drawn;
}

bool narrow_guess(struct reader *reader, const struct options *options, int64_t k, int64_t room,
                  uint64_t *class) {
    struct narrowings all;
    begin(&all, 1, reader, options);
    struct narrowing *n = all.list;
    const double drawn = aim_by_sample(&all, reader, options, &k);
    const double part = part_in(n, (struct class_range){n->low.class, CLASS_BEST}, drawn);
    const bool apart = n->low.apart;
    *class = n->low.class;
    end(&all);
    return !apart && part * (double)reader->length <= (double)room;
}

/* After a pass: decides, or aims anew. Returns how many passes are left, most likely. */
static int go_on(struct narrowing *n, int64_t k, struct place *place) {
    n->found = decide(n, k, place);
    if (n->found)
        return 0;
    const double elements = (double)n->added, drawn = (double)n->listed;
    aim(n, n->added > 0 ? (double)(k - n->better) / elements * drawn : 0, drawn);
    return passes_for(n, elements, drawn);
}

static int most(int a, int b) {
    return a > b ? a : b;
}

void narrow_row(struct reader *reader, const struct options *options, const int64_t *ks, int count,
                struct place *places) {
    struct narrowings all;
    const int passes_after = reader->passes_left - 1;
    int passes = 0;
    begin(&all, count, reader, options);
    const double drawn = aim_by_sample(&all, reader, options, ks);
    for (int i = 0; i < count; i++)
        passes = most(passes, passes_for(&all.list[i], (double)reader->length, drawn));
    while (passes > 0) {
        reader_expect(reader, passes + passes_after);
        for (int i = 0; i < count; i++) {
            if (all.list[i].found)
                continue;
            empty_list(&all.list[i]);
            all.list[i].above = 0;
        }
        reader_pass(reader, take_chunks, &all);
        passes = 0;
        for (int i = 0; i < count; i++)
            if (!all.list[i].found)
                passes = most(passes, go_on(&all.list[i], ks[i], &places[i]));
    }
    end(&all);
}
