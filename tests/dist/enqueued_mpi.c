/* SPDX-License-Identifier: Apache-2.0 */
#include "enqueued_mpi.h"

#include <stdlib.h>

#include "protected.h"

/* Each call of the transport: the device's memory is open for it alone. */
static topk_status ended(int error) {
    protected_close();
    return error == MPI_SUCCESS ? TOPK_OK : TOPK_ERROR_DEVICE;
}

static MPI_Comm of(void *own) {
    return *(MPI_Comm *)own;
}

static topk_status sum(void *own, int64_t *numbers, int64_t count, topk_stream stream) {
    (void)stream;
    protected_open();
    return ended(MPI_Allreduce(MPI_IN_PLACE, numbers, (int)count, MPI_INT64_T, MPI_SUM, of(own)));
}

static topk_status to_all(void *own, const void *block, size_t bytes, void *blocks, topk_stream stream) {
    (void)stream;
    protected_open();
    return ended(MPI_Allgather(block, (int)bytes, MPI_BYTE, blocks, (int)bytes, MPI_BYTE, of(own)));
}

static topk_status to_root(void *own, int root, const void *block, size_t bytes, void *blocks,
                           topk_stream stream) {
    (void)stream;
    protected_open();
    return ended(MPI_Gather(block, (int)bytes, MPI_BYTE, blocks, (int)bytes, MPI_BYTE, root, of(own)));
}

static topk_status to_each(void *own, const void *blocks, size_t bytes, void *received, topk_stream stream) {
    (void)stream;
    protected_open();
    return ended(MPI_Alltoall(blocks, (int)bytes, MPI_BYTE, received, (int)bytes, MPI_BYTE, of(own)));
}

static topk_status split(void *own, int colour, int order, topk_stream stream, void **part) {
    MPI_Comm *const made = malloc(sizeof *made);
    (void)stream;
    if (made == NULL) {
        abort();
    }
    const int error = MPI_Comm_split(of(own), colour < 0 ? MPI_UNDEFINED : colour, order, made);
    if (colour < 0) {
        free(made);
    } else {
        *part = made;
    }
    return error == MPI_SUCCESS ? TOPK_OK : TOPK_ERROR_DEVICE;
}

static topk_status from_root(void *own, int root, void *block, size_t bytes, topk_stream stream) {
    (void)stream;
    protected_open();
    return ended(MPI_Bcast(block, (int)bytes, MPI_BYTE, root, of(own)));
}

static topk_status deal(void *own, int root, const void *blocks, size_t bytes, void *block,
                        topk_stream stream) {
    int rank;
    (void)stream;
    MPI_Comm_rank(of(own), &rank);
    protected_open();
    return ended(MPI_Scatter(blocks, (int)bytes, MPI_BYTE, rank == root ? MPI_IN_PLACE : block, (int)bytes,
                             MPI_BYTE, root, of(own)));
}

static void end(void *own) {
    MPI_Comm_free(own);
    free(own);
}

topk_status enqueued_group_create(MPI_Comm communicator, topk_context *context, topk_dist_group **group) {
    topk_dist_transport transport = TOPK_DIST_TRANSPORT_INIT;
    int rank, ranks;
    MPI_Comm *const own = malloc(sizeof *own);
    if (own == NULL || MPI_Comm_dup(communicator, own) != MPI_SUCCESS) {
        abort();
    }
    MPI_Comm_rank(*own, &rank);
    MPI_Comm_size(*own, &ranks);
    transport.sum = sum;
    transport.to_all = to_all;
    transport.to_root = to_root;
    transport.to_each = to_each;
    transport.close = end;
    transport.split = split;
    transport.from_root = from_root;
    transport.deal = deal;
    return topk_dist_group_create(&transport, own, context, rank, ranks, NULL, group);
}
