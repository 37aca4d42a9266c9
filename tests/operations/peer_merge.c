/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists of ranks that are exchanged and merged by one call, through peer memory: random problems in a row,
 * against topk_merge() of the same lists on the CPU; graphs, where there are any; ranks that never come;
 * calls that are refused.
 *
 * Arguments: how many problems; `each` where each rank has a GPU of its own; else counts of ranks. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "random.h"
#include "ranks.h"
#include "topk_merge.h"
#include "topk_peer.h"

enum { RANKS_MOST = 8, ROWS_MOST = 9, SLOTS_MOST = 1 << 14, BATCH = 4, FILL = 0x5a };

static int ranks;
static bool has_one_each;
static topk_context *cpu, *contexts[RANKS_MOST];
static void *buffers[RANKS_MOST];
static uint64_t *flags[RANKS_MOST], *lists_of[RANKS_MOST];
static size_t buffer_bytes, list_bytes;
static topk_peer_report *reports[RANKS_MOST];

/* A call, the same on all ranks but for `of`. */
typedef struct job {
    topk_problem problem;
    int root;
    bool has_k, follows, is_sorted;
    int64_t k[ROWS_MOST];
    char values[RANKS_MOST][SLOTS_MOST * 8], indices[RANKS_MOST][SLOTS_MOST * 8];
    char wanted_values[SLOTS_MOST * 8], wanted_indices[SLOTS_MOST * 8];
} job;

/* What a rank has of it, on its device and in the host's memory. */
typedef struct place {
    char *values, *indices, *all_values, *all_indices, *k, *out_values, *out_indices, *workspace;
    char *seen_values, *seen_indices;
    size_t workspace_bytes;
} place;

static job *jobs; /* BATCH */
static place places[RANKS_MOST][BATCH];
static char *filled;

static topk_peer_group group_of(int rank, int64_t timeout_ms) {
    topk_peer_group group = TOPK_PEER_GROUP_INIT;
    group.rank = rank;
    group.ranks = ranks;
    group.buffers = buffers;
    group.flags = flags;
    group.buffer_bytes = buffer_bytes;
    group.abort = ranks_word();
    group.timeout_ms = timeout_ms;
    group.lists = lists_of;
    group.list_bytes = list_bytes;
    group.one_each = has_one_each;
    return group;
}

static void open_ranks(int count, int64_t slots) {
    ranks_open(count, has_one_each);
    ranks = count;
    buffer_bytes = topk_peer_buffer_bytes(count, ranks_block_bytes());
    list_bytes = topk_peer_list_bytes(count, slots);
    for (int r = 0; r < count; r++) {
        topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
        options.backend = TOPK_BACKEND_CUDA;
        options.device = ranks_device(r);
        CHECK_STATUS(TOPK_OK, topk_context_create(&options, &contexts[r]));
        buffers[r] = ranks_memory(r, buffer_bytes);
        flags[r] = ranks_memory(r, TOPK_PEER_FLAG_BYTES);
        lists_of[r] = ranks_memory(r, list_bytes);
        reports[r] = ranks_memory(r, sizeof *reports[r]);
        for (int b = 0; b < BATCH; b++) {
            place *const p = &places[r][b];
            /* Owners' lists have room for one row of each rank at least. */
            char **const arrays[] = {&p->values, &p->indices, &p->all_values, &p->all_indices};
            for (size_t i = 0; i < 4; i++) {
                *arrays[i] = ranks_memory(r, (size_t)count * sizeof jobs->values[0]);
            }
            p->out_values = ranks_memory(r, sizeof jobs->values[0]);
            p->out_indices = ranks_memory(r, sizeof jobs->values[0]);
            p->k = ranks_memory(r, sizeof jobs->k);
            p->workspace_bytes = 1 << 20;
            p->workspace = ranks_memory(r, p->workspace_bytes);
            p->seen_values = malloc(sizeof jobs->wanted_values);
            p->seen_indices = malloc(sizeof jobs->wanted_indices);
        }
    }
}

static void close_ranks(void) {
    for (int r = 0; r < ranks; r++) {
        topk_context_destroy(contexts[r]);
        for (int b = 0; b < BATCH; b++) {
            free(places[r][b].seen_values);
            free(places[r][b].seen_indices);
        }
    }
    ranks_close();
}

static size_t index_bytes(const job *j) {
    return j->problem.index_type == TOPK_INDEX_I32 ? 4 : 8;
}

