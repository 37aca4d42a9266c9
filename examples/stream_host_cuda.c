/* SPDX-License-Identifier: Apache-2.0
 * The best of an array that lies in host memory and may be larger than the GPU's: its chunks go through two
 * buffers of the device. One is filled while an accumulator gets the other. What this takes is printed beside
 * the copies alone.
 *
 * usage: stream_host_cuda [MIB [CHUNK_MIB [K]]]
 *
 * Without numbers 256 MiB of float32 in chunks of 8 MiB, k = 1000. The CPU must select the same from the
 * whole array. Without a GPU the program exits with 77. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>
#include <topk.h>
#include <topk_accumulator.h>

enum { BUFFERS = 2, RUNS = 5, SKIPPED = 77 };

struct stream {
    float *elements; /* in pinned memory */
    int64_t count, chunk, k;
    topk_context *context;
    topk_problem problem; /* of a chunk */
    void *state;
    size_t state_bytes;
    float *values; /* the device's, as are the indices */
    int64_t *indices;
    float *buffers[BUFFERS];
    cudaStream_t copies, pushes;
    cudaEvent_t filled[BUFFERS], emptied[BUFFERS];
    cudaEvent_t begin, end;
};

static int fail(void) {
    (void)fprintf(stderr, "stream_host_cuda: %s; %s\n", topk_last_error(),
                  cudaGetErrorString(cudaGetLastError()));
    return EXIT_FAILURE;
}

/* Element i is a hash of i, from 0 to 1. */
static float element(int64_t i) {
    uint64_t x = (uint64_t)i + 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (float)(x >> 40) * (1.0f / (1 << 24));
}

/* Enqueues the copy of a chunk, and its push unless only copies are wanted. */
static bool enqueue_chunk(const struct stream *s, int64_t base, bool pushes) {
    const int which = (int)(base / s->chunk % BUFFERS);
    const int64_t left = s->count - base, length = left < s->chunk ? left : s->chunk;
    topk_input input = TOPK_INPUT_INIT;
    input.values = s->buffers[which];
    return cudaStreamWaitEvent(s->copies, s->emptied[which], 0) == cudaSuccess &&
           cudaMemcpyAsync(s->buffers[which], s->elements + base, (size_t)length * sizeof(float),
                           cudaMemcpyHostToDevice, s->copies) == cudaSuccess &&
           cudaEventRecord(s->filled[which], s->copies) == cudaSuccess &&
           cudaStreamWaitEvent(s->pushes, s->filled[which], 0) == cudaSuccess &&
           (!pushes || topk_accumulator_push(s->context, &s->problem, s->state, s->state_bytes, &input,
                                             length, base, s->pushes) == TOPK_OK) &&
           cudaEventRecord(s->emptied[which], s->pushes) == cudaSuccess;
}

/* The whole stream; *ms is what it takes. */
static bool run(const struct stream *s, bool pushes, float *ms) {
    bool ok = cudaEventRecord(s->begin, s->pushes) == cudaSuccess &&
              cudaStreamWaitEvent(s->copies, s->begin, 0) == cudaSuccess &&
              (!pushes || topk_accumulator_init(s->context, &s->problem, s->state, s->state_bytes,
                                                s->pushes) == TOPK_OK);
    for (int64_t base = 0; base < s->count && ok; base += s->chunk) {
        ok = enqueue_chunk(s, base, pushes);
    }
    return ok &&
           (!pushes || topk_accumulator_finish(s->context, &s->problem, s->state, s->state_bytes, s->values,
                                               s->indices, s->pushes) == TOPK_OK) &&
           cudaEventRecord(s->end, s->pushes) == cudaSuccess && cudaEventSynchronize(s->end) == cudaSuccess &&
           cudaEventElapsedTime(ms, s->begin, s->end) == cudaSuccess;
}

