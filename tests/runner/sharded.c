/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of a case cut into shards, each with a state of its own. All share two arrays of counters by
 * turns, so that the sums are there without any more work: also in a graph. In half of the cases elements
 * that do not meet the predicate do not count. Then each shard selects its part of the results. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "elements.h"
#include "random.h"
#include "run.h"
#include "topk_sharded.h"

enum { SHARDS_MOST = 7, COUNTED_ROWS_MOST = 40, NUMBERS = 7 };
enum number { BETTER, EQUAL, OWN_BETTER, OWN_EQUAL, OWN_K, AFTER, KNOWN };

typedef struct shard {
    topk_problem problem;
    topk_input input;
    topk_predicate predicate;
    int64_t middle; /* where its second part begins; -1: it is in one */
    int64_t *cuts;  /* where it begins in each row */
    void *extents[2];
    int64_t pitch; /* of its own results */
    device_buffer given[2], state, kth, numbers, values, indices;
} shard;

typedef struct shards {
    int count, rounds;
    bool where; /* the predicate decides which elements count */
    int64_t rows;
    int64_t *cuts; /* (count + 1) x rows: the shards lie between them */
    shard each[SHARDS_MOST];
    device_buffer counters[2];
} shards;

static int64_t lesser(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static void *allocate(size_t bytes) {
    void *memory = calloc(1, bytes + 1);
    if (memory == NULL) {
        abort();
    }
    return memory;
}

static int ascending(const void *left, const void *right) {
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* Where the shards of a row of `length` elements begin, and its end. Some are empty. */
static void draw_cuts(random_state *random, int count, int64_t length, int64_t *cuts) {
    const bool even = random_below(random, 2) == 0;
    for (int c = 0; c <= count; c++) {
        cuts[c] = c == 0       ? 0
                  : c == count ? length
                  : even       ? length * c / count
                               : random_below(random, length + 1);
    }
    qsort(cuts, (size_t)count + 1, sizeof *cuts, ascending);
    if (!even && count > 2) {
        cuts[2] = cuts[1];
    }
}

static void cut_rows(const run *r, shards *s, random_state *random) {
    int64_t cuts[SHARDS_MOST + 1];
    for (int64_t row = 0; row < s->rows; row++) {
        const bool alike =
            row > 0 && r->instance->input.lengths == NULL && r->problem.shape == TOPK_SHAPE_STRIDED;
        if (!alike) {
            draw_cuts(random, s->count, r->instance->rows[row].extent.length, cuts);
        }
        for (int c = 0; c <= s->count; c++) {
            s->cuts[c * s->rows + row] = cuts[c];
        }
    }
}

static void write_extent(void *array, int64_t at, topk_index_type type, int64_t extent) {
    if (type == TOPK_INDEX_I32) {
        ((int32_t *)array)[at] = (int32_t)extent;
    } else {
        ((int64_t *)array)[at] = extent;
    }
}

/* Strided rows that are full stay so: the shard begins further on. */
static void make_strided(const run *r, const shards *s, shard *out) {
    const int64_t begin = s->rows > 0 ? out->cuts[0] : 0, end = s->rows > 0 ? out->cuts[s->rows] : 0;
    topk_problem *p = &out->problem;
    p->row_stride = p->row_stride == 0 ? p->length_max : p->row_stride;
    p->length_max = end - begin;
    /* A mask of bits begins with a whole byte. */
    out->middle = r->instance->source->seed % 3 == 0 ? -1 : (end - begin) / 3 / 8 * 8;
    out->input.values = (const char *)out->input.values + (size_t)begin * oracle_type_size(r->problem.type);
    if (out->input.indices != NULL) {
        out->input.indices = (const char *)out->input.indices + (size_t)begin * instance_index_bytes(p);
    }
    if (out->predicate.mask != NULL) {
        const bool bits = out->predicate.kind == TOPK_BIT_MASK;
        out->predicate.mask = (const char *)out->predicate.mask + (bits ? begin / 8 : begin);
    }
}

static void make_spans(const run *r, const shards *s, shard *out) {
    const topk_problem *of_case = &r->instance->problem;
    const size_t bytes = (of_case->extent_type == TOPK_INDEX_I32 ? 4 : 8) * (size_t)s->rows;
    topk_problem *p = &out->problem;
    p->shape = TOPK_SHAPE_SPANS;
    p->row_stride = p->length_max = 0;
    p->elements_max = r->instance->elements;
    for (int end = 0; end < 2; end++) {
        out->extents[end] = allocate(bytes);
        for (int64_t row = 0; row < s->rows; row++) {
            write_extent(out->extents[end], row, p->extent_type,
                         r->instance->rows[row].extent.first + out->cuts[end * s->rows + row]);
        }
        out->given[end] = device_input(out->extents[end], bytes);
    }
    for (int64_t row = 0; row < s->rows; row++) {
        const int64_t length = out->cuts[s->rows + row] - out->cuts[row];
        p->length_max = length > p->length_max ? length : p->length_max;
    }
    out->input.lengths = out->input.offsets = NULL;
    out->input.begins = out->given[0].data;
    out->input.ends = out->given[1].data;
}

static void make_shard(const run *r, shards *s, int which) {
    shard *out = &s->each[which];
    out->cuts = s->cuts + which * s->rows;
    out->problem = r->instance->problem;
    out->middle = -1;
    out->problem.rows = s->rows;
    out->problem.workspace_limit = r->instance->source->value[DIM_LIMIT] == LIMIT_HALF;
    out->input = instance_input(r->instance);
    out->input.k = NULL;
    out->predicate = r->predicate;
    out->input.predicate = s->where ? &out->predicate : NULL;
    /* A mask of bits begins with a whole byte. */
    const bool moves =
        out->problem.shape == TOPK_SHAPE_STRIDED && out->input.lengths == NULL &&
        (!s->where || out->predicate.kind != TOPK_BIT_MASK || s->rows == 0 || out->cuts[0] % 8 == 0);
    if (s->count > 1 && moves) {
        make_strided(r, s, out);
    } else if (s->count > 1) {
        make_spans(r, s, out);
    }
}

/* False after an error, which r->status has. */
static bool measure(run *r, shards *s) {
    for (int i = 0; i < s->count; i++) {
        shard *each = &s->each[i];
        topk_sharded_properties properties = TOPK_SHARDED_PROPERTIES_INIT;
        r->status = topk_sharded_query(r->context, &each->problem, &properties);
        if (r->status != TOPK_OK) {
            return false;
        }
        static const long offsets[] = {0, 1, 3, GUARDED_AT_END};
        const long offset = offsets[r->instance->source->value[DIM_WORKSPACE]];
        each->state = device_workspace(properties.state_bytes, offset, 0xa5, 1);
        each->kth = device_output((size_t)s->rows * oracle_type_size(r->problem.type), RUN_POISON);
        each->numbers = device_output((size_t)s->rows * NUMBERS * sizeof(int64_t), RUN_POISON);
        each->pitch = lesser(each->problem.k_max, each->problem.length_max + i % 2);
        each->values =
            run_output(wants_values(r->instance), s->rows * each->pitch, oracle_type_size(r->problem.type));
        each->indices = run_output(wants_indices(r->instance), s->rows * each->pitch,
                                   instance_index_bytes(&each->problem));
        s->rounds = properties.rounds;
        for (int c = 0; i == 0 && c < 2; c++) {
            s->counters[c] = device_output((size_t)properties.counters * sizeof(int64_t), RUN_POISON);
        }
    }
    return true;
}

static void make_outputs(run *r) {
    static const int counts[] = {1, 2, 3, 4, 7};
    random_state random = {r->instance->source->seed};
    shards *s = r->shards = allocate(sizeof *s);
    const int64_t rows = r->instance->problem.rows;
    s->count = counts[random_below(&random, 5)];
    s->where = random_below(&random, 2) == 0 && r->predicate.kind != TOPK_AT_LEAST;
    s->rows = rows < COUNTED_ROWS_MOST / s->count ? rows : COUNTED_ROWS_MOST / s->count;
    s->cuts = allocate((size_t)(s->count + 1) * (size_t)s->rows * sizeof *s->cuts);
    cut_rows(r, s, &random);
    for (int i = 0; i < s->count; i++) {
        make_shard(r, s, i);
    }
    (void)measure(r, s);
}

static int64_t *numbers_of(const shards *s, const shard *each, enum number which) {
    return (int64_t *)each->numbers.data + which * s->rows;
}

/* Ties of the shards before. */
static const int64_t *ties_before(const shards *s, int i) {
    return i == 0 ? NULL : numbers_of(s, &s->each[i - 1], AFTER);
}

static topk_status write_results(topk_context *context, shards *s, int i) {
    shard *each = &s->each[i];
    const int64_t *before = ties_before(s, i);
    topk_sharded_output output = TOPK_SHARDED_OUTPUT_INIT;
    output.kth = each->kth.data;
    output.better = numbers_of(s, each, BETTER);
    output.equal = numbers_of(s, each, EQUAL);
    output.own_better = numbers_of(s, each, OWN_BETTER);
    output.own_equal = numbers_of(s, each, OWN_EQUAL);
    output.own_k = numbers_of(s, each, OWN_K);
    output.after = numbers_of(s, each, AFTER);
    output.known = numbers_of(s, each, KNOWN);
    return topk_sharded_result(context, &each->problem, each->state.data, each->state.bytes, before, &output,
                               device_stream());
}

/* The elements of each row from `begin` on, up to the middle or the end: a part. */
static topk_input input_from(const run *r, const shard *each, int64_t begin, topk_predicate *predicate) {
    topk_input input = each->input;
    *predicate = each->predicate;
    input.values = (const char *)input.values + (size_t)begin * oracle_type_size(r->problem.type);
    if (input.indices != NULL) {
        input.indices = (const char *)input.indices + (size_t)begin * instance_index_bytes(&each->problem);
    }
    if (input.predicate != NULL && predicate->mask != NULL) {
        const bool bits = predicate->kind == TOPK_BIT_MASK;
        predicate->mask = (const char *)predicate->mask + (bits ? begin / 8 : begin);
    }
    input.predicate = input.predicate != NULL ? predicate : NULL;
    return input;
}

static int64_t part_length(const shard *each, int64_t begin) {
    return begin == 0 ? each->middle : each->problem.length_max - begin;
}

static topk_status count_part(topk_context *context, const run *r, const shard *each, int round,
                              int64_t begin, int64_t *counters) {
    topk_predicate predicate;
    const topk_input input = input_from(r, each, begin, &predicate);
    return topk_sharded_count_part(context, &each->problem, each->state.data, each->state.bytes, round,
                                   begin > 0, &input, part_length(each, begin), counters, device_stream());
}

static topk_status select_part(topk_context *context, const run *r, const shard *each, const int64_t *before,
                               int64_t begin) {
    topk_predicate predicate;
    topk_problem problem = each->problem;
    const topk_input input = input_from(r, each, begin, &predicate);
    problem.index_base += begin;
    return topk_sharded_select_part(context, &problem, each->state.data, each->state.bytes, begin > 0, &input,
                                    part_length(each, begin), before, each->pitch, each->values.data,
                                    each->indices.data, device_stream());
}

static topk_status select_shard(topk_context *context, const run *r, const shard *each,
                                const int64_t *before) {
    if (each->middle <= 0) {
        return topk_sharded_select(context, &each->problem, each->state.data, each->state.bytes, &each->input,
                                   before, each->pitch, each->values.data, each->indices.data,
                                   device_stream());
    }
    const topk_status status = select_part(context, r, each, before, 0);
    return status != TOPK_OK ? status : select_part(context, r, each, before, each->middle);
}

static topk_status count_shard(topk_context *context, const run *r, const shard *each, int round,
                               int64_t *counters) {
    if (each->middle <= 0) {
        return topk_sharded_count(context, &each->problem, each->state.data, each->state.bytes, round,
                                  &each->input, counters, device_stream());
    }
    const topk_status status = count_part(context, r, each, round, 0, counters);
    return status != TOPK_OK ? status : count_part(context, r, each, round, each->middle, counters);
}

static topk_status call(topk_context *context, run *r, const topk_input *input) {
    shards *s = r->shards;
    topk_status status = r->status;
    for (int i = 0; i < s->count && status == TOPK_OK; i++) {
        status = topk_sharded_begin(context, &s->each[i].problem, s->each[i].state.data,
                                    s->each[i].state.bytes, input->k, s->counters[0].data, device_stream());
    }
    for (int round = 0; round < s->rounds && status == TOPK_OK; round++) {
        int64_t *now = s->counters[round % 2].data, *next = s->counters[1 - round % 2].data;
        for (int i = 0; i < s->count && status == TOPK_OK; i++) {
            status = count_shard(context, r, &s->each[i], round, now);
        }
        for (int i = 0; i < s->count && status == TOPK_OK; i++) {
            shard *each = &s->each[i];
            status = topk_sharded_advance(context, &each->problem, each->state.data, each->state.bytes, round,
                                          now, next, device_stream());
        }
    }
    for (int i = 0; i < s->count && status == TOPK_OK; i++) {
        status = write_results(context, s, i);
        status = status == TOPK_OK ? select_shard(context, r, &s->each[i], ties_before(s, i)) : status;
    }
    return status;
}

static int64_t seen(const shards *s, const shard *each, enum number which, int64_t row) {
    return ((const int64_t *)each->numbers.seen)[which * s->rows + row];
}

/* A row as it counts: what does not meet the predicate is no part of it. */
static instance_row counted_row(const run *r, int64_t row) {
    instance_row counted = r->instance->rows[row];
    if (r->shards->where) {
        counted.ranking = counted.matching;
        counted.extent.length = counted.matches;
    }
    return counted;
}

/* How many of the row's elements from `first` to before `end` of its ranking lie in the shard. */
static int64_t in_shard(const shards *s, const shard *each, const instance_row *row, int64_t r, int64_t first,
                        int64_t end) {
    int64_t count = 0;
    for (int64_t i = first; i < end && i < row->extent.length; i++) {
        const int64_t position = row->ranking[i].position;
        count += position >= each->cuts[r] && position < each->cuts[s->rows + r];
    }
    return count;
}

static run_result check_own(const run *r, const shard *each, int64_t row, int64_t *before) {
    const shards *s = r->shards;
    const instance_row counted = counted_row(r, row), *of_case = &counted;
    const int64_t better = seen(s, each, BETTER, row), equal = seen(s, each, EQUAL, row);
    const int64_t wanted[NUMBERS] = {[BETTER] = better,
                                     [EQUAL] = equal,
                                     [OWN_BETTER] = in_shard(s, each, of_case, row, 0, better),
                                     [OWN_EQUAL] = in_shard(s, each, of_case, row, better, better + equal),
                                     [OWN_K] = in_shard(s, each, of_case, row, 0, of_case->extent.k),
                                     [KNOWN] = 2,
                                     [AFTER] =
                                         *before + in_shard(s, each, of_case, row, better, better + equal)};
    for (int n = OWN_BETTER; n < NUMBERS; n++) {
        if (seen(s, each, (enum number)n, row) != wanted[n]) {
            return run_fail(
                "row %" PRId64 " in [%" PRId64 ", %" PRId64 "): number %d is %" PRId64 ", not %" PRId64, row,
                each->cuts[row], each->cuts[s->rows + row], n, seen(s, each, (enum number)n, row), wanted[n]);
        }
    }
    *before = wanted[AFTER];
    return RUN_PASSED;
}

/* Slot `slot` of a row of the shard: result `element` of the row, or padding, which is at -1. */
static run_result check_slot(const run *r, const shard *each, int64_t row, int64_t slot, int64_t position) {
    const topk_problem *p = &each->problem;
    const instance_row *of_case = &r->instance->rows[row];
    const int64_t at = row * each->pitch + slot;
    uint64_t padding = 0;
    oracle_write_padding(p->type, p->direction, &padding);
    const uint64_t bits =
        position < 0 ? element_get_bits(p->type, &padding, 0)
                     : element_get_bits(p->type, r->instance->input.values, of_case->extent.first + position);
    int64_t index = position < 0 ? -1 : instance_index(r->instance, of_case, position);
    if (position >= 0 && each->input.indices == NULL) {
        index -= each->cuts[row]; /* positions count in the shard */
    }
    if (each->indices.data != NULL && instance_read_index(p, each->indices.seen, at) != index) {
        return run_fail("row %" PRId64 " of a shard, slot %" PRId64 ": expected index %" PRId64
                        ", got %" PRId64,
                        row, slot, index, instance_read_index(p, each->indices.seen, at));
    }
    return each->values.data == NULL || run_output_bits(p->type, &each->values, at) == bits
               ? RUN_PASSED
               : run_fail("row %" PRId64 " of a shard, slot %" PRId64 ": expected bits %#" PRIx64
                          ", got %#" PRIx64,
                          row, slot, bits, run_output_bits(p->type, &each->values, at));
}

/* The results that the shard has selected: the whole's results that lie in it, by position. */
static run_result check_selected(const run *r, const shard *each, int64_t row) {
    const shards *s = r->shards;
    const instance_row counted = counted_row(r, row);
    const int64_t k = lesser(counted.extent.k, counted.extent.length);
    int64_t *positions = allocate((size_t)k * sizeof *positions), count = 0;
    run_result result = RUN_PASSED;
    for (int64_t i = 0; i < k; i++) {
        const int64_t position = counted.ranking[i].position;
        if (position >= each->cuts[row] && position < each->cuts[s->rows + row]) {
            positions[count++] = position;
        }
    }
    qsort(positions, (size_t)count, sizeof *positions, ascending);
    for (int64_t slot = 0; slot < each->pitch && result == RUN_PASSED; slot++) {
        result = check_slot(r, each, row, slot, slot < count ? positions[slot] : -1);
    }
    free(positions);
    return result;
}

static run_result check_row(const run *r, int64_t row) {
    const shards *s = r->shards;
    const instance_row counted = counted_row(r, row);
    int64_t before = 0;
    run_result result = RUN_PASSED;
    for (int i = 0; i < s->count && result == RUN_PASSED; i++) {
        const shard *each = &s->each[i];
        result = run_check_kth(r->instance, row, &counted, run_output_bits(r->problem.type, &each->kth, row),
                               seen(s, each, BETTER, row), seen(s, each, EQUAL, row));
        result = result == RUN_PASSED ? check_own(r, each, row, &before) : result;
        result = result == RUN_PASSED ? check_selected(r, each, row) : result;
    }
    return result;
}

static run_result judge(const run *r) {
    const shards *s = r->shards;
    run_result result = RUN_PASSED;
    for (int64_t row = 0; row < s->rows && result == RUN_PASSED; row++) {
        result = check_row(r, row);
    }
    for (int i = 0; i < s->count; i++) {
        if (!device_intact(&s->each[i].state) || !device_intact(&s->each[i].kth) ||
            !device_intact(&s->each[i].numbers) || !device_intact(&s->each[i].values) ||
            !device_intact(&s->each[i].indices) || !device_intact(&s->counters[i % 2])) {
            result = run_fail("wrote outside of the state, the counters or the outputs of shard %d", i);
        }
    }
    return result;
}

static void end(run *r) {
    shards *s = r->shards;
    for (int i = 0; i < s->count; i++) {
        shard *each = &s->each[i];
        device_free(&each->state);
        device_free(&each->kth);
        device_free(&each->numbers);
        device_free(&each->values);
        device_free(&each->indices);
        device_free(&each->given[0]);
        device_free(&each->given[1]);
        free(each->extents[0]);
        free(each->extents[1]);
    }
    device_free(&s->counters[0]);
    device_free(&s->counters[1]);
    free(s->cuts);
    free(s);
}

const run_operation run_sharded = {"sharded", TOPK_OPERATION_KTH, make_outputs, call, NULL, judge,
                                   end,       PROBLEM_PLAIN};
