/* SPDX-License-Identifier: Apache-2.0
 * Two streams on one GPU, each with data and a workspace of its own, captured in one graph. The graph is
 * replayed with other row lengths, which the device reads when the work runs. What comes out is compared
 * with the CPU, bit for bit. Without a GPU the program exits with 77. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>
#include <topk.h>

enum { LANES = 2, ROWS = 48, LENGTH = 20000, K = 64, REPLAYS = 3, SKIPPED = 77 };

/* What one stream works on: on the device, and the same on the host. */
struct lane {
    cudaStream_t stream;
    float *scores; /* ROWS x LENGTH */
    int64_t *lengths;
    float *values; /* ROWS x K */
    int64_t *indices;
    void *workspace;
    float *host_scores;
    int64_t host_lengths[ROWS];
};

static _Noreturn void fail(const char *reason) {
    (void)fprintf(stderr, "streams_cuda: %s\n", reason);
    exit(EXIT_FAILURE);
}

static void check(topk_status status) {
    if (status != TOPK_OK) {
        fail(topk_last_error());
    }
}

static void check_cuda(cudaError_t error) {
    if (error != cudaSuccess) {
        fail(cudaGetErrorString(error));
    }
}

static uint64_t next_random(uint64_t *state) {
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static topk_problem problem_of_lanes(void) {
    topk_problem problem = TOPK_PROBLEM_INIT;
    problem.type = TOPK_F32;
    problem.index_type = TOPK_INDEX_I64;
    problem.rows = ROWS;
    problem.length_max = LENGTH;
    problem.k_max = K;
    return problem;
}

static void *on_device(size_t bytes) {
    void *memory;
    check_cuda(cudaMalloc(&memory, bytes));
    return memory;
}

static void lane_begin(struct lane *lane, uint64_t *seed, size_t workspace_bytes) {
    const size_t elements = (size_t)ROWS * LENGTH;
    lane->host_scores = malloc(elements * sizeof(float));
    if (lane->host_scores == NULL) {
        fail("out of memory");
    }
    for (size_t i = 0; i < elements; i++) {
        lane->host_scores[i] = (float)(next_random(seed) >> 50) / 16384; /* with many equal ones */
    }
    check_cuda(cudaStreamCreateWithFlags(&lane->stream, cudaStreamNonBlocking));
    lane->scores = on_device(elements * sizeof(float));
    lane->lengths = on_device(ROWS * sizeof(int64_t));
    lane->values = on_device((size_t)ROWS * K * sizeof(float));
    lane->indices = on_device((size_t)ROWS * K * sizeof(int64_t));
    lane->workspace = on_device(workspace_bytes);
    check_cuda(cudaMemcpy(lane->scores, lane->host_scores, elements * sizeof(float), cudaMemcpyHostToDevice));
}

static void lane_end(struct lane *lane) {
    void *memory[] = {lane->scores, lane->lengths, lane->values, lane->indices, lane->workspace};
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++) {
        check_cuda(cudaFree(memory[i]));
    }
    check_cuda(cudaStreamDestroy(lane->stream));
    free(lane->host_scores);
}

static void set_lengths(struct lane *lane, uint64_t *seed) {
    for (int row = 0; row < ROWS; row++) {
        lane->host_lengths[row] = (int64_t)(next_random(seed) % (LENGTH + 1));
    }
    lane->host_lengths[0] = 0;
    lane->host_lengths[1] = K - 1; /* results, and then padding */
    check_cuda(
        cudaMemcpy(lane->lengths, lane->host_lengths, sizeof lane->host_lengths, cudaMemcpyHostToDevice));
}

static void enqueue(topk_context *context, const struct lane *lane, size_t workspace_bytes) {
    const topk_problem problem = problem_of_lanes();
    topk_input input = TOPK_INPUT_INIT;
    input.values = lane->scores;
    input.lengths = lane->lengths;
    check(topk_select(context, &problem, &input, lane->values, lane->indices, lane->workspace,
                      workspace_bytes, lane->stream));
}

