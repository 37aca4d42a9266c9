/* SPDX-License-Identifier: Apache-2.0
 *
 * Exchanges through peer memory between ranks that are threads of this process, each with a context and a
 * stream: runs of all kinds in a row, with changing sizes and delays; lists that are merged; ranks that never
 * come, or come too late; aborts; graphs, where there are any; calls that are refused.
 *
 * Arguments: how many runs; `each` where each rank has a GPU of its own; else counts of ranks.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "random.h"
#include "ranks.h"
#include "topk_merge.h"
#include "topk_peer.h"

enum { RANKS_MOST = 8, SHORT_MOST = 1500, SLACK = 64, BATCH = 4, FILL = 0x5a, JOBS_SEED = 77 };

typedef struct fixture {
    int ranks, runs;
    topk_context *contexts[RANKS_MOST];
    void *buffers[RANKS_MOST];
    uint64_t *flags[RANKS_MOST];
    size_t buffer_bytes;
    topk_peer_report *reports[RANKS_MOST]; /* on the device */
    pthread_barrier_t meeting;
} fixture;

static fixture f;

static topk_peer_group group_of(int rank, int64_t timeout_ms) {
    topk_peer_group group = TOPK_PEER_GROUP_INIT;
    group.rank = rank;
    group.ranks = f.ranks;
    group.buffers = f.buffers;
    group.flags = f.flags;
    group.buffer_bytes = f.buffer_bytes;
    group.abort = ranks_word();
    group.timeout_ms = timeout_ms;
    return group;
}

static void open_fixture(int ranks, bool one_each, size_t block_bytes) {
    ranks_open(ranks, one_each);
    f.ranks = ranks;
    f.buffer_bytes = topk_peer_buffer_bytes(ranks, block_bytes);
    for (int r = 0; r < ranks; r++) {
        topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
        options.backend = TOPK_BACKEND_CUDA;
        options.device = ranks_device(r);
        CHECK_STATUS(TOPK_OK, topk_context_create(&options, &f.contexts[r]));
        f.buffers[r] = ranks_memory(r, f.buffer_bytes);
        f.flags[r] = ranks_memory(r, TOPK_PEER_FLAG_BYTES);
        f.reports[r] = ranks_memory(r, sizeof *f.reports[r]);
    }
    pthread_barrier_init(&f.meeting, NULL, (unsigned)ranks);
}

static void close_fixture(void) {
    for (int r = 0; r < f.ranks; r++) {
        topk_context_destroy(f.contexts[r]);
    }
    pthread_barrier_destroy(&f.meeting);
    ranks_close();
}

/* work(rank), by a thread for each rank. */
static void on_all_ranks(void *(*work)(void *)) {
    pthread_t threads[RANKS_MOST];
    for (int r = 0; r < f.ranks; r++) {
        if (pthread_create(&threads[r], NULL, work, (void *)(intptr_t)r) != 0) {
            abort();
        }
    }
    for (int r = 0; r < f.ranks; r++) {
        pthread_join(threads[r], NULL);
    }
}

static topk_peer_report report_of(int rank) {
    topk_peer_report report;
    const topk_peer_group group = group_of(rank, 0);
    CHECK_STATUS(TOPK_OK, topk_peer_status(f.contexts[rank], &group, f.reports[rank], ranks_stream(rank)));
    ranks_fetch(rank, &report, f.reports[rank], sizeof report);
    ranks_wait(rank);
    return report;
}

static bool is_report(int rank, int64_t runs, int32_t of, topk_peer_outcome outcome) {
    const topk_peer_report report = report_of(rank);
    return report.runs == runs && report.rank == of && report.outcome == (int32_t)outcome;
}

