/* SPDX-License-Identifier: Apache-2.0
 *
 * Structs that are smaller or larger than this library's own (CONTRACT.md, 8.2). GROWN_WORDS: how many words
 * more the library's have. */
#include <stdlib.h>

#include "fixture.h"
#include "topk_accumulator.h"
#include "topk_advanced.h"
#include "topk_peer.h"
#include "topk_sharded.h"
#include "topk_transfer.h"

static fixture f;
static topk_context *context;
static topk_plan *plan;
static topk_output output = TOPK_OUTPUT_INIT;

/* What the library's structs have more than this program's: two words, where the tests' own has grown. */
enum { WORD = 8, MORE = GROWN_WORDS * WORD, TAIL = MORE + 24 };

typedef topk_status (*struct_call)(void *copy);

/* Calls with a copy that has exactly `bytes` bytes; behind the valid struct they are `fill`. */
static topk_status call_with(const void *valid, size_t size, size_t bytes, int fill, struct_call call) {
    char *copy = malloc(bytes < sizeof bytes ? sizeof bytes : bytes); /* the size is the first field */
    topk_status status = TOPK_OK;
    if (CHECK(copy != NULL)) {
        memset(copy, fill, bytes);
        memcpy(copy, valid, bytes < size ? bytes : size);
        memcpy(copy, &bytes, sizeof bytes);
        status = call(copy);
    }
    free(copy);
    return status;
}

/* A struct of each size: of its first release's, and of later ones', which have whole words more, this
 * program's among them. Behind what the library knows there may be zeros. */
static void check_grown(const void *valid, size_t first, size_t size, struct_call call) {
    static const size_t huge[] = {4097, SIZE_MAX / 2, SIZE_MAX};
    for (size_t bytes = 0; bytes <= size + TAIL; bytes++) {
        const bool ends_at_field = bytes >= first && (bytes >= size + MORE || (bytes - first) % WORD == 0);
        const bool is_known = bytes <= size + MORE;
        CHECK_STATUS(ends_at_field ? TOPK_OK : TOPK_ERROR_STRUCT_SIZE,
                     call_with(valid, size, bytes, 0, call));
        CHECK(ends_at_field || topk_last_error()[0] != '\0');
        CHECK_STATUS(ends_at_field && is_known ? TOPK_OK : TOPK_ERROR_STRUCT_SIZE,
                     call_with(valid, size, bytes, 1, call));
    }
    char copy[256];
    for (size_t i = 0; i < sizeof huge / sizeof huge[0]; i++) { /* nobody looks for zeros there */
        memcpy(copy, valid, size);
        memcpy(copy, &huge[i], sizeof huge[i]);
        CHECK_STATUS(TOPK_ERROR_STRUCT_SIZE, call(copy));
    }
}

static void check_sizes(const void *valid, size_t size, struct_call call) {
    check_grown(valid, size, size, call);
}

static topk_status select_with_problem(void *copy) {
    return topk_select(context, copy, &f.input, f.out_values, f.out_indices, f.workspace, f.workspace_bytes,
                       NULL);
}

static topk_status size_with_problem(void *copy) {
    size_t bytes;
    return topk_workspace_size(context, TOPK_OPERATION_KTH, copy, &bytes);
}

static topk_status explain_with_problem(void *copy) {
    return topk_explain(context, TOPK_OPERATION_WHERE, copy, NULL, 0, NULL);
}

static topk_status accumulator_with_problem(void *copy) {
    size_t bytes;
    return topk_accumulator_size(context, copy, &bytes);
}

static topk_status select_with_input(void *copy) {
    return topk_select(context, &f.problem, copy, f.out_values, f.out_indices, f.workspace, f.workspace_bytes,
                       NULL);
}

static topk_status kth_with_input(void *copy) {
    return topk_kth(context, &f.problem, copy, f.out_values, NULL, NULL, f.workspace, f.workspace_bytes,
                    NULL);
}

static topk_status where_with_predicate(void *copy) {
    return topk_where(context, &f.problem, &f.input, copy, f.out_values, f.out_indices, f.capacity, NULL,
                      f.workspace, f.workspace_bytes, NULL);
}

static topk_status select_where_with_predicate(void *copy) {
    return topk_select_where(context, &f.problem, &f.input, copy, f.out_values, f.out_indices, f.workspace,
                             f.workspace_bytes, NULL);
}

static topk_status count_with_predicate(void *copy) {
    return topk_count(context, &f.problem, &f.input, copy, f.out_counts, f.workspace, f.workspace_bytes,
                      NULL);
}

static topk_status mask_with_predicate(void *copy) {
    return topk_mask(context, &f.problem, &f.input, copy, f.out_mask, f.workspace, f.workspace_bytes, NULL);
}