static int64_t owner_rows(const job *j) {
    return j->root == TOPK_PEER_OWNER ? (j->problem.rows + ranks - 1) / ranks : j->problem.rows;
}

static int64_t first_row(const job *j, int rank) {
    const int64_t first = j->root == TOPK_PEER_OWNER ? owner_rows(j) * rank : 0;
    return first < j->problem.rows ? first : j->problem.rows;
}

static int64_t rows_of(const job *j, int rank) {
    const int64_t rest = j->problem.rows - first_row(j, rank);
    return j->root >= 0 && j->root != rank ? 0 : rest < owner_rows(j) ? rest : owner_rows(j);
}

/* ---- Problems ---- */

static void draw_problem(job *j, random_state *random, int64_t slots) {
    static const topk_type types[] = {TOPK_F32, TOPK_F32, TOPK_U8, TOPK_F16, TOPK_I64};
    topk_problem *const p = &j->problem;
    *p = (topk_problem)TOPK_PROBLEM_INIT;
    p->type = types[random_below(random, 5)];
    p->index_type = random_below(random, 2) == 0 ? TOPK_INDEX_I32 : TOPK_INDEX_I64;
    p->extent_type = TOPK_INDEX_I64;
    p->direction = random_below(random, 2) == 0 ? TOPK_LARGEST : TOPK_SMALLEST;
    p->order = random_below(random, 8) == 0 ? TOPK_ORDER_BY_POSITION : TOPK_ORDER_BEST_FIRST;
    p->rows = random_below(random, 3) == 0 ? 1 : 1 + (int64_t)random_below(random, ROWS_MOST);
    p->length_max = 1 + (int64_t)random_below(random, (uint64_t)(slots / p->rows));
    if (random_below(random, 2) == 0) { /* short */
        p->length_max = p->length_max < 60 / ranks ? p->length_max : 60 / ranks;
    }
    const int64_t k_most =
        p->length_max * 2 < SLOTS_MOST / p->rows ? p->length_max * 2 : SLOTS_MOST / p->rows;
    p->k_max = (int64_t)random_below(random, (uint64_t)k_most);
    j->root = TOPK_PEER_ALL;
    j->has_k = random_below(random, 4) == 0;
    j->is_sorted = random_below(random, 10) != 0;
    j->follows = random_below(random, 2) == 0;
    if (random_below(random, 3) == 0) {
        j->root = random_below(random, 2) == 0 ? TOPK_PEER_OWNER : (int)random_below(random, (uint64_t)ranks);
    }
    for (int64_t row = 0; row < p->rows; row++) {
        j->k[row] = (int64_t)random_below(random, (uint64_t)p->k_max + 4) - 2;
    }
}

/* Each rank selects from some elements, so its lists are as they must be; some ends are padding. */
static void draw_lists(job *j, random_state *random, int rank) {
    static char elements[SLOTS_MOST * 8];
    const size_t bytes = topk_type_size(j->problem.type);
    const int64_t length = j->problem.length_max, rows = j->problem.rows;
    const bool any = random_below(random, 2) == 0;
    topk_problem p = j->problem;
    topk_input input = TOPK_INPUT_INIT;
    int64_t lengths[ROWS_MOST];
    size_t needed;
    p.order = TOPK_ORDER_BEST_FIRST;
    p.k_max = length;
    p.index_base = rank * length;
    if (p.index_type == TOPK_INDEX_I64) {
        p.index_base += (int64_t)random_below(random, 2) * ((int64_t)1 << 40);
    }
    for (int64_t row = 0; row < rows; row++) {
        lengths[row] =
            random_below(random, 3) == 0 ? (int64_t)random_below(random, (uint64_t)length + 1) : length;
    }
    for (int64_t i = 0; i < rows * length; i++) {
        const uint64_t bits =
            any ? random_bits(random) : (uint64_t)random_below(random, 4) << (8 * bytes - 6);
        memcpy(elements + (size_t)i * bytes, &bits, bytes);
    }
    input.values = elements;
    input.lengths = lengths;
    CHECK_STATUS(TOPK_OK, topk_workspace_size(cpu, TOPK_OPERATION_SELECT, &p, &needed));
    void *const workspace = malloc(needed + 1);
    CHECK_STATUS(TOPK_OK,
                 topk_select(cpu, &p, &input, j->values[rank], j->indices[rank], workspace, needed, NULL));
    free(workspace);
    if (random_below(random, 30) == 0) { /* an index that is not allowed, where padding may be */
        const int64_t wrong = -3, at = (int64_t)random_below(random, (uint64_t)rows) * length + length - 1;
        memcpy(j->indices[rank] + (size_t)at * index_bytes(j), &wrong, index_bytes(j));
    }
}

