/* SPDX-License-Identifier: Apache-2.0
 *
 * Each collective, and sends and receives of a group, are a round: every rank posts what it gives and takes,
 * and when all have, each moves what it gets. The round ends when all have done so. The rounds of a group
 * come one after the other: a second send to a rank, or receive from one, is of a second round. */
#include "fake_nccl.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 8, GROUP_ROUNDS = 4 };

typedef enum { SUM, GATHER, BROADCAST, PAIRS, SPLIT } kind;

typedef struct post {
    kind what;
    size_t count;  /* numbers, or bytes */
    int root, key; /* BROADCAST; SPLIT: the colour, and the order in it */
    const void *from;
    void *to;
    const void *sent[RANKS]; /* to each rank, or NULL */
    void *received[RANKS];
    size_t sent_bytes[RANKS], received_bytes[RANKS];
} post;

/* What all communicators share that come of one. What fails in one breaks all. */
typedef struct family {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int open;
    bool broken;
} family;

/* What communicators of the same ranks share. */
typedef struct world {
    family *family;
    int ranks, open, posted, moved;
    long round;
    post posts[RANKS];
    int64_t *sums;
    struct world *parts[RANKS]; /* of a split, by colour */
} world;

struct ncclComm {
    world *of;
    int rank;
    bool is_blocking, is_busy, has_moved;
    long round; /* that it is in */
    post queue[GROUP_ROUNDS];
    int queued, at;   /* how many are posted or will be, and which one is */
    ncclComm_t *made; /* where a split puts its communicator */
};

const char fake_reason[] = "the cable is unplugged";
int fake_device;

static _Thread_local long calls, fails_at = -1;
static _Thread_local struct ncclComm *latest; /* of this thread */
static _Thread_local int depth;
static _Thread_local post group[GROUP_ROUNDS]; /* that is open */
static _Thread_local int group_rounds;

static void must(bool is_right, const char *what) {
    if (!is_right) {
        fprintf(stderr, "NCCL is used wrongly: %s\n", what);
        abort();
    }
}

void fake_fail(long at) {
    must(depth == 0, "a group is still open");
    calls = 0;
    fails_at = at;
}

long fake_calls(void) {
    return calls;
}

/* Whether this call fails. */
static bool fails(struct ncclComm *comm) {
    latest = comm != NULL ? comm : latest;
    if (calls++ != fails_at) {
        return false;
    }
    if (latest != NULL) {
        family *const all = latest->of->family;
        pthread_mutex_lock(&all->lock);
        all->broken = true;
        pthread_cond_broadcast(&all->changed);
        pthread_mutex_unlock(&all->lock);
    }
    return true;
}

/* ---- Rounds. All of this under the family's lock ---- */

static void add_up(world *w) {
    const size_t count = w->posts[0].count;
    w->sums = calloc(count, sizeof *w->sums);
    for (int r = 0; r < w->ranks; r++) {
        const int64_t *const numbers = w->posts[r].from;
        must(w->posts[r].what == SUM && w->posts[r].count == count, "sums differ");
        for (size_t i = 0; i < count; i++) {
            w->sums[i] = (int64_t)((uint64_t)w->sums[i] + (uint64_t)numbers[i]);
        }
    }
}

static void move_pairs(const world *w, int rank) {
    const post *const own = &w->posts[rank];
    for (int r = 0; r < w->ranks; r++) {
        const post *const other = &w->posts[r];
        must(other->what == PAIRS, "ranks call different functions");
        must((own->received[r] != NULL) == (other->sent[rank] != NULL), "a send without a receive");
        if (own->received[r] != NULL) {
            must(own->received_bytes[r] == other->sent_bytes[rank], "a send of another length");
            memcpy(own->received[r], other->sent[rank], own->received_bytes[r]);
        }
    }
}

static void broadcast(const world *w, int rank) {
    const post *const own = &w->posts[rank], *const root = &w->posts[own->root];
    must(root->what == BROADCAST && root->root == own->root && root->count == own->count,
         "broadcasts differ");
    if (own->to != root->from) {
        memcpy(own->to, root->from, own->count);
    }
}

static struct ncclComm *new_communicator(world *of, int rank, bool is_blocking) {
    struct ncclComm *const made = calloc(1, sizeof *made);
    made->of = of;
    made->rank = rank;
    made->is_blocking = is_blocking;
    of->open++;
    of->family->open++;
    return made;
}

/* The new communicator has been made when the split is done. */
static void split(struct ncclComm *comm) {
    world *const w = comm->of;
    const post *const own = &w->posts[comm->rank];
    int ranks = 0, rank = 0;
    for (int r = 0; r < w->ranks; r++) {
        const post *const other = &w->posts[r];
        must(other->what == SPLIT, "ranks call different functions");
        ranks += other->root == own->root;
        rank += other->root == own->root && other->key < own->key;
    }
    *comm->made = NULL;
    if (own->root == NCCL_SPLIT_NOCOLOR) {
        return;
    }
    must(own->root >= 0 && own->root < RANKS, "a colour");
    if (w->parts[own->root] == NULL) {
        w->parts[own->root] = calloc(1, sizeof(world));
        w->parts[own->root]->family = w->family;
        w->parts[own->root]->ranks = ranks;
    }
    *comm->made = new_communicator(w->parts[own->root], rank, comm->is_blocking);
}

