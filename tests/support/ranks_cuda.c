/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies go through pinned memory. One of pageable memory could wait for a stream, and keep threads of other
 * ranks from enqueuing what that stream waits for. */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranks.h"

enum { RANKS = 8, MEMORIES = 4096, FETCHES = 256, PINNED_BYTES = 1 << 25 };

/* What a rank has pinned since its last ranks_wait(). */
static struct {
    char *memory;
    size_t used;
    int fetches;
    struct {
        void *to;
        const char *from;
        size_t bytes;
    } fetched[FETCHES];
} pinned[RANKS];

static cudaStream_t streams[RANKS];
static void *memories[MEMORIES];
static int memory_count, opened, devices;
static bool own_devices;
static uint32_t *word;

#define MUST(call) must(call, #call)

static void must(cudaError_t error, const char *call) {
    if (error != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(error));
        exit(3);
    }
}

void ranks_start(void) {
    if (topk_backend_status(TOPK_BACKEND_CUDA) != TOPK_OK) {
        printf("no GPU: %s\n", topk_last_error());
        exit(RANKS_EXIT_NONE);
    }
    MUST(cudaGetDeviceCount(&devices));
    MUST(cudaHostAlloc((void **)&word, sizeof *word, cudaHostAllocPortable | cudaHostAllocMapped));
}

bool ranks_fit(int ranks, bool have_one_each) {
    if (!have_one_each) {
        return ranks <= RANKS;
    }
    for (int a = 0; a < ranks && ranks <= devices && ranks <= RANKS; a++) {
        for (int b = 0; b < ranks; b++) {
            int can = 0;
            if (a != b && (cudaDeviceCanAccessPeer(&can, a, b) != cudaSuccess || can == 0)) {
                return false;
            }
        }
    }
    return ranks <= devices && ranks <= RANKS;
}

int ranks_device(int rank) {
    return own_devices ? rank : 0;
}

static void reach(int from, int to) {
    if (from != to) {
        MUST(cudaSetDevice(from));
        const cudaError_t error = cudaDeviceEnablePeerAccess(to, 0);
        if (error != cudaErrorPeerAccessAlreadyEnabled) {
            must(error, "cudaDeviceEnablePeerAccess");
        }
        (void)cudaGetLastError();
    }
}

void ranks_open(int ranks, bool have_one_each) {
    own_devices = have_one_each;
    opened = ranks;
    *(volatile uint32_t *)word = 0;
    for (int r = 0; r < ranks; r++) {
        for (int other = 0; other < ranks; other++) {
            reach(ranks_device(r), ranks_device(other));
        }
        MUST(cudaSetDevice(ranks_device(r)));
        MUST(cudaStreamCreateWithFlags(&streams[r], cudaStreamNonBlocking));
        MUST(cudaHostAlloc((void **)&pinned[r].memory, PINNED_BYTES, cudaHostAllocPortable));
        pinned[r].used = 0;
        pinned[r].fetches = 0;
    }
}

void ranks_close(void) {
    for (int r = 0; r < opened; r++) {
        MUST(cudaSetDevice(ranks_device(r)));
        MUST(cudaStreamDestroy(streams[r]));
        MUST(cudaFreeHost(pinned[r].memory));
    }
    while (memory_count > 0) {
        MUST(cudaFree(memories[--memory_count]));
    }
}

void ranks_enter(int rank) {
    MUST(cudaSetDevice(ranks_device(rank)));
}

topk_stream ranks_stream(int rank) {
    return streams[rank];
}

size_t ranks_block_bytes(void) {
    return 200000;
}

void *ranks_memory(int rank, size_t bytes) {
    void *memory = NULL;
    if (memory_count == MEMORIES) {
        abort();
    }
    MUST(cudaSetDevice(ranks_device(rank)));
    MUST(cudaMalloc(&memory, bytes + (bytes == 0)));
    MUST(cudaMemset(memory, 0, bytes));
    MUST(cudaDeviceSynchronize());
    return memories[memory_count++] = memory;
}

uint32_t *ranks_word(void) {
    return word;
}

static char *pin(int rank, size_t bytes) {
    char *const memory = pinned[rank].memory + pinned[rank].used;
    if (bytes > PINNED_BYTES - pinned[rank].used || pinned[rank].fetches == FETCHES) {
        fprintf(stderr, "too much between two calls of ranks_wait()\n");
        exit(3);
    }
    pinned[rank].used += bytes;
    return memory;
}

void ranks_send(int rank, void *to, const void *from, size_t bytes) {
    MUST(cudaSetDevice(ranks_device(rank)));
    const char *const sent = memcpy(pin(rank, bytes), from, bytes);
    MUST(cudaMemcpyAsync(to, sent, bytes, cudaMemcpyHostToDevice, streams[rank]));
}

void ranks_fetch(int rank, void *to, const void *from, size_t bytes) {
    MUST(cudaSetDevice(ranks_device(rank)));
    char *const landing = pin(rank, bytes);
    MUST(cudaMemcpyAsync(landing, from, bytes, cudaMemcpyDeviceToHost, streams[rank]));
    pinned[rank].fetched[pinned[rank].fetches].to = to;
    pinned[rank].fetched[pinned[rank].fetches].from = landing;
    pinned[rank].fetched[pinned[rank].fetches++].bytes = bytes;
}

void ranks_wait(int rank) {
    MUST(cudaStreamSynchronize(streams[rank]));
    for (int i = 0; i < pinned[rank].fetches; i++) {
        memcpy(pinned[rank].fetched[i].to, pinned[rank].fetched[i].from, pinned[rank].fetched[i].bytes);
    }
    pinned[rank].used = 0;
    pinned[rank].fetches = 0;
}

bool ranks_capture(int rank) {
    MUST(cudaSetDevice(ranks_device(rank)));
    MUST(cudaStreamBeginCapture(streams[rank], cudaStreamCaptureModeThreadLocal));
    return true;
}

void *ranks_graph(int rank) {
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    MUST(cudaStreamEndCapture(streams[rank], &graph));
    MUST(cudaGraphInstantiate(&executable, graph, 0));
    MUST(cudaGraphDestroy(graph));
    return executable;
}

void ranks_launch(int rank, void *graph) {
    MUST(cudaSetDevice(ranks_device(rank)));
    MUST(cudaGraphLaunch((cudaGraphExec_t)graph, streams[rank]));
}

void ranks_forget(void *graph) {
    MUST(cudaGraphExecDestroy((cudaGraphExec_t)graph));
}
