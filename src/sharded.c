/* SPDX-License-Identifier: Apache-2.0
 * The calls on shards: validation, of all that the host knows. The backend of the context does the rest. */
#include "sharded.h"

#include "predicate.h"
#include "status.h"
#include "structs.h"

/* FNV-1a over everything that the layout of a state and the order of elements depend on. */
static uint64_t fingerprint(const struct sharded *s) {
    const topk_problem *p = &s->plan.problem;
    const uint64_t fields[] = {(uint64_t)p->type,  (uint64_t)p->direction, (uint64_t)p->rank,
                               (uint64_t)p->nan,   (uint64_t)p->rows,      (uint64_t)p->length_max,
                               (uint64_t)p->k_max, (uint64_t)s->capacity};
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        hash = (hash ^ fields[i]) * 0x100000001b3u;
    }
    return hash;
}

/* How many keys of each row a state keeps: none where the last round follows the first one. With wide digits
 * the best bin of float64 that are uniform in [0, 1) has a quarter of the elements: these have room, too. */
static int64_t capacity_of(const struct sharded *s) {
    const int64_t length = s->plan.problem.length_max;
    const bool quarter = s->plan.element_bits == 64 && s->digit_bits > SHARDED_DIGIT_WIDE;
    const int64_t wanted =
        (quarter ? length / 4 + length / 64 : length / SHARDED_KEPT_SHARE) + SHARDED_KEPT_LEAST;
    return s->rounds < 3 ? 0 : wanted < length ? wanted : length;
}

/* The problem as far as calls that write no position look at it. */
static topk_status read_problem(const topk_problem *caller, topk_problem *problem) {
    const topk_status status = topk_read_struct(STRUCT_PROBLEM, caller, problem);
    const bool is_valid = problem->index_type == TOPK_INDEX_I32 || problem->index_type == TOPK_INDEX_I64;
    if (is_valid && problem->index_base >= 0) {
        problem->index_type = TOPK_INDEX_I64;
        problem->index_base = 0;
    }
    return status != TOPK_OK || problem->ranks == 0
               ? status
               : topk_fail(TOPK_ERROR_UNSUPPORTED, "problem->ranks is %lld: shards find one k a row",
                           (long long)problem->ranks);
}

/* A part's problem as one of the state: the vector of the part bounds no row of the shard. */
static void drop_vector(topk_problem *problem) {
    if (problem->shape != TOPK_SHAPE_STRIDED) {
        problem->shape = TOPK_SHAPE_STRIDED;
        problem->elements_max = 0;
        problem->row_stride = 1;
    }
}

static topk_status make(const topk_context *context, const topk_problem *problem, bool of_part,
                        struct sharded *s) {
    topk_problem own = TOPK_PROBLEM_INIT;
    if (context == NULL) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "context is NULL");
    }
    topk_status status = read_problem(problem, &own);
    if (of_part) {
        drop_vector(&own);
    }
    if (status != TOPK_OK || (status = topk_plan_make(TOPK_OPERATION_KTH, &own, &s->plan)) != TOPK_OK) {
        return status;
    }
    const struct sharding *backend = context->backend->sharding;
    if (backend == NULL) {
        return topk_fail(TOPK_ERROR_UNSUPPORTED, "the %s backend has no shards yet", context->backend->name);
    }
    s->context = context;
    s->digit_bits = backend->digit_bits(&s->plan);
    s->rounds = (int)((s->plan.element_bits + s->digit_bits - 1) / s->digit_bits);
    s->bins = INT64_C(1) << s->digit_bits;
    s->capacity = capacity_of(s);
    backend->measure(s);
    if (own.workspace_limit != 0 && s->bytes > own.workspace_limit) {
        s->capacity = 0;
        backend->measure(s);
    }
    s->problem = fingerprint(s);
    bool overflow = s->bytes == SIZE_MAX;
    (void)topk_checked_bytes(s->plan.problem.rows, (size_t)s->bins * sizeof(int64_t), &overflow);
    return !overflow ? TOPK_OK
                     : topk_fail(TOPK_ERROR_OVERFLOW, "the state or the counters exceed 2^63 bytes");
}

