/* SPDX-License-Identifier: Apache-2.0
 * Which network serves a problem whose rows are all alike, and what its kernel is told. */
#include <math.h>

#include "plan.h"

enum { NETWORK };

const struct knob topk_cuda_rtopk_knobs[] = {
    [NETWORK] =
        {"network", KNOB_INTEGER, 0, 4, 1,
         "sorting networks find the thresholds of rows of one length: 0 never, 1 where they take fewer "
         "instructions, 2 wherever they can, 3 likewise, by counting alone, 4 likewise, of candidates alone"},
    {.name = NULL}};

/* LISTS: lanes sort all of their items. COUNTS: leads are counted. TINY: a thread has a row. */
enum kind { LISTS, COUNTS, TINY, CANDIDATES };

/* kept: 0 where leads are counted. Of tiny rows 1 where the best element is all that is found. Of candidates
 * how many heads a lane has. */
#define NETWORK_SHAPE(items, kept) {items, kept, (kept) == 0 ? COUNTS : LISTS},
#define TINY_SHAPE(items, kept) {items, kept, TINY},
#define CANDIDATE_SHAPE(items, heads) {items, heads, CANDIDATES},
static const struct network_shape {
    int64_t items, kept;
    enum kind kind;
} shapes[] = {RTOPK_NETWORK_LIST(NETWORK_SHAPE) RTOPK_TINY_LIST(TINY_SHAPE)
                  RTOPK_CANDIDATE_LIST(CANDIDATE_SHAPE)};

/* The least number whose power of two, times `unit`, is `count` or more. */
static uint32_t shift_to(int64_t unit, int64_t count) {
    uint32_t shift = 0;
    while (unit << shift < count) {
        shift++;
    }
    return shift;
}

/* Whether a lane's list nearly always has room for its results, if these are spread over the lanes at random.
 */
static bool has_room(const struct network_shape *shape, int64_t k, int64_t lanes) {
    const double share = 1.0 / (double)lanes, mean = (double)k * share;
    return shape->kept == 0 || shape->kept >= least(k, shape->items) ||
           (double)shape->kept >= mean + 0.1 * RTOPK_NETWORK_DEVIATIONS * sqrt(mean * (1 - share));
}

/* Elements that lists of candidates serve, and results by position. */
static bool is_common(const struct plan *plan) {
    return plan->element_bytes == 2 || plan->element_bytes == 4;
}

/* Whether a shape is made for such rows. Of candidates there is room for as many as heads. No more results
 * than half of these are looked for, or a quarter where heads are few: then there is room for nearly all
 * rows' candidates. */
static bool may_serve(const struct plan *plan, const struct network_shape *shape, int64_t lanes) {
    const int64_t n = plan->problem.length_max, k = results_max(plan), heads = shape->kept * lanes;
    if (is_by_position(plan) && shape->kind != TINY && !is_common(plan)) {
        return false;
    }
    switch (shape->kind) {
    case TINY:
        return n <= shape->items && (shape->kept == 0 || k <= shape->kept);
    case CANDIDATES:
        return is_common(plan) && k * (heads < RTOPK_MANY_HEADS ? 4 : 2) <= heads;
    case COUNTS:
        return plan->element_bytes < 8 || shape->items <= RTOPK_STAGED_ITEMS || n > 32 * RTOPK_STAGED_ITEMS;
    default:
        return has_room(shape, k, lanes);
    }
}

/* Of a power of two. */
static double log2_of(double power) {
    return (double)__builtin_ctzll((unsigned long long)power);
}

/* Instructions that sort `words` words, a power of two, and that sort them where they ascend and descend
 * once. */
static double sort_instructions(double words) {
    const double steps = log2_of(words);
    return (steps * steps - steps + 4) * words / 2 - 2;
}

static double merge_instructions(double words) {
    return words * log2_of(words);
}

/* Where each lane takes `words` words. More lanes than share a row may do so, and the rows take turns. */
static struct ordering ordering_of(uint32_t words, uint32_t part_shift, int64_t k) {
    const uint32_t shift = (uint32_t)greatest(part_shift, shift_to(words, k));
    const double count = words, levels = shift, exchange = 3 * count;
    const double merges =
        levels * (17 + exchange + merge_instructions(count)) + levels * (levels - 1) / 2 * (7 + exchange);
    const double of_turn = 70 + 17 * count + 11 * levels + sort_instructions(count) + merges;
    return (struct ordering){words, shift, 30 + of_turn * (double)(1 << shift >> part_shift)};
}

