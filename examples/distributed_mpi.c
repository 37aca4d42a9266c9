/* SPDX-License-Identifier: Apache-2.0
 *
 * The largest numbers of a row that lies on many ranks, best first, on rank 0.
 *
 * usage: mpirun -n RANKS distributed_mpi */
#include <stdio.h>
#include <stdlib.h>

#include "topk_dist_mpi.h"

enum { PER_RANK = 100000, K = 5 };

/* What an error of a plan, or of the core, means here: all ranks end. */
static void check(topk_status status, const char *text) {
    if (status != TOPK_OK) {
        (void)fprintf(stderr, "%s: %s\n", topk_status_string(status), text);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* Element `position` of the row: all different, in no order. */
static float number_at(int64_t position, int64_t length) {
    return (float)(position * 7919 % length);
}

int main(int argc, char **argv) {
    static float numbers[PER_RANK];
    float best[K];
    int64_t positions[K];
    topk_context *context;
    topk_dist_group *group;
    topk_dist_plan *plan;
    topk_problem problem = TOPK_PROBLEM_INIT;
    topk_input input = TOPK_INPUT_INIT;
    topk_dist_options options = TOPK_DIST_OPTIONS_INIT;
    topk_dist_output output = TOPK_DIST_OUTPUT_INIT;
    topk_dist_properties properties = TOPK_DIST_PROPERTIES_INIT;
    int failed = 0;

    MPI_Init(&argc, &argv);
    check(topk_context_create(NULL, &context), topk_last_error());
    check(topk_dist_group_create_mpi(MPI_COMM_WORLD, &group), topk_dist_last_error());
    const int64_t first = (int64_t)topk_dist_group_rank(group) * PER_RANK;
    const int64_t length = (int64_t)topk_dist_group_ranks(group) * PER_RANK;
    for (int64_t i = 0; i < PER_RANK; i++) {
        numbers[i] = number_at(first + i, length);
    }

    problem.type = TOPK_F32;
    problem.index_type = TOPK_INDEX_I64;
    problem.length_max = PER_RANK; /* of this rank */
    problem.index_base = first;
    problem.k_max = K;
    options.destination = TOPK_DIST_ROOT;
    check(topk_dist_plan_create(group, context, TOPK_OPERATION_SELECT, &problem, &options, &plan),
          topk_dist_last_error());
    check(topk_dist_plan_query(plan, &properties), topk_dist_last_error());
    void *const workspace = malloc(properties.workspace_bytes);
    input.values = numbers;
    output.values = best; /* looked at on the root alone */
    output.indices = positions;
    check(topk_dist_plan_run(plan, &input, &output, workspace, properties.workspace_bytes, NULL),
          topk_dist_last_error());

    for (int i = 0; i < K && topk_dist_group_rank(group) == 0; i++) {
        (void)printf("%.0f at %lld\n", (double)best[i], (long long)positions[i]);
        failed |= best[i] != (float)(length - 1 - i) || number_at(positions[i], length) != best[i];
    }
    free(workspace);
    topk_dist_plan_destroy(plan);
    topk_dist_group_destroy(group);
    topk_context_destroy(context);
    MPI_Finalize();
    return failed;
}