static topk_status route_with_problem(void *copy) {
    return topk_route(context, copy, &f.routing, f.values, f.out_indices, f.results, f.workspace,
                      f.workspace_bytes, NULL);
}

static topk_status route_with_routing(void *copy) {
    return topk_route(context, &f.problem, copy, f.values, f.out_indices, f.results, f.workspace,
                      f.workspace_bytes, NULL);
}

static topk_status merge_with_lists(void *copy) {
    f.input.indices = f.payload;
    const topk_status status = topk_merge(context, &f.problem, &f.input, copy, f.out_values, f.out_indices,
                                          NULL, f.workspace, f.workspace_bytes, NULL);
    f.input.indices = NULL;
    return status;
}

static topk_status push_with_input(void *copy) {
    topk_status status = topk_accumulator_init(context, &f.problem, f.memory, sizeof f.memory, NULL);
    return status != TOPK_OK
               ? status
               : topk_accumulator_push(context, &f.problem, f.memory, sizeof f.memory, copy, 1, 0, NULL);
}

static topk_status query_shards(void *copy) {
    return topk_sharded_query(context, &f.problem, copy);
}

/* A state whose rounds have ended. */
static struct {
    void *state;
    size_t bytes;
} shard;

static topk_status write_results_of_shard(void *copy) {
    return topk_sharded_result(context, &f.problem, shard.state, shard.bytes, NULL, copy, NULL);
}

static void check_shards(void) {
    topk_sharded_properties properties = TOPK_SHARDED_PROPERTIES_INIT;
    const topk_sharded_output results = TOPK_SHARDED_OUTPUT_INIT;
    check_sizes(&properties, sizeof properties, query_shards);
    CHECK_STATUS(TOPK_OK, query_shards(&properties));
    int64_t *counters = malloc((size_t)properties.counters * sizeof *counters);
    shard.bytes = properties.state_bytes;
    shard.state = malloc(shard.bytes);
    if (CHECK(counters != NULL && shard.state != NULL)) {
        CHECK_STATUS(TOPK_OK,
                     topk_sharded_begin(context, &f.problem, shard.state, shard.bytes, NULL, counters, NULL));
        for (int round = 0; round < properties.rounds; round++) {
            CHECK_STATUS(TOPK_OK, topk_sharded_count(context, &f.problem, shard.state, shard.bytes, round,
                                                     &f.input, counters, NULL));
            CHECK_STATUS(TOPK_OK, topk_sharded_advance(context, &f.problem, shard.state, shard.bytes, round,
                                                       counters, counters, NULL));
        }
        check_grown(&results, 64, sizeof results, write_results_of_shard);
    }
    free(counters);
    free(shard.state);
}

/* Whose struct can be read is told that it needs a GPU. */
static topk_status sum_with_group(void *copy) {
    int64_t number = 0;
    const topk_status status = topk_peer_sum(context, copy, &number, 1, NULL);
    return status == TOPK_ERROR_UNSUPPORTED ? TOPK_OK : status;
}

static void check_peers(void) {
    static _Alignas(16) unsigned char buffer[32];
    static _Alignas(16) uint64_t flags[TOPK_PEER_FLAG_BYTES / 8];
    void *const buffers[] = {buffer};
    uint64_t *const flags_of_all[] = {flags};
    topk_peer_group group = TOPK_PEER_GROUP_INIT;
    group.buffers = buffers;
    group.flags = flags_of_all;
    group.buffer_bytes = sizeof buffer;
    check_grown(&group, 56, sizeof group, sum_with_group); /* without lists, list_bytes and one_each */
}

static topk_status renumber(void *copy) {
    return topk_renumber(context, copy, NULL, NULL, NULL);
}

static topk_status create_with_options(void *copy) {
    topk_context *created;
    topk_status status = topk_context_create(copy, &created);
    topk_context_destroy(created);
    return status;
}

static topk_status query_with_properties(void *copy) {
    return topk_context_query(context, copy);
}

static topk_status create_plan_with_what(void *copy) {
    topk_plan *created;
    const topk_status status = topk_plan_create(context, TOPK_OPERATION_SELECT, &f.problem, copy, &created);
    topk_plan_destroy(created);
    return status;
}

static topk_status create_plan_with_problem(void *copy) {
    topk_plan *created;
    const topk_status status = topk_plan_create(context, TOPK_OPERATION_SELECT, copy, NULL, &created);
    topk_plan_destroy(created);
    return status;
}

static topk_status run_with_input(void *copy) {
    return topk_plan_run(plan, copy, &output, f.workspace, f.workspace_bytes, NULL);
}