/* The best way; lanes have at least one word to compare. */
static struct ordering best_ordering(uint32_t most, uint32_t part_shift, int64_t k) {
    struct ordering best = {.instructions = INFINITY};
    for (uint32_t words = 2; words <= k; words = RTOPK_ORDER_NEXT(words, most)) {
        const struct ordering ordering = ordering_of(words, part_shift, k);
        best = ordering.shift <= 5 && ordering.instructions < best.instructions ? ordering : best;
        if (words == most) {
            break;
        }
    }
    return best;
}

static uint32_t most_in_order(const struct network_shape *shape) {
    return RTOPK_ORDER_MOST(shape->items, shape->kept);
}

/* Whether listed results are sorted. By position they are listed in order. */
static bool goes_in_order(const struct plan *plan) {
    return is_sorted(plan) && !is_by_position(plan) && results_max(plan) > 1;
}

/* The bits that positions of a row take of the words that are sorted. */
static uint32_t position_mask(const struct plan *plan) {
    return (1u << greatest(RTOPK_POSITION_BITS, shift_to(1, plan->problem.length_max))) - 1;
}

static void set_ordering(const struct plan *plan, const struct ordering *ordering, struct uniform_rows *u) {
    u->order_words = ordering->words;
    u->order_shift = ordering->shift;
    u->position_mask = position_mask(plan);
}

bool topk_cuda_rtopk_order_parts(const struct plan *plan, uint32_t most, struct rtopk_plan *own) {
    own->alike.is_sorted = goes_in_order(plan);
    if (!own->alike.is_sorted) {
        return true;
    }
    const struct ordering ordering = best_ordering(most, own->uniform.part_shift, results_max(plan));
    set_ordering(plan, &ordering, &own->uniform);
    return ordering.instructions < INFINITY;
}

/* Merges of all lanes' lists. */
static double lane_instructions(const struct network_shape *shape, const struct network *network) {
    const double levels = network->part_shift, kept = (double)shape->kept;
    const double spans = fmin(levels, network->list_shift) * levels / 2;
    return levels * (5 * kept + merge_instructions(kept)) + spans * 3.5 * kept;
}

/* Of a search by lists: they are sorted, and merged. */
static double list_instructions(const struct network_shape *shape, const struct network *network, int64_t n) {
    const double kept = (double)shape->kept;
    const double lists = (double)divide_up(n, shape->kept << network->part_shift);
    const double sort = sort_instructions(kept), merge = kept + merge_instructions(kept);
    return lists * sort + (lists - 1) * merge + lane_instructions(shape, network);
}

/* Of a search among candidates: a network finds the bound, and another one the k-th of them. */
static double candidate_instructions(const struct network_shape *shape, const struct network *network) {
    const double heads = (double)shape->kept;
    return 0.6 * (double)shape->items + 140 +
           2 * (sort_instructions(heads) + lane_instructions(shape, network)) + 20 * heads;
}

/* Warps that the GPU has room for at a time. */
static int64_t resident_warps(const topk_context *context, const struct plan *plan,
                              const struct network_shape *shape) {
    const int64_t blocks = shape->kind == CANDIDATES
                               ? RTOPK_CANDIDATE_BLOCKS(shape->items)
                               : RTOPK_NETWORK_BLOCKS(shape->items, shape->kept, plan->element_bytes);
    return device_of(context)->sms * blocks * (RTOPK_THREADS / 32);
}

/* What a warp waits for in short loops, of lists and from lane to lane, where few warps follow that could run
 * meanwhile. Fitted on an H200 (driver 580, 2026-11-23). */
static double candidate_waits(const topk_context *context, const struct plan *plan,
                              const struct network_shape *shape, int64_t rows_of_warp) {
    const double warps = (double)plan->problem.rows / (double)rows_of_warp;
    const double share = fmin(1, (double)resident_warps(context, plan, shape) / warps);
    return 25 * share * (double)(shape->kept * rows_of_warp);
}

/* Of a search by counting: as many steps as the slowest row of a warp takes, and a sort of samples. Of the
 * two instructions for a lead one goes to units that are idle otherwise, so it counts half. */
static double count_instructions(const struct network_shape *shape, const struct network *network) {
    const double steps = 7.3 - 0.25 * network->part_shift;
    return 150 + steps * (1.5 * (double)shape->items + 60 + 6 * network->part_shift);
}

