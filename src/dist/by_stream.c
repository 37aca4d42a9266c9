/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups whose transport enqueues. While a plan is made, ranks agree through the host: what they tell each
 * other goes through a piece of the device's memory and the group's stream, and each call waits for its end.
 * Runs then use the transport as it is (device.c). */
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "group.h"
#include "topk_advanced.h"
#include "topk_transfer.h"

enum { PIECE_BYTES = 4096, PIECE_NUMBERS = PIECE_BYTES / 8, TRANSPORT_BYTES_FIRST = 64 };

struct by_stream {
    topk_dist_group group; /* the first field: a pointer to it is one to this struct */
    topk_dist_transport transport;
    topk_context *context;
    topk_stream stream;
    /* A piece of this rank, and behind it one of each rank: on the device, and on the host. */
    char *device, *host;
};

static struct by_stream *by_stream_of(topk_dist_group *group) {
    return (struct by_stream *)group;
}

static topk_status copied(struct by_stream *g, void *to, const void *from, size_t bytes) {
    return topk_dist_of_core(topk_copy(g->context, to, from, bytes, g->stream));
}

/* For what has been enqueued, and for word that it went well. */
static topk_status waited(struct by_stream *g) {
    const topk_status status = topk_dist_of_core(topk_wait(g->context, g->stream));
    return status == TOPK_OK && g->transport.check != NULL
               ? topk_dist_on_stream(&g->group, g->transport.check(g->group.own, g->stream))
               : status;
}

static topk_status sum_piece(struct by_stream *g, int64_t *numbers, size_t bytes) {
    memcpy(g->host, numbers, bytes);
    topk_status status = copied(g, g->device, g->host, bytes);
    if (status == TOPK_OK) {
        const int64_t count = (int64_t)(bytes / sizeof *numbers);
        status = topk_dist_on_stream(
            &g->group, g->transport.sum(g->group.own, (int64_t *)(void *)g->device, count, g->stream));
    }
    status = status == TOPK_OK ? copied(g, g->host, g->device, bytes) : status;
    status = status == TOPK_OK ? waited(g) : status;
    if (status == TOPK_OK) {
        memcpy(numbers, g->host, bytes);
    }
    return status;
}

static topk_status sum(topk_dist_group *group, int64_t *numbers, int64_t count) {
    topk_status status = TOPK_OK;
    for (int64_t at = 0; at < count && status == TOPK_OK; at += PIECE_NUMBERS) {
        const int64_t piece = count - at < PIECE_NUMBERS ? count - at : PIECE_NUMBERS;
        status = sum_piece(by_stream_of(group), numbers + at, (size_t)piece * sizeof *numbers);
    }
    return status;
}

/* Leaves the pieces of all ranks at host + PIECE_BYTES, one behind the other. */
static topk_status gather_piece(struct by_stream *g, const void *piece, size_t bytes) {
    const size_t all = bytes * (size_t)g->group.ranks;
    memcpy(g->host, piece, bytes);
    topk_status status = copied(g, g->device, g->host, bytes);
    if (status == TOPK_OK) {
        status = topk_dist_on_stream(&g->group, g->transport.to_all(g->group.own, g->device, bytes,
                                                                    g->device + PIECE_BYTES, g->stream));
    }
    status = status == TOPK_OK ? copied(g, g->host + PIECE_BYTES, g->device + PIECE_BYTES, all) : status;
    return status == TOPK_OK ? waited(g) : status;
}

static topk_status most(topk_dist_group *group, int64_t *numbers, int64_t count) {
    struct by_stream *const g = by_stream_of(group);
    topk_status status = TOPK_OK;
    for (int64_t at = 0; at < count && status == TOPK_OK; at += PIECE_NUMBERS) {
        const int64_t piece = count - at < PIECE_NUMBERS ? count - at : PIECE_NUMBERS;
        status = gather_piece(g, numbers + at, (size_t)piece * sizeof *numbers);
        const int64_t *const all = (const int64_t *)(const void *)(g->host + PIECE_BYTES);
        for (int64_t i = 0; i < piece * group->ranks && status == TOPK_OK; i++) {
            int64_t *const number = &numbers[at + i % piece];
            *number = all[i] > *number ? all[i] : *number;
        }
    }
    return status;
}

static topk_status to_all(topk_dist_group *group, const void *block, size_t bytes, void *blocks) {
    struct by_stream *const g = by_stream_of(group);
    topk_status status = TOPK_OK;
    for (size_t at = 0; at < bytes && status == TOPK_OK; at += PIECE_BYTES) {
        const size_t piece = bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES;
        status = gather_piece(g, (const char *)block + at, piece);
        for (int rank = 0; rank < group->ranks && status == TOPK_OK; rank++) {
            memcpy((char *)blocks + (size_t)rank * bytes + at, g->host + PIECE_BYTES + (size_t)rank * piece,
                   piece);
        }
    }
    return status;
}

static void release(struct by_stream *g) {
    (void)topk_memory_release(g->context, TOPK_MEMORY_DEVICE, g->device);
    (void)topk_memory_release(g->context, TOPK_MEMORY_HOST, g->host);
    free(g);
}

static void end(topk_dist_group *group) {
    struct by_stream *const g = by_stream_of(group);
    if (g->transport.close != NULL) {
        g->transport.close(group->own);
    }
    release(g);
}

static topk_status split(topk_dist_group *group, int colour, int order, int ranks, topk_dist_group **part);

