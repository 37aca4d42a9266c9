/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls in CUDA graphs: the first call of a context, replays with other data, and what `air` consists of. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "trial_cuda.h"

static cudaStream_t stream;

static cudaGraph_t capture(const trial *t, topk_context *context) {
    cudaGraph_t graph = NULL;
    require_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
    CHECK_STATUS(TOPK_OK, trial_call(t, context, stream));
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    return graph;
}

static cudaGraphExec_t instantiate(const trial *t, topk_context *context) {
    cudaGraphExec_t executable = NULL;
    cudaGraph_t graph = capture(t, context);
    require_cuda(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
    require_cuda(cudaGraphDestroy(graph), "cudaGraphDestroy");
    return executable;
}

/* Nothing was called before with any context: what is loaded or allocated lazily would show here. */
static void check_first_call(int kind) {
    trial t;
    topk_context *context = create_cuda_context(0);
    trial_create(&t, context, kind);
    trial_change(&t, 1);
    trial_poison(&t);
    cudaGraphExec_t executable = instantiate(&t, context);
    require_cuda(cudaGraphLaunch(executable, stream), "cudaGraphLaunch");
    CHECK(trial_is_right(&t));
    require_cuda(cudaGraphExecDestroy(executable), "cudaGraphExecDestroy");
    trial_free(&t);
    topk_context_destroy(context);
}

static void check_replays(topk_context *context, int kind, const char *method) {
    trial t;
    topk_problem problem;
    trial_create(&t, context, kind);
    problem = t.problem;
    if (method != NULL && strcmp(method, "bitonic") == 0 &&
        (t.operation != TOPK_OPERATION_SELECT || problem.k_max > 2048)) {
        trial_free(&t); /* which it does not do */
        return;
    }
    if (method != NULL) {
        bool ragged = t.inputs[TRIAL_K].bytes != 0;
        topk_operation operation = t.operation;
        trial_free(&t);
        problem.method = method;
        trial_create_for(&t, context, operation, &problem, ragged);
    }
    cudaGraphExec_t executable = instantiate(&t, context);
    for (uint64_t seed = 1; seed <= 4; seed++) {
        trial_change(&t, seed);
        trial_poison(&t);
        require_cuda(cudaGraphLaunch(executable, stream), "cudaGraphLaunch");
        if (!CHECK(trial_is_right(&t))) {
            fprintf(stderr, "    kind %d, method %s, data %d\n", kind, method == NULL ? "default" : method,
                    (int)seed);
        }
    }
    require_cuda(cudaGraphExecDestroy(executable), "cudaGraphExecDestroy");
    trial_free(&t);
}

/* A long row of 32-bit elements with order and ties free: a launch for each of three digits, a filter. */
static void check_nodes(topk_context *context, int64_t length) {
    enum { NODES_MAX = 64 };
    trial t;
    topk_problem p = TOPK_PROBLEM_INIT;
    cudaGraphNode_t nodes[NODES_MAX];
    size_t count = NODES_MAX;
    int kernels = 0, memsets = 0, others = 0;
    p.type = TOPK_F32;
    p.length_max = length;
    p.k_max = 100;
    p.order = TOPK_ORDER_ANY;
    p.ties = TOPK_TIES_ANY;
    p.method = "air";
    trial_create_for(&t, context, TOPK_OPERATION_SELECT, &p, false);
    cudaGraph_t graph = capture(&t, context);
    require_cuda(cudaGraphGetNodes(graph, nodes, &count), "cudaGraphGetNodes");
    for (size_t n = 0; n < count; n++) {
        enum cudaGraphNodeType type;
        require_cuda(cudaGraphNodeGetType(nodes[n], &type), "cudaGraphNodeGetType");
        kernels += type == cudaGraphNodeTypeKernel;
        memsets += type == cudaGraphNodeTypeMemset;
        others += type != cudaGraphNodeTypeKernel && type != cudaGraphNodeTypeMemset;
    }
    printf("air, %lld elements: %d kernels, %d memsets, %d others\n", (long long)length, kernels, memsets,
           others);
    CHECK(kernels == 4);
    CHECK(memsets <= 1);
    CHECK(others == 0);
    require_cuda(cudaGraphDestroy(graph), "cudaGraphDestroy");
    trial_free(&t);
}

int main(int argc, char **argv) {
    static const char *const methods[] = {NULL,     "air",     "radik",  "radix",
                                          "bucket", "bitonic", "drtopk", "sort"};
    const int first = argc > 1 ? atoi(argv[1]) : 0; /* the kind whose call is the process's first */
    topk_context_destroy(create_cuda_context(0));   /* or the test is skipped */
    require_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    for (int kind = 0; kind < TRIAL_KINDS; kind++) {
        check_first_call((first + kind) % TRIAL_KINDS);
    }
    topk_context *context = create_cuda_context(0);
    for (int kind = 0; kind < TRIAL_KINDS; kind++) {
        for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++) {
            check_replays(context, kind, methods[m]);
        }
    }
    check_nodes(context, 1 << 20);
    check_nodes(context, 1 << 24);
    topk_context_destroy(context);
    require_cuda(cudaStreamDestroy(stream), "cudaStreamDestroy");
    return check_report();
}
