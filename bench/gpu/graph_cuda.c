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

static bool replay_graph(void *state, int64_t turn) {
    const bench_graphs *graphs = state;
    return bench_device_ok(cudaGraphLaunch(graphs->each[turn % graphs->count], graphs->stream), "a replay");
}

/* Graphs for up to `most` copies of the data, far from each other. */
static bool make_graphs(bench_graphs *graphs, bench_work work, const bench_data *data, int most) {
    graphs->count = data->copies < most ? (int)data->copies : most;
    graphs->each = calloc((size_t)graphs->count, sizeof(cudaGraphExec_t));
    bool ok = graphs->each != NULL;
    for (int i = 0; ok && i < graphs->count; ++i) {
        ok = capture(work, data->copies / graphs->count * i, graphs->stream, &graphs->each[i]);
    }
    return ok && bench_device_ok(cudaStreamSynchronize(graphs->stream), "graphs");
}

bool bench_gpu_capture(bench_session *session, bench_work work, bench_work *replay, bench_result *result) {
    bench_gpu_state *state = session->state;
    const int runs = session->options.runs < runs_least ? runs_least : session->options.runs;
    if (!bench_buffer_make(&bench_device_memory, &state->flush, bench_cold_bytes(session))) {
        return bench_fail(session, result, BENCH_SKIPPED, "out of memory");
    }
    state->graphs.stream = session->stream;
    if (!make_graphs(&state->graphs, work, state->subject, runs + warm_up_runs)) {
        return bench_fail_somewhere(session, result);
    }
    state->turn = 0;
    *replay = (bench_work){replay_graph, &state->graphs, false};
    return true;
}

void bench_gpu_release(bench_session *session) {
    bench_gpu_state *state = session->state;
    bench_graphs *graphs = &state->graphs;
    for (int i = 0; graphs->each != NULL && i < graphs->count; ++i) {
        if (graphs->each[i] != NULL) {
            (void)cudaGraphExecDestroy(graphs->each[i]);
        }
    }
    free(graphs->each);
    memset(graphs, 0, sizeof *graphs);
    bench_buffer_free(&state->flush);
}
