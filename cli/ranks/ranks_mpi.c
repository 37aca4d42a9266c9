/* SPDX-License-Identifier: Apache-2.0
 *
 * The ranks of topk-mpi, which is the tool with MPI and libtopk_dist. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/alloc.h"
#include "../base/fail.h"
#include "ranks.h"
#include "topk_dist_mpi.h"

/* A process is one rank of one job. */
static struct ranks ranks;
static topk_dist_group *group;
static pthread_t thread; /* that calls MPI */
/* The others are in a call of libtopk_dist, where nobody meets them. */
static bool is_within;
static bool is_over;

/* What each rank says when ranks meet. */
struct word {
    int64_t leaves; /* 1: its tool ends, with the status */
    int64_t status;
    int64_t bytes; /* of its message */
};

/* The rank whose end is everyone's: the first that failed, else the first that leaves; -1: all go on. */
static int first_to_leave(const struct word *words) {
    int first = -1;
    for (int rank = ranks.count - 1; rank >= 0; rank--)
        if (words[rank].leaves && (words[rank].status != 0 || first < 0 || words[first].status == 0))
            first = rank;
    return first;
}

/* The root prints what the first rank says. */
static void print(int first, const struct word *word, const char *message) {
    char *copy = NULL;
    if (word->bytes == 0)
        return;
    if (first != 0 && ranks.rank == first)
        MPI_Send(message, (int)word->bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    if (ranks.rank != 0)
        return;
    if (first != 0) {
        message = copy = allocate((uint64_t)word->bytes, 1);
        MPI_Recv(copy, (int)word->bytes, MPI_CHAR, first, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    const ssize_t written = write(STDERR_FILENO, message, (size_t)word->bytes);
    (void)written;
    release(copy);
}

/* Returns the status to end with, or -1. */
static int meet_and_say(struct word word, const char *message) {
    struct word *words = malloc((size_t)ranks.count * sizeof *words);
    if (words == NULL)
        MPI_Abort(MPI_COMM_WORLD, STATUS_FAILED);
    MPI_Allgather(&word, 3, MPI_INT64_T, words, 3, MPI_INT64_T, MPI_COMM_WORLD);
    const int first = first_to_leave(words);
    const struct word last = first < 0 ? word : words[first];
    free(words);
    if (first < 0)
        return -1;
    print(first, &last, message);
    is_over = true;
    MPI_Finalize();
    return (int)last.status;
}

static void meet(void) {
    const int status = meet_and_say((struct word){0, 0, 0}, NULL);
    if (status >= 0)
        exit(status);
}

/* The end of a rank that fails. A thread that may not call MPI, and a rank that nobody meets, leave it to
 * mpirun to end the others. */
static _Noreturn void end_together(int status, const char *line, size_t length) {
    if (is_over || is_within || !pthread_equal(thread, pthread_self())) {
        const ssize_t written = write(STDERR_FILENO, line, length);
        (void)written;
        if (pthread_equal(thread, pthread_self()) && !is_over)
            MPI_Abort(MPI_COMM_WORLD, status);
        _exit(status);
    }
    exit(meet_and_say((struct word){1, status, (int64_t)length}, line));
}

/* The end of a rank by exit(): of all ranks, for they have the same command line. */
static void at_exit(int status, void *unused) {
    (void)unused;
    if (is_over)
        return;
    if (is_within)
        MPI_Abort(MPI_COMM_WORLD, STATUS_FAILED);
    const int agreed = meet_and_say((struct word){1, status, 0}, NULL);
    if (agreed != status)
        _exit(agreed);
}

/* ---- Calls of libtopk_dist ------------------------------------------------------------------- */

static void enter(void) {
    meet();
    is_within = true;
}

/* Of a call that all ranks have returned from with the same status, unless they cannot communicate any more.
 */
static void leave(topk_status status) {
    if (status == TOPK_ERROR_DEVICE)
        fail("%s", topk_dist_last_error());
    is_within = false;
    if (status != TOPK_OK)
        fail("%s", topk_dist_last_error());
}

static int64_t sum(int64_t number) {
    meet();
    MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return number;
}

/* A row of which this rank has `length` elements from position `first` on. */
static topk_problem row_of(const topk_problem *ranking, int64_t first, int64_t length, int64_t k) {
    topk_problem problem = *ranking;
    problem.rows = 1;
    problem.row_stride = 0;
    problem.length_max = length;
    problem.index_base = first;
    problem.k_max = k;
    problem.method = NULL;
    problem.tuning = NULL;
    return problem;
}

struct call {
    topk_dist_plan *plan;
    void *workspace;
    size_t workspace_bytes;
};

static struct call call_begin(topk_context *context, topk_operation operation, const topk_problem *problem,
                              const topk_dist_options *options) {
    topk_dist_properties properties = TOPK_DIST_PROPERTIES_INIT;
    struct call call;
    enter();
    leave(topk_dist_plan_create(group, context, operation, problem, options, &call.plan));
    topk_dist_plan_query(call.plan, &properties);
    call.workspace_bytes = properties.workspace_bytes;
    call.workspace = allocate(call.workspace_bytes, 1);
    enter();
    return call;
}

static void call_end(struct call *call, topk_status status) {
    leave(status);
    topk_dist_plan_destroy(call->plan);
    release(call->workspace);
}

static void select_best(topk_context *context, const topk_problem *ranking, int64_t k,
                        struct ranks_list *list) {
    topk_dist_options options = TOPK_DIST_OPTIONS_INIT;
    topk_dist_output output = TOPK_DIST_OUTPUT_INIT;
    topk_input input = TOPK_INPUT_INIT;
    const int64_t all = sum(list->count);
    const int64_t results = k < all ? k : all;
    const int64_t own = ranks.rank == 0 ? results : 0;
    const topk_problem problem = row_of(ranking, 0, list->count, results);
    output.values = allocate((uint64_t)own, topk_type_size(ranking->type));
    output.indices = allocate((uint64_t)own, sizeof(int64_t));
    if (results > 0) {
        options.destination = TOPK_DIST_ROOT;
        options.map = TOPK_DIST_TABLE;
        input.values = list->values;
        input.indices = list->indices;
        struct call call = call_begin(context, TOPK_OPERATION_SELECT, &problem, &options);
        call_end(&call,
                 topk_dist_plan_run(call.plan, &input, &output, call.workspace, call.workspace_bytes, NULL));
    }
    release(list->values);
    release(list->indices);
    *list = (struct ranks_list){output.values, output.indices, own};
}

static void find_kth(topk_context *context, const topk_problem *ranking, int64_t k, struct ranks_part *part,
                     void *kth, int64_t *better, int64_t *equal) {
    topk_dist_options options = TOPK_DIST_OPTIONS_INIT;
    topk_dist_output output = TOPK_DIST_OUTPUT_INIT;
    topk_dist_source source = TOPK_DIST_SOURCE_INIT;
    const topk_input input = TOPK_INPUT_INIT;
    const topk_problem problem = row_of(ranking, part->first, part->length, k);
    options.origin = TOPK_DIST_READ;
    options.piece = part->piece;
    source.length = part->length;
    source.read = part->read;
    source.user = part->user;
    output.values = kth;
    output.better = better;
    output.equal = equal;
    struct call call = call_begin(context, TOPK_OPERATION_KTH, &problem, &options);
    call_end(&call, topk_dist_plan_run_source(call.plan, &source, &input, &output, call.workspace,
                                              call.workspace_bytes, NULL));
}

/* ---- The job --------------------------------------------------------------------------------- */

/* The processors of the machine, shared out among its ranks, but no more than this rank may run on. */
static int share_of_processors(void) {
    MPI_Comm node;
    int here;
    cpu_set_t set;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &here);
    MPI_Comm_free(&node);
    const int share = (int)(sysconf(_SC_NPROCESSORS_ONLN) / here);
    const int own = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : share;
    const int least = share < own ? share : own;
    return least > 0 ? least : 1;
}

/* What is printed to the streams of C, by argp, is the same on all ranks. Only fail() speaks for one. */
static void silence(void) {
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    FILE *errors = fopen("/dev/null", "we");
    if (nowhere < 0 || errors == NULL || dup2(nowhere, STDOUT_FILENO) < 0)
        fail("/dev/null cannot be opened");
    close(nowhere);
    stderr = errors;
}

const struct ranks *ranks_begin(char **arguments) {
    int provided;
    (void)arguments;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks.count);
    thread = pthread_self();
    ranks.threads = share_of_processors();
    ranks.meet = meet;
    ranks.sum = sum;
    ranks.select = select_best;
    ranks.kth = find_kth;
    fail_by(end_together);
    on_exit(at_exit, NULL);
    if (ranks.rank > 0)
        silence();
    is_within = true;
    leave(topk_dist_group_create_mpi(MPI_COMM_WORLD, &group));
    return &ranks;
}