static topk_status run_with_output(void *copy) {
    return topk_plan_run(plan, &f.input, copy, f.workspace, f.workspace_bytes, NULL);
}

static topk_status run_once_with_problem(void *copy) {
    return topk_run(context, TOPK_OPERATION_SELECT, copy, &f.input, &output, f.workspace, f.workspace_bytes,
                    NULL);
}

static topk_status run_once_with_input(void *copy) {
    return topk_run(context, TOPK_OPERATION_SELECT, &f.problem, copy, &output, f.workspace, f.workspace_bytes,
                    NULL);
}

static topk_status run_once_with_output(void *copy) {
    return topk_run(context, TOPK_OPERATION_SELECT, &f.problem, &f.input, copy, f.workspace,
                    f.workspace_bytes, NULL);
}

static topk_status query_plan(void *copy) {
    return topk_plan_query(plan, copy);
}

static topk_status query_plan_method(void *copy) {
    return topk_plan_query_method(plan, 0, copy);
}

/* The library writes no byte behind what the caller's struct has. */
static void check_written_bytes(void) {
    struct {
        topk_context_properties properties;
        unsigned char behind[64];
    } given = {TOPK_CONTEXT_PROPERTIES_INIT, {0}};
    memset(given.behind, 0xa5, sizeof given.behind);
    CHECK_STATUS(TOPK_OK, topk_context_query(context, &given.properties));
    CHECK(given.properties.size == sizeof given.properties);
    CHECK(given.properties.backend == TOPK_BACKEND_CPU && given.properties.threads == 1);
    CHECK(given.properties.features != NULL);
    for (size_t i = 0; i < sizeof given.behind; i++) {
        CHECK(given.behind[i] == 0xa5);
    }
}

static void check_plans(void) {
    const topk_plan_what what = TOPK_PLAN_WHAT_INIT;
    const topk_plan_properties properties = TOPK_PLAN_PROPERTIES_INIT;
    const topk_plan_method row = TOPK_PLAN_METHOD_INIT;
    CHECK_STATUS(TOPK_OK, topk_plan_create(context, TOPK_OPERATION_SELECT, &f.problem, NULL, &plan));
    output.values = f.out_values;
    check_grown(&f.problem, 144, sizeof f.problem, create_plan_with_problem);
    check_sizes(&what, sizeof what, create_plan_with_what);
    check_grown(&f.input, 64, sizeof f.input, run_with_input);
    check_grown(&output, 80, sizeof output, run_with_output);
    check_grown(&f.problem, 144, sizeof f.problem, run_once_with_problem);
    check_grown(&f.input, 64, sizeof f.input, run_once_with_input);
    check_grown(&output, 80, sizeof output, run_once_with_output);
    check_sizes(&properties, sizeof properties, query_plan);
    check_sizes(&row, sizeof row, query_plan_method);
    topk_plan_destroy(plan);
}

int main(void) {
    const topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    const topk_context_properties properties = TOPK_CONTEXT_PROPERTIES_INIT;
    const topk_renumbering renumbering = TOPK_RENUMBERING_INIT;
    context = create_cpu_context(1);
    fixture_init(&f, context);
    check_grown(&f.problem, 144, sizeof f.problem, select_with_problem);
    check_grown(&f.problem, 144, sizeof f.problem, size_with_problem);
    check_grown(&f.problem, 144, sizeof f.problem, explain_with_problem);
    check_grown(&f.problem, 144, sizeof f.problem, accumulator_with_problem);
    check_grown(&f.input, 64, sizeof f.input, select_with_input);
    check_grown(&f.input, 64, sizeof f.input, kth_with_input);
    check_grown(&f.input, 64, sizeof f.input, push_with_input);
    check_grown(&f.predicate, 64, sizeof f.predicate, where_with_predicate);
    check_grown(&f.predicate, 64, sizeof f.predicate, select_where_with_predicate);
    check_grown(&f.predicate, 64, sizeof f.predicate, count_with_predicate);
    check_grown(&f.predicate, 64, sizeof f.predicate, mask_with_predicate);
    check_grown(&f.problem, 144, sizeof f.problem, route_with_problem);
    check_sizes(&f.routing, sizeof f.routing, route_with_routing);
    check_sizes(&f.lists, sizeof f.lists, merge_with_lists);
    check_sizes(&options, sizeof options, create_with_options);
    check_sizes(&properties, sizeof properties, query_with_properties);
    check_sizes(&renumbering, sizeof renumbering, renumber);
    check_shards();
    check_peers();
    check_written_bytes();
    check_plans();
    topk_context_destroy(context);
    return check_report();
}