/* Lists move in runs alone, which never go through the host. */
static const struct transport by_stream = {.sum = sum, .most = most, .to_all = to_all, .close = end};
static const struct transport divisible = {
    .sum = sum, .most = most, .to_all = to_all, .close = end, .split = split};

/* A part is for runs alone, so it has no memory for plans. */
static topk_status split(topk_dist_group *group, int colour, int order, int ranks, topk_dist_group **part) {
    struct by_stream *const g = by_stream_of(group), *const own = calloc(1, sizeof *own);
    void *of_part = NULL;
    *part = NULL;
    topk_status status = topk_dist_agree(
        group, own != NULL ? TOPK_OK
                           : topk_dist_fail(TOPK_ERROR_OUT_OF_MEMORY, "no memory for a part of the group"));
    if (status == TOPK_OK) {
        status =
            topk_dist_on_stream(group, g->transport.split(group->own, colour, order, g->stream, &of_part));
    }
    if (status != TOPK_OK || colour < 0) {
        free(own);
        return status;
    }
    *own = *g;
    own->device = own->host = NULL;
    own->group = (topk_dist_group){.transport = &by_stream,
                                   .rank = order,
                                   .ranks = ranks,
                                   .on_stream = &own->transport,
                                   .own = of_part,
                                   .whole = group};
    *part = &own->group;
    return TOPK_OK;
}

topk_status topk_dist_on_stream(topk_dist_group *group, topk_status status) {
    if (status == TOPK_OK) {
        return TOPK_OK;
    }
    const char *const text = group->on_stream->error != NULL ? group->on_stream->error(group->own) : NULL;
    topk_dist_break(group);
    return topk_dist_fail(TOPK_ERROR_DEVICE, "%.400s", text != NULL ? text : "the transport failed");
}

bool topk_dist_has_context(const topk_dist_group *group, const topk_context *context) {
    topk_context_properties own = TOPK_CONTEXT_PROPERTIES_INIT, other = TOPK_CONTEXT_PROPERTIES_INIT;
    const struct by_stream *const g = (const struct by_stream *)group;
    return topk_context_query(g->context, &own) == TOPK_OK &&
           topk_context_query(context, &other) == TOPK_OK && own.backend == other.backend &&
           own.device == other.device;
}

static topk_status check(const topk_dist_transport *transport, const topk_context *context, int rank,
                         int ranks, topk_dist_transport *own) {
    const topk_status status =
        topk_dist_read_struct("transport", transport, TRANSPORT_BYTES_FIRST, sizeof *own, own);
    if (status != TOPK_OK) {
        return status;
    }
    if (own->sum == NULL || own->to_all == NULL || own->to_root == NULL || own->to_each == NULL) {
        return topk_dist_fail(TOPK_ERROR_NULL_POINTER, "transport lacks a function");
    }
    if ((own->begin == NULL) != (own->end == NULL)) {
        return topk_dist_fail(TOPK_ERROR_NULL_POINTER,
                              "transport has begin without end, or end without begin");
    }
    if ((own->split == NULL) != (own->from_root == NULL) || (own->split == NULL) != (own->deal == NULL)) {
        return topk_dist_fail(TOPK_ERROR_NULL_POINTER, "transport has not all of split, from_root and deal");
    }
    if (context == NULL) {
        return topk_dist_fail(TOPK_ERROR_NULL_POINTER, "context is NULL");
    }
    return ranks >= 1 && rank >= 0 && rank < ranks
               ? TOPK_OK
               : topk_dist_fail(TOPK_ERROR_OUT_OF_RANGE, "rank is %d of %d", rank, ranks);
}

static topk_status allocate(struct by_stream *g) {
    const size_t bytes = (size_t)PIECE_BYTES * (1 + (size_t)g->group.ranks);
    void *device = NULL, *host = NULL;
    topk_status status = topk_memory_allocate(g->context, TOPK_MEMORY_DEVICE, bytes, &device);
    if (status == TOPK_OK) {
        status = topk_memory_allocate(g->context, TOPK_MEMORY_HOST, bytes, &host);
    }
    g->device = device;
    g->host = host;
    return topk_dist_of_core(status);
}

topk_status topk_dist_group_create(const topk_dist_transport *transport, void *own, topk_context *context,
                                   int rank, int ranks, topk_stream stream, topk_dist_group **group) {
    topk_dist_transport read;
    if (group == NULL) {
        return topk_dist_fail(TOPK_ERROR_NULL_POINTER, "group is NULL");
    }
    *group = NULL;
    topk_status status = check(transport, context, rank, ranks, &read);
    if (status != TOPK_OK) {
        return status;
    }
    struct by_stream *const g = calloc(1, sizeof *g);
    if (g == NULL) {
        return topk_dist_fail(TOPK_ERROR_OUT_OF_MEMORY, "no memory for a group");
    }
    g->transport = read;
    g->context = context;
    g->stream = stream;
    g->group = (topk_dist_group){.transport = read.split != NULL ? &divisible : &by_stream,
                                 .rank = rank,
                                 .ranks = ranks,
                                 .node = topk_dist_machine(),
                                 .undivided = "the group's transport has no function `split`",
                                 .on_stream = &g->transport,
                                 .own = own};
    status = allocate(g);
    if (status != TOPK_OK) {
        release(g);
        return status;
    }
    *group = &g->group;
    return TOPK_OK;
}
