/* SPDX-License-Identifier: Apache-2.0
 * A group of one rank, by a transport of one's own, in a libtopk_dist without MPI. */
#include <string.h>

#include "topk_dist_transport.h"

static topk_status sum(void *own, int64_t *numbers, int64_t count, topk_stream stream) {
    (void)own, (void)numbers, (void)count, (void)stream;
    return TOPK_OK;
}

static topk_status move(void *own, const void *from, size_t bytes, void *to, topk_stream stream) {
    (void)own, (void)stream;
    memcpy(to, from, bytes);
    return TOPK_OK;
}

static topk_status to_root(void *own, int root, const void *from, size_t bytes, void *to,
                           topk_stream stream) {
    (void)root;
    return move(own, from, bytes, to, stream);
}

int main(void) {
    static const float values[] = {3, 1, 4, 1, 5};
    static char workspace[1 << 20];
    topk_dist_transport transport = TOPK_DIST_TRANSPORT_INIT;
    topk_problem problem = TOPK_PROBLEM_INIT;
    topk_input input = TOPK_INPUT_INIT;
    topk_dist_output output = TOPK_DIST_OUTPUT_INIT;
    topk_context *context;
    topk_dist_group *group;
    topk_dist_plan *plan;
    float best[2] = {0, 0};
    transport.sum = sum;
    transport.to_all = transport.to_each = move;
    transport.to_root = to_root;
    problem.type = TOPK_F32;
    problem.rows = 1;
    problem.length_max = 5;
    problem.k_max = 2;
    input.values = values;
    output.values = best;
    if (topk_context_create(NULL, &context) != TOPK_OK ||
        topk_dist_group_create(&transport, NULL, context, 0, 1, NULL, &group) != TOPK_OK ||
        topk_dist_plan_create(group, context, TOPK_OPERATION_SELECT, &problem, NULL, &plan) != TOPK_OK ||
        topk_dist_plan_run(plan, &input, &output, workspace, sizeof workspace, NULL) != TOPK_OK) {
        return 1;
    }
    topk_dist_plan_destroy(plan);
    topk_dist_group_destroy(group);
    topk_context_destroy(context);
    return best[0] != 5 || best[1] != 4;
}