static void merge_on_cpu(job *j) {
    const size_t of_rank = (size_t)(j->problem.rows * j->problem.length_max);
    const size_t value = topk_type_size(j->problem.type), index = index_bytes(j);
    topk_input input = TOPK_INPUT_INIT;
    topk_lists lists = TOPK_LISTS_INIT;
    char *const values = malloc(of_rank * (size_t)ranks * 8), *const indices =
                                                                  malloc(of_rank * (size_t)ranks * 8);
    size_t needed;
    for (int r = 0; r < ranks; r++) {
        memcpy(values + (size_t)r * of_rank * value, j->values[r], of_rank * value);
        memcpy(indices + (size_t)r * of_rank * index, j->indices[r], of_rank * index);
    }
    input.values = values;
    input.indices = indices;
    input.k = j->has_k ? j->k : NULL;
    lists.lists = ranks;
    CHECK_STATUS(TOPK_OK, topk_workspace_size(cpu, TOPK_OPERATION_MERGE, &j->problem, &needed));
    void *const workspace = malloc(needed + 1);
    CHECK_STATUS(TOPK_OK, topk_merge(cpu, &j->problem, &input, &lists, j->wanted_values, j->wanted_indices,
                                     NULL, workspace, needed, NULL));
    free(workspace);
    free(values);
    free(indices);
}

/* ---- Ranks ---- */

static topk_status call(const job *j, const topk_peer_group *group, const place *p) {
    const int r = group->rank;
    topk_peer_lists lists = TOPK_PEER_LISTS_INIT;
    lists.values = p->values;
    lists.indices = p->indices;
    lists.all_values = p->all_values;
    lists.all_indices = p->all_indices;
    lists.k = j->has_k ? p->k : NULL;
    lists.follows = j->follows;
    lists.sorted = j->is_sorted ? TOPK_SORTED_BEST_FIRST : TOPK_SORTED_NOT;
    return topk_peer_merge(contexts[r], group, j->root, &j->problem, &lists, p->out_values, p->out_indices,
                           p->workspace, p->workspace_bytes, ranks_stream(r));
}

static void send_lists(const job *j, int rank, const place *p) {
    const size_t slots = (size_t)(j->problem.rows * j->problem.length_max);
    ranks_send(rank, p->values, j->values[rank], slots * topk_type_size(j->problem.type));
    ranks_send(rank, p->indices, j->indices[rank], slots * index_bytes(j));
    ranks_send(rank, p->k, j->k, sizeof j->k);
}

static void poison(const job *j, int rank, const place *p) {
    const size_t slots = (size_t)(rows_of(j, rank) * j->problem.k_max) + 1;
    ranks_send(rank, p->out_values, filled, slots * topk_type_size(j->problem.type));
    ranks_send(rank, p->out_indices, filled, slots * index_bytes(j));
}

static void fetch(const job *j, int rank, const place *p) {
    const size_t slots = (size_t)(rows_of(j, rank) * j->problem.k_max) + 1;
    ranks_fetch(rank, p->seen_values, p->out_values, slots * topk_type_size(j->problem.type));
    ranks_fetch(rank, p->seen_indices, p->out_indices, slots * index_bytes(j));
}

static bool is_right(const job *j, int rank, const place *p) {
    const size_t value = topk_type_size(j->problem.type), index = index_bytes(j);
    const size_t slots = (size_t)(rows_of(j, rank) * j->problem.k_max);
    const size_t first = (size_t)(first_row(j, rank) * j->problem.k_max);
    return memcmp(p->seen_values, j->wanted_values + first * value, slots * value) == 0 &&
           memcmp(p->seen_indices, j->wanted_indices + first * index, slots * index) == 0 &&
           memcmp(p->seen_values + slots * value, filled, value) == 0 &&
           memcmp(p->seen_indices + slots * index, filled, index) == 0;
}

static int batch; /* jobs in it */

/* Some ranks come late. Between calls there are sums, which go through flags and buffers, and leave a kernel
 * for the call to follow. */