topk_status topk_sharded_query(const topk_context *context, const topk_problem *problem,
                               topk_sharded_properties *properties) {
    KEEP_ERRNO;
    struct sharded s;
    topk_sharded_properties known = TOPK_SHARDED_PROPERTIES_INIT;
    topk_status status = topk_read_struct(STRUCT_SHARDED_PROPERTIES, properties, &known);
    if (status != TOPK_OK || (status = make(context, problem, false, &s)) != TOPK_OK) {
        return status;
    }
    known.state_bytes = s.bytes;
    known.counters = s.plan.problem.rows * s.bins;
    known.rounds = s.rounds;
    topk_write_struct(STRUCT_SHARDED_PROPERTIES, &known, properties);
    return TOPK_OK;
}

/* ---- Calls on a state ---- */

/* Validates the problem, which may be a part's, and the state, and begins the list of buffers. */
static topk_status open_state(const topk_context *context, const topk_problem *problem, bool of_part,
                              void *state, size_t state_bytes, topk_stream stream, struct sharded *s,
                              struct buffer_list *buffers) {
    topk_status status = make(context, problem, of_part, s);
    if (status != TOPK_OK || (status = topk_check_stream(context, stream)) != TOPK_OK) {
        return status;
    }
    if (state == NULL) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "state is NULL");
    }
    if (state_bytes < s->bytes) {
        return topk_fail(TOPK_ERROR_WORKSPACE_TOO_SMALL, "the state has %zu bytes, this shard needs %zu",
                         state_bytes, s->bytes);
    }
    s->memory = state;
    s->stream = stream;
    buffers->count = 0;
    buffer_list_add(buffers, (struct buffer){"state", state, s->bytes, 1, true, true});
    return TOPK_OK;
}

static topk_status check_round(const struct sharded *s, int round) {
    return round >= 0 && round < s->rounds
               ? TOPK_OK
               : topk_fail(TOPK_ERROR_OUT_OF_RANGE, "round is %d, must be 0 to %d", round, s->rounds - 1);
}

/* Adds an array of counters. */
static void add_counters(const struct sharded *s, const char *name, const int64_t *array, bool is_output,
                         struct buffer_list *buffers) {
    const size_t bytes = (size_t)(s->plan.problem.rows * s->bins) * sizeof *array;
    buffer_list_add(buffers, (struct buffer){name, array, bytes, sizeof *array, true, is_output});
}

/* Adds an array of one number for each row, if there is one. */
static void add_numbers(const struct sharded *s, const char *name, const void *array, size_t bytes_each,
                        bool is_output, struct buffer_list *buffers) {
    const size_t bytes = (size_t)s->plan.problem.rows * bytes_each;
    buffer_list_add(buffers, (struct buffer){name, array, bytes, bytes_each, false, is_output});
}

static const struct sharding *backend_of(const struct sharded *s) {
    return s->context->backend->sharding;
}

/* The end of a call that the backend has done. */
static topk_status ended(const struct sharded *s, topk_status status) {
    topk_gaps_release(s->memory, s->bytes);
    return status;
}

topk_status topk_sharded_begin(topk_context *context, const topk_problem *problem, void *state,
                               size_t state_bytes, const void *k, int64_t *counters, topk_stream stream) {
    KEEP_ERRNO;
    struct sharded s;
    struct buffer_list buffers;
    topk_status status = open_state(context, problem, false, state, state_bytes, stream, &s, &buffers);
    if (status != TOPK_OK) {
        return status;
    }
    add_numbers(&s, "k", k, s.plan.extent_bytes, false, &buffers);
    add_counters(&s, "counters", counters, true, &buffers);
    status = topk_check_memory(context, &buffers);
    return status != TOPK_OK ? status : ended(&s, backend_of(&s)->begin(&s, k, counters));
}

/* The input of a count or a selection; its predicate, if it has one, is read to *predicate. */
static topk_status read_input(const topk_input *caller, topk_input *input, topk_predicate *predicate) {
    topk_status status = topk_read_struct(STRUCT_INPUT, caller, input);
    if (status != TOPK_OK) {
        return status;
    }
    if (input->k != NULL) {
        return topk_fail(TOPK_ERROR_CONTRADICTION, "input->k must be NULL: topk_sharded_begin() takes k");
    }
    if (input->routing != NULL || input->lists != NULL) {
        return topk_fail(TOPK_ERROR_CONTRADICTION, "input->%s must be NULL: a shard has none",
                         input->routing != NULL ? "routing" : "lists");
    }
    if (input->predicate != NULL) {
        status = topk_check_predicate(input->predicate, predicate);
        status = status != TOPK_OK ? status : topk_refuse_at_least(predicate, "shards");
        input->predicate = predicate;
    }
    return status;
}

/* What a part of a shard is: `length` elements of each row; all of them if it is NULL. `own` is the caller's
 * problem. */
