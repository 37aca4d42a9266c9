/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranks that are processes with a GPU each, over peer memory that they map by handles, and over NCCL. The
 * last one is killed: before it makes a plan, or instead of its second run, in which the others wait for it.
 * Each of these ends with an error, and with no results.
 *
 * usage: killed_cuda peer | nccl      exits with 77 where there are fewer than two GPUs */
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#ifdef KILLED_HAS_NCCL
#include "topk_dist_nccl.h"
#endif
#include "topk_dist_peer.h"

enum {
    RANKS_MOST = 4,
    N = 1 << 18,
    K = 100,
    TIMEOUT_MS = 3000,
    LIMIT_S = 120,
    EXIT_SKIPPED = 77,
    BUFFER_BYTES = 1 << 20
};

enum phase { PHASE_PLAN, PHASE_RUN };

/* What processes share. */
static struct board {
    atomic_int arrived, is_dead;
    cudaIpcMemHandle_t buffers[RANKS_MOST], flags[RANKS_MOST];
#ifdef KILLED_HAS_NCCL
    ncclUniqueId id;
#endif
} * board;

static int rank_count;

/* What one process has. */
static struct {
    int rank;
    topk_context *context;
    cudaStream_t stream;
    topk_dist_group *group;
    void *buffers[RANKS_MOST];
    uint64_t *flags[RANKS_MOST];
    float *elements, *values, host_values[K];
    int64_t *indices, host_indices[K];
    void *workspace;
    size_t workspace_bytes;
    topk_peer_group peer;
} own;

static void must(cudaError_t status, const char *what) {
    if (status != cudaSuccess) {
        fprintf(stderr, "rank %d: %s: %s\n", own.rank, what, cudaGetErrorString(status));
        exit(3);
    }
}

static void pause_ms(long ms) {
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    (void)nanosleep(&time, NULL);
}

/* Until all ranks have come so far. */
static void meet(int times) {
    atomic_fetch_add(&board->arrived, 1);
    while (atomic_load(&board->arrived) < times * rank_count) {
        pause_ms(1);
    }
}

static float element_at(int64_t i) {
    return (float)((uint32_t)i * 2654435761U >> 8);
}

/* ---- Groups ---- */

static void open_peer(void) {
    must(cudaMalloc(&own.buffers[own.rank], BUFFER_BYTES), "a buffer");
    must(cudaMalloc((void **)&own.flags[own.rank], TOPK_PEER_FLAG_BYTES), "flags");
    must(cudaMemset(own.flags[own.rank], 0, TOPK_PEER_FLAG_BYTES), "flags");
    must(cudaDeviceSynchronize(), "flags");
    must(cudaIpcGetMemHandle(&board->buffers[own.rank], own.buffers[own.rank]), "a handle");
    must(cudaIpcGetMemHandle(&board->flags[own.rank], own.flags[own.rank]), "a handle");
    meet(1);
    for (int r = 0; r < rank_count; r++) {
        if (r != own.rank) {
            must(cudaIpcOpenMemHandle(&own.buffers[r], board->buffers[r], cudaIpcMemLazyEnablePeerAccess),
                 "a peer's buffer");
            must(
                cudaIpcOpenMemHandle((void **)&own.flags[r], board->flags[r], cudaIpcMemLazyEnablePeerAccess),
                "a peer's flags");
        }
    }
    own.peer = (topk_peer_group)TOPK_PEER_GROUP_INIT;
    own.peer.rank = own.rank;
    own.peer.ranks = rank_count;
    own.peer.buffers = own.buffers;
    own.peer.flags = own.flags;
    own.peer.buffer_bytes = BUFFER_BYTES;
    own.peer.timeout_ms = TIMEOUT_MS;
    CHECK_STATUS(TOPK_OK, topk_dist_group_create_peer(&own.peer, own.context, own.stream, &own.group));
    meet(2);
}

