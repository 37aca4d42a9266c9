/* SPDX-License-Identifier: Apache-2.0
 *
 * MPI as a transport. MPI counts in int, so long blocks go in pieces. A piece of every rank's block is one
 * element of a type whose extent is the block's length: so all pieces land where they belong, and no
 * displacement is passed, which would be an int as well. */
#include "topk_dist_mpi.h"

#include <limits.h>
#include <stdlib.h>

#include "error.h"
#include "group.h"

#ifdef TOPK_SHRINK
enum { PIECE_BYTES = 48, PIECE_NUMBERS = 5 };
#else
enum { PIECE_BYTES = 1 << 30, PIECE_NUMBERS = 1 << 27 };
#endif

/* A group, as its transport knows it. */
struct by_mpi {
    topk_dist_group group; /* the first field: a pointer to it is one to this struct */
    MPI_Comm communicator;
    int lengths[]; /* of a call with varied blocks: counts and begins, sent and received, of each rank */
};

static struct by_mpi *allocate(int ranks) {
    return calloc(1, sizeof(struct by_mpi) + 4 * (size_t)ranks * sizeof(int));
}

static MPI_Comm communicator_of(topk_dist_group *group) {
    return ((struct by_mpi *)group)->communicator;
}

/* OK, or DEVICE with MPI's own words. */
static topk_status outcome(int error, const char *what) {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    if (error == MPI_SUCCESS) {
        return TOPK_OK;
    }
    if (MPI_Error_string(error, text, &length) != MPI_SUCCESS) {
        text[0] = '\0';
    }
    return topk_dist_fail(TOPK_ERROR_DEVICE, "%s: %.400s", what, text);
}

/* Sums and maxima are of integers alone, by operations of MPI's own: an operation of ours over several
 * numbers might be handed parts of them, and floats have NaN. */
static topk_status reduce(topk_dist_group *group, int64_t *numbers, int64_t count, MPI_Op operation) {
    int error = MPI_SUCCESS;
    for (int64_t at = 0; at < count && error == MPI_SUCCESS; at += PIECE_NUMBERS) {
        const int piece = count - at < PIECE_NUMBERS ? (int)(count - at) : PIECE_NUMBERS;
        error =
            MPI_Allreduce(MPI_IN_PLACE, numbers + at, piece, MPI_INT64_T, operation, communicator_of(group));
    }
    return outcome(error, "MPI_Allreduce");
}

static topk_status sum(topk_dist_group *group, int64_t *numbers, int64_t count) {
    return reduce(group, numbers, count, MPI_SUM);
}

static topk_status most(topk_dist_group *group, int64_t *numbers, int64_t count) {
    return reduce(group, numbers, count, MPI_MAX);
}

/* `bytes` of a block. The next block begins `extent` bytes further on. */
static int make_type(int bytes, size_t extent, MPI_Datatype *type) {
    MPI_Datatype plain;
    int error = MPI_Type_contiguous(bytes, MPI_BYTE, &plain);
    if (error != MPI_SUCCESS) {
        return error;
    }
    error = MPI_Type_create_resized(plain, 0, (MPI_Aint)extent, type);
    if (error == MPI_SUCCESS) {
        error = MPI_Type_commit(type);
    }
    const int freed = MPI_Type_free(&plain);
    return error != MPI_SUCCESS ? error : freed;
}

typedef int exchange(const void *from, void *to, int count, MPI_Datatype type, int root,
                     MPI_Comm communicator);

static int move_piece(topk_dist_group *group, exchange *move, int root, const void *from, int piece,
                      size_t extent, void *to) {
    MPI_Datatype type;
    int error = make_type(piece, extent, &type);
    if (error != MPI_SUCCESS) {
        return error;
    }
    error = move(from, to, 1, type, root, communicator_of(group));
    const int freed = MPI_Type_free(&type);
    return error != MPI_SUCCESS ? error : freed;
}

static topk_status in_pieces(topk_dist_group *group, exchange *move, int root, const void *from, size_t bytes,
                             void *to) {
    int error = MPI_SUCCESS;
    if (bytes <= PIECE_BYTES) {
        error = move(from, to, (int)bytes, MPI_BYTE, root, communicator_of(group));
        return outcome(error, "MPI");
    }
    for (size_t at = 0; at < bytes && error == MPI_SUCCESS; at += PIECE_BYTES) {
        const int piece = bytes - at < PIECE_BYTES ? (int)(bytes - at) : PIECE_BYTES;
        error = move_piece(group, move, root, (const char *)from + at, piece, bytes,
                           to != NULL ? (char *)to + at : NULL);
    }
    return outcome(error, "MPI");
}

