/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "elements.h"
#include "run.h"

static uint64_t wanted_class(const instance *i, const instance_row *row) {
    const topk_problem *p = &i->problem;
    uint64_t bits = 0;
    if (row->place.k == 0 || row->place.k > row->place.length) {
        oracle_write_padding(p->type, p->direction, &bits);
    } else {
        int64_t element = row->place.first + row->ranking[row->place.k - 1].position;
        oracle_write_class(p->type, p->rank,
                           (const char *)i->input.values + (size_t)element * oracle_type_size(p->type),
                           &bits);
    }
    return element_get_bits(p->type, &bits, 0);
}

static oracle_kth wanted_place(const instance *i, const instance_row *row) {
    if (row->place.k == 0) {
        return (oracle_kth){0, 0};
    }
    if (row->place.k > row->place.length) {
        return (oracle_kth){row->place.length, 0};
    }
    return oracle_kth_place(&i->problem, row->ranking, row->place.length, row->place.k);
}

static run_result check_row(const instance *i, int64_t r, const guarded outputs[3]) {
    const instance_row *row = &i->rows[r];
    oracle_kth place = wanted_place(i, row);
    if (outputs[0].map != NULL && run_output_bits(i->problem.type, &outputs[0], r) != wanted_class(i, row)) {
        return run_fail("row %" PRId64 " k %" PRId64 ": expected class %#" PRIx64 ", got %#" PRIx64, r,
                        row->place.k, wanted_class(i, row), run_output_bits(i->problem.type, &outputs[0], r));
    }
    for (int o = 1; o <= 2; o++) {
        int64_t wanted = o == 1 ? place.better : place.equal;
        int64_t got = outputs[o].map != NULL ? ((const int64_t *)outputs[o].data)[r] : wanted;
        if (got != wanted) {
            return run_fail("row %" PRId64 " k %" PRId64 ": expected %s %" PRId64 ", got %" PRId64, r,
                            row->place.k, o == 1 ? "better" : "equal", wanted, got);
        }
    }
    return RUN_PASSED;
}

run_result run_kth(topk_context *context, const instance *i, const char *method) {
    run_setup setup;
    const topk_problem *p = &i->problem;
    run_result result = run_prepare(context, TOPK_OPERATION_KTH, i, method, &setup);
    if (result != RUN_PASSED) {
        return result;
    }
    guarded outputs[] = {run_output(wants_values(i), p->rows, oracle_type_size(p->type)),
                         run_output(wants_indices(i), p->rows, sizeof(int64_t)),
                         run_output(true, p->rows, sizeof(int64_t))};
    topk_status status = topk_kth(context, &setup.problem, &i->input, outputs[0].data, outputs[1].data,
                                  outputs[2].data, setup.workspace.data, setup.workspace.bytes, NULL);
    for (int64_t r = 0; r < p->rows && status == TOPK_OK && result == RUN_PASSED; r++) {
        result = check_row(i, r, outputs);
    }
    return run_finish(i, &setup, status, result, outputs, 3);
}
