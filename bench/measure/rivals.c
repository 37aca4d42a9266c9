/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/rivals.h"

bool bench_rival_make(bench_session *session, const bench_rival_kind *kind, bench_rival *rival,
                      bench_result *result) {
    const bench_device *device = session->device;
    const bench_point *point = result->point;
    const int64_t results = kind->traits & BENCH_RIVAL_SORTS ? point->n : point->k;
    *rival = (bench_rival){.kind = kind,
                           .point = point,
                           .data = &session->data,
                           .bound = session->truth.bound.value.f64, /* they take floats alone */
                           .threads = session->options.threads,
                           .stream = session->stream};
    /* A call that changed the input has cost it. */
    const bool made =
        session->data.copies > 0 &&
        bench_outputs_make(&rival->outputs, device->memory, point,
                           point->operation == TOPK_OPERATION_WHERE ? session->truth.matches : results) &&
        (device->rival_prepare == NULL || device->rival_prepare(session, rival)) && kind->run(rival) &&
        bench_buffer_make(device->memory, &rival->scratch, rival->scratch_bytes) && device->finish(session);
    if (kind->traits & BENCH_RIVAL_VALUES) {
        rival->outputs.indices = NULL;
    }
    result->threads = kind->traits & BENCH_RIVAL_BLOCKS ? point->block : rival->threads;
    result->workspace_bytes = rival->scratch_bytes;
    return made;
}

void bench_rival_free(bench_rival *rival) {
    bench_outputs_free(&rival->outputs);
    bench_buffer_free(&rival->positions);
    bench_buffer_free(&rival->offsets);
    bench_data_free(&rival->flags);
    bench_buffer_free(&rival->scratch);
}

bool bench_rival_enqueue(void *state, int64_t turn) {
    bench_rival *rival = state;
    rival->input = bench_data_copy(rival->data, turn);
    return rival->kind->run(rival);
}