static void move(struct ncclComm *comm) {
    world *const w = comm->of;
    const int rank = comm->rank;
    const post *const own = &w->posts[rank];
    switch (own->what) {
    case BROADCAST:
        broadcast(w, rank);
        return;
    case SPLIT:
        split(comm);
        return;
    case SUM:
        memcpy(own->to, w->sums, own->count * sizeof *w->sums);
        return;
    case GATHER:
        for (int r = 0; r < w->ranks; r++) {
            must(w->posts[r].what == GATHER && w->posts[r].count == own->count, "gathers differ");
            memcpy((char *)own->to + (size_t)r * own->count, w->posts[r].from, own->count);
        }
        return;
    default:
        move_pairs(w, rank);
    }
}

static void post_next(struct ncclComm *comm) {
    world *const w = comm->of;
    w->posts[comm->rank] = comm->queue[comm->at];
    w->posted++;
    comm->round = w->round;
    comm->has_moved = false;
    pthread_cond_broadcast(&w->family->changed);
}

static void move_own(struct ncclComm *comm) {
    world *const w = comm->of;
    if (w->sums == NULL && w->posts[comm->rank].what == SUM) {
        add_up(w);
    }
    move(comm);
    comm->has_moved = true;
    if (++w->moved == w->ranks) {
        w->posted = w->moved = 0;
        w->round++;
        free(w->sums);
        w->sums = NULL;
        memset(w->parts, 0, sizeof w->parts);
    }
    pthread_cond_broadcast(&w->family->changed);
}

/* Does what can be done. */
static ncclResult_t proceed(struct ncclComm *comm) {
    world *const w = comm->of;
    for (bool goes_on = true; goes_on && !w->family->broken;) {
        goes_on = false;
        if (comm->is_busy && !comm->has_moved && w->posted == w->ranks) {
            move_own(comm);
        }
        if (comm->is_busy && w->round != comm->round) {
            goes_on = comm->is_busy = ++comm->at < comm->queued;
            if (goes_on) {
                post_next(comm);
            }
        }
    }
    return w->family->broken ? ncclRemoteError : comm->is_busy ? ncclInProgress : ncclSuccess;
}

static ncclResult_t enter(struct ncclComm *comm, const post *posts, int count) {
    family *const all = comm->of->family;
    pthread_mutex_lock(&all->lock);
    must(!comm->is_busy, "a call before the one before it was done");
    memcpy(comm->queue, posts, (size_t)count * sizeof *posts);
    comm->queued = count;
    comm->at = 0;
    comm->is_busy = true;
    post_next(comm);
    ncclResult_t result = ncclInProgress;
    if (comm->is_blocking) {
        while ((result = proceed(comm)) == ncclInProgress) {
            pthread_cond_wait(&all->changed, &all->lock);
        }
    }
    pthread_mutex_unlock(&all->lock);
    return result;
}

/* ---- Communicators ---- */

ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
    world *const w = calloc(1, sizeof *w);
    w->family = calloc(1, sizeof *w->family);
    pthread_mutex_init(&w->family->lock, NULL);
    pthread_cond_init(&w->family->changed, NULL);
    memcpy(id->internal, &w, sizeof w);
    return ncclSuccess;
}

/* The communicator of a rank that comes first is still being made when this returns. */
ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank,
                                    ncclConfig_t *config) {
    const post nothing = {.what = PAIRS};
    world *w;
    memcpy(&w, id.internal, sizeof w);
    must(ranks <= RANKS, "too many ranks");
    pthread_mutex_lock(&w->family->lock);
    w->ranks = ranks;
    *comm = new_communicator(w, rank, config->blocking != 0);
    pthread_mutex_unlock(&w->family->lock);
    return enter(*comm, &nothing, 1);
}

/* Of a communicator that blocks the new one is there when this returns. Of another one success says nothing:
 * NCCL 2.28 returns it while the split is in progress. */
ncclResult_t ncclCommSplit(ncclComm_t comm, int colour, int key, ncclComm_t *made, ncclConfig_t *config) {
    const post p = {.what = SPLIT, .root = colour, .key = key};
    must(depth == 0 && config == NULL && key >= 0, "ncclCommSplit");
    if (fails(comm)) {
        return ncclSystemError;
    }
    comm->made = made;
    const ncclResult_t result = enter(comm, &p, 1);
    return result == ncclInProgress ? ncclSuccess : result;
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) {
    (void)comm;
    return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
    world *const w = comm->of;
    family *const all = w->family;
    pthread_mutex_lock(&all->lock);
    const bool is_last = --w->open == 0, is_last_of_all = --all->open == 0;
    pthread_mutex_unlock(&all->lock);
    if (is_last) {
        free(w->sums);
        free(w);
    }
    if (is_last_of_all) {
        pthread_mutex_destroy(&all->lock);
        pthread_cond_destroy(&all->changed);
        free(all);
    }
    free(comm);
    return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
    return ncclCommDestroy(comm);
}

