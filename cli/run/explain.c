/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "../base/alloc.h"
#include "../base/fail.h"
#include "../engine/session.h"
#include "../input/matrix.h"
#include "../input/text.h"
#include "../output/output.h"
#include "run.h"

/* Text has to be read to know how long it is. */
static void measure_text(const struct options *options, struct layout *layout) {
    struct text text;
    text_open(&text, options, 0);
    int64_t lines = 0;
    while (text_next(&text))
        lines += text.count;
    *layout = (struct layout){.type = text.format.type, .rows = 1, .cols = lines, .stride = lines};
    text_close(&text);
}

static void measure_matrix(const struct options *options, struct layout *layout) {
    struct matrix matrix;
    matrix_open(&matrix, options);
    *layout = matrix.layout;
    matrix_close(&matrix);
}

static void print_problem(const struct options *options, const struct layout *layout) {
    const topk_problem *problem = &options->problem;
    output_string("input     ");
    output_integer(layout->rows);
    output_string(layout->rows == 1 ? " row of " : " rows of ");
    output_integer(layout->cols);
    output_string(" ");
    output_string(topk_type_name(layout->type));
    output_string("\nquestion  the ");
    output_integer(options->k);
    output_string(problem->direction == TOPK_LARGEST ? " largest" : " smallest");
    output_string(problem->rank == TOPK_BY_MAGNITUDE ? " by magnitude" : "");
    output_string(problem->order == TOPK_ORDER_ANY ? ", in any order" : ", best first");
    output_string(problem->ties == TOPK_TIES_ANY ? ", any of equal ones" : ", first of equal ones");
    output_string(problem->nan == TOPK_NAN_LAST ? ", NaN last" : ", NaN as largest");
    output_string(options_approximate(problem) ? ", approximate" : "");
    output_string(options_predicate(options) != NULL ? ", of what meets the predicate\n" : "\n");
}

static void print_explanation(const struct session *session, topk_operation operation,
                              const topk_problem *problem) {
    size_t needed;
    if (topk_explain(session->context, operation, problem, NULL, 0, &needed) != TOPK_OK)
        fail_library();
    char *text = allocate(needed, 1);
    if (topk_explain(session->context, operation, problem, text, needed, NULL) != TOPK_OK)
        fail_library();
    output_bytes(text, strlen(text));
    release(text);
}

void run_explain(const struct options *options) {
    struct layout layout;
    struct session session;
    if (options->format == FORMAT_TEXT)
        measure_text(options, &layout);
    else
        measure_matrix(options, &layout);
    session_begin(&session, options, options_selection(options), layout.type, 0);
    /* As select has it, for the rest is padding. */
    const int64_t k = options->k < layout.cols ? options->k : layout.cols;
    topk_problem problem = session_problem(options, layout.type, layout.rows, layout.cols, k);
    problem.row_stride = layout.stride;
    print_problem(options, &layout);
    output_string("device    ");
    print_chosen(&session);
    output_string("\n");
    print_explanation(&session, options_selection(options), &problem);
    output_flush();
    session_end(&session);
}
