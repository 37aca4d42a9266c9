/* SPDX-License-Identifier: Apache-2.0
 *
 * A state from any bytes. The first ones say which of a few problems; the rest is imported. What is refused
 * leaves the state as it was; what is taken is exported as the same bytes, and goes on. */
#include <string.h>

#include "fuzz.h"
#include "topk_accumulator.h"

enum { PROBLEMS = 8, LENGTH = 6, RESULTS_MAX = 64 };

static topk_problem problem_of(unsigned number) {
    static const topk_type types[] = {TOPK_F32, TOPK_U8, TOPK_F64, TOPK_BF16};
    topk_problem p = TOPK_PROBLEM_INIT;
    p.type = types[number % 4];
    p.index_type = number < 4 ? TOPK_INDEX_I32 : TOPK_INDEX_I64;
    p.rows = 1 + number % 3;
    p.length_max = LENGTH;
    p.k_max = number == 7 ? 0 : 1 + number;
    p.index_base = number % 2;
    return p;
}

static topk_context *context_of_cpu(void) {
    static topk_context *context;
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    options.backend = TOPK_BACKEND_CPU;
    options.threads = 1;
    demand(context != NULL || topk_context_create(&options, &context) == TOPK_OK);
    return context;
}

/* The state goes on: more is pushed, and the results are taken. */
static void go_on(topk_context *context, const topk_problem *p, void *state, size_t bytes) {
    static const double values[3 * LENGTH] = {1, -2, 3, 0, 5, 4};
    static const int64_t payload[3 * LENGTH] = {7, 8, 9};
    static double results[RESULTS_MAX];
    static int64_t indices[RESULTS_MAX];
    for (int carries = 0; carries < 2; carries++) {
        topk_input chunk = TOPK_INPUT_INIT;
        chunk.values = values;
        chunk.indices = carries ? payload : NULL;
        const topk_status status =
            topk_accumulator_push(context, p, state, bytes, &chunk, LENGTH, carries * LENGTH, NULL);
        demand(status == TOPK_OK || status == TOPK_ERROR_BAD_STATE);
    }
    demand(topk_accumulator_peek(context, p, state, bytes, results, indices, NULL) == TOPK_OK);
    demand(topk_accumulator_finish(context, p, state, bytes, NULL, indices, NULL) == TOPK_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    topk_context *const context = context_of_cpu();
    size_t state_bytes, wanted;
    if (size == 0) {
        return 0;
    }
    const topk_problem p = problem_of(data[0] % PROBLEMS);
    demand(topk_accumulator_size(context, &p, &state_bytes) == TOPK_OK);
    demand(topk_accumulator_export_size(context, &p, &wanted) == TOPK_OK);
    unsigned char *state = malloc(state_bytes), *before = malloc(state_bytes),
                  *bytes = malloc(size - 1 + (size == 1)), *again = malloc(wanted);
    demand(state != NULL && before != NULL && bytes != NULL && again != NULL);
    memcpy(bytes, data + 1, size - 1); /* nothing lies behind them that could be read */
    memset(state, 0x5a, state_bytes);
    memcpy(before, state, state_bytes);
    const topk_status status =
        topk_accumulator_import(context, &p, state, state_bytes, bytes, size - 1, NULL);
    demand(status == TOPK_OK || status == TOPK_ERROR_MALFORMED);
    if (status == TOPK_OK) {
        demand(size - 1 == wanted);
        demand(topk_accumulator_export(context, &p, state, state_bytes, again, wanted, NULL) == TOPK_OK);
        demand(memcmp(again, bytes, wanted) == 0);
        go_on(context, &p, state, state_bytes);
    } else {
        demand(memcmp(before, state, state_bytes) == 0);
    }
    free(state);
    free(before);
    free(bytes);
    free(again);
    return 0;
}