const char *ncclGetErrorString(ncclResult_t result) {
    return result == ncclSystemError ? "system error" : result == ncclRemoteError ? "remote error" : "error";
}

const char *ncclGetLastError(ncclComm_t comm) {
    (void)comm;
    return fake_reason;
}

/* An error is what the function returns, or what it tells, in turns. */
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *state) {
    if (fails(comm)) {
        *state = ncclRemoteError;
        return fails_at % 2 == 0 ? ncclSuccess : ncclInternalError;
    }
    pthread_mutex_lock(&comm->of->family->lock);
    *state = proceed(comm);
    pthread_mutex_unlock(&comm->of->family->lock);
    return ncclSuccess;
}

ncclResult_t ncclCommCount(ncclComm_t comm, int *count) {
    *count = comm->of->ranks;
    return fails(comm) ? ncclSystemError : ncclSuccess;
}

ncclResult_t ncclCommCuDevice(ncclComm_t comm, int *device) {
    *device = fake_device;
    return fails(comm) ? ncclSystemError : ncclSuccess;
}

ncclResult_t ncclCommUserRank(ncclComm_t comm, int *rank) {
    *rank = comm->rank;
    return fails(comm) ? ncclSystemError : ncclSuccess;
}

/* ---- Communication ---- */

ncclResult_t ncclAllReduce(const void *from, void *to, size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, struct CUstream_st *stream) {
    const post p = {.what = SUM, .count = count, .from = from, .to = to};
    (void)stream;
    must(type == ncclInt64 && op == ncclSum && depth == 0, "ncclAllReduce");
    return fails(comm) ? ncclSystemError : enter(comm, &p, 1);
}

/* What a call within a group answers. */
static ncclResult_t joined(struct ncclComm *comm) {
    return fails(comm) ? ncclSystemError : comm->is_blocking ? ncclSuccess : ncclInProgress;
}

/* A collective, which may be within a group. */
static ncclResult_t collect(struct ncclComm *comm, const post *p) {
    if (depth == 1) {
        must(group_rounds < GROUP_ROUNDS, "a long group");
        group[group_rounds++] = *p;
        return joined(comm);
    }
    return fails(comm) ? ncclSystemError : enter(comm, p, 1);
}

ncclResult_t ncclAllGather(const void *from, void *to, size_t count, ncclDataType_t type, ncclComm_t comm,
                           struct CUstream_st *stream) {
    const post p = {.what = GATHER, .count = count, .from = from, .to = to};
    (void)stream;
    must(type == ncclUint8, "ncclAllGather");
    return collect(comm, &p);
}

ncclResult_t ncclBroadcast(const void *from, void *to, size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, struct CUstream_st *stream) {
    const post p = {.what = BROADCAST, .count = count, .root = root, .from = from, .to = to};
    (void)stream;
    must(type == ncclUint8 && root >= 0 && root < comm->of->ranks, "ncclBroadcast");
    return collect(comm, &p);
}

/* The first round of the group that has nothing to or from the other rank. */
static post *pairs_round(bool is_sent, int peer) {
    for (int i = 0; i < group_rounds; i++) {
        must(group[i].what == PAIRS, "a group of several kinds");
        if ((is_sent ? group[i].sent[peer] : group[i].received[peer]) == NULL) {
            return &group[i];
        }
    }
    must(group_rounds < GROUP_ROUNDS, "a long group");
    group[group_rounds] = (post){.what = PAIRS};
    return &group[group_rounds++];
}

ncclResult_t ncclSend(const void *from, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      struct CUstream_st *stream) {
    (void)stream;
    must(type == ncclUint8 && depth == 1 && peer >= 0 && peer < comm->of->ranks, "ncclSend");
    post *const pairs = pairs_round(true, peer);
    pairs->sent[peer] = from;
    pairs->sent_bytes[peer] = count;
    return joined(comm);
}

ncclResult_t ncclRecv(void *to, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      struct CUstream_st *stream) {
    (void)stream;
    must(type == ncclUint8 && depth == 1 && peer >= 0 && peer < comm->of->ranks, "ncclRecv");
    post *const pairs = pairs_round(false, peer);
    pairs->received[peer] = to;
    pairs->received_bytes[peer] = count;
    return joined(comm);
}

ncclResult_t ncclGroupStart(void) {
    if (fails(NULL)) {
        return ncclSystemError;
    }
    must(depth == 0, "groups within groups");
    depth = 1;
    group_rounds = 0;
    return ncclSuccess;
}

ncclResult_t ncclGroupEnd(void) {
    must(depth == 1, "the end of no group");
    depth = 0;
    return fails(NULL)        ? ncclSystemError
           : group_rounds > 0 ? enter(latest, group, group_rounds)
                              : ncclSuccess;
}