static void pause_ms(int64_t ms) {
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

/* ---- Runs in a row ---- */

typedef struct job {
    enum { GATHER, GATHER_ROOT, EXCHANGE, SUM, MOST, JOBS } kind;
    int root, parts; /* parts in which blocks go, all in one call */
    size_t bytes;
} job;

/* The same on all ranks. */
static job draw_job(random_state *random) {
    static const size_t edges[] = {1, 15, 16, 17, 64, 600, 1024};
    job j = {.kind = (int)random_below(random, JOBS), .root = TOPK_PEER_ALL};
    j.bytes = random_below(random, 3) == 0 ? edges[random_below(random, 7)]
                                           : 1 + (size_t)random_below(random, SHORT_MOST);
    if (random_below(random, 20) == 0) {
        j.bytes = 1 + (size_t)random_below(random, (int64_t)ranks_block_bytes());
    }
    if (j.kind == GATHER_ROOT) {
        j.root = (int)random_below(random, (uint64_t)f.ranks);
    }
    j.parts = 1 + (int)random_below(random, TOPK_PEER_PARTS_MAX);
    if (j.kind == SUM || j.kind == MOST) {
        j.bytes = (j.bytes + 7) / 8 * 8;
        j.parts = 1;
    }
    return j;
}

/* Where a part begins in a block; some have no bytes. */
static size_t cut_of(const job *j, int part) {
    return j->bytes * (size_t)part / (size_t)j->parts;
}

/* Where byte i of the block of or for that rank lies: each part has the blocks of all ranks. */
static size_t at(const job *j, int rank, size_t i) {
    int part = 0;
    while (i >= cut_of(j, part + 1)) {
        part++;
    }
    const size_t begin = cut_of(j, part), bytes = cut_of(j, part + 1) - begin;
    return (size_t)f.ranks * begin + (size_t)rank * bytes + i - begin;
}

/* Byte i of what rank `from` has for rank `to`. */
static unsigned char byte_of(int run, int from, int to, size_t i) {
    return (unsigned char)((unsigned)run * 131 + (unsigned)from * 31 + (unsigned)to * 7 + i * 11 + i / 256);
}

static int64_t number_of(int run, int rank, size_t i) {
    const int64_t magnitude =
        (int64_t)((uint64_t)run * 1000003 + i * 7919 + (uint64_t)rank * 104729) % 100000;
    return (i + (size_t)rank) % 3 == 0 ? -magnitude : magnitude << 40;
}

/* Where a rank's job lies on its device, and in the host's memory. */
typedef struct place {
    unsigned char *in, *out, *sent, *seen;
} place;

static void fill_input(const job *j, int run, int rank, unsigned char *in) {
    if (j->kind == SUM || j->kind == MOST) {
        for (size_t i = 0; i < j->bytes / 8; i++) {
            const int64_t number = number_of(run, rank, i);
            memcpy(in + 8 * i, &number, 8);
        }
        return;
    }
    const int targets = j->kind == EXCHANGE ? f.ranks : 1;
    for (int to = 0; to < targets; to++) {
        for (size_t i = 0; i < j->bytes; i++) {
            in[j->kind == EXCHANGE ? at(j, to, i) : i] = byte_of(run, rank, to, i);
        }
    }
}

static size_t input_bytes(const job *j) {
    return j->kind == EXCHANGE ? (size_t)f.ranks * j->bytes : j->bytes;
}

static size_t output_bytes(const job *j) {
    return (size_t)f.ranks * j->bytes;
}

static topk_status call_with_parts(const job *j, const topk_peer_group *group, const place *p) {
    topk_context *const context = f.contexts[group->rank];
    const topk_stream stream = ranks_stream(group->rank);
    const bool gets = j->root < 0 || j->root == group->rank;
    topk_peer_part parts[TOPK_PEER_PARTS_MAX];
    for (int i = 0; i < j->parts; i++) {
        const size_t begin = cut_of(j, i), of_all = (size_t)f.ranks * begin;
        parts[i].block = p->in + (j->kind == EXCHANGE ? of_all : begin);
        parts[i].bytes = cut_of(j, i + 1) - begin;
        parts[i].blocks = gets ? p->out + of_all : NULL;
    }
    return j->kind == EXCHANGE ? topk_peer_exchange_parts(context, group, parts, j->parts, stream)
                               : topk_peer_gather_parts(context, group, j->root, parts, j->parts, stream);
}

static topk_status call(const job *j, const topk_peer_group *group, const place *p) {
    topk_context *const context = f.contexts[group->rank];
    const topk_stream stream = ranks_stream(group->rank);
    if (j->parts > 1) {
        return call_with_parts(j, group, p);
    }
    switch (j->kind) {
    case EXCHANGE:
        return topk_peer_exchange(context, group, p->in, j->bytes, p->out, stream);
    case SUM:
        return topk_peer_sum(context, group, (int64_t *)p->in, (int64_t)(j->bytes / 8), stream);
    case MOST:
        return topk_peer_most(context, group, (int64_t *)p->in, (int64_t)(j->bytes / 8), stream);
    default:
        return topk_peer_gather(context, group, j->root, p->in, j->bytes,
                                j->root >= 0 && j->root != group->rank ? NULL : p->out, stream);
    }
}

static bool numbers_are_right(const job *j, int run, const unsigned char *seen) {
    for (size_t i = 0; i < j->bytes / 8; i++) {
        int64_t got, sum = 0, most = INT64_MIN;
        memcpy(&got, seen + 8 * i, 8);
        for (int r = 0; r < f.ranks; r++) {
            const int64_t number = number_of(run, r, i);
            sum += number;
            most = number > most ? number : most;
        }
        if (got != (j->kind == SUM ? sum : most)) {
            return false;
        }
    }
    return true;
}

static bool blocks_are_right(const job *j, int run, int rank, const unsigned char *seen) {
    const bool gets = j->root < 0 || j->root == rank;
    for (int from = 0; from < f.ranks; from++) {
        for (size_t i = 0; i < j->bytes; i++) {
            const unsigned char wanted = byte_of(run, from, j->kind == EXCHANGE ? rank : 0, i);
            if (seen[at(j, from, i)] != (gets ? wanted : FILL)) {
                return false;
            }
        }
    }
    for (size_t i = output_bytes(j); i < output_bytes(j) + SLACK; i++) {
        if (seen[i] != FILL) {
            return false;
        }
    }
    return true;
}

/* Some ranks come late, each in other runs. */
static void dawdle(random_state *random) {
    const uint64_t what = random_below(random, 60);
    if (what == 0) {
        pause_ms(1);
    } else if (what < 6) {
        const struct timespec time = {0, (long)random_below(random, 50000)};
        nanosleep(&time, NULL);
    }
}

/* Addresses of all kinds. Numbers are aligned. */
static place place_of(const job *j, const place *base, random_state *random) {
    static const size_t offsets[] = {0, 8, 4, 1, 12, 0};
    const bool combines = j->kind == SUM || j->kind == MOST;
    place p = *base;
    p.in += offsets[random_below(random, combines ? 2 : 6)];
    p.out += offsets[random_below(random, 6)];
    return p;
}

static bool is_right(const job *j, int run, int rank, const place *p) {
    return j->kind == SUM || j->kind == MOST ? numbers_are_right(j, run, p->seen)
                                             : blocks_are_right(j, run, rank, p->seen);
}

static place bases[RANKS_MOST][BATCH];

static size_t room_bytes(void) {
    return (size_t)f.ranks * (ranks_block_bytes() + 16) + 2 * SLACK;
}

/* All that a run needs is sent with it, and BATCH runs are under way before their results are looked at. */
static void *runs_in_a_row(void *argument) {
    const int rank = (int)(intptr_t)argument;
    const topk_peer_group group = group_of(rank, 0);
    random_state jobs = {JOBS_SEED}, own = {(uint64_t)rank + 1};
    place places[BATCH];
    job drawn[BATCH];
    unsigned char *filled = malloc(room_bytes());
    memset(filled, FILL, room_bytes());
    for (int run = 0; run < f.runs; run++) {
        const int b = run % BATCH;
        job *const j = &drawn[b];
        *j = draw_job(&jobs);
        place *const p = &places[b];
        *p = place_of(j, &bases[rank][b], &own);
        fill_input(j, run, rank, p->sent);
        ranks_send(rank, p->in, p->sent, input_bytes(j));
        ranks_send(rank, p->out, filled, output_bytes(j) + SLACK);
        dawdle(&own);
        CHECK_STATUS(TOPK_OK, call(j, &group, p));
        const bool combines = j->kind == SUM || j->kind == MOST;
        ranks_fetch(rank, p->seen, combines ? p->in : p->out, combines ? j->bytes : output_bytes(j) + SLACK);
        if (b == BATCH - 1 || run == f.runs - 1) {
            ranks_wait(rank);
            for (int i = 0; i <= b; i++) {
                if (!CHECK(is_right(&drawn[i], run - b + i, rank, &places[i]))) {
                    fprintf(stderr, "run %d, rank %d of %d, kind %d, %zu bytes, %d parts\n", run - b + i,
                            rank, f.ranks, (int)drawn[i].kind, drawn[i].bytes, drawn[i].parts);
                }
            }
        }
    }
    free(filled);
    return NULL;
}

/* Parts go in one run if there is room for all of them; else one after the other, and blocks of more than
 * `piece` bytes in several runs. */
static int64_t runs_of(const job *j, size_t piece) {
    size_t together = 0;
    int64_t runs = 0;
    for (int p = 0; p < j->parts; p++) {
        const size_t bytes = cut_of(j, p + 1) - cut_of(j, p);
        together += (bytes + 15) / 16 * 16;
        runs += (int64_t)((bytes + piece - 1) / piece);
    }
    return together <= (piece + 15) / 16 * 16 ? 1 : runs;
}

static void check_runs(int ranks, bool one_each, int runs, size_t piece) {
    random_state random = {JOBS_SEED};
    int64_t pieces = 0;
    open_fixture(ranks, one_each, piece);
    f.runs = runs;
    for (int i = 0; i < ranks * BATCH; i++) {
        const int r = i / BATCH;
        bases[r][i % BATCH] = (place){ranks_memory(r, room_bytes()), ranks_memory(r, room_bytes()),
                                      malloc(room_bytes()), malloc(room_bytes())};
    }
    for (int i = 0; i < runs; i++) {
        const job j = draw_job(&random);
        pieces += runs_of(&j, piece);
    }
    on_all_ranks(runs_in_a_row);
    for (int r = 0; r < ranks; r++) {
        CHECK(is_report(r, pieces, 0, TOPK_PEER_INTACT));
        for (int b = 0; b < BATCH; b++) {
            free(bases[r][b].sent);
            free(bases[r][b].seen);
        }
    }
    close_fixture();
}

/* ---- Lists ---- */

enum { ROWS = 3, LENGTH = 200, K = 10 };
static float elements[RANKS_MOST][ROWS][LENGTH];
static float *values_on[RANKS_MOST];
static char *lists_on[RANKS_MOST], *all_lists_on[RANKS_MOST], *results_on[RANKS_MOST],
    *workspace_on[RANKS_MOST];
static size_t workspace_bytes;

static topk_problem local_problem(int rank) {
    topk_problem p = TOPK_PROBLEM_INIT;
    p.type = TOPK_F32;
    p.rows = ROWS;
    p.length_max = LENGTH;
    p.k_max = K;
    p.index_type = TOPK_INDEX_I32;
    p.index_base = (int64_t)rank * LENGTH;
    return p;
}

static topk_problem merge_problem(void) {
    topk_problem p = local_problem(0);
    p.length_max = K;
    return p;
}

enum { LIST_BYTES = ROWS * K * 4, BLOCK_BYTES = 2 * LIST_BYTES };

/* Selects from the rank's elements, gathers, merges. */
static void *select_from_all(void *argument) {
    const int rank = (int)(intptr_t)argument;
    const topk_peer_group group = group_of(rank, 0);
    const topk_stream stream = ranks_stream(rank);
    const topk_problem local = local_problem(rank), merging = merge_problem();
    topk_input input = TOPK_INPUT_INIT;
    topk_lists lists = TOPK_LISTS_INIT;
    char *const list = lists_on[rank], *const all = all_lists_on[rank], *const results = results_on[rank];
    ranks_send(rank, values_on[rank], elements[rank], sizeof elements[rank]);
    input.values = values_on[rank];
    CHECK_STATUS(TOPK_OK, topk_select(f.contexts[rank], &local, &input, list, list + LIST_BYTES,
                                      workspace_on[rank], workspace_bytes, stream));
    CHECK_STATUS(TOPK_OK,
                 topk_peer_gather(f.contexts[rank], &group, TOPK_PEER_ALL, list, BLOCK_BYTES, all, stream));
    lists.lists = f.ranks;
    lists.list_stride = BLOCK_BYTES / 4;
    lists.sorted = TOPK_SORTED_BEST_FIRST;
    input.values = all;
    input.indices = all + LIST_BYTES;
    CHECK_STATUS(TOPK_OK,
                 topk_merge(f.contexts[rank], &merging, &input, &lists, results, results + LIST_BYTES, NULL,
                            workspace_on[rank], workspace_bytes, stream));
    return NULL;
}

typedef struct results {
    float values[ROWS][K];
    int32_t indices[ROWS][K];
} results;

static results fetch_results(int rank) {
    results got;
    ranks_fetch(rank, &got, results_on[rank], sizeof got);
    ranks_wait(rank);
    return got;
}

/* How many elements of all ranks come before that one. */
static int64_t rank_of(int row, float value, int32_t index) {
    int64_t before = 0;
    for (int32_t i = 0; i < f.ranks * LENGTH; i++) {
        const float other = elements[i / LENGTH][row][i % LENGTH];
        before += other > value || (other == value && i < index);
    }
    return before;
}

static bool results_are_right(const results *got) {
    for (int row = 0; row < ROWS; row++) {
        for (int k = 0; k < K; k++) {
            const int32_t index = got->indices[row][k];
            if (index < 0 || index >= f.ranks * LENGTH ||
                elements[index / LENGTH][row][index % LENGTH] != got->values[row][k] ||
                rank_of(row, got->values[row][k], index) != k) {
                return false;
            }
        }
    }
    return true;
}

static void open_lists(int ranks, bool one_each) {
    random_state random = {5};
    open_fixture(ranks, one_each, BLOCK_BYTES);
    const topk_problem merging = merge_problem(), local = local_problem(0);
    size_t needed;
    CHECK_STATUS(TOPK_OK,
                 topk_workspace_size(f.contexts[0], TOPK_OPERATION_MERGE, &merging, &workspace_bytes));
    CHECK_STATUS(TOPK_OK, topk_workspace_size(f.contexts[0], TOPK_OPERATION_SELECT, &local, &needed));
    workspace_bytes = needed > workspace_bytes ? needed : workspace_bytes;
    for (int r = 0; r < ranks; r++) {
        values_on[r] = ranks_memory(r, sizeof elements[r]);
        lists_on[r] = ranks_memory(r, BLOCK_BYTES);
        all_lists_on[r] = ranks_memory(r, (size_t)ranks * BLOCK_BYTES);
        results_on[r] = ranks_memory(r, sizeof(results));
        workspace_on[r] = ranks_memory(r, workspace_bytes);
        for (int i = 0; i < ROWS * LENGTH; i++) {
            elements[r][i / LENGTH][i % LENGTH] = (float)random_below(&random, 300);
        }
    }
}

static void check_lists(int ranks, bool one_each) {
    open_lists(ranks, one_each);
    on_all_ranks(select_from_all);
    for (int r = 0; r < ranks; r++) {
        const results got = fetch_results(r);
        CHECK(results_are_right(&got));
    }
    close_fixture();
}

/* ---- Graphs ---- */

/* The graph has three runs, an odd number: each replay finds the other half of the buffers. */
static void *replay(void *argument) {
    const int rank = (int)(intptr_t)argument;
    enum { REPLAYS = 20 };
    if (!ranks_capture(rank)) {
        return NULL;
    }
    const topk_peer_group group = group_of(rank, 0);
    char *const list = lists_on[rank], *const all = all_lists_on[rank];
    int64_t *const numbers = (int64_t *)workspace_on[rank];
    int64_t sums[REPLAYS];
    CHECK_STATUS(TOPK_OK, topk_peer_gather(f.contexts[rank], &group, TOPK_PEER_ALL, list, BLOCK_BYTES, all,
                                           ranks_stream(rank)));
    CHECK_STATUS(TOPK_OK, topk_peer_sum(f.contexts[rank], &group, numbers, 1, ranks_stream(rank)));
    CHECK_STATUS(TOPK_OK, topk_peer_most(f.contexts[rank], &group, numbers, 1, ranks_stream(rank)));
    void *const graph = ranks_graph(rank);
    pthread_barrier_wait(&f.meeting); /* making a graph may wait for the device */
    for (int i = 0; i < REPLAYS; i++) {
        char block[BLOCK_BYTES], seen[RANKS_MOST * BLOCK_BYTES];
        const int64_t number = 1000 * i + rank;
        memset(block, i * 16 + rank, sizeof block);
        ranks_send(rank, list, block, sizeof block);
        ranks_send(rank, numbers, &number, sizeof number);
        ranks_launch(rank, graph);
        ranks_fetch(rank, seen, all, (size_t)f.ranks * BLOCK_BYTES);
        ranks_fetch(rank, &sums[i], numbers, sizeof sums[i]);
        ranks_wait(rank);
        CHECK(sums[i] == (int64_t)f.ranks * (1000 * i) + f.ranks * (f.ranks - 1) / 2);
        for (int b = 0; b < f.ranks * BLOCK_BYTES; b++) {
            if (!CHECK((unsigned char)seen[b] == (unsigned char)(i * 16 + b / BLOCK_BYTES))) {
                break;
            }
        }
    }
    return NULL;
}

static void check_graphs(int ranks, bool one_each) {
    open_lists(ranks, one_each);
    on_all_ranks(replay);
    close_fixture();
}

/* ---- Failures ---- */

static int64_t waiting_ms;

/* All ranks but the last one select, gather and merge. */
static void *come_unless_last(void *argument) {
    const int rank = (int)(intptr_t)argument;
    topk_peer_group group = group_of(rank, waiting_ms);
    const topk_stream stream = ranks_stream(rank);
    const topk_problem merging = merge_problem();
    topk_input input = TOPK_INPUT_INIT;
    topk_lists lists = TOPK_LISTS_INIT;
    char *const all = all_lists_on[rank], *const got = results_on[rank];
    if (rank == f.ranks - 1) {
        pause_ms(5);
        if (waiting_ms == 0) {
            __atomic_store_n(ranks_word(), 1, __ATOMIC_RELEASE);
        }
        return NULL;
    }
    CHECK_STATUS(TOPK_OK, topk_peer_gather(f.contexts[rank], &group, TOPK_PEER_ALL, lists_on[rank],
                                           BLOCK_BYTES, all, stream));
    lists.lists = f.ranks;
    lists.list_stride = BLOCK_BYTES / 4;
    input.values = all;
    input.indices = all + LIST_BYTES;
    CHECK_STATUS(TOPK_OK, topk_merge(f.contexts[rank], &merging, &input, &lists, got, got + LIST_BYTES, NULL,
                                     workspace_on[rank], workspace_bytes, stream));
    ranks_wait(rank);
    return NULL;
}

static bool all_are(const results *got, int32_t index) {
    for (int i = 0; i < ROWS * K; i++) {
        if (got->indices[i / K][i % K] != index) {
            return false;
        }
    }
    return true;
}

static int64_t sum_of_late(int rank, int64_t number) {
    const topk_peer_group group = group_of(rank, 0);
    int64_t *const numbers = (int64_t *)workspace_on[rank];
    ranks_send(rank, numbers, &number, sizeof number);
    CHECK_STATUS(TOPK_OK, topk_peer_sum(f.contexts[rank], &group, numbers, 1, ranks_stream(rank)));
    ranks_fetch(rank, &number, numbers, sizeof number);
    ranks_wait(rank);
    return number;
}

static void *sum_again(void *argument) {
    const int rank = (int)(intptr_t)argument;
    CHECK(sum_of_late(rank, rank + 1) == f.ranks * (f.ranks + 1) / 2);
    return NULL;
}

/* Large blocks take three kernels, small ones one: PEER_SMALL_BYTES of the library is between. */
static void check_failure(int ranks, bool one_each, int64_t timeout_ms) {
    const int last = ranks - 1;
    open_lists(ranks, one_each);
    waiting_ms = timeout_ms;
    on_all_ranks(come_unless_last);
    for (int r = 0; r < last; r++) {
        const topk_peer_report report = report_of(r);
        const results got = fetch_results(r);
        CHECK(all_are(&got, -2));
        CHECK(report.runs == 1);
        /* The first to hear of another rank's failure says so. */
        CHECK(report.outcome == TOPK_PEER_LEFT ||
              report.outcome == (timeout_ms == 0 ? TOPK_PEER_ABORTED : TOPK_PEER_TIMED_OUT));
        CHECK(report.rank >= 0 && report.rank < ranks && report.rank != r);
        CHECK(ranks > 2 || report.rank == last);
    }
    CHECK(is_report(last, 0, 0, TOPK_PEER_INTACT));
    *ranks_word() = 0;
    CHECK(sum_of_late(last, 7) == -2);
    CHECK(report_of(last).outcome == TOPK_PEER_LEFT);
    CHECK(sum_of_late(0, 7) == -2 && sum_of_late(last, 7) == -2); /* without a wait: the others do not come */
    CHECK(report_of(0).runs == 2);
    for (int r = 0; r < ranks; r++) {
        static const char zeros[TOPK_PEER_FLAG_BYTES];
        ranks_send(r, f.flags[r], zeros, sizeof zeros);
        ranks_wait(r);
    }
    on_all_ranks(sum_again);
    close_fixture();
}

/* ---- Calls that are refused ---- */

static void check_refusals(void) {
    open_fixture(2, false, 64);
    topk_context *const c = f.contexts[0], *cpu = NULL;
    const topk_stream s = ranks_stream(0);
    char *const memory = ranks_memory(0, 512);
    int64_t *const numbers = (int64_t *)memory;
    topk_peer_group g = group_of(0, 0);
    CHECK(topk_peer_buffer_bytes(2, 64) == 256 && topk_peer_buffer_bytes(3, 1) == 96);
    CHECK(topk_peer_buffer_bytes(0, 1) == 0 && topk_peer_buffer_bytes(2, SIZE_MAX - 3) == SIZE_MAX);
    CHECK(topk_peer_buffer_bytes(2, SIZE_MAX / 4) == SIZE_MAX);
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_peer_sum(NULL, &g, numbers, 1, s));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_peer_sum(c, NULL, numbers, 1, s));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_peer_sum(c, &g, NULL, 1, s));
    CHECK_STATUS(TOPK_ERROR_MISALIGNED, topk_peer_most(c, &g, (int64_t *)(memory + 4), 1, s));
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, topk_peer_sum(c, &g, numbers, -1, s));
    CHECK_STATUS(TOPK_ERROR_OVERFLOW, topk_peer_sum(c, &g, numbers, INT64_MAX, s));
    CHECK_STATUS(TOPK_ERROR_OVERFLOW, topk_peer_gather(c, &g, 0, memory, SIZE_MAX / 3, memory + 100, s));
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, topk_peer_gather(c, &g, 2, memory, 4, memory + 100, s));
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, topk_peer_gather(c, &g, -2, memory, 4, memory + 100, s));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_peer_gather(c, &g, 0, memory, 4, NULL, s));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_peer_gather(c, &g, 1, NULL, 4, NULL, s));
    CHECK_STATUS(TOPK_ERROR_OVERLAP, topk_peer_gather(c, &g, 0, memory, 4, memory + 3, s));
    CHECK_STATUS(TOPK_ERROR_OVERLAP, topk_peer_exchange(c, &g, memory, 4, memory + 7, s));
    CHECK_STATUS(TOPK_ERROR_OVERLAP, topk_peer_exchange(c, &g, f.buffers[0], 4, memory, s));
    CHECK_STATUS(TOPK_OK, topk_peer_exchange(c, &g, NULL, 0, NULL, s)); /* is no run */
    topk_peer_part parts[2] = {{memory, 4, memory + 100}, {memory + 8, 4, memory + 107}};
    CHECK_STATUS(TOPK_ERROR_OVERLAP, topk_peer_gather_parts(c, &g, 0, parts, 2, s));
    CHECK_STATUS(TOPK_ERROR_OVERLAP, topk_peer_exchange_parts(c, &g, parts, 2, s));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_peer_gather_parts(c, &g, 0, NULL, 1, s));
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, topk_peer_gather_parts(c, &g, 0, parts, -1, s));
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, topk_peer_exchange_parts(c, &g, parts, TOPK_PEER_PARTS_MAX + 1, s));
    CHECK_STATUS(TOPK_OK, topk_peer_gather_parts(c, &g, 0, NULL, 0, s)); /* is no run */
    parts[0].bytes = parts[1].bytes = 0;
    CHECK_STATUS(TOPK_OK, topk_peer_gather_parts(c, &g, 0, parts, 2, s)); /* nor is this */
    CHECK_STATUS(TOPK_ERROR_MISALIGNED, topk_peer_status(c, &g, (topk_peer_report *)(memory + 1), s));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_peer_status(c, &g, NULL, s));
    g.rank = 2;
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, topk_peer_sum(c, &g, numbers, 1, s));
    g.rank = 0;
    g.ranks = TOPK_PEER_RANKS_MAX + 1;
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, topk_peer_sum(c, &g, numbers, 1, s));
    g = group_of(0, 0);
    g.buffer_bytes = topk_peer_buffer_bytes(2, 1) - 1;
    CHECK_STATUS(TOPK_ERROR_WORKSPACE_TOO_SMALL, topk_peer_sum(c, &g, numbers, 1, s));
    CHECK_STATUS(TOPK_ERROR_WORKSPACE_TOO_SMALL, topk_peer_gather(c, &g, 0, memory, 5, memory + 100, s));
    g = group_of(0, -1);
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, topk_peer_sum(c, &g, numbers, 1, s));
    g = group_of(0, 0);
    g.abort = (const uint32_t *)(memory + 2);
    CHECK_STATUS(TOPK_ERROR_MISALIGNED, topk_peer_sum(c, &g, numbers, 1, s));
    g.abort = NULL;
    g.flags = NULL;
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_peer_sum(c, &g, numbers, 1, s));
    void *const odd[2] = {f.buffers[0], (char *)f.buffers[1] + 8}, *const none[2] = {f.buffers[0], NULL};
    g = group_of(0, 0);
    g.buffers = odd;
    CHECK_STATUS(TOPK_ERROR_MISALIGNED, topk_peer_sum(c, &g, numbers, 1, s));
    g.buffers = none;
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_peer_sum(c, &g, numbers, 1, s));
    g = group_of(0, 0);
    g.size = 8;
    CHECK_STATUS(TOPK_ERROR_STRUCT_SIZE, topk_peer_sum(c, &g, numbers, 1, s));
    g = group_of(0, 0);
    CHECK_STATUS(TOPK_OK, topk_context_create(NULL, &cpu));
    CHECK_STATUS(TOPK_ERROR_UNSUPPORTED, topk_peer_sum(cpu, &g, numbers, 1, NULL));
    topk_context_destroy(cpu);
    CHECK(is_report(0, 0, 0, TOPK_PEER_INTACT));
    close_fixture();
}

/* False where the ranks have no room. */
static bool check_ranks(int ranks, bool one_each, int runs) {
    if (!ranks_fit(ranks, one_each)) {
        printf("%d ranks: no room\n", ranks);
        return false;
    }
    check_runs(ranks, one_each, runs, ranks_block_bytes() + 4);
    check_runs(ranks, one_each, runs / 10, ranks_block_bytes() / 2 - 30);
    check_lists(ranks, one_each);
    check_graphs(ranks, one_each);
    if (ranks > 1) {
        check_failure(ranks, one_each, 0);
        check_failure(ranks, one_each, 20);
    }
    return true;
}

int main(int argc, char **argv) {
    const int runs = argc > 1 ? atoi(argv[1]) : 100;
    const bool one_each = argc > 2 && strcmp(argv[2], "each") == 0;
    bool any = false;
    ranks_start();
    for (int i = 2 + one_each; i < argc; i++) {
        any |= check_ranks(atoi(argv[i]), one_each, runs);
    }
    if (!any) {
        return RANKS_EXIT_NONE;
    }
    check_refusals();
    return check_report();
}
