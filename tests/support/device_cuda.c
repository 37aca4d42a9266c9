/* SPDX-License-Identifier: Apache-2.0
 *
 * Device 0. Buffers that the host fills or sees lie in `mirrored` pools: device memory, and two pinned images
 * of it, one to send and one to fetch into, each in one copy for all buffers. Workspaces lie in pools
 * without images, for they are large and only their red zones are looked at. */
#include "device.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

enum { ZONE = 512, ALIGNMENT = 256, RED = 0xc5, POOLS = 256, WATCHED = 4096 };

static const size_t pool_bytes = (size_t)32 << 20;
static const size_t garbage_bytes = (size_t)1 << 20;

typedef struct pool {
    unsigned char *device, *sent, *fetched; /* the images only where mirrored */
    size_t bytes, used, used_at_send;
} pool;

typedef struct pool_list {
    pool pools[POOLS];
    int count, current;
} pool_list;

/* A workspace whose red zones device_fetch() must bring back. */
typedef struct watched {
    const unsigned char *before, *behind; /* on the device */
    unsigned char *landing;               /* there, too, but mirrored: two zones */
} watched;

static pool_list mirrored, unseen;
static watched watches[WATCHED];
static int watch_count;
static unsigned char *garbage;
static cudaStream_t stream;
static cudaError_t last;
static const char *last_call = "";

/* False after an error, which is kept. */
static bool fine(cudaError_t error, const char *call) {
    if (error != cudaSuccess) {
        last = error;
        last_call = call;
    }
    return error == cudaSuccess;
}

/* For what fails only if the machine does. */
static void must(cudaError_t error, const char *call) {
    if (!fine(error, call)) {
        fprintf(stderr, "%s\n", device_error());
        exit(3);
    }
}

const char *device_error(void) {
    static char text[256];
    snprintf(text, sizeof text, "%s: %s", last_call, cudaGetErrorString(last));
    return text;
}