/* Results by position take more: bits of results are exchanged, or counts of groups added up. */
static double in_order_instructions(const struct network_shape *shape, const struct network *network) {
    const double levels = network->part_shift;
    return shape->kind == COUNTS ? 10 + 15 * levels + 1.6 * (double)shape->items : 50 + 8 * levels;
}

/* A model of what a warp executes: rows are read, converted and compared with the threshold, which is
 * searched; results are listed, perhaps sorted, and written. */
static double instructions_of(const struct plan *plan, const struct network_shape *shape,
                              const struct network *network) {
    const int64_t lanes = 1 << network->part_shift, n = plan->problem.length_max, per = group_elements(plan);
    const bool may_be_whole = n % per == 0 && plan->problem.row_stride % per == 0;
    const double k = (double)results_max(plan), of_lane = k / (double)lanes;
    const double search = shape->kind == COUNTS       ? count_instructions(shape, network)
                          : shape->kind == CANDIDATES ? candidate_instructions(shape, network)
                                                      : list_instructions(shape, network, n);
    const bool lists_leads = shape->kind == COUNTS && plan->element_bytes < 8;
    const bool is_staged = shape->kind == COUNTS && !lists_leads && shape->items <= RTOPK_STAGED_ITEMS;
    const double list = lists_leads ? 7.0 * (double)shape->items
                        : is_staged ? 4.0 * (double)shape->items
                                    : 10 * (of_lane + 3 * sqrt(of_lane) + 1);
    const double write = lists_leads || is_staged ? 6 * of_lane + 20 : 22 * ceil(of_lane);
    const double read = (double)shape->items * (may_be_whole ? 6.5 : 10.5);
    const double in_order = is_by_position(plan) ? in_order_instructions(shape, network) : 0;
    return 250 + read + search + list + in_order + network->ordering.instructions + write;
}

/* The same, where a thread has a row to itself. Lanes that read the same bank of shared memory wait. */
static double tiny_instructions_of(const struct plan *plan, const struct network_shape *shape) {
    const int64_t n = plan->problem.length_max, k = results_max(plan);
    const double length = (double)n, lanes_of_bank = (double)least(n & -n, 32);
    if (shape->kept == 1) {
        return 80 + length * fmax(11, 2 * lanes_of_bank);
    }
    return 90 + 10 * length + (k == 1 ? 4 * length : 1.7 * length * length + 8 * length) + 4 * (double)k;
}

double topk_cuda_rtopk_instructions_of_row(const topk_context *context, const struct plan *plan,
                                           double of_warp, int64_t rows_of_warp) {
    const double warps = (double)plan->problem.rows / (double)rows_of_warp;
    const double busy = RTOPK_BUSY_WARPS * (double)device_of(context)->sms;
    return of_warp / (double)rows_of_warp * fmax(1, busy / warps);
}

bool topk_cuda_rtopk_shares_warps(const struct plan *plan) {
    return tuning_value(plan->problem.tuning, &topk_cuda_rtopk_knobs[NETWORK]) != 0;
}

struct network topk_cuda_rtopk_network_of(const topk_context *context, const struct plan *plan) {
    struct network best = {.instructions = INFINITY};
    const int64_t n = plan->problem.length_max, k = results_max(plan);
    const int64_t setting = tuning_value(plan->problem.tuning, &topk_cuda_rtopk_knobs[NETWORK]);
    if (setting == 0 || n > RTOPK_UNIFORM_ROW_MAX || k == 0) {
        return best;
    }
    for (uint32_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const struct network_shape *shape = &shapes[i];
        if ((setting == 3 && shape->kind != COUNTS) || (setting == 4 && shape->kind != CANDIDATES)) {
            continue;
        }
        const uint32_t list_shift = shape->kept == 0 ? 0 : shift_to(shape->kept, k);
        struct network network = {
            .index = i, .part_shift = shift_to(shape->items, n), .list_shift = list_shift};
        if (network.part_shift > 5 || network.list_shift > network.part_shift ||
            32 >> network.part_shift > RTOPK_NETWORK_RESULTS / k ||
            !may_serve(plan, shape, 1 << network.part_shift)) {
            continue;
        }
        if (shape->kind != TINY && goes_in_order(plan)) {
            network.ordering = best_ordering(most_in_order(shape), network.part_shift, k);
        }
        network.of_warp =
            shape->kind == TINY ? tiny_instructions_of(plan, shape) : instructions_of(plan, shape, &network);
        if (shape->kind == CANDIDATES) {
            network.of_warp += candidate_waits(context, plan, shape, 32 >> network.part_shift);
        }
        network.instructions =
            topk_cuda_rtopk_instructions_of_row(context, plan, network.of_warp, 32 >> network.part_shift);
        if (network.instructions < best.instructions) {
            best = network;
        }
    }
    best.instructions = setting >= 2 && best.instructions < INFINITY ? 0 : best.instructions;
    return best;
}

