/* SPDX-License-Identifier: Apache-2.0
 * The best of a stream that is never held as a whole: chunks go to an accumulator as they arrive. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <topk.h>
#include <topk_accumulator.h>

enum { K = 5, CHUNK = 4096, TOTAL = 1000000 };

static int fail(const char *reason) {
    (void)fprintf(stderr, "stream: %s\n", reason);
    return EXIT_FAILURE;
}

/* The stream: element i is a hash of i. */
static uint32_t element(int64_t i) {
    uint64_t x = (uint64_t)i + 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)(x >> 40);
}

static topk_status consume(topk_context *context, const topk_problem *problem, void *state, size_t bytes) {
    uint32_t chunk[CHUNK];
    topk_input input = TOPK_INPUT_INIT;
    topk_status status = TOPK_OK;
    input.values = chunk;
    for (int64_t base = 0; base < TOTAL && status == TOPK_OK; base += CHUNK) {
        const int64_t length = TOTAL - base < CHUNK ? TOTAL - base : CHUNK;
        for (int64_t i = 0; i < length; i++) {
            chunk[i] = element(base + i);
        }
        status = topk_accumulator_push(context, problem, state, bytes, &input, length, base, NULL);
    }
    return status;
}

/* The stream once more: each result is the element at its position, and none that is not a result
 * belongs before the last one. */
static int right(const uint32_t *values, const int64_t *indices) {
    int64_t before_last = 0;
    for (int i = 0; i < K; i++) {
        if (element(indices[i]) != values[i] || (i > 0 && values[i] > values[i - 1])) {
            return 0;
        }
    }
    for (int64_t i = 0; i < TOTAL; i++) {
        before_last += element(i) > values[K - 1] || (element(i) == values[K - 1] && i < indices[K - 1]);
    }
    return before_last == K - 1;
}

int main(void) {
    uint32_t values[K];
    int64_t indices[K];
    size_t bytes;
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_context *context;
    topk_problem problem = TOPK_PROBLEM_INIT;
    options.backend = TOPK_BACKEND_CPU;
    problem.type = TOPK_U32;
    problem.index_type = TOPK_INDEX_I64;
    problem.length_max = CHUNK;
    problem.k_max = K;

    if (topk_context_create(&options, &context) != TOPK_OK ||
        topk_accumulator_size(context, &problem, &bytes) != TOPK_OK) {
        return fail(topk_last_error());
    }
    void *state = malloc(bytes);
    if (topk_accumulator_init(context, &problem, state, bytes, NULL) != TOPK_OK ||
        consume(context, &problem, state, bytes) != TOPK_OK ||
        topk_accumulator_finish(context, &problem, state, bytes, values, indices, NULL) != TOPK_OK) {
        return fail(topk_last_error());
    }
    free(state);
    topk_context_destroy(context);

    for (int i = 0; i < K; i++) {
        (void)printf("%lu at %lld\n", (unsigned long)values[i], (long long)indices[i]);
    }
    return right(values, indices) ? EXIT_SUCCESS : fail("the stream has better elements");
}