static int by_time(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The median of RUNS runs, after one that warms up. */
static bool measure(const struct stream *s, bool pushes, float *ms) {
    float times[RUNS];
    bool ok = run(s, pushes, ms);
    for (int i = 0; i < RUNS && ok; i++) {
        ok = run(s, pushes, &times[i]);
    }
    qsort(times, RUNS, sizeof *times, by_time);
    *ms = times[RUNS / 2];
    return ok;
}

static bool make_memory(struct stream *s) {
    bool ok = cudaMallocHost((void **)&s->elements, (size_t)s->count * sizeof(float)) == cudaSuccess &&
              topk_accumulator_size(s->context, &s->problem, &s->state_bytes) == TOPK_OK &&
              cudaMalloc(&s->state, s->state_bytes) == cudaSuccess &&
              cudaMalloc((void **)&s->values, (size_t)s->k * sizeof *s->values) == cudaSuccess &&
              cudaMalloc((void **)&s->indices, (size_t)s->k * sizeof *s->indices) == cudaSuccess &&
              cudaStreamCreate(&s->copies) == cudaSuccess && cudaStreamCreate(&s->pushes) == cudaSuccess &&
              cudaEventCreate(&s->begin) == cudaSuccess && cudaEventCreate(&s->end) == cudaSuccess;
    for (int i = 0; i < BUFFERS && ok; i++) {
        ok = cudaMalloc((void **)&s->buffers[i], (size_t)s->chunk * sizeof(float)) == cudaSuccess &&
             cudaEventCreateWithFlags(&s->filled[i], cudaEventDisableTiming) == cudaSuccess &&
             cudaEventCreateWithFlags(&s->emptied[i], cudaEventDisableTiming) == cudaSuccess;
    }
    for (int64_t i = 0; i < s->count && ok; i++) {
        s->elements[i] = element(i);
    }
    return ok;
}

static void free_memory(struct stream *s) {
    for (int i = 0; i < BUFFERS; i++) {
        (void)cudaEventDestroy(s->filled[i]);
        (void)cudaEventDestroy(s->emptied[i]);
        (void)cudaFree(s->buffers[i]);
    }
    (void)cudaEventDestroy(s->begin);
    (void)cudaEventDestroy(s->end);
    (void)cudaStreamDestroy(s->copies);
    (void)cudaStreamDestroy(s->pushes);
    (void)cudaFree(s->state);
    (void)cudaFree(s->values);
    (void)cudaFree(s->indices);
    (void)cudaFreeHost(s->elements);
}

/* Whether the CPU selects the same from the whole array; *ok is false if one of the two cannot be had. */
static bool is_right(const struct stream *s, bool *ok) {
    const size_t value_bytes = (size_t)s->k * sizeof(float), index_bytes = (size_t)s->k * sizeof(int64_t);
    char *memory = malloc(2 * (value_bytes + index_bytes));
    int64_t *expected = (int64_t *)memory, *found = expected + s->k;
    float *expected_values = (float *)(found + s->k), *found_values = expected_values + s->k;
    void *workspace = NULL;
    size_t bytes = 0;
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_context *context = NULL;
    topk_input input = TOPK_INPUT_INIT;
    topk_problem whole = s->problem;
    options.backend = TOPK_BACKEND_CPU;
    input.values = s->elements;
    whole.length_max = s->count;
    *ok = memory != NULL &&
          cudaMemcpy(found, s->indices, index_bytes, cudaMemcpyDeviceToHost) == cudaSuccess &&
          cudaMemcpy(found_values, s->values, value_bytes, cudaMemcpyDeviceToHost) == cudaSuccess &&
          topk_context_create(&options, &context) == TOPK_OK &&
          topk_workspace_size(context, TOPK_OPERATION_SELECT, &whole, &bytes) == TOPK_OK &&
          (bytes == 0 || (workspace = malloc(bytes)) != NULL) &&
          topk_select(context, &whole, &input, expected_values, expected, workspace, bytes, NULL) == TOPK_OK;
    const bool same = *ok && memcmp(expected, found, index_bytes) == 0 &&
                      memcmp(expected_values, found_values, value_bytes) == 0;
    topk_context_destroy(context);
    free(workspace);
    free(memory);
    return same;
}

static int64_t number(int count, char **arguments, int which, int64_t otherwise) {
    const int64_t given = which < count ? strtoll(arguments[which], NULL, 10) : 0;
    return given > 0 ? given : otherwise;
}

int main(int count, char **arguments) {
    const int64_t of_mib = (int64_t)(1 << 20) / (int64_t)sizeof(float);
    const int64_t mib = number(count, arguments, 1, 256), chunk_mib = number(count, arguments, 2, 8);
    struct stream s = {.count = mib * of_mib, .chunk = chunk_mib * of_mib};
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    float copies_ms, all_ms;
    bool ok;
    if (topk_backend_status(TOPK_BACKEND_CUDA) != TOPK_OK) {
        (void)fprintf(stderr, "skipped: %s\n", topk_last_error());
        return SKIPPED;
    }
    options.backend = TOPK_BACKEND_CUDA; /* on device 0 */
    s.k = number(count, arguments, 3, 1000);
    s.problem = (topk_problem)TOPK_PROBLEM_INIT;
    s.problem.type = TOPK_F32;
    s.problem.index_type = TOPK_INDEX_I64;
    s.problem.length_max = s.chunk;
    s.problem.k_max = s.k;
    if (topk_context_create(&options, &s.context) != TOPK_OK || !make_memory(&s) ||
        !measure(&s, false, &copies_ms) || !measure(&s, true, &all_ms)) {
        return fail();
    }
    (void)printf("mib,chunk_mib,k,copies_ms,stream_ms,ratio\n%lld,%lld,%lld,%.3f,%.3f,%.4f\n", (long long)mib,
                 (long long)chunk_mib, (long long)s.k, copies_ms, all_ms, all_ms / copies_ms);
    const bool right = is_right(&s, &ok);
    if (!ok) {
        return fail();
    }
    free_memory(&s);
    topk_context_destroy(s.context);
    if (!right) {
        (void)fprintf(stderr, "stream_host_cuda: the CPU selects other elements\n");
    }
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
