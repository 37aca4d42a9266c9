/* SPDX-License-Identifier: Apache-2.0
 *
 * Spans and CSR rows whose length_max says little, or nothing: INT64_MAX. What a call takes must then depend
 * on the elements that there are. And bounds that no memory could serve: measuring and explaining them is
 * arithmetic, which may not overflow. The argument is the backend: cpu (the default) or cuda. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "backends.h"
#include "check.h"
#include "device.h"
#include "topk_advanced.h"

enum { OPERATIONS = TOPK_OPERATION_MASK, TEXT_BYTES = 4096 };

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static topk_context *context;
static const backend *tested;

/* What the library says of a problem. */
typedef struct answer {
    topk_status status;
    size_t bytes;
    char text[TEXT_BYTES];
} answer;

static void ask(topk_operation operation, const topk_problem *problem, answer *out) {
    *out = (answer){.status = topk_workspace_size(context, operation, problem, &out->bytes)};
    const topk_status explained = topk_explain(context, operation, problem, out->text, TEXT_BYTES, NULL);
    CHECK(explained == out->status || out->status == TOPK_ERROR_METHOD_CANNOT);
}

static topk_problem ragged(topk_shape shape, int64_t rows, int64_t elements) {
    topk_problem problem = TOPK_PROBLEM_INIT;
    problem.type = TOPK_F32;
    problem.shape = shape;
    problem.rows = rows;
    problem.elements_max = problem.length_max = elements;
    return problem;
}

/* A bound above elements_max is elements_max: the same workspace, methods and predicted times. int32 indices
 * are judged by what a row can hold. */
static void check_looser(const topk_problem *tight) {
    const int64_t looser[] = {tight->elements_max + 1, tight->elements_max + INT32_MAX, INT64_C(1) << 40,
                              INT64_MAX / 4 + 1, INT64_MAX};
    for (int operation = TOPK_OPERATION_SELECT; operation <= OPERATIONS; operation++) {
        answer of_tight, of_loose;
        ask((topk_operation)operation, tight, &of_tight);
        for (size_t i = 0; i < COUNT(looser); i++) {
            topk_problem loose = *tight;
            loose.length_max = looser[i];
            ask((topk_operation)operation, &loose, &of_loose);
            CHECK_STATUS(of_tight.status, of_loose.status);
            CHECK(of_loose.bytes == of_tight.bytes);
            CHECK(strcmp(of_loose.text, of_tight.text) == 0);
        }
    }
}

static void check_bounds(void) {
    static const int64_t elements[] = {0, 1, 4000, 1 << 20, INT64_C(1) << 33}, rows[] = {1, 3, 5000},
                         ks[] = {0, 50, 3000};
    for (int shape = TOPK_SHAPE_SPANS; shape <= TOPK_SHAPE_CSR; shape++) {
        for (size_t i = 0; i < COUNT(elements) * COUNT(rows) * COUNT(ks); i++) {
            topk_problem tight =
                ragged((topk_shape)shape, rows[i % COUNT(rows)], elements[i / COUNT(rows) % COUNT(elements)]);
            tight.k_max = ks[i / COUNT(rows) / COUNT(elements)];
            check_looser(&tight);
            tight.index_type = TOPK_INDEX_I64;
            check_looser(&tight);
        }
    }
}

static void check_indices(void) {
    for (int shape = TOPK_SHAPE_SPANS; shape <= TOPK_SHAPE_CSR; shape++) {
        topk_problem problem = ragged((topk_shape)shape, 3, 4000);
        answer a;
        problem.length_max = INT64_MAX;
        problem.k_max = 10;
        problem.index_base = INT32_MAX - 4000;
        ask(TOPK_OPERATION_SELECT, &problem, &a);
        CHECK_STATUS(TOPK_OK, a.status);
        problem.index_base++;
        ask(TOPK_OPERATION_SELECT, &problem, &a);
        CHECK_STATUS(TOPK_ERROR_INDEX_TOO_NARROW, a.status);
        problem.index_type = TOPK_INDEX_I64;
        problem.index_base = INT64_MAX - 4000;
        ask(TOPK_OPERATION_SELECT, &problem, &a);
        CHECK_STATUS(TOPK_OK, a.status);
        problem.index_base++;
        ask(TOPK_OPERATION_SELECT, &problem, &a);
        CHECK_STATUS(TOPK_ERROR_OVERFLOW, a.status);
    }
}