static int move_to_all(const void *from, void *to, int count, MPI_Datatype type, int root,
                       MPI_Comm communicator) {
    (void)root;
    return MPI_Allgather(from, count, type, to, count, type, communicator);
}

static int move_to_root(const void *from, void *to, int count, MPI_Datatype type, int root,
                        MPI_Comm communicator) {
    return MPI_Gather(from, count, type, to, count, type, root, communicator);
}

static int move_to_each(const void *from, void *to, int count, MPI_Datatype type, int root,
                        MPI_Comm communicator) {
    (void)root;
    return MPI_Alltoall(from, count, type, to, count, type, communicator);
}

static int move_from_root(const void *from, void *to, int count, MPI_Datatype type, int root,
                          MPI_Comm communicator) {
    (void)from;
    return MPI_Bcast(to, count, type, root, communicator);
}

/* `to` is NULL on the root: its block stays where it is. */
static int move_deal(const void *from, void *to, int count, MPI_Datatype type, int root,
                     MPI_Comm communicator) {
    return MPI_Scatter(from, count, type, to != NULL ? to : MPI_IN_PLACE, count, type, root, communicator);
}

static topk_status to_all(topk_dist_group *group, const void *block, size_t bytes, void *blocks) {
    return in_pieces(group, move_to_all, 0, block, bytes, blocks);
}

static topk_status to_root(topk_dist_group *group, int root, const void *block, size_t bytes, void *blocks) {
    return in_pieces(group, move_to_root, root, block, bytes, group->rank == root ? blocks : NULL);
}

static topk_status to_each(topk_dist_group *group, const void *blocks, size_t bytes, void *received) {
    return in_pieces(group, move_to_each, 0, blocks, bytes, received);
}

/* MPI's lengths, and where the blocks begin. */
static void lay_out(const topk_dist_group *group, const int64_t *bytes, int *counts, int *begins) {
    int begin = 0;
    for (int rank = 0; rank < group->ranks; rank++) {
        counts[rank] = (int)bytes[rank];
        begins[rank] = begin;
        begin += counts[rank];
    }
}

static topk_status to_all_varied(topk_dist_group *group, const void *block, const int64_t *bytes,
                                 void *blocks) {
    int *const counts = ((struct by_mpi *)group)->lengths, *const begins = counts + group->ranks;
    lay_out(group, bytes, counts, begins);
    return outcome(MPI_Allgatherv(block, counts[group->rank], MPI_BYTE, blocks, counts, begins, MPI_BYTE,
                                  communicator_of(group)),
                   "MPI_Allgatherv");
}

static topk_status to_root_varied(topk_dist_group *group, int root, const void *block, const int64_t *bytes,
                                  void *blocks) {
    int *const counts = ((struct by_mpi *)group)->lengths, *const begins = counts + group->ranks;
    lay_out(group, bytes, counts, begins);
    return outcome(MPI_Gatherv(block, counts[group->rank], MPI_BYTE, blocks, counts, begins, MPI_BYTE, root,
                               communicator_of(group)),
                   "MPI_Gatherv");
}

static topk_status to_each_varied(topk_dist_group *group, const void *blocks, const int64_t *sent,
                                  const int64_t *bytes, void *received) {
    int *const counts = ((struct by_mpi *)group)->lengths, *const begins = counts + group->ranks;
    int *const got_counts = begins + group->ranks, *const got_begins = got_counts + group->ranks;
    lay_out(group, sent, counts, begins);
    lay_out(group, bytes, got_counts, got_begins);
    return outcome(MPI_Alltoallv(blocks, counts, begins, MPI_BYTE, received, got_counts, got_begins, MPI_BYTE,
                                 communicator_of(group)),
                   "MPI_Alltoallv");
}

static topk_status from_root(topk_dist_group *group, int root, void *block, size_t bytes) {
    return in_pieces(group, move_from_root, root, block, bytes, block);
}

static topk_status deal(topk_dist_group *group, int root, const void *blocks, size_t bytes, void *block) {
    return group->rank == root ? in_pieces(group, move_deal, root, blocks, bytes, NULL)
                               : in_pieces(group, move_deal, root, block, bytes, block);
}

static void end(topk_dist_group *group) {
    struct by_mpi *own = (struct by_mpi *)group;
    int finalized = 0;
    if (MPI_Finalized(&finalized) == MPI_SUCCESS && !finalized) {
        (void)MPI_Comm_free(&own->communicator);
    }
    free(own);
}

static topk_status split(topk_dist_group *group, int colour, int order, int ranks, topk_dist_group **part);