#ifdef KILLED_HAS_NCCL
static void open_nccl(void) {
    ncclComm_t communicator;
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    if (own.rank == 0 && ncclGetUniqueId(&board->id) != ncclSuccess) {
        exit(3);
    }
    meet(1);
    const ncclResult_t result =
        ncclCommInitRankConfig(&communicator, rank_count, board->id, own.rank, &config);
    if (result != ncclSuccess && result != ncclInProgress) {
        fprintf(stderr, "rank %d: %s\n", own.rank, ncclGetErrorString(result));
        exit(3);
    }
    CHECK_STATUS(TOPK_OK, topk_dist_group_create_nccl(communicator, own.context, own.stream, &own.group));
    meet(2);
}

/* Aborts the group a while after the other rank is gone, when this one waits for it. */
static void *watch(void *unused) {
    (void)unused;
    while (atomic_load(&board->is_dead) == 0) {
        pause_ms(1);
    }
    pause_ms(1000);
    CHECK_STATUS(TOPK_OK, topk_dist_group_abort_nccl(own.group));
    return NULL;
}
#endif

/* ---- A rank ---- */

static void open_rank(int rank, bool by_nccl) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    own.rank = rank;
    options.backend = TOPK_BACKEND_CUDA;
    options.device = rank;
    must(cudaSetDevice(rank), "a device");
    CHECK_STATUS(TOPK_OK, topk_context_create(&options, &own.context));
    must(cudaStreamCreateWithFlags(&own.stream, cudaStreamNonBlocking), "a stream");
    float *const elements = malloc(N * sizeof *elements);
    for (int64_t i = 0; elements != NULL && i < N; i++) {
        elements[i] = element_at(rank * (int64_t)N + i);
    }
    must(cudaMalloc((void **)&own.elements, N * sizeof *elements), "memory");
    must(cudaMalloc((void **)&own.values, sizeof own.host_values), "memory");
    must(cudaMalloc((void **)&own.indices, sizeof own.host_indices), "memory");
    must(cudaMemcpy(own.elements, elements, N * sizeof *elements, cudaMemcpyHostToDevice), "elements");
    free(elements);
#ifdef KILLED_HAS_NCCL
    if (by_nccl) {
        open_nccl();
        return;
    }
#endif
    (void)by_nccl;
    open_peer();
}

static topk_status make_plan(topk_dist_plan **plan) {
    topk_problem problem = TOPK_PROBLEM_INIT;
    problem.type = TOPK_F32;
    problem.index_type = TOPK_INDEX_I64;
    problem.rows = 1;
    problem.length_max = N;
    problem.k_max = K;
    problem.index_base = own.rank * (int64_t)N;
    const topk_status status =
        topk_dist_plan_create(own.group, own.context, TOPK_OPERATION_SELECT, &problem, NULL, plan);
    if (status == TOPK_OK) {
        topk_dist_properties properties = TOPK_DIST_PROPERTIES_INIT;
        CHECK_STATUS(TOPK_OK, topk_dist_plan_query(*plan, &properties));
        own.workspace_bytes = properties.workspace_bytes;
        must(cudaMalloc(&own.workspace, own.workspace_bytes), "a workspace");
    }
    return status;
}

static topk_status run_plan(topk_dist_plan *plan) {
    topk_input input = TOPK_INPUT_INIT;
    topk_dist_output output = TOPK_DIST_OUTPUT_INIT;
    input.values = own.elements;
    output.values = own.values;
    output.indices = own.indices;
    const topk_status status =
        topk_dist_plan_run(plan, &input, &output, own.workspace, own.workspace_bytes, own.stream);
    must(cudaStreamSynchronize(own.stream), "a run");
    must(cudaMemcpy(own.host_indices, own.indices, sizeof own.host_indices, cudaMemcpyDeviceToHost),
         "results");
    must(cudaMemcpy(own.host_values, own.values, sizeof own.host_values, cudaMemcpyDeviceToHost), "results");
    return status;
}

/* Best first, and as many elements of all ranks are better than the last result as there are before it. */
static void check_results(void) {
    int64_t better = 0;
    for (int64_t i = 0; i < rank_count * (int64_t)N; i++) {
        better += element_at(i) > own.host_values[K - 1];
    }
    CHECK(better < K);
    for (int i = 0; i < K; i++) {
        CHECK(own.host_indices[i] >= 0 && element_at(own.host_indices[i]) == own.host_values[i]);
        CHECK(
            i == 0 || own.host_values[i - 1] > own.host_values[i] ||
            (own.host_values[i - 1] == own.host_values[i] && own.host_indices[i - 1] < own.host_indices[i]));
    }
}

