/* SPDX-License-Identifier: Apache-2.0
 *
 * Running one operation of one case with one method, and judging what it wrote. A call is begun, and ended
 * when the device has been fetched; several may be begun before one is ended. */
#ifndef TESTS_RUN_H
#define TESTS_RUN_H

#include "instance.h"

typedef enum run_result { RUN_PASSED, RUN_CANNOT, RUN_FAILED } run_result;

enum { RUN_OUTPUTS = 3 };

typedef struct run_operation run_operation;
struct matches;
struct shards;

/* A call that was begun. */
typedef struct run {
    const run_operation *operation;
    const instance *instance;
    topk_problem problem;     /* with the method forced, and perhaps an approximation or ranks */
    topk_predicate predicate; /* as the library is given it */
    topk_routing routing;
    topk_lists lists;
    device_buffer workspace, outputs[RUN_OUTPUTS];
    struct matches *matches; /* where: the right answer */
    struct shards *shards;   /* sharded */
    topk_context *context;
    int64_t capacity; /* where */
    topk_status status;
} run;

/* Which of an instance's problems an operation is given. */
enum run_problem { PROBLEM_PLAIN, PROBLEM_APPROXIMATE, PROBLEM_WITH_RANKS };

struct run_operation {
    const char *name;
    topk_operation operation;
    void (*make_outputs)(run *r);
    topk_status (*call)(topk_context *context, run *r, const topk_input *input);
    void (*give)(const run *r, topk_input *input,
                 topk_output *output); /* to a plan; NULL: it has neither plans nor methods */
    run_result (*judge)(const run *r); /* what the outputs hold */
    void (*end)(run *r);
    enum run_problem problem;
};

extern const run_operation run_select, run_kth, run_where, run_select_where, run_count, run_mask, run_route;
extern const run_operation run_merge, run_kth_where, run_sharded, run_select_by;
extern const run_operation run_ranks, run_ranks_where;             /* kth and kth_where with several ranks */
extern const run_operation run_approximate, run_approximate_where; /* select and select_where */

/* A method, perhaps tuned to go other ways than it would by itself. */
typedef struct run_method {
    const char *label;
    const char *name;   /* NULL: what the library chooses */
    const char *tuning; /* NULL: none */
} run_method;

/* RUN_PASSED: so far; run_end() must follow. RUN_CANNOT: the method refuses the problem, which is no failure;
 * or all of them do, as CONTRACT.md says of approximations. */
run_result run_begin(topk_context *context, const run_operation *operation, const instance *i,
                     const run_method *method, run *r);

/* Checks status, outputs and red zones, explains a failure on stderr, and frees what the run had. */
run_result run_end(run *r);

/* Both, with the device's round trip between them. */
run_result run_alone(topk_context *context, const run_operation *operation, const instance *i,
                     const run_method *method);

/* From now on each call is captured in a graph, which is then launched. */
void run_in_graphs(void);

/* ---- What the operations share ---- */

/* An output of `count` elements, poisoned; none when not wanted. */
device_buffer run_output(bool wanted, int64_t count, size_t element_bytes);
enum { RUN_POISON = 0xdd };

/* The bits of element i of an output. */
uint64_t run_output_bits(topk_type type, const device_buffer *output, int64_t i);

bool wants_values(const instance *i);
bool wants_indices(const instance *i);

/* Compares the k-th of row number `r`, and how many elements are better and equal, with the right ones. */
run_result run_check_kth(const instance *i, int64_t r, const instance_row *row, uint64_t kth, int64_t better,
                         int64_t equal);

/* Compares what r->outputs hold of rows [first, end) with what select or select_where must write. */
run_result run_check_selected(const run *r, int64_t first, int64_t end);

/* Prints one line of explanation, indented below the case. Returns RUN_FAILED. */
__attribute__((format(printf, 1, 2))) run_result run_fail(const char *format, ...);

#endif