/* Half of the rows of all blocks that are resident at a time, which measured best; 0 if rows do not lie one
 * behind the other. */
static uint32_t ahead_of(const topk_context *context, const struct plan *plan,
                         const struct network_shape *shape, int64_t rows_of_warp) {
    const topk_problem *p = &plan->problem;
    const int64_t warps = resident_warps(context, plan, shape) / 2;
    return p->row_stride == p->length_max ? (uint32_t)(warps * rows_of_warp) : 0;
}

/* Lanes have several tiny rows where these are many, so that a warp has more to read at once. */
static uint32_t row_shift_of(const topk_context *context, const struct plan *plan) {
    const int64_t warps = plan->problem.rows / 32, needed = RTOPK_TINY_WARPS * device_of(context)->sms;
    uint32_t shift = 0;
    while (shift < RTOPK_TINY_SHIFT && plan->problem.length_max << (shift + 1) <= RTOPK_TINY_ELEMENTS &&
           warps >> (shift + 1) >= needed) {
        shift++;
    }
    return shift;
}

/* What a search by counting begins with. Needs part_shift. Lanes that are not full have fewer samples. */
static void set_guesses(const struct plan *plan, const struct network_shape *shape, struct uniform_rows *u) {
    const struct type_traits traits = topk_type_traits(plan->order.type);
    const int64_t leads = shape->items << u->part_shift, samples = u->length * RTOPK_SAMPLES / leads;
    const float rank = (float)(u->k * RTOPK_SAMPLES) / (float)leads - 0.5f, ranks_beyond = 1.3f;
    const int64_t upper = (int64_t)(rank - RTOPK_SAMPLE_SPAN / 2.0f + 0.5f);
    u->has_numbers = traits.is_float;
    u->number_shift = traits.bits < 32 ? traits.mantissa_bits + 9 - traits.bits : 0;
    u->upper_sample = (uint32_t)greatest(1, least(upper, least(RTOPK_UPPER_SAMPLE, samples - 2)));
    u->lower_sample = (uint32_t)least(u->upper_sample + RTOPK_SAMPLE_SPAN, greatest(2, samples - 1));
    const float span = (float)(u->lower_sample - u->upper_sample);
    u->sample_share = fmaxf((float)u->lower_sample - rank, 0) / span;
    u->rank_share = ranks_beyond * RTOPK_SAMPLES / (span * (float)(leads << u->part_shift));
}

static const char *const kind_names[] = {
    [LISTS] = "lists", [COUNTS] = "counts", [TINY] = "tiny", [CANDIDATES] = "candidates"};

const char *topk_cuda_rtopk_take_network(const topk_context *context, const struct plan *plan,
                                         const struct network *network, struct rtopk_plan *own) {
    const topk_problem *p = &plan->problem;
    const struct network_shape *shape = &shapes[network->index];
    const bool is_tiny = shape->kind == TINY;
    const uint32_t row_shift = is_tiny ? row_shift_of(context, plan) : 0, k = (uint32_t)results_max(plan);
    const int64_t parts = 32 >> network->part_shift << row_shift, warps = RTOPK_THREADS / 32;
    struct uniform_rows *u = &own->uniform;
    *u = (struct uniform_rows){.length = (uint32_t)p->length_max,
                               .k = k,
                               .has_padding = p->k_max > k,
                               .part_shift = network->part_shift,
                               .row_shift = row_shift,
                               .list_shift = network->list_shift,
                               .is_full = p->length_max == shape->items << network->part_shift,
                               .group_shift = shift_to(1, least(group_elements(plan), shape->items)),
                               .reciprocal = (1u << RTOPK_RECIPROCAL_BITS) / k + 1,
                               .ahead = ahead_of(context, plan, shape, parts)};
    set_guesses(plan, shape, u);
    own->alike = (struct rtopk_launch){.kernel = RTOPK_NETWORK,
                                       .index = network->index,
                                       .blocks = divide_up(p->rows, parts * warps),
                                       .threads = RTOPK_THREADS,
                                       .is_sorted = goes_in_order(plan),
                                       .slots = (uint32_t)parts * k};
    if (own->alike.is_sorted && !is_tiny) {
        set_ordering(plan, &network->ordering, u);
    }
    return kind_names[shape->kind];
}
