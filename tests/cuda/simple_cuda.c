/* SPDX-License-Identifier: Apache-2.0
 *
 * A topk_simple on a GPU waits if its workspace must grow, and only then; work that uses the old workspace
 * goes on in it (CONTRACT.md, 13.2). */
#include "check.h"
#include "spin_cuda.h"
#include "topk_simple.h"
#include "trial_cuda.h"

static topk_simple *simple;
static cudaStream_t stream;

/* Rows that are sorted as a whole: the longer they are, the more workspace they need. */
static void create(trial *t, int64_t length) {
    topk_problem problem = TOPK_PROBLEM_INIT;
    problem.type = TOPK_F32;
    problem.rows = 3;
    problem.length_max = problem.k_max = length;
    problem.method = "sort";
    trial_create_for(t, topk_simple_context(simple), TOPK_OPERATION_SELECT, &problem, false);
    trial_change(t, 5);
    trial_poison(t);
}

static topk_status call(const trial *t) {
    topk_input input = TOPK_INPUT_INIT;
    input.values = t->inputs[TRIAL_VALUES].device;
    return topk_simple_run_select(simple, &t->problem, &input, t->outputs[0].device, t->outputs[1].device,
                                  stream);
}

static bool is_busy(void) {
    return cudaStreamQuery(stream) == cudaErrorNotReady;
}

int main(void) {
    trial small, large;
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_context_destroy(create_cuda_context(0)); /* or the test is skipped */
    options.backend = TOPK_BACKEND_CUDA;
    CHECK_STATUS(TOPK_OK, topk_simple_create(&options, &simple));
    require_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    create(&small, 20000); /* rows of one block would need no workspace */
    create(&large, 300000);
    CHECK(small.workspace.bytes > 0 && small.workspace.bytes < large.workspace.bytes);

    CHECK_STATUS(TOPK_OK, call(&small)); /* the first workspace */
    CHECK(trial_is_right(&small));
    trial_poison(&small);
    spin_begin(stream);
    CHECK_STATUS(TOPK_OK, call(&small));
    CHECK(is_busy());
    CHECK_STATUS(TOPK_OK, call(&large));
    CHECK(!spin_end()); /* nobody but the watchdog let the GPU go: growing waited for it */
    CHECK(trial_is_right(&small));
    CHECK(trial_is_right(&large));

    trial_poison(&small);
    spin_begin(stream);
    CHECK_STATUS(TOPK_OK, call(&large));
    CHECK_STATUS(TOPK_OK, call(&small));
    CHECK(is_busy());
    CHECK(spin_end());
    CHECK(trial_is_right(&small));
    CHECK(trial_is_right(&large));
    CHECK(cudaGetLastError() == cudaSuccess);

    trial_free(&small);
    trial_free(&large);
    topk_simple_destroy(simple);
    require_cuda(cudaStreamDestroy(stream), "cudaStreamDestroy");
    return check_report();
}