/* Over peer memory a run says in its results that it has none. */
static void check_failed_run(void) {
    topk_peer_report report, *of_gpu;
    for (int i = 0; i < K; i++) {
        CHECK(own.host_indices[i] == -2);
    }
    must(cudaMalloc((void **)&of_gpu, sizeof *of_gpu), "memory");
    CHECK_STATUS(TOPK_OK, topk_peer_status(own.context, &own.peer, of_gpu, own.stream));
    must(cudaStreamSynchronize(own.stream), "a status");
    must(cudaMemcpy(&report, of_gpu, sizeof report, cudaMemcpyDeviceToHost), "a status");
    CHECK(report.outcome == TOPK_PEER_TIMED_OUT || report.outcome == TOPK_PEER_LEFT);
}

static int run_rank(int rank, enum phase phase, bool by_nccl) {
    topk_dist_plan *plan = NULL;
    const bool dies = rank == rank_count - 1;
    pthread_t watcher;
    bool is_watched = false;
    open_rank(rank, by_nccl);
#ifdef KILLED_HAS_NCCL
    is_watched = by_nccl && pthread_create(&watcher, NULL, watch, NULL) == 0;
#endif
    if (dies && phase == PHASE_PLAN) {
        raise(SIGKILL);
    }
    CHECK_STATUS(phase == PHASE_PLAN ? TOPK_ERROR_DEVICE : TOPK_OK, make_plan(&plan));
    if (phase == PHASE_RUN) {
        CHECK_STATUS(TOPK_OK, run_plan(plan));
        check_results();
        if (dies) {
            raise(SIGKILL);
        }
        const topk_status status = run_plan(plan);
        CHECK(by_nccl || status == TOPK_OK);
        if (is_watched) {
            (void)pthread_join(watcher, NULL);
            is_watched = false;
            CHECK_STATUS(TOPK_ERROR_DEVICE, run_plan(plan));
        } else {
            check_failed_run();
        }
    }
    if (is_watched) {
        (void)pthread_join(watcher, NULL);
    }
    topk_dist_plan_destroy(plan);
    topk_dist_group_destroy(own.group);
    topk_context_destroy(own.context);
    return check_report();
}

/* ---- The job ---- */

/* A process of its own asks: the ranks' parent must not have used a GPU. */
static int count_gpus(void) {
    int status = 0, count = 0;
    const pid_t child = fork();
    if (child == 0) {
        _exit(topk_backend_status(TOPK_BACKEND_CUDA) == TOPK_OK && cudaGetDeviceCount(&count) == cudaSuccess
                  ? count
                  : 0);
    }
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

static void check_job(enum phase phase, bool by_nccl) {
    pid_t ranks[RANKS_MOST];
    atomic_store(&board->arrived, 0);
    atomic_store(&board->is_dead, 0);
    (void)fflush(NULL);
    for (int r = 0; r < rank_count; r++) {
        ranks[r] = fork();
        if (ranks[r] == 0) {
            (void)alarm(LIMIT_S); /* a rank that waits for ever does not */
            exit(run_rank(r, phase, by_nccl));
        }
    }
    for (int ended = 0; ended < rank_count; ended++) {
        int status = 0;
        const pid_t who = wait(&status);
        if (who == ranks[rank_count - 1]) {
            CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
            atomic_store(&board->is_dead, 1);
        } else {
            CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        }
    }
}

int main(int argc, char **argv) {
    const bool by_nccl = argc > 1 && strcmp(argv[1], "nccl") == 0;
    const int gpus = count_gpus();
    rank_count = gpus < RANKS_MOST ? gpus : RANKS_MOST;
    if (gpus < 2) {
        printf("skipped: there are fewer than two GPUs\n");
        return EXIT_SKIPPED;
    }
    board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (board == MAP_FAILED) {
        return 3;
    }
    check_job(PHASE_PLAN, by_nccl);
    check_job(PHASE_RUN, by_nccl);
    return check_report();
}
