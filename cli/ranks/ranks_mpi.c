/* SPDX-License-Identifier: Apache-2.0
 *
 * The ranks of topk-mpi, which is the tool with MPI and libtopk_dist. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
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
    int64_t speaks;      /* 1: and has a message */
    int64_t file, lines; /* the last file of its text, and its lines there */
    uint64_t bytes;      /* of the piece that it passes on next */
    int64_t is_last;     /* 1: there is none behind that piece */
};

static struct word own = {.file = -1};
static struct word *words; /* of all ranks, when they met last */

/* The rank whose end is everyone's: the first that failed, else the first that leaves; -1: all go on. */
static int first_to_leave(void) {
    int first = -1;
    for (int rank = ranks.count - 1; rank >= 0; rank--)
        if (words[rank].leaves && (words[rank].status != 0 || first < 0 || words[first].status == 0))
            first = rank;
    return first;
}

/* The root prints what the first rank says. */
static void print(int first, const char *message, size_t length) {
    char *copy = NULL;
    if (first != 0 && ranks.rank == first)
        MPI_Send(message, (int)length, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    if (ranks.rank != 0)
        return;
    if (first != 0) {
        MPI_Status status;
        int bytes;
        MPI_Probe(first, 0, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_CHAR, &bytes);
        length = (size_t)bytes;
        message = copy = allocate(length, 1);
        MPI_Recv(copy, bytes, MPI_CHAR, first, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    const ssize_t written = write(STDERR_FILENO, message, length);
    (void)written;
    release(copy);
}

static void say(int leaves, int status, int speaks) {
    own.leaves = leaves;
    own.status = status;
    own.speaks = speaks;
    MPI_Allgather(&own, sizeof own, MPI_BYTE, words, sizeof own, MPI_BYTE, MPI_COMM_WORLD);
}

/* Ranks have met, and some rank leaves: the status to end with. */
static int end_job(const char *message, size_t length) {
    const int first = first_to_leave();
    if (words[first].speaks)
        print(first, message, length);
    is_over = true;
    MPI_Finalize();
    return (int)words[first].status;
}

static void meet(void) {
    say(0, 0, 0);
    if (first_to_leave() >= 0)
        exit(end_job(NULL, 0));
}

/* ---- Pieces in the order of ranks ------------------------------------------------------------ */

static bool is_passing;
static int turn;      /* the rank that passes pieces on */
static uint64_t room; /* that the root has for a piece */
static char *piece_of_other;

enum { MESSAGE_BYTES = 1 << 30 };

static void move(char *bytes, uint64_t size, int from) {
    for (uint64_t at = 0; at < size; at += MESSAGE_BYTES) {
        const int part = (int)(size - at < MESSAGE_BYTES ? size - at : MESSAGE_BYTES);
        if (ranks.rank == 0)
            MPI_Recv(bytes + at, part, MPI_CHAR, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Send(bytes + at, part, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    }
}

/* The root makes room for the piece whose turn it is; all ranks know when it has to. */
static void reserve_piece(uint64_t bytes) {
    if (bytes <= room)
        return;
    room = bytes;
    if (ranks.rank == 0)
        piece_of_other = reallocate(piece_of_other, room, 1);
    meet(); /* there is memory */
}

/* All ranks meet, and one of them passes on a piece. Returns which. */
static int pass_one(const struct ranks_bytes *piece, ranks_take *take, void *user) {
    meet();
    const int from = turn;
    struct ranks_bytes received = {NULL, words[from].bytes};
    turn += (int)words[from].is_last;
    reserve_piece(received.size);
    if (ranks.rank == from && from > 0)
        move(piece->bytes, piece->size, 0);
    if (ranks.rank == 0 && from > 0) {
        received.bytes = piece_of_other;
        move(received.bytes, received.size, from);
        take(user, from, &received);
    }
    return from;
}

static void begin_passing(void) {
    is_passing = true;
    turn = 0;
    own.bytes = 0;
    own.is_last = 0;
}

static void pass(struct ranks_bytes *piece, bool last, ranks_take *take, void *user) {
    own.bytes = piece->size;
    own.is_last = last;
    for (bool is_gone = false; last ? turn < ranks.count : !is_gone;)
        is_gone = pass_one(piece, take, user) == ranks.rank;
    piece->size = 0;
    is_passing = turn < ranks.count;
}

/* What a rank that fails does meanwhile. */
static void await_turn(void) {
    const struct ranks_bytes nothing = {NULL, 0};
    own.bytes = 0;
    own.is_last = 0;
    while (is_passing && turn < ranks.rank)
        pass_one(&nothing, NULL, NULL);
}

/* ---- The end of a rank ----------------------------------------------------------------------- */

/* A rank that fails says so before it says why: others have counted the lines that come before its own, as
 * far as none of them failed first. */
static int64_t lines_before(int64_t file) {
    int64_t lines = 0;
    if (is_over || is_within || !pthread_equal(thread, pthread_self()))
        return 0;
    await_turn();
    say(1, STATUS_FAILED, 1);
    for (int rank = 0; rank < ranks.rank; rank++)
        lines += words[rank].file == file ? words[rank].lines : 0;
    return lines;
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
    if (!own.leaves) {
        await_turn();
        say(1, status, 1);
    }
    exit(end_job(line, length));
}

/* The end of a rank by exit(): of all ranks, for they have the same command line. */
static void at_exit(int status, void *unused) {
    (void)unused;
    if (is_over)
        return;
    if (is_within)
        MPI_Abort(MPI_COMM_WORLD, STATUS_FAILED);
    say(1, status, 0);
    const int agreed = end_job(NULL, 0);
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

static int64_t sum_before(int64_t number) {
    int64_t before = 0; /* MPI leaves the first rank's alone */
    meet();
    MPI_Exscan(&number, &before, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return ranks.rank == 0 ? 0 : before;
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

static void select_best(topk_context *context, const topk_problem *ranking, int64_t k, bool everywhere,
                        struct ranks_list *list) {
    topk_dist_options options = TOPK_DIST_OPTIONS_INIT;
    topk_dist_output output = TOPK_DIST_OUTPUT_INIT;
    topk_input input = TOPK_INPUT_INIT;
    const int64_t all = sum(list->count);
    const int64_t results = k < all ? k : all;
    const int64_t mine = everywhere || ranks.rank == 0 ? results : 0;
    const topk_problem problem = row_of(ranking, 0, list->count, results);
    output.values = allocate((uint64_t)mine, topk_type_size(ranking->type));
    output.indices = allocate((uint64_t)mine, sizeof(int64_t));
    if (results > 0) {
        options.destination = everywhere ? TOPK_DIST_EVERYWHERE : TOPK_DIST_ROOT;
        options.map = TOPK_DIST_TABLE;
        input.values = list->values;
        input.indices = list->indices;
        struct call call = call_begin(context, TOPK_OPERATION_SELECT, &problem, &options);
        call_end(&call,
                 topk_dist_plan_run(call.plan, &input, &output, call.workspace, call.workspace_bytes, NULL));
    }
    release(list->values);
    release(list->indices);
    *list = (struct ranks_list){output.values, output.indices, mine};
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

/* ---- Text ------------------------------------------------------------------------------------ */

static void end_lines(int64_t last_file, int64_t last_lines) {
    own.file = last_file;
    own.lines = last_lines;
}

static struct ranks_lines place_lines(int64_t first_file, int64_t lines) {
    struct ranks_lines before = {0, 0, 0};
    before.all = sum(lines);
    for (int rank = 0; rank < ranks.rank; rank++)
        before.in_file += words[rank].file == first_file ? words[rank].lines : 0;
    before.before = sum_before(lines);
    return before;
}

static void gather(struct ranks_bytes *bytes) {
    uint64_t all = bytes->size, own_size = bytes->size;
    uint64_t *sizes = allocate((uint64_t)ranks.count, sizeof *sizes);
    meet();
    MPI_Gather(&own_size, 1, MPI_UINT64_T, sizes, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    for (int rank = 1; ranks.rank == 0 && rank < ranks.count; rank++)
        all += sizes[rank];
    if (ranks.rank == 0)
        bytes->bytes = reallocate(bytes->bytes, all, 1);
    meet(); /* there is memory */
    if (ranks.rank != 0)
        move(bytes->bytes, bytes->size, 0);
    for (int rank = 1; ranks.rank == 0 && rank < ranks.count; rank++) {
        move(bytes->bytes + bytes->size, sizes[rank], rank);
        bytes->size += sizes[rank];
    }
    if (ranks.rank != 0)
        bytes->size = 0;
    release(sizes);
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
    const int allowed = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : share;
    const int least = share < allowed ? share : allowed;
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

/* Whether the user has said how Open MPI shall communicate: to mpirun, which passes it on, or in a file. */
static bool has_network(void) {
    const char *home = getenv("HOME");
    char path[PATH_MAX];
    if (getenv("OMPI_MCA_pml") != NULL || getenv("OMPI_MCA_mtl") != NULL)
        return true;
    return home != NULL && snprintf(path, sizeof path, "%s/.openmpi/mca-params.conf", home) < PATH_MAX &&
           access(path, F_OK) == 0;
}

/* Ranks of one machine need no network. Open MPI looks for some all the same, which takes tenths of a second,
 * unless it is told how to communicate. Other MPIs have none of these variables. */
static void leave_out_networks(void) {
    const char *all = getenv("OMPI_COMM_WORLD_SIZE"), *here = getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
    if (all != NULL && here != NULL && strcmp(all, here) == 0 && !has_network())
        setenv("OMPI_MCA_pml", "ob1", 1);
}

/* Has MPI's connections to its launcher send at once. They send short messages one behind the other when a
 * rank ends, and TCP holds back all but the first until that is acknowledged: 40 ms. */
static void send_at_once(void) {
    const int on = 1;
    DIR *folder = opendir("/proc/self/fd");
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        const int descriptor = atoi(entry->d_name);
        int protocol = 0;
        socklen_t size = sizeof protocol;
        if (descriptor > STDERR_FILENO &&
            getsockopt(descriptor, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) == 0 && protocol == IPPROTO_TCP)
            setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    if (folder != NULL)
        closedir(folder);
}

static const struct fail_together together = {end_together, lines_before};

const struct ranks *ranks_begin(char **arguments) {
    int provided;
    (void)arguments;
    leave_out_networks();
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    send_at_once();
    MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks.count);
    thread = pthread_self();
    ranks.threads = share_of_processors();
    ranks.meet = meet;
    ranks.sum = sum;
    ranks.sum_before = sum_before;
    ranks.select = select_best;
    ranks.kth = find_kth;
    ranks.end_lines = end_lines;
    ranks.place_lines = place_lines;
    ranks.gather = gather;
    ranks.begin_passing = begin_passing;
    ranks.pass = pass;
    words = allocate((uint64_t)ranks.count, sizeof *words);
    fail_by(&together);
    on_exit(at_exit, NULL);
    if (ranks.rank > 0)
        silence();
    is_within = true;
    leave(topk_dist_group_create_mpi(MPI_COMM_WORLD, &group));
    return &ranks;
}