static topk_status make_part(topk_problem own, int64_t part, const int64_t *length, struct sharded *s) {
    const int64_t most = s->plan.problem.length_max;
    if (part < 0) {
        return topk_fail(TOPK_ERROR_OUT_OF_RANGE, "part is %lld, must be 0 or more", (long long)part);
    }
    if (length != NULL && (*length < 0 || *length > most)) {
        return topk_fail(TOPK_ERROR_OUT_OF_RANGE, "length is %lld, must be 0 to %lld", (long long)*length,
                         (long long)most);
    }
    own.length_max = length != NULL ? *length : own.length_max;
    s->part_number = part;
    return topk_plan_make(TOPK_OPERATION_KTH, &own, &s->part);
}

/* Adds the buffers of a part. */
static topk_status list_part(const struct sharded *s, const topk_input *input,
                             const topk_predicate *predicate, struct buffer_list *buffers) {
    const topk_status status = topk_check_input(&s->part, input, true, buffers);
    return status != TOPK_OK || input->predicate == NULL ? status
                                                         : topk_list_predicate(&s->part, predicate, buffers);
}

static topk_status count(topk_context *context, const topk_problem *problem, void *state, size_t state_bytes,
                         int round, int64_t part, const topk_input *input, const int64_t *length,
                         int64_t *counters, topk_stream stream) {
    KEEP_ERRNO;
    struct sharded s;
    struct buffer_list buffers;
    topk_problem own;
    topk_input copy;
    topk_predicate predicate;
    topk_status status =
        open_state(context, problem, length != NULL, state, state_bytes, stream, &s, &buffers);
    if (status != TOPK_OK || (status = check_round(&s, round)) != TOPK_OK ||
        (status = read_problem(problem, &own)) != TOPK_OK ||
        (status = make_part(own, part, length, &s)) != TOPK_OK ||
        (status = read_input(input, &copy, &predicate)) != TOPK_OK) {
        return status;
    }
    copy.indices = NULL;
    s.longest = part == 0 && round > 0 ? s.plan.problem.length_max : s.part.problem.length_max; /* or kept */
    add_counters(&s, "counters", counters, true, &buffers);
    if ((status = list_part(&s, &copy, &predicate, &buffers)) != TOPK_OK) {
        return status;
    }
    status = topk_check_memory(context, &buffers);
    return status != TOPK_OK ? status : ended(&s, backend_of(&s)->count(&s, round, &copy, counters));
}

topk_status topk_sharded_count(topk_context *context, const topk_problem *problem, void *state,
                               size_t state_bytes, int round, const topk_input *input, int64_t *counters,
                               topk_stream stream) {
    return count(context, problem, state, state_bytes, round, 0, input, NULL, counters, stream);
}

topk_status topk_sharded_count_part(topk_context *context, const topk_problem *problem, void *state,
                                    size_t state_bytes, int round, int64_t part, const topk_input *input,
                                    int64_t length, int64_t *counters, topk_stream stream) {
    return count(context, problem, state, state_bytes, round, part, input, &length, counters, stream);
}

topk_status topk_sharded_advance(topk_context *context, const topk_problem *problem, void *state,
                                 size_t state_bytes, int round, const int64_t *sums, int64_t *counters,
                                 topk_stream stream) {
    KEEP_ERRNO;
    struct sharded s;
    struct buffer_list buffers;
    topk_status status = open_state(context, problem, false, state, state_bytes, stream, &s, &buffers);
    if (status != TOPK_OK || (status = check_round(&s, round)) != TOPK_OK) {
        return status;
    }
    add_counters(&s, "counters", counters, true, &buffers);
    if (sums != counters) {
        add_counters(&s, "sums", sums, false, &buffers);
    }
    status = topk_check_memory(context, &buffers);
    return status != TOPK_OK ? status : ended(&s, backend_of(&s)->advance(&s, round, sums, counters));
}

