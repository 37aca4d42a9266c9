/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "../base/alloc.h"
#include "../base/fail.h"
#include "../engine/session.h"
#include "../input/source.h"
#include "../output/output.h"
#include "run.h"
#include "topk_advanced.h"

/* Text has to be read to know how long it is. */
static void measure(const struct options *options, struct layout *layout) {
    struct source source;
    struct piece piece;
    source_open(&source, options);
    *layout = source.layout;
    source.text_piece = TEXT_VALUES;
    while (source.is_text && source_next(&source, &piece))
        layout->cols += piece.length + (piece.beyond != NULL);
    source_close(&source);
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
    output_string(problem->order == TOPK_ORDER_ANY           ? ", in any order"
                  : problem->order == TOPK_ORDER_BY_POSITION ? ", by position"
                                                             : ", best first");
    output_string(options->all_ties                ? ", all of equal ones"
                  : problem->ties == TOPK_TIES_ANY ? ", any of equal ones"
                                                   : ", first of equal ones");
    output_string(problem->nan == TOPK_NAN_LAST ? ", NaN last" : ", NaN as largest");
    output_string(options_approximate(problem) ? ", approximate" : "");
    output_string(options_filters(options) ? ", of what meets the predicate\n" : "\n");
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
    measure(options, &layout);
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