static void *run_batch(void *argument) {
    const int rank = (int)(intptr_t)argument;
    const topk_peer_group group = group_of(rank, 0);
    random_state random = {(uint64_t)rank + 1};
    for (int b = 0; b < batch; b++) {
        const place *const p = &places[rank][b];
        send_lists(&jobs[b], rank, p);
        poison(&jobs[b], rank, p);
        if (b % 2 == 1 || jobs[b].follows) {
            CHECK_STATUS(TOPK_OK, topk_peer_sum(contexts[rank], &group, (int64_t *)p->workspace, 2,
                                                ranks_stream(rank)));
        }
        if (random_below(&random, 8) == 0) {
            ranks_wait(rank);
        }
        CHECK_STATUS(TOPK_OK, call(&jobs[b], &group, p));
        fetch(&jobs[b], rank, p);
    }
    ranks_wait(rank);
    return NULL;
}

static void on_ranks(int count, void *(*work)(void *)) {
    pthread_t threads[RANKS_MOST];
    for (int r = 0; r < count; r++) {
        if (pthread_create(&threads[r], NULL, work, (void *)(intptr_t)r) != 0) {
            abort();
        }
    }
    for (int r = 0; r < count; r++) {
        pthread_join(threads[r], NULL);
    }
}

static void draw_job(job *j, random_state *random, int64_t slots) {
    draw_problem(j, random, slots);
    for (int r = 0; r < ranks; r++) {
        draw_lists(j, random, r);
    }
    merge_on_cpu(j);
}

static void check_problems(int count, int problems, int64_t slots) {
    random_state random = {(uint64_t)count + 7};
    open_ranks(count, slots / 2);
    for (int done = 0; done < problems; done += batch) {
        batch = problems - done < BATCH ? problems - done : BATCH;
        for (int b = 0; b < batch; b++) {
            draw_job(&jobs[b], &random, slots);
        }
        on_ranks(count, run_batch);
        for (int i = 0; i < batch * count; i++) {
            const job *const j = &jobs[i % batch];
            if (!CHECK(is_right(j, i / batch, &places[i / batch][i % batch]))) {
                fprintf(stderr,
                        "problem %d, rank %d of %d: type %d, %lld rows, %lld slots, k %lld, root %d\n",
                        done + i % batch, i / batch, count, (int)j->problem.type, (long long)j->problem.rows,
                        (long long)j->problem.length_max, (long long)j->problem.k_max, j->root);
            }
        }
    }
    close_ranks();
}

/* ---- Graphs ---- */

static pthread_barrier_t meeting;

/* One call, an odd number: each launch finds the other half. */
static void *replay(void *argument) {
    const int rank = (int)(intptr_t)argument;
    const topk_peer_group group = group_of(rank, 0);
    const place *const p = &places[rank][0];
    send_lists(&jobs[0], rank, p);
    ranks_wait(rank);
    pthread_barrier_wait(&meeting);
    if (!ranks_capture(rank)) {
        return NULL;
    }
    CHECK_STATUS(TOPK_OK, call(&jobs[0], &group, p));
    void *const graph = ranks_graph(rank);
    pthread_barrier_wait(&meeting); /* making a graph may wait for the device */
    for (int i = 0; i < 21; i++) {
        poison(&jobs[0], rank, p);
        ranks_launch(rank, graph);
        fetch(&jobs[0], rank, p);
        ranks_wait(rank);
        CHECK(is_right(&jobs[0], rank, p));
    }
    ranks_forget(graph);
    return NULL;
}

/* A problem of one launch. */
static void take_short(job *j, int root, int64_t rows) {
    random_state random = {11};
    draw_problem(j, &random, 60);
    j->problem.type = TOPK_F32;
    j->problem.order = TOPK_ORDER_BEST_FIRST;
    j->problem.rows = rows;
    j->problem.length_max = j->problem.k_max = 4;
    j->root = root;
    j->has_k = j->follows = false;
    j->is_sorted = true;
    for (int r = 0; r < ranks; r++) {
        draw_lists(j, &random, r);
    }
    merge_on_cpu(j);
}

static void check_graphs(int count) {
    open_ranks(count, 100);
    pthread_barrier_init(&meeting, NULL, (unsigned)count);
    take_short(&jobs[0], TOPK_PEER_ALL, 2);
    on_ranks(count, replay);
    pthread_barrier_destroy(&meeting);
    close_ranks();
}

/* ---- Failures ---- */

static int64_t waiting_ms;

static void *come(void *argument) {
    const int rank = (int)(intptr_t)argument;
    const topk_peer_group group = group_of(rank, waiting_ms);
    const place *const p = &places[rank][0];
    send_lists(&jobs[0], rank, p);
    poison(&jobs[0], rank, p);
    CHECK_STATUS(TOPK_OK, call(&jobs[0], &group, p));
    fetch(&jobs[0], rank, p);
    ranks_fetch(rank, p->k, reports[rank], 0);
    ranks_wait(rank);
    return NULL;
}

