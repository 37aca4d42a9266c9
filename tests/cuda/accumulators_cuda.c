/* SPDX-License-Identifier: Apache-2.0
 *
 * Accumulators on a GPU: their calls return while it is busy with what came before, also the first ones of a
 * context, and take no memory of the device. A whole stream that is captured in a graph can be replayed with
 * other data. Results are as topk_select() has them over the whole. */
#include <stdlib.h>

#include "check.h"
#include "expected.h"
#include "random.h"
#include "spin_cuda.h"
#include "topk_accumulator.h"
#include "trial_cuda.h"

enum { ROWS = 2, LENGTH = 1 << 18, CHUNK = 1 << 15, K = 500, SLOTS = ROWS * K };

static topk_context *context;
static cudaStream_t stream;
static topk_problem problem;
static float *host, *values, *found;
static int32_t *indices;
static void *state;
static size_t state_bytes;
static float wanted[SLOTS];
static int32_t wanted_indices[SLOTS];

static void make_arrays(void) {
    problem = (topk_problem)TOPK_PROBLEM_INIT;
    problem.type = TOPK_F32;
    problem.rows = ROWS;
    problem.k_max = K;
    problem.length_max = CHUNK;
    problem.row_stride = LENGTH;
    CHECK_STATUS(TOPK_OK, topk_accumulator_size(context, &problem, &state_bytes));
    host = malloc(sizeof(float) * ROWS * LENGTH);
    require_cuda(cudaMalloc((void **)&values, sizeof(float) * ROWS * LENGTH), "cudaMalloc");
    require_cuda(cudaMalloc((void **)&found, sizeof(float) * SLOTS), "cudaMalloc");
    require_cuda(cudaMalloc((void **)&indices, sizeof(int32_t) * SLOTS), "cudaMalloc");
    require_cuda(cudaMalloc(&state, state_bytes), "cudaMalloc");
    if (host == NULL) {
        abort();
    }
}

/* Waits for the device. `step` is added from each element to the next: ascending data passes every bar. */
static void change(uint64_t seed, float step) {
    random_state random = {seed};
    topk_problem whole = problem;
    topk_input input = TOPK_INPUT_INIT;
    for (int i = 0; i < ROWS * LENGTH; i++) {
        host[i] = (float)random_below(&random, 100000) / 7 + step * (float)i;
    }
    whole.length_max = LENGTH;
    input.values = host;
    expected_select(&whole, &input, wanted, wanted_indices);
    require_cuda(cudaMemcpy(values, host, sizeof(float) * ROWS * LENGTH, cudaMemcpyHostToDevice),
                 "cudaMemcpy");
    require_cuda(cudaMemset(found, 0x5a, sizeof(float) * SLOTS), "cudaMemset");
    require_cuda(cudaMemset(indices, 0x5a, sizeof(int32_t) * SLOTS), "cudaMemset");
    require_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

/* All calls from init to finish, a peek among them. */
static void enqueue(void) {
    topk_input chunk = TOPK_INPUT_INIT;
    CHECK_STATUS(TOPK_OK, topk_accumulator_init(context, &problem, state, state_bytes, stream));
    for (int64_t base = 0; base < LENGTH; base += CHUNK) {
        chunk.values = values + base;
        CHECK_STATUS(TOPK_OK, topk_accumulator_push(context, &problem, state, state_bytes, &chunk, CHUNK,
                                                    base, stream));
        if (base == LENGTH / 2) {
            CHECK_STATUS(TOPK_OK, topk_accumulator_peek(context, &problem, state, state_bytes, found, indices,
                                                        stream));
        }
    }
    CHECK_STATUS(TOPK_OK,
                 topk_accumulator_finish(context, &problem, state, state_bytes, found, indices, stream));
}

static void check_results(void) {
    static float got[SLOTS];
    static int32_t got_indices[SLOTS];
    int right = 0;
    require_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    require_cuda(cudaMemcpy(got, found, sizeof got, cudaMemcpyDeviceToHost), "cudaMemcpy");
    require_cuda(cudaMemcpy(got_indices, indices, sizeof got_indices, cudaMemcpyDeviceToHost), "cudaMemcpy");
    for (int i = 0; i < SLOTS; i++) {
        right += got[i] == wanted[i] && got_indices[i] == wanted_indices[i];
    }
    CHECK(right == SLOTS);
}

static size_t free_bytes(void) {
    size_t free, total;
    require_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    require_cuda(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    return free;
}

static void check_asynchrony(void) {
    for (int round = 0; round < 3; round++) {
        change(1 + (uint64_t)round, round == 2 ? 1 : 0);
        const size_t before = free_bytes();
        spin_begin(stream);
        enqueue();
        const bool busy = cudaStreamQuery(stream) == cudaErrorNotReady;
        CHECK(spin_end());
        CHECK(busy);
        check_results();
        CHECK(free_bytes() == before);
    }
}

static void check_graph(void) {
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    require_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
    enqueue();
    require_cuda(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
    require_cuda(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
    for (int replay = 0; replay < 6; replay++) {
        change(10 + (uint64_t)replay, replay % 3 == 2 ? 1 : 0);
        require_cuda(cudaGraphLaunch(executable, stream), "cudaGraphLaunch");
        check_results();
    }
    require_cuda(cudaGraphExecDestroy(executable), "cudaGraphExecDestroy");
    require_cuda(cudaGraphDestroy(graph), "cudaGraphDestroy");
}

int main(void) {
    context = create_cuda_context(0);
    require_cuda(cudaSetDevice(0), "cudaSetDevice");
    require_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    make_arrays();
    check_asynchrony();
    check_graph();
    topk_context_destroy(context);
    return check_report();
}
