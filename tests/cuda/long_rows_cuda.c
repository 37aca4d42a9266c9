/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of more than 2^31 and 2^32 elements, one for each method: nearly all elements are 0, a few more at
 * positions known here. Ends as a skipped test where the GPU has not the memory for them.
 *
 * usage: test_cuda_long_rows [LENGTH...]: others, of 100000 elements at least */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "trial_cuda.h"

enum { SKIPPED = 77, PLANTED = 300, RESULTS = 3000, BEHIND = 100 };

/* A row of u16 elements. Those at at[] are not 0, and as many values come twice. */
typedef struct long_row {
    int64_t length;
    int64_t at[PLANTED]; /* ascending */
    uint16_t value[PLANTED];
    void *values, *out_values, *out_indices, *counts, *mask, *workspace;
    size_t workspace_bytes;
} long_row;

static topk_context *context;

static void *allocate(size_t bytes) {
    void *memory = NULL;
    if (cudaMalloc(&memory, bytes) != cudaSuccess) {
        printf("skipped: the GPU has no room for another %.1f GB\n", (double)bytes / 1e9);
        exit(check_report() != 0 ? 1 : SKIPPED);
    }
    return memory;
}

static void fetch(void *to, const void *from, size_t bytes) {
    require_cuda(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
}

/* The first elements, the last ones, and some at even distances in between. */
static void plant(long_row *r) {
    for (int i = 0; i < PLANTED; i++) {
        r->at[i] = i < BEHIND              ? 3 * i
                   : i >= PLANTED - BEHIND ? r->length - (PLANTED - i)
                                           : r->length / (PLANTED - BEHIND + 1) * (i - BEHIND + 1) + i;
        r->value[i] = (uint16_t)(1 + 7919 * i % (PLANTED / 2) * 400);
    }
    r->values = allocate((size_t)r->length * sizeof(uint16_t));
    require_cuda(cudaMemset(r->values, 0, (size_t)r->length * sizeof(uint16_t)), "cudaMemset");
    for (int i = 0; i < PLANTED; i++) {
        require_cuda(cudaMemcpy((uint16_t *)r->values + r->at[i], &r->value[i], sizeof r->value[i],
                                cudaMemcpyHostToDevice),
                     "cudaMemcpy");
    }
}

/* The planted elements, best first, then zeros from the first one on. */
static void expect(const long_row *r, uint16_t *values, int64_t *indices) {
    int count = 0;
    for (int rank = UINT16_MAX; rank > 0; rank--) {
        for (int i = 0; i < PLANTED; i++) {
            if (r->value[i] == rank) {
                values[count] = r->value[i];
                indices[count++] = r->at[i];
            }
        }
    }
    for (int64_t at = 0, next = 0; count < RESULTS; at++) {
        if (next < PLANTED && r->at[next] == at) {
            next++;
        } else {
            values[count] = 0;
            indices[count++] = at;
        }
    }
}

static topk_problem problem_of(const long_row *r, const char *method, int64_t k) {
    topk_problem problem = TOPK_PROBLEM_INIT;
    problem.type = TOPK_U16;
    problem.index_type = TOPK_INDEX_I64;
    problem.length_max = r->length;
    problem.k_max = k;
    problem.method = method;
    return problem;
}

static void take_workspace(long_row *r, topk_operation operation, const topk_problem *problem) {
    require_cuda(cudaFree(r->workspace), "cudaFree");
    r->workspace = NULL;
    CHECK_STATUS(TOPK_OK, topk_workspace_size(context, operation, problem, &r->workspace_bytes));
    r->workspace = allocate(r->workspace_bytes + 1);
}

static topk_input input_of(const long_row *r) {
    topk_input input = TOPK_INPUT_INIT;
    input.values = r->values;
    return input;
}

static topk_predicate above_zero(void) {
    topk_predicate predicate = TOPK_PREDICATE_INIT;
    predicate.kind = TOPK_GT;
    return predicate;
}

/* The first `count` results are as expected. */
static void check_results(const long_row *r, int count, const uint16_t *values, const int64_t *indices) {
    static uint16_t got_values[RESULTS];
    static int64_t got_indices[RESULTS];
    fetch(got_values, r->out_values, (size_t)count * sizeof *values);
    fetch(got_indices, r->out_indices, (size_t)count * sizeof *indices);
    CHECK(memcmp(got_values, values, (size_t)count * sizeof *values) == 0);
    CHECK(memcmp(got_indices, indices, (size_t)count * sizeof *indices) == 0);
}

/* As many as were planted, and more: of those that tie, the first. */
static void check_select(long_row *r, const char *method) {
    static uint16_t values[RESULTS];
    static int64_t indices[RESULTS];
    const int wanted[] = {PLANTED - 1, PLANTED + 500, RESULTS};
    const topk_input input = input_of(r);
    expect(r, values, indices);
    for (int i = 0; i < 3; i++) {
        const topk_problem problem = problem_of(r, method, wanted[i]);
        take_workspace(r, TOPK_OPERATION_SELECT, &problem);
        CHECK_STATUS(TOPK_OK, topk_select(context, &problem, &input, r->out_values, r->out_indices,
                                          r->workspace, r->workspace_bytes, NULL));
        check_results(r, wanted[i], values, indices);
    }
}

static void check_kth(long_row *r, const char *method) {
    const topk_problem problem = problem_of(r, method, PLANTED + 1);
    const topk_input input = input_of(r);
    int64_t *counts = r->counts, got[2];
    uint16_t kth;
    take_workspace(r, TOPK_OPERATION_KTH, &problem);
    CHECK_STATUS(TOPK_OK, topk_kth(context, &problem, &input, r->out_values, counts, counts + 1, r->workspace,
                                   r->workspace_bytes, NULL));
    fetch(got, counts, sizeof got);
    fetch(&kth, r->out_values, sizeof kth);
    CHECK(kth == 0 && got[0] == PLANTED && got[1] == r->length - PLANTED);
}

/* Only what was planted takes part; padding follows. */
static void check_select_where(long_row *r) {
    static uint16_t values[RESULTS];
    static int64_t indices[RESULTS];
    const topk_problem problem = problem_of(r, "air", PLANTED + 5);
    const topk_input input = input_of(r);
    const topk_predicate predicate = above_zero();
    expect(r, values, indices);
    for (int i = PLANTED; i < PLANTED + 5; i++) {
        values[i] = 0;
        indices[i] = -1;
    }
    take_workspace(r, TOPK_OPERATION_SELECT_WHERE, &problem);
    CHECK_STATUS(TOPK_OK, topk_select_where(context, &problem, &input, &predicate, r->out_values,
                                            r->out_indices, r->workspace, r->workspace_bytes, NULL));
    check_results(r, PLANTED + 5, values, indices);
}

/* What was planted; and all elements, with room for the first ones. */
static void check_where(long_row *r) {
    uint16_t first[RESULTS] = {0};
    static int64_t indices[RESULTS];
    const topk_problem problem = problem_of(r, "compact", 0);
    const topk_input input = input_of(r);
    topk_predicate predicate = above_zero();
    int64_t offsets[2], counted;
    take_workspace(r, TOPK_OPERATION_WHERE, &problem);
    CHECK_STATUS(TOPK_OK, topk_where(context, &problem, &input, &predicate, r->out_values, r->out_indices,
                                     RESULTS, r->counts, r->workspace, r->workspace_bytes, NULL));
    fetch(offsets, r->counts, sizeof offsets);
    CHECK(offsets[0] == 0 && offsets[1] == PLANTED);
    check_results(r, PLANTED, r->value, r->at);
    predicate.kind = TOPK_NE;
    predicate.low.value.f64 = 0.5;
    for (int i = 0; i < RESULTS; i++) {
        indices[i] = i;
    }
    for (int i = 0; i < PLANTED && r->at[i] < RESULTS; i++) {
        first[r->at[i]] = r->value[i];
    }
    CHECK_STATUS(TOPK_OK, topk_where(context, &problem, &input, &predicate, r->out_values, r->out_indices,
                                     RESULTS, r->counts, r->workspace, r->workspace_bytes, NULL));
    fetch(offsets, r->counts, sizeof offsets);
    CHECK(offsets[1] == r->length);
    check_results(r, RESULTS, first, indices);
    predicate = above_zero();
    take_workspace(r, TOPK_OPERATION_COUNT, &problem);
    CHECK_STATUS(TOPK_OK, topk_count(context, &problem, &input, &predicate, r->counts, r->workspace,
                                     r->workspace_bytes, NULL));
    fetch(&counted, r->counts, sizeof counted);
    CHECK(counted == PLANTED);
}

static void check_mask(long_row *r) {
    const topk_problem problem = problem_of(r, "compact", 0);
    const topk_input input = input_of(r);
    const topk_predicate predicate = above_zero();
    const size_t bytes = (size_t)(r->length / 8 + 1);
    unsigned char *seen = malloc(bytes);
    int64_t bits = 0;
    r->mask = allocate(bytes);
    take_workspace(r, TOPK_OPERATION_MASK, &problem);
    CHECK_STATUS(TOPK_OK, topk_mask(context, &problem, &input, &predicate, r->mask, r->workspace,
                                    r->workspace_bytes, NULL));
    if (!CHECK(seen != NULL)) {
        return;
    }
    fetch(seen, r->mask, (size_t)((r->length + 7) / 8));
    for (size_t i = 0; i < (size_t)((r->length + 7) / 8); i++) {
        bits += __builtin_popcount(seen[i]);
    }
    CHECK(bits == PLANTED);
    for (int i = 0; i < PLANTED; i++) {
        CHECK((seen[r->at[i] / 8] >> r->at[i] % 8 & 1) != 0);
    }
    free(seen);
}

static void check_length(int64_t length) {
    long_row r = {.length = length};
    plant(&r);
    r.out_values = allocate(RESULTS * sizeof(uint16_t));
    r.out_indices = allocate(RESULTS * sizeof(int64_t));
    r.counts = allocate(2 * sizeof(int64_t));
    check_select(&r, "air");
    check_kth(&r, "air");
    check_select(&r, "radik");
    check_kth(&r, "radik");
    check_select(&r, "radix");
    check_kth(&r, "radix");
    check_select(&r, "bucket");
    check_kth(&r, "bucket");
    check_select(&r, "drtopk");
    check_kth(&r, "drtopk");
    check_select_where(&r);
    check_where(&r);
    check_mask(&r);
    check_select(&r, "sort");
    check_kth(&r, "sort");
    void *const all[] = {r.values, r.out_values, r.out_indices, r.counts, r.mask, r.workspace};
    for (int i = 0; i < 6; i++) {
        require_cuda(cudaFree(all[i]), "cudaFree");
    }
    printf("%lld elements\n", (long long)length);
}

int main(int count, char **words) {
    context = create_cuda_context(0);
    for (int i = 1; i < count; i++) {
        check_length(strtoll(words[i], NULL, 0));
    }
    if (count < 2) {
        check_length((INT64_C(1) << 31) + 4321);
        check_length((INT64_C(1) << 32) + 4321);
    }
    topk_context_destroy(context);
    return check_report();
}