static bool says_invalid(const job *j, int rank, const place *p) {
    for (int64_t i = 0; i < rows_of(j, rank) * j->problem.k_max; i++) {
        int64_t index = -2;
        memcpy(&index, p->seen_indices + (size_t)i * index_bytes(j), index_bytes(j));
        if (index != -2 && (index_bytes(j) == 8 || (int32_t)index != -2)) {
            return false;
        }
    }
    return true;
}

static topk_peer_report report_of(int rank) {
    topk_peer_report report;
    const topk_peer_group group = group_of(rank, 0);
    CHECK_STATUS(TOPK_OK, topk_peer_status(contexts[rank], &group, reports[rank], ranks_stream(rank)));
    ranks_fetch(rank, &report, reports[rank], sizeof report);
    ranks_wait(rank);
    return report;
}

static void zero(int rank, void *memory, size_t bytes) {
    char *const zeros = calloc(1, bytes);
    ranks_send(rank, memory, zeros, bytes);
    ranks_wait(rank);
    free(zeros);
}

/* The slots of a rank that others store to; the caller's. */
static char *fetch_slots(int rank) {
    char *const slots = malloc(list_bytes);
    ranks_fetch(rank, slots, lists_of[rank], list_bytes);
    ranks_wait(rank);
    return slots;
}

/* A run of a broken group: it fails, though nobody else comes, and stores nothing to other ranks. */
static void check_broken_run(int rank, int other, int64_t runs) {
    char *const before = fetch_slots(other);
    (void)come((void *)(intptr_t)rank);
    char *const after = fetch_slots(other);
    CHECK(says_invalid(&jobs[0], rank, &places[rank][0]) && report_of(rank).runs == runs);
    CHECK(memcmp(before, after, list_bytes) == 0);
    free(before);
    free(after);
}

/* The last rank does not come. Then all begin anew. */
static void check_failure(int count, int root, int64_t timeout_ms) {
    open_ranks(count, 100);
    take_short(&jobs[0], root, 3);
    waiting_ms = timeout_ms;
    __atomic_store_n(ranks_word(), timeout_ms == 0, __ATOMIC_RELEASE);
    on_ranks(count - 1, come);
    for (int r = 0; r < count - 1; r++) {
        const topk_peer_report report = report_of(r);
        CHECK(says_invalid(&jobs[0], r, &places[r][0]));
        CHECK(report.runs == 1 && report.rank != r && report.rank >= 0 && report.rank < count);
        CHECK(report.outcome == TOPK_PEER_LEFT ||
              report.outcome == (timeout_ms == 0 ? TOPK_PEER_ABORTED : TOPK_PEER_TIMED_OUT));
    }
    __atomic_store_n(ranks_word(), 0, __ATOMIC_RELEASE);
    waiting_ms = 0;
    for (int run = 0; run < 2; run++) { /* to who comes too late the others may have sent all: once */
        (void)come((void *)(intptr_t)(count - 1));
        CHECK(says_invalid(&jobs[0], count - 1, &places[count - 1][0]) ||
              (run == 0 && is_right(&jobs[0], count - 1, &places[count - 1][0])));
    }
    CHECK(report_of(count - 1).outcome == TOPK_PEER_LEFT);
    check_broken_run(0, count - 1, 2);
    for (int r = 0; r < count; r++) {
        zero(r, flags[r], TOPK_PEER_FLAG_BYTES);
        zero(r, lists_of[r], list_bytes);
    }
    on_ranks(count, come);
    for (int r = 0; r < count; r++) {
        CHECK(is_right(&jobs[0], r, &places[r][0]) && report_of(r).outcome == TOPK_PEER_INTACT);
    }
    close_ranks();
}

/* ---- Calls that are refused ---- */