/* Both lanes side by side in one graph: the second stream joins the capture of the first by an event. */
static cudaGraphExec_t capture(topk_context *context, struct lane lanes[LANES], size_t workspace_bytes) {
    cudaEvent_t forked, joined;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    check_cuda(cudaEventCreateWithFlags(&forked, cudaEventDisableTiming));
    check_cuda(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));
    check_cuda(cudaStreamBeginCapture(lanes[0].stream, cudaStreamCaptureModeGlobal));
    check_cuda(cudaEventRecord(forked, lanes[0].stream));
    check_cuda(cudaStreamWaitEvent(lanes[1].stream, forked, 0));
    for (int i = 0; i < LANES; i++) {
        enqueue(context, &lanes[i], workspace_bytes);
    }
    check_cuda(cudaEventRecord(joined, lanes[1].stream));
    check_cuda(cudaStreamWaitEvent(lanes[0].stream, joined, 0));
    check_cuda(cudaStreamEndCapture(lanes[0].stream, &graph));
    check_cuda(cudaGraphInstantiateWithFlags(&executable, graph, 0));
    check_cuda(cudaGraphDestroy(graph));
    check_cuda(cudaEventDestroy(forked));
    check_cuda(cudaEventDestroy(joined));
    return executable;
}

/* Whether the lane's results on the device are what the CPU selects from the same data. */
static int same_as_cpu(topk_context *cpu, const struct lane *lane) {
    static float values[ROWS * K], expected_values[ROWS * K];
    static int64_t indices[ROWS * K], expected_indices[ROWS * K];
    const topk_problem problem = problem_of_lanes();
    size_t bytes;
    topk_input input = TOPK_INPUT_INIT;
    input.values = lane->host_scores;
    input.lengths = lane->host_lengths;
    check(topk_workspace_size(cpu, TOPK_OPERATION_SELECT, &problem, &bytes));
    void *workspace = malloc(bytes);
    check(topk_select(cpu, &problem, &input, expected_values, expected_indices, workspace, bytes, NULL));
    free(workspace);
    check_cuda(cudaMemcpy(values, lane->values, sizeof values, cudaMemcpyDeviceToHost));
    check_cuda(cudaMemcpy(indices, lane->indices, sizeof indices, cudaMemcpyDeviceToHost));
    return memcmp(values, expected_values, sizeof values) == 0 &&
           memcmp(indices, expected_indices, sizeof indices) == 0;
}

static topk_context *create(topk_backend backend) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_context *context;
    options.backend = backend;
    check(topk_context_create(&options, &context));
    return context;
}

/* Other results must come out of each round, so that old ones cannot pass for new ones. */
static void verify(topk_context *cpu, const struct lane lanes[LANES], const char *round) {
    for (int i = 0; i < LANES; i++) {
        if (!same_as_cpu(cpu, &lanes[i])) {
            fail("the GPU and the CPU differ");
        }
        check_cuda(cudaMemset(lanes[i].values, 0x5a, (size_t)ROWS * K * sizeof(float)));
        check_cuda(cudaMemset(lanes[i].indices, 0x5a, (size_t)ROWS * K * sizeof(int64_t)));
    }
    (void)printf("%s: the %d best of %d rows on each of %d streams, the same bits as on the CPU\n", round, K,
                 ROWS, LANES);
}

int main(void) {
    struct lane lanes[LANES];
    const topk_problem problem = problem_of_lanes();
    uint64_t seed = 2024;
    size_t bytes;
    if (topk_backend_status(TOPK_BACKEND_CUDA) != TOPK_OK) {
        (void)fprintf(stderr, "skipped: %s\n", topk_last_error());
        return SKIPPED;
    }
    topk_context *gpu = create(TOPK_BACKEND_CUDA);
    topk_context *cpu = create(TOPK_BACKEND_CPU);
    check(topk_workspace_size(gpu, TOPK_OPERATION_SELECT, &problem, &bytes));

    for (int i = 0; i < LANES; i++) {
        lane_begin(&lanes[i], &seed, bytes);
        set_lengths(&lanes[i], &seed);
    }
    check_cuda(cudaDeviceSynchronize()); /* the streams do not wait for the copies */
    for (int i = 0; i < LANES; i++) {
        enqueue(gpu, &lanes[i], bytes);
    }
    check_cuda(cudaDeviceSynchronize());
    verify(cpu, lanes, "launched");

    cudaGraphExec_t graph = capture(gpu, lanes, bytes);
    for (int replay = 0; replay < REPLAYS; replay++) {
        for (int i = 0; i < LANES; i++) {
            set_lengths(&lanes[i], &seed);
        }
        check_cuda(cudaDeviceSynchronize());
        check_cuda(cudaGraphLaunch(graph, lanes[0].stream));
        check_cuda(cudaDeviceSynchronize());
        verify(cpu, lanes, "replayed with other lengths");
    }
    check_cuda(cudaGraphExecDestroy(graph));
    for (int i = 0; i < LANES; i++) {
        lane_end(&lanes[i]);
    }
    topk_context_destroy(gpu);
    topk_context_destroy(cpu);
    return EXIT_SUCCESS;
}