static const struct transport by_mpi = {.sum = sum,
                                        .most = most,
                                        .to_all = to_all,
                                        .to_root = to_root,
                                        .to_each = to_each,
                                        .to_all_varied = to_all_varied,
                                        .to_root_varied = to_root_varied,
                                        .to_each_varied = to_each_varied,
                                        .close = end,
                                        .from_root = from_root,
                                        .deal = deal,
                                        .split = split};

static topk_status check_communicator(MPI_Comm communicator) {
    int begun = 0, ended = 0, is_inter = 0;
    if (MPI_Initialized(&begun) != MPI_SUCCESS || MPI_Finalized(&ended) != MPI_SUCCESS || !begun || ended) {
        return topk_dist_fail(TOPK_ERROR_BAD_STATE, "MPI is not initialized, or was finalized");
    }
    if (communicator == MPI_COMM_NULL) {
        return topk_dist_fail(TOPK_ERROR_UNSUPPORTED, "the communicator is MPI_COMM_NULL");
    }
    const topk_status status = outcome(MPI_Comm_test_inter(communicator, &is_inter), "MPI_Comm_test_inter");
    if (status != TOPK_OK) {
        return status;
    }
    return is_inter ? topk_dist_fail(TOPK_ERROR_UNSUPPORTED, "the communicator is an intercommunicator")
                    : TOPK_OK;
}

static topk_status open_group(struct by_mpi *own) {
    int error = MPI_Comm_set_errhandler(own->communicator, MPI_ERRORS_RETURN);
    error = error != MPI_SUCCESS ? error : MPI_Comm_rank(own->communicator, &own->group.rank);
    error = error != MPI_SUCCESS ? error : MPI_Comm_size(own->communicator, &own->group.ranks);
    own->group.transport = &by_mpi;
    own->group.broken = error != MPI_SUCCESS;
    return outcome(error, "MPI");
}

/* Ranks that share memory are a node: its number is its first rank. */
static topk_status find_node(struct by_mpi *own) {
    MPI_Comm node;
    int error =
        MPI_Comm_split_type(own->communicator, MPI_COMM_TYPE_SHARED, own->group.rank, MPI_INFO_NULL, &node);
    if (error == MPI_SUCCESS) {
        own->group.node = own->group.rank;
        error = MPI_Bcast(&own->group.node, 1, MPI_INT64_T, 0, node);
        const int freed = MPI_Comm_free(&node);
        error = error != MPI_SUCCESS ? error : freed;
    }
    return outcome(error, "MPI_Comm_split_type");
}

static topk_status split(topk_dist_group *group, int colour, int order, int ranks, topk_dist_group **part) {
    struct by_mpi *const own = allocate(ranks);
    *part = NULL;
    topk_status status = topk_dist_agree(
        group, own != NULL ? TOPK_OK
                           : topk_dist_fail(TOPK_ERROR_OUT_OF_MEMORY, "no memory for a part of the group"));
    if (status == TOPK_OK) {
        status = outcome(MPI_Comm_split(communicator_of(group), colour < 0 ? MPI_UNDEFINED : colour, order,
                                        &own->communicator),
                         "MPI_Comm_split");
    }
    if (status != TOPK_OK || colour < 0) {
        free(own);
        return status;
    }
    status = open_group(own);
    own->group.whole = group;
    *part = &own->group;
    return status;
}

/* A rank without memory for its group takes part in one all the same, until all know. */
topk_status topk_dist_group_create_mpi(MPI_Comm communicator, topk_dist_group **group) {
    struct by_mpi spare = {.communicator = MPI_COMM_NULL};
    if (group == NULL) {
        return topk_dist_fail(TOPK_ERROR_NULL_POINTER, "group is NULL");
    }
    *group = NULL;
    topk_status status = check_communicator(communicator);
    if (status != TOPK_OK) {
        return status;
    }
    int ranks = 0;
    status = outcome(MPI_Comm_size(communicator, &ranks), "MPI_Comm_size");
    if (status != TOPK_OK) {
        return status;
    }
    struct by_mpi *const own = allocate(ranks), *const used = own != NULL ? own : &spare;
    status = outcome(MPI_Comm_dup(communicator, &used->communicator), "MPI_Comm_dup");
    if (status != TOPK_OK) {
        free(own);
        return status;
    }
    status = open_group(used);
    if (status == TOPK_OK) {
        status = topk_dist_agree(
            &used->group,
            own != NULL ? TOPK_OK : topk_dist_fail(TOPK_ERROR_OUT_OF_MEMORY, "no memory for a group"));
    }
    status = status == TOPK_OK ? find_node(used) : status;
    if (status != TOPK_OK) {
        (void)MPI_Comm_free(&used->communicator);
        free(own);
        return status;
    }
    *group = &own->group;
    return TOPK_OK;
}
