/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/session_cuda.h"

#include <stdlib.h>
#include <string.h>

static bool capture(bench_work work, int64_t turn, cudaStream_t stream, cudaGraphExec_t *exec) {
    cudaGraph_t graph = NULL;
    if (!bench_device_ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "a capture")) {
        return false;
    }
    bool ok = work.enqueue(work.state, turn);
    ok = bench_device_ok(cudaStreamEndCapture(stream, &graph), "a capture") && ok;
    ok = ok && bench_device_ok(cudaGraphInstantiate(exec, graph, 0), "a graph") &&
         bench_device_ok(cudaGraphUpload(*exec, stream), "a graph");
    if (graph != NULL) {
        (void)cudaGraphDestroy(graph);
    }
    return ok;
}

bool bench_graphs_make(bench_graphs *graphs, bench_work work, const bench_data *data, int most,
                       cudaStream_t stream) {
    graphs->count = data->copies < most ? (int)data->copies : most;
    graphs->stream = stream;
    graphs->each = calloc((size_t)graphs->count, sizeof(cudaGraphExec_t));
    bool ok = graphs->each != NULL;
    for (int i = 0; ok && i < graphs->count; ++i) {
        ok = capture(work, data->copies / graphs->count * i, stream, &graphs->each[i]);
    }
    return ok && bench_device_ok(cudaStreamSynchronize(stream), "graphs");
}

void bench_graphs_free(bench_graphs *graphs) {
    for (int i = 0; graphs->each != NULL && i < graphs->count; ++i) {
        if (graphs->each[i] != NULL) {
            (void)cudaGraphExecDestroy(graphs->each[i]);
        }
    }
    free(graphs->each);
    memset(graphs, 0, sizeof *graphs);
}

bool bench_graphs_enqueue(void *state, int64_t turn) {
    const bench_graphs *graphs = state;
    return bench_device_ok(cudaGraphLaunch(graphs->each[turn % graphs->count], graphs->stream), "a replay");
}
