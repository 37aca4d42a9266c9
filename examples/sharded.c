/* SPDX-License-Identifier: Apache-2.0
 *
 * The 1000th largest of a million numbers that lie in three shards, as on three machines: each counts its
 * own, and only sums of counters pass from one to another. Then each shard knows how many of the 1000 best it
 * has, and selects them. */
#include <stdio.h>
#include <stdlib.h>

#include "topk_sharded.h"
#include "topk_simple.h"

enum { SHARDS = 3, K = 1000 };

static void require(topk_status status) {
    if (status != TOPK_OK) {
        fprintf(stderr, "%s: %s\n", topk_status_string(status), topk_last_error());
        exit(1);
    }
}

static void *allocate(size_t bytes) {
    void *memory = malloc(bytes);
    if (memory == NULL) {
        exit(1);
    }
    return memory;
}

int main(void) {
    static const int64_t lengths[SHARDS] = {500000, 100000, 400000};
    topk_problem problems[SHARDS];
    topk_input inputs[SHARDS];
    float *values[SHARDS];
    void *states[SHARDS];
    topk_sharded_properties properties[SHARDS];
    topk_simple *simple;
    require(topk_simple_create(NULL, &simple));
    topk_context *context = topk_simple_context(simple);

    uint32_t random = 1;
    for (int s = 0; s < SHARDS; s++) {
        values[s] = allocate((size_t)lengths[s] * sizeof(float));
        for (int64_t i = 0; i < lengths[s]; i++) {
            random = random * 1664525u + 1013904223u;
            values[s][i] = (float)(random >> 12); /* some come twice */
        }
        problems[s] = (topk_problem)TOPK_PROBLEM_INIT;
        problems[s].type = TOPK_F32;
        problems[s].length_max = lengths[s];
        problems[s].k_max = K;
        inputs[s] = (topk_input)TOPK_INPUT_INIT;
        inputs[s].values = values[s];
        properties[s] = (topk_sharded_properties)TOPK_SHARDED_PROPERTIES_INIT;
        require(topk_sharded_query(context, &problems[s], &properties[s]));
        states[s] = allocate(properties[s].state_bytes);
    }

    /* Counting adds to the counters, so shards in one memory share them. On several machines an MPI_Allreduce
     * of the counters stands between the two loops. */
    int64_t *counters = allocate((size_t)properties[0].counters * sizeof(int64_t));
    int64_t *sums = allocate((size_t)properties[0].counters * sizeof(int64_t));
    for (int s = 0; s < SHARDS; s++) {
        require(topk_sharded_begin(context, &problems[s], states[s], properties[s].state_bytes, NULL,
                                   counters, NULL));
    }
    for (int round = 0; round < properties[0].rounds; round++) {
        for (int s = 0; s < SHARDS; s++) {
            require(topk_sharded_count(context, &problems[s], states[s], properties[s].state_bytes, round,
                                       &inputs[s], counters, NULL));
        }
        for (int64_t c = 0; c < properties[0].counters; c++) {
            sums[c] = counters[c];
        }
        for (int s = 0; s < SHARDS; s++) {
            require(topk_sharded_advance(context, &problems[s], states[s], properties[s].state_bytes, round,
                                         sums, counters, NULL));
        }
    }

    /* `after` of a shard is `before` of the next one. */
    int64_t before = 0, own_k, found = 0, position = 0;
    int64_t *indices = allocate(K * sizeof *indices);
    float kth = 0, least = 0, *best = allocate(K * sizeof *best);
    for (int s = 0; s < SHARDS; s++) {
        topk_sharded_output output = TOPK_SHARDED_OUTPUT_INIT;
        output.kth = &kth;
        output.own_k = &own_k;
        output.after = &before;
        require(topk_sharded_result(context, &problems[s], states[s], properties[s].state_bytes, &before,
                                    &output, NULL));
        problems[s].index_type = TOPK_INDEX_I64;
        problems[s].index_base = position;
        inputs[s].k = &own_k;
        require(topk_simple_run_select(simple, &problems[s], &inputs[s], best, indices, NULL));
        printf("shard %d has %lld of the %d best", s, (long long)own_k, K);
        if (own_k > 0) {
            printf(", first %.0f at %lld", (double)best[0], (long long)indices[0]);
            least = found == 0 || best[own_k - 1] < least ? best[own_k - 1] : least;
        }
        printf("\n");
        found += own_k;
        position += lengths[s];
        free(states[s]);
        free(values[s]);
    }
    printf("the %dth largest is %.0f\n", K, (double)kth);
    free(counters);
    free(sums);
    free(indices);
    free(best);
    topk_simple_destroy(simple);
    return found == K && least == kth ? 0 : 1;
}
