/* SPDX-License-Identifier: Apache-2.0 */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

#include "ranks.h"

enum { RANKS = 128, MEMORIES = 4096 };
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
        return ranks <= 8;
    }
    for (int a = 0; a < ranks && ranks <= devices; a++) {
        for (int b = 0; b < ranks; b++) {
            int can = 0;
            if (a != b && (cudaDeviceCanAccessPeer(&can, a, b) != cudaSuccess || can == 0)) {
                return false;
            }
        }
    }
    return ranks <= devices;
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
    }
}

void ranks_close(void) {
    for (int r = 0; r < opened; r++) {
        MUST(cudaSetDevice(ranks_device(r)));
        MUST(cudaStreamDestroy(streams[r]));
    }
    while (memory_count > 0) {
        MUST(cudaFree(memories[--memory_count]));
    }
}

topk_stream ranks_stream(int rank) {
    return streams[rank];
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

void ranks_send(int rank, void *to, const void *from, size_t bytes) {
    MUST(cudaSetDevice(ranks_device(rank)));
    MUST(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, streams[rank]));
}

void ranks_fetch(int rank, void *to, const void *from, size_t bytes) {
    MUST(cudaSetDevice(ranks_device(rank)));
    MUST(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, streams[rank]));
}

void ranks_wait(int rank) {
    MUST(cudaStreamSynchronize(streams[rank]));
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