/* All within the limits, or refused; what is predicted is neither negative nor infinite. */
static void check_extremes(void) {
    static const int64_t sizes[] = {0, 1, INT64_C(1) << 31, INT64_C(1) << 45, INT64_MAX / 8, INT64_MAX};
    static const topk_type types[] = {TOPK_U8, TOPK_BF16, TOPK_F32, TOPK_F64};
    const size_t count = COUNT(sizes);
    answer a;
    for (size_t i = 0; i < count * count * count * count; i++) {
        topk_problem problem = ragged((topk_shape)(i % 3), sizes[i % count], sizes[i / count % count]);
        problem.type = types[i % COUNT(types)];
        problem.length_max = sizes[i / count / count % count];
        problem.k_max = sizes[i / count / count / count];
        problem.index_type = TOPK_INDEX_I64;
        problem.elements_max = problem.shape == TOPK_SHAPE_STRIDED ? 0 : problem.elements_max;
        problem.order = (topk_order)(i % 3);
        for (int operation = TOPK_OPERATION_SELECT; operation <= OPERATIONS; operation++) {
            ask((topk_operation)operation, &problem, &a);
            CHECK(a.status == TOPK_OK || a.status == TOPK_ERROR_OVERFLOW ||
                  a.status == TOPK_ERROR_METHOD_CANNOT);
            CHECK(strstr(a.text, " -") == NULL && strstr(a.text, "inf us") == NULL &&
                  strstr(a.text, "nan us") == NULL);
        }
    }
}

/* Every operation against the oracle, by the method that the library chooses. */
static void check_results(void) {
    static const char *const cases[] = {
        "type=f32,data=normal,size=4000,rows=1,k=100,shape=csr,lengths=loose",
        "type=f32,data=normal,size=1300,rows=3,k=10,shape=csr,lengths=loose",
        "type=u8,data=normal,size=1300,rows=3,k=n/2,shape=spans,lengths=loose,ties=any",
        "type=f64,data=normal,size=600,rows=7,k=n/3,shape=spans,lengths=loose,payload=yes",
        "type=i16,data=normal,size=13,rows=300,k=2,shape=csr,lengths=loose,base=greatest",
    };
    for (size_t c = 0; c < COUNT(cases); c++) {
        test_case source = {{0}, c};
        instance i;
        CHECK(case_parse(cases[c], &source, NULL));
        instance_build(&source, &i);
        CHECK(i.problem.length_max == INT64_MAX);
        for (int o = 0; tested->operations[o] != NULL; o++) {
            const run_operation *operation = tested->operations[o];
            const run_result result = run_alone(context, operation, &i, &tested->methods[0]);
            if (!CHECK(result == RUN_PASSED ||
                       (operation->problem == PROBLEM_APPROXIMATE && result == RUN_CANNOT))) {
                fprintf(stderr, "  %s: %s\n", operation->name, cases[c]);
            }
        }
        instance_free(&i);
        device_reset();
    }
}

int main(int argc, char **argv) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    tested = backend_named(argc > 1 ? argv[1] : "cpu");
    if (!CHECK(tested != NULL)) {
        return check_report();
    }
    dimensions_init(0, INT64_MAX);
    device_open();
    options.backend = tested->kind;
    options.threads = argc > 2 ? atoi(argv[2]) : 1;
    CHECK_STATUS(TOPK_OK, topk_context_create(&options, &context));
    check_bounds();
    check_indices();
    check_extremes();
    check_results();
    topk_context_destroy(context);
    device_close();
    return check_report();
}