static void check_refusals(void) {
    open_ranks(2, 100);
    job *const j = &jobs[0];
    place p = places[0][0];
    topk_peer_group g = group_of(0, 0);
    topk_peer_lists lists = TOPK_PEER_LISTS_INIT;
    take_short(j, TOPK_PEER_ALL, 2);
    CHECK(topk_peer_list_bytes(2, 100) == 6400 && topk_peer_list_bytes(0, 1) == 0);
    CHECK(topk_peer_list_bytes(2, 0) == 0 && topk_peer_list_bytes(8, INT64_MAX) == SIZE_MAX);
    j->root = -3;
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, call(j, &g, &p));
    j->root = 2;
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, call(j, &g, &p));
    j->root = TOPK_PEER_ALL;
    j->problem.row_stride = 5;
    CHECK_STATUS(TOPK_ERROR_CONTRADICTION, call(j, &g, &p));
    j->problem.row_stride = 0;
    j->problem.rows = -1;
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, call(j, &g, &p));
    j->problem.rows = 2;
    p.workspace_bytes = 0;
    CHECK_STATUS(TOPK_ERROR_WORKSPACE_TOO_SMALL, call(j, &g, &p));
    p = places[0][0];
    p.values = NULL;
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, call(j, &g, &p));
    p = places[0][0];
    p.all_indices = p.all_values + 4;
    CHECK_STATUS(TOPK_ERROR_OVERLAP, call(j, &g, &p));
    p = places[0][0];
    p.out_values = p.all_values;
    CHECK_STATUS(TOPK_ERROR_OVERLAP, call(j, &g, &p));
    p.out_values = p.values;
    CHECK_STATUS(TOPK_ERROR_OVERLAP, call(j, &g, &p));
    p.out_values = (char *)lists_of[0];
    CHECK_STATUS(TOPK_ERROR_OVERLAP, call(j, &g, &p));
    p = places[0][0];
    g.one_each = 2;
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, call(j, &g, &p));
    g = group_of(0, 0);
    uint64_t *const odd[2] = {lists_of[0], lists_of[1] + 1}, *const none[2] = {NULL, lists_of[1]};
    g.lists = odd;
    CHECK_STATUS(TOPK_ERROR_MISALIGNED, call(j, &g, &p));
    g.lists = none;
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, call(j, &g, &p));
    g = group_of(0, 0);
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_peer_merge(contexts[0], &g, 0, &j->problem, NULL, NULL, NULL,
                                                          NULL, 0, ranks_stream(0)));
    lists.follows = 2;
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, topk_peer_merge(contexts[0], &g, 0, &j->problem, &lists, NULL, NULL,
                                                          NULL, 0, ranks_stream(0)));
    lists.follows = 0;
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER,
                 topk_peer_merge(contexts[0], &g, 0, NULL, &lists, NULL, NULL, NULL, 0, ranks_stream(0)));
    lists.size = 8;
    CHECK_STATUS(TOPK_ERROR_STRUCT_SIZE, topk_peer_merge(contexts[0], &g, 0, &j->problem, &lists, NULL, NULL,
                                                         NULL, 0, ranks_stream(0)));
    CHECK_STATUS(TOPK_ERROR_UNSUPPORTED,
                 topk_peer_merge(cpu, &g, 0, &j->problem, &lists, NULL, NULL, NULL, 0, NULL));
    j->problem.length_max = 0;
    CHECK_STATUS(TOPK_OK, call(j, &g, &p)); /* is no run */
    CHECK(report_of(0).runs == 0);
    close_ranks();
}

static void check_ranks(int count, int problems) {
    const bool is_small = ranks_block_bytes() < 4096; /* as are all sizes of the library */
    check_problems(count, problems, is_small ? 120 : 9000);
    check_problems(count, problems / 4, is_small ? 400 : SLOTS_MOST);
    check_graphs(count);
    for (int root = -2; root < 1 && count > 1; root++) {
        check_failure(count, root, 0);
        check_failure(count, root, 20);
    }
}

int main(int argc, char **argv) {
    const int problems = argc > 1 ? atoi(argv[1]) : 100;
    bool any = false;
    has_one_each = argc > 2 && strcmp(argv[2], "each") == 0;
    ranks_start();
    CHECK_STATUS(TOPK_OK, topk_context_create(NULL, &cpu));
    jobs = calloc(BATCH, sizeof *jobs);
    filled = malloc(sizeof jobs->values[0]);
    memset(filled, FILL, sizeof jobs->values[0]);
    for (int i = 2 + has_one_each; i < argc; i++) {
        const int count = atoi(argv[i]);
        if (ranks_fit(count, has_one_each)) {
            check_ranks(count, problems);
            any = true;
        }
    }
    if (any && ranks_fit(2, has_one_each)) {
        check_refusals();
    }
    free(jobs);
    free(filled);
    topk_context_destroy(cpu);
    return any ? check_report() : RANKS_EXIT_NONE;
}