topk_status topk_sharded_result(topk_context *context, const topk_problem *problem, void *state,
                                size_t state_bytes, const int64_t *before, const topk_sharded_output *output,
                                topk_stream stream) {
    KEEP_ERRNO;
    struct sharded s;
    struct buffer_list buffers;
    topk_sharded_output o;
    topk_status status = open_state(context, problem, false, state, state_bytes, stream, &s, &buffers);
    if (status != TOPK_OK || (status = topk_read_struct(STRUCT_SHARDED_OUTPUT, output, &o)) != TOPK_OK) {
        return status;
    }
    const struct {
        const char *name;
        const void *array;
        size_t bytes;
    } outputs[] = {
        {"kth", o.kth, s.plan.element_bytes},        {"better", o.better, sizeof(int64_t)},
        {"equal", o.equal, sizeof(int64_t)},         {"own_better", o.own_better, sizeof(int64_t)},
        {"own_equal", o.own_equal, sizeof(int64_t)}, {"own_k", o.own_k, sizeof(int64_t)},
        {"after", o.after, sizeof(int64_t)},         {"known", o.known, sizeof(int64_t)},
    };
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
        add_numbers(&s, outputs[i].name, outputs[i].array, outputs[i].bytes, true, &buffers);
    }
    if (before != o.after) {
        add_numbers(&s, "before", before, sizeof *before, false, &buffers);
    }
    status = topk_check_memory(context, &buffers);
    return status != TOPK_OK ? status : ended(&s, backend_of(&s)->result(&s, before, &o));
}

/* ---- Selecting ---- */

/* Adds an output of rows x pitch slots, if there is one. */
static topk_status add_slots(const struct sharded *s, int64_t pitch, const char *name, const void *array,
                             size_t bytes_each, struct buffer_list *buffers) {
    bool overflow = false;
    size_t bytes = topk_checked_bytes(pitch, bytes_each, &overflow);
    if (array == NULL || s->plan.problem.rows == 0) {
        return TOPK_OK;
    }
    if (overflow || bytes > (size_t)INT64_MAX / (size_t)s->plan.problem.rows) {
        return topk_fail(TOPK_ERROR_OVERFLOW, "%s of pitch %lld exceed 2^63 bytes", name, (long long)pitch);
    }
    bytes *= (size_t)s->plan.problem.rows;
    buffer_list_add(buffers, (struct buffer){name, array, bytes, bytes_each, false, true});
    return TOPK_OK;
}

/* The problem as far as a selection looks at it, with the pitch as k_max: positions are written. */
static topk_status read_selection(const topk_problem *caller, int64_t pitch, topk_problem *problem) {
    const topk_status status = topk_read_struct(STRUCT_PROBLEM, caller, problem);
    problem->k_max = pitch;
    return status != TOPK_OK || pitch >= 0
               ? status
               : topk_fail(TOPK_ERROR_OUT_OF_RANGE, "pitch is %lld, must not be negative", (long long)pitch);
}

static topk_status select_part(topk_context *context, const topk_problem *problem, void *state,
                               size_t state_bytes, int64_t part, const topk_input *input,
                               const int64_t *length, const int64_t *before, int64_t pitch, void *values,
                               void *indices, topk_stream stream) {
    KEEP_ERRNO;
    struct sharded s;
    struct buffer_list buffers;
    topk_problem own;
    topk_input copy;
    topk_predicate predicate;
    topk_status status =
        open_state(context, problem, length != NULL, state, state_bytes, stream, &s, &buffers);
    if (status != TOPK_OK || (status = read_selection(problem, pitch, &own)) != TOPK_OK ||
        (status = make_part(own, part, length, &s)) != TOPK_OK ||
        (status = read_input(input, &copy, &predicate)) != TOPK_OK ||
        (status = list_part(&s, &copy, &predicate, &buffers)) != TOPK_OK ||
        (status = add_slots(&s, pitch, "values", values, s.part.element_bytes, &buffers)) != TOPK_OK ||
        (status = add_slots(&s, pitch, "indices", indices, s.part.index_bytes, &buffers)) != TOPK_OK) {
        return status;
    }
    s.longest = s.part.problem.length_max;
    add_numbers(&s, "before", before, sizeof *before, false, &buffers);
    status = topk_check_memory(context, &buffers);
    return status != TOPK_OK ? status : ended(&s, backend_of(&s)->select(&s, &copy, before, values, indices));
}

topk_status topk_sharded_select(topk_context *context, const topk_problem *problem, void *state,
                                size_t state_bytes, const topk_input *input, const int64_t *before,
                                int64_t pitch, void *values, void *indices, topk_stream stream) {
    return select_part(context, problem, state, state_bytes, 0, input, NULL, before, pitch, values, indices,
                       stream);
}

topk_status topk_sharded_select_part(topk_context *context, const topk_problem *problem, void *state,
                                     size_t state_bytes, int64_t part, const topk_input *input,
                                     int64_t length, const int64_t *before, int64_t pitch, void *values,
                                     void *indices, topk_stream stream) {
    return select_part(context, problem, state, state_bytes, part, input, &length, before, pitch, values,
                       indices, stream);
}
