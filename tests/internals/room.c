/* SPDX-License-Identifier: Apache-2.0
 *
 * What methods keep of their decisions is less than half of the room that a call has for it; and so of the
 * accumulator with the deepest chains. Usage: test_room BACKEND */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "method.h"
#include "topk_accumulator.h"
#include "topk_advanced.h"

static size_t most; /* that any room held, since it was last set to 0 */

void *__real_topk_room_take(struct room *room, size_t bytes);
void *__wrap_topk_room_take(struct room *room, size_t bytes);

/* Linked in place of topk_room_take(). */
void *__wrap_topk_room_take(struct room *room, size_t bytes) {
    void *taken = __real_topk_room_take(room, bytes);
    most = room->used > most ? room->used : most;
    return taken;
}

static void measure(const topk_context *context, const topk_problem *problem) {
    static const topk_operation operations[] = {
        TOPK_OPERATION_SELECT, TOPK_OPERATION_KTH,   TOPK_OPERATION_SELECT_WHERE, TOPK_OPERATION_WHERE,
        TOPK_OPERATION_ROUTE,  TOPK_OPERATION_MERGE, TOPK_OPERATION_KTH_WHERE,    TOPK_OPERATION_SELECT_BY};
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        (void)topk_explain(context, operations[i], problem, NULL, 0, NULL);
    }
}

static void measure_accumulator(const topk_context *context, const topk_problem *problem) {
    size_t bytes;
    (void)topk_accumulator_size(context, problem, &bytes);
}

/* Calls the function with all that a chain of methods depends on most. */
static void for_problems(const topk_context *context,
                         void (*function)(const topk_context *context, const topk_problem *problem)) {
    static const topk_type types[] = {TOPK_U8, TOPK_F16, TOPK_F32, TOPK_F64};
    static const int64_t rows[] = {1, 5, 100, 4096, 1 << 20};
    for (size_t type = 0; type < sizeof types / sizeof types[0]; type++) {
        for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
            for (int64_t length = 1 << 5; length <= 1 << 28; length *= 8) {
                for (int64_t k = 1; k <= length && k <= 1 << 22; k = 8 * k + 1) {
                    topk_problem problem = TOPK_PROBLEM_INIT;
                    problem.type = types[type];
                    problem.rows = rows[row];
                    problem.length_max = length;
                    problem.k_max = k;
                    for (int way = 0; way < 6; way++) {
                        problem.order = (topk_order)(way / 2);
                        problem.ties = way % 2 != 0 ? TOPK_TIES_ANY : TOPK_TIES_LOWEST_INDEX;
                        function(context, &problem);
                    }
                }
            }
        }
    }
}

int main(int count, char **arguments) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_context *context;
    options.backend = count == 2 && strcmp(arguments[1], "cuda") == 0 ? TOPK_BACKEND_CUDA : TOPK_BACKEND_CPU;
    options.threads = 8;
    CHECK_STATUS(TOPK_OK, topk_context_create(&options, &context));
    for_problems(context, measure);
    printf("all methods: at most %zu of %d bytes\n", most, ROOM_BYTES);
    CHECK(most > 0 && most <= ROOM_BYTES / 2);
    most = 0;
    for_problems(context, measure_accumulator);
    printf("accumulators: at most %zu\n", most);
    CHECK(most > 0 && most <= ROOM_BYTES / 2);
    topk_context_destroy(context);
    return check_report();
}