void device_open(void) {
    if (topk_backend_status(TOPK_BACKEND_CUDA) != TOPK_OK) {
        printf("no GPU: %s\n", topk_last_error());
        exit(DEVICE_EXIT_NONE);
    }
    must(cudaSetDevice(0), "cudaSetDevice");
    must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    must(cudaMalloc((void **)&garbage, garbage_bytes), "cudaMalloc");
    unsigned char *bytes = malloc(garbage_bytes);
    random_state random = {1};
    for (size_t b = 0; b < garbage_bytes; b++) {
        bytes[b] = (unsigned char)random_bits(&random);
    }
    must(cudaMemcpy(garbage, bytes, garbage_bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    free(bytes);
}

static void close_pools(pool_list *list) {
    for (int p = 0; p < list->count; p++) {
        cudaFree(list->pools[p].device);
        cudaFreeHost(list->pools[p].sent);
        cudaFreeHost(list->pools[p].fetched);
    }
    *list = (pool_list){.count = 0};
}

void device_close(void) {
    close_pools(&mirrored);
    close_pools(&unseen);
    cudaFree(garbage);
    cudaStreamDestroy(stream);
}

int device_calls_at_once(void) {
    return 64;
}

topk_stream device_stream(void) {
    return stream;
}

/* ---- Buffers --------------------------------------------------------------------------------- */

/* A pool with that many bytes left. */
static pool *pool_with(pool_list *list, size_t bytes) {
    while (list->current < list->count) {
        pool *p = &list->pools[list->current];
        if (bytes <= p->bytes - p->used) {
            return p;
        }
        list->current++;
    }
    if (list->count == POOLS) {
        fprintf(stderr, "too many pools of device memory\n");
        exit(3);
    }
    pool *p = &list->pools[list->count++];
    *p = (pool){.bytes = bytes > pool_bytes ? bytes : pool_bytes};
    must(cudaMalloc((void **)&p->device, p->bytes), "cudaMalloc");
    if (list == &mirrored) {
        must(cudaMallocHost((void **)&p->sent, p->bytes), "cudaMallocHost");
        must(cudaMallocHost((void **)&p->fetched, p->bytes), "cudaMallocHost");
    }
    return p;
}

/* Where a buffer begins: a red zone, and what brings it to that address modulo ALIGNMENT, lie before it; a
 * red zone at least lies behind. Pools begin at multiples of ALIGNMENT, and spans have such lengths. */
typedef struct span {
    pool *in;
    size_t begin, front, bytes; /* of the span; before the buffer; of the span */
} span;

static span take(pool_list *list, size_t bytes, size_t address) {
    span s = {NULL, 0, ZONE + address % ALIGNMENT, 0};
    s.bytes = (s.front + bytes + ZONE + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    s.in = pool_with(list, s.bytes);
    s.begin = s.in->used;
    s.in->used += s.bytes;
    return s;
}

/* The address modulo ALIGNMENT of a buffer that ends at a multiple of it. */
static size_t at_end(size_t bytes) {
    return (ALIGNMENT - bytes % ALIGNMENT) % ALIGNMENT;
}

static device_buffer mirrored_buffer(size_t bytes, size_t address, unsigned char **image) {
    span s = take(&mirrored, bytes, address);
    const size_t at = s.begin + s.front;
    device_buffer b = {.data = s.in->device + at, .seen = s.in->fetched + at, .bytes = bytes};
    b.zones[0] = s.in->fetched + at - ZONE;
    b.zones[1] = s.in->fetched + at + bytes;
    memset(s.in->sent + s.begin, RED, s.bytes);
    *image = s.in->sent + at;
    return b;
}

device_buffer device_input(const void *data, size_t bytes) {
    unsigned char *image;
    device_buffer b = mirrored_buffer(bytes, (uintptr_t)data, &image);
    if (bytes != 0) {
        memcpy(image, data, bytes);
    }
    return b;
}

device_buffer device_output(size_t bytes, unsigned char fill) {
    unsigned char *image;
    device_buffer b = mirrored_buffer(bytes, at_end(bytes), &image);
    memset(image, fill, bytes);
    return b;
}

/* Garbage from a random offset in the block of it, then twice as much, and so on. */
static void fill_with_garbage(unsigned char *to, size_t bytes, uint64_t seed) {
    random_state random = {seed};
    size_t from = (size_t)random_below(&random, (int64_t)garbage_bytes / 2), done = garbage_bytes - from;
    done = done < bytes ? done : bytes;
    must(cudaMemcpyAsync(to, garbage + from, done, cudaMemcpyDeviceToDevice, stream), "cudaMemcpyAsync");
    while (done < bytes) {
        const size_t more = done < bytes - done ? done : bytes - done;
        must(cudaMemcpyAsync(to + done, to, more, cudaMemcpyDeviceToDevice, stream), "cudaMemcpyAsync");
        done += more;
    }
}

device_buffer device_workspace(size_t bytes, long offset, int fill, uint64_t seed) {
    span s = take(&unseen, bytes, offset == GUARDED_AT_END ? at_end(bytes) : (size_t)offset);
    unsigned char *data = s.in->device + s.begin + s.front, *ignored;
    device_buffer zones = mirrored_buffer((size_t)2 * ZONE, 0, &ignored);
    if (watch_count == WATCHED) {
        fprintf(stderr, "too many workspaces at once\n");
        exit(3);
    }
    watches[watch_count++] = (watched){data - ZONE, data + bytes, zones.data};
    must(cudaMemsetAsync(s.in->device + s.begin, RED, s.bytes, stream), "cudaMemsetAsync");
    if (fill == DEVICE_GARBAGE) {
        fill_with_garbage(data, bytes, seed);
    } else if (fill != RED && bytes != 0) {
        must(cudaMemsetAsync(data, fill, bytes, stream), "cudaMemsetAsync");
    }
    device_buffer b = {.data = data, .bytes = bytes};
    b.zones[0] = zones.seen;
    b.zones[1] = b.zones[0] + ZONE;
    return b;
}

/* ---- There and back -------------------------------------------------------------------------- */

void device_send(void) {
    for (int i = 0; i < mirrored.count; i++) {
        pool *p = &mirrored.pools[i];
        if (p->used > p->used_at_send) {
            must(cudaMemcpyAsync(p->device + p->used_at_send, p->sent + p->used_at_send,
                                 p->used - p->used_at_send, cudaMemcpyHostToDevice, stream),
                 "cudaMemcpyAsync");
            p->used_at_send = p->used;
        }
    }
}

static bool copy_back(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
    return fine(cudaMemcpyAsync(to, from, bytes, kind, stream), "cudaMemcpyAsync");
}

bool device_fetch(void) {
    for (int w = 0; w < watch_count; w++) {
        const watched *one = &watches[w];
        if (!copy_back(one->landing, one->before, ZONE, cudaMemcpyDeviceToDevice) ||
            !copy_back(one->landing + ZONE, one->behind, ZONE, cudaMemcpyDeviceToDevice)) {
            return false;
        }
    }
    for (int i = 0; i < mirrored.count; i++) {
        const pool *p = &mirrored.pools[i];
        if (p->used > 0 && !copy_back(p->fetched, p->device, p->used, cudaMemcpyDeviceToHost)) {
            return false;
        }
    }
    watch_count = 0; /* their calls have ended */
    return fine(cudaStreamSynchronize(stream), "cudaStreamSynchronize") &&
           fine(cudaGetLastError(), "an earlier call");
}

static bool all_red(const unsigned char *zone) {
    static unsigned char red[ZONE];
    if (red[0] != RED) {
        memset(red, RED, sizeof red);
    }
    return memcmp(zone, red, ZONE) == 0;
}

bool device_intact(const device_buffer *buffer) {
    return buffer->data == NULL || (all_red(buffer->zones[0]) && all_red(buffer->zones[1]));
}

bool device_unchanged(const device_buffer *input, const void *data) {
    return input->bytes == 0 || memcmp(input->seen, data, input->bytes) == 0;
}

void device_free(device_buffer *buffer) {
    *buffer = (device_buffer){.data = NULL};
}

/* Pools are as large as what first did not fit the others. So most of them are small: they go, and new ones
 * come. */
static void empty(pool_list *list) {
    if (list->count > POOLS / 2) {
        close_pools(list);
    }
    for (int p = 0; p < list->count; p++) {
        list->pools[p].used = list->pools[p].used_at_send = 0;
    }
    list->current = 0;
}

void device_reset(void) {
    empty(&mirrored);
    empty(&unseen);
    watch_count = 0;
}

static size_t bytes_used(const pool_list *list) {
    size_t bytes = 0;
    for (int p = 0; p < list->count; p++) {
        bytes += list->pools[p].used;
    }
    return bytes;
}

size_t device_bytes_taken(void) {
    return bytes_used(&mirrored) + bytes_used(&unseen);
}

/* ---- Graphs ---------------------------------------------------------------------------------- */

bool device_capture_begin(void) {
    return fine(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
}

/* An executable graph that is destroyed while it runs goes when it has ended. */
bool device_capture_launch(void) {
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    if (!fine(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture") ||
        !fine(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate")) {
        return false;
    }
    return fine(cudaGraphLaunch(executable, stream), "cudaGraphLaunch") &
           fine(cudaGraphExecDestroy(executable), "cudaGraphExecDestroy") &
           fine(cudaGraphDestroy(graph), "cudaGraphDestroy");
}
