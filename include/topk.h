/* SPDX-License-Identifier: Apache-2.0
 *
 * libtopk: exact selection at the speed of memory.
 *
 * This is the core: contexts, problems, plans and calls, with topk_types.h for status codes, types and
 * options. Each other header adds one thing to it, and includes it:
 *   topk_accumulator.h, topk_route.h  the k best of a stream of chunks; of a token's experts, with weights
 *   topk_groups.h, topk_merge.h       the k best of each group of elements; of several lists
 *   topk_sharded.h, topk_transfer.h   rows on several machines; copies from and to a GPU
 *   topk_advanced.h     methods, their knobs, limits of workspace, approximations, and why a method is chosen
 *   topk_simple.h       calls with a workspace that grows by itself; topk.hpp is the same for C++
 *
 * CONTRACT.md states what every function promises on every backend. In short:
 *   - Elements rank by value (or magnitude), then by lower position. Results are exact, and by default sorted
 *     best first: the same bits on every backend, method and thread count.
 *   - A call neither allocates memory nor synchronises nor keeps state. The caller provides the workspace,
 *     whose size topk_workspace_size() gives; it may hold garbage on entry.
 *   - Every function that can fail returns a topk_status; topk_last_error() adds a sentence. On an error
 *     nothing has been written, but for TOPK_ERROR_DEVICE: a GPU may have done a part of the work.
 *   - Structs begin with their size, which their initializer sets. Later releases may add fields at the end;
 *     programs that were built with an earlier header go on working, and for them these fields are 0.
 *   - On the CPU all pointers are to host memory, `stream` is NULL, and a call returns when its work is done.
 *     On a GPU data pointers are to device memory, and a call returns when its work is enqueued on `stream`;
 *     NULL is the default stream of the context's device. Structs and texts are in host memory, and read
 *     before a call returns.
 *   - Any number of threads may use a context, or a plan, at once, each with a workspace and outputs of its
 *     own. On the CPU a context's threads do the work of one call at a time; others do their own.
 */
#ifndef TOPK_H
#define TOPK_H

#include "topk_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Context --------------------------------------------------------------------------------- */

typedef struct topk_context_options {
    size_t size;          /* sizeof(topk_context_options) */
    topk_backend backend; /* the CPU unless a GPU is asked for; AUTO: a GPU where that device serves */
    int device;           /* CUDA device ordinal; must be 0 on the CPU */
    int threads;          /* CPU threads per call, 1 to 1024; 0: what OMP_NUM_THREADS says, else one for each
                             processor of the process's affinity, within the CPU quota of its control groups */
    uint64_t seed;        /* decides which elements a method samples, and so a call's time, never its results;
                             0: drawn from the system's randomness for each context */
} topk_context_options;

#define TOPK_CONTEXT_OPTIONS_INIT                                                                            \
    { sizeof(topk_context_options), TOPK_BACKEND_CPU, 0, 0, 0 }

/* What calls on one device share: capabilities, the CPU's threads, the environment's settings. Immutable. */
typedef struct topk_context topk_context;

/* Creates a context, which the caller owns. `options` may be NULL: TOPK_CONTEXT_OPTIONS_INIT, which is the
 * CPU. On failure *context is NULL. This alone reads the environment: topk_advanced.h lists the variables. On
 * the CPU it starts the threads of its calls: fewer than were asked for if the system gives no more.
 *
 * NULL_POINTER, STRUCT_SIZE, UNKNOWN_ENUM, UNKNOWN_METHOD, OUT_OF_RANGE, BACKEND_UNAVAILABLE,
 * OUT_OF_MEMORY. */
TOPK_API topk_status topk_context_create(const topk_context_options *options, topk_context **context);

/* Ends a context and its threads; NULL is ignored. No call may be in progress with it. */
TOPK_API void topk_context_destroy(topk_context *context);

/* TOPK_OK if a context of that backend can be created here, on some device; else the status that creating
 * one would give, with the reason in topk_last_error(). */
TOPK_API topk_status topk_backend_status(topk_backend backend);

/* ---- Problem --------------------------------------------------------------------------------- */

/* Everything about a problem but its data: options, and bounds that the host knows. Workspace size, output
 * pitch, index width and method depend on these alone, so they stay fixed while lengths, offsets and per-row
 * k change, as in a replayed graph. Start from TOPK_PROBLEM_INIT, and set type, length_max and k_max. */
typedef struct topk_problem {
    size_t size; /* sizeof(topk_problem) */
    topk_type type;
    topk_index_type index_type;  /* of result indices and of topk_input.indices */
    topk_index_type extent_type; /* of lengths, begins, ends, offsets and k */
    topk_direction direction;
    topk_rank rank;
    topk_ties ties;
    topk_order order;
    topk_nan nan;
    topk_shape shape;
    int64_t rows;         /* >= 0 */
    int64_t length_max;   /* capacity of every row in elements, >= 0; longer rows are cut to it. Above
                             elements_max (SPANS, CSR) it cuts nothing and costs nothing */
    int64_t k_max;        /* >= 0, may exceed length_max; also the pitch of the output rows */
    int64_t row_stride;   /* STRIDED: elements from one row's start to the next; 0: length_max. Rows overlap
                             if it is smaller than that. Else 0 */
    int64_t elements_max; /* SPANS, CSR: number of elements in values; offsets are clamped to it. Else 0 */
    int64_t index_base;   /* >= 0, added to every position that is written, not to the caller's indices */
    /* For topk_advanced.h, which explains them; 0 and NULL leave all to the library. */
    size_t workspace_limit;
    const char *method;
    const char *tuning;
    int64_t max_iterations;
    double epsilon;
    double epsilon_relative;
    int64_t ranks;    /* kth, kth_where: how many k a row has in topk_input.k. 0: one */
    int64_t k_stride; /* with ranks: entries of topk_input.k from row to row; 0: all share them */
} topk_problem;

#define TOPK_PROBLEM_INIT                                                                                    \
    {                                                                                                        \
        sizeof(topk_problem), TOPK_TYPE_UNDEFINED, TOPK_INDEX_I32, TOPK_INDEX_I64, TOPK_LARGEST,             \
            TOPK_BY_VALUE, TOPK_TIES_LOWEST_INDEX, TOPK_ORDER_BEST_FIRST, TOPK_NAN_AS_LARGEST,               \
            TOPK_SHAPE_STRIDED, 1, 0, 0, 0, 0, 0, 0, NULL, NULL, 0, 0, 0, 0, 0                               \
    }

/* ---- Data ------------------------------------------------------------------------------------ */

struct topk_routing; /* topk_route.h */

/* The data of a problem. Arrays are read when the work runs and never written. Extents are clamped, never
 * reported: k into [0, k_max], begins, ends and offsets into [0, elements_max], lengths into [0, length_max];
 * a row whose end lies before its begin is empty. */
typedef struct topk_input {
    size_t size;         /* sizeof(topk_input) */
    const void *values;  /* elements; may be NULL if rows, length_max or elements_max says that no row can
                            hold any, or where a predicate alone decides. A k_max of 0 is no such case */
    const void *indices; /* NULL, or for each element of values what is written as its index. index_type */
    const void *lengths; /* STRIDED: NULL (all rows are full) or rows lengths. Else NULL. extent_type */
    const void *begins;  /* SPANS: rows first elements, also if length_max is 0. Else NULL. extent_type */
    const void *ends;    /* SPANS: rows ends (one past the last), likewise. Else NULL. extent_type */
    const void *offsets; /* CSR: rows + 1 offsets, likewise; without rows optional. Else NULL. extent_type */
    const void *k;       /* NULL (k_max for every row) or k for each row, or its ranks. extent_type */
    /* For topk_run(), topk_plan_run() and topk_simple_run(); elsewhere NULL. */
    const topk_predicate *predicate;    /* where, select_where, kth_where, count, mask, shards; else NULL */
    const struct topk_routing *routing; /* of route; else NULL */
    const struct topk_lists *lists;     /* topk_merge.h: of merge; else NULL */
    const void *groups; /* topk_groups.h: of select_by: of each element, extent_type; else NULL */
} topk_input;

#define TOPK_INPUT_INIT                                                                                      \
    { sizeof(topk_input), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL }

/* Where an operation writes. An array that is NULL is not written; what an operation does not have must be
 * NULL. Results are copies of input elements, so signed zeros and NaN payloads survive. The index of a result
 * is its position in its row plus index_base, or its entry of input->indices.
 *
 * select        values, indices: rows x k_max slots. Row r fills its first min(k, length) slots with its k
 *               best elements and the rest with padding: index -1, and the value that loses to all numbers
 *               (largest: -infinity, e4m3 -448, integers their minimum; smallest: the opposite).
 * select_where  the same of the elements that meet the predicate, as if a row had only these.
 * kth           values: the k-th best element of each row, counting from 1, as its class (CONTRACT.md, 2.3).
 *               better: how many elements rank above it; equal: how many tie with it, itself included.
 *               k = 0 gives padding, 0 and 0; k > length gives padding, length and 0. Any k_max will do.
 *               With problem.ranks outputs have rows x ranks slots, in the order of the k, which is any.
 * kth_where     the same of the elements that meet the predicate, which k, better and equal count alone.
 * where         values, indices: the elements that meet the predicate, in input order, row after row without
 *               gaps. Those beyond `capacity` are counted, not written; slots behind the last one stay.
 *               offsets: rows + 1 counts; row r has the results [offsets[r], offsets[r + 1]).
 * count         counts: how many elements of each row meet the predicate.
 * mask          mask: (elements + 7) / 8 bytes, which TOPK_BIT_MASK can read. Bits of elements that lie in a
 *               row and meet the predicate are 1, all others 0. `elements` is what rows can reach: if STRIDED
 *               (rows - 1) * row_stride + length_max, else elements_max; 0 if rows or length_max is 0.
 * route, merge, select_by: rows x k_max slots, as topk_route.h, topk_merge.h and topk_groups.h say.
 * count and mask must be given their output. where, count and mask ignore k_max, k, ties and order, and but
 * for AT_LEAST direction, rank and nan, which must all be valid; with a mask as predicate, and no output
 * for values, their input->values may be NULL. */
typedef struct topk_output {
    size_t size; /* sizeof(topk_output) */
    void *values;
    void *indices;
    int64_t capacity; /* where: how many results `values` and `indices` have room for, >= 0 */
    int64_t *offsets;
    int64_t *better;
    int64_t *equal;
    int64_t *counts;
    void *mask;
    float *weights;
    void *payload;
} topk_output;

#define TOPK_OUTPUT_INIT                                                                                     \
    { sizeof(topk_output), NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL }

/* ---- Plans ----------------------------------------------------------------------------------- */

/* A problem that was validated once, and the method that serves it. */
typedef struct topk_plan topk_plan;

/* What runs will ask for, so that a plan can be made for that alone. */
typedef struct topk_plan_what {
    size_t size;                   /* sizeof(topk_plan_what) */
    topk_predicate_kind predicate; /* of runs; UNDEFINED: any that the operation takes */
    uint32_t outputs; /* a set of TOPK_OUTPUT_* bits that runs may be given; 0: all of the operation */
} topk_plan_what;

#define TOPK_PLAN_WHAT_INIT                                                                                  \
    { sizeof(topk_plan_what), TOPK_PREDICATE_UNDEFINED, 0 }

/* Creates a plan, which the caller owns and destroys before the context. `what` may be NULL: any predicate,
 * all outputs. It allocates, and copies what it needs of `problem`, texts too. On failure *plan is NULL.
 *
 * Statuses as topk_workspace_size(), and OUT_OF_MEMORY. Of `what`: UNKNOWN_ENUM for a kind or a bit that does
 * not exist, CONTRADICTION for a predicate or an output that the operation does not have. */
TOPK_API topk_status topk_plan_create(const topk_context *context, topk_operation operation,
                                      const topk_problem *problem, const topk_plan_what *what,
                                      topk_plan **plan);

/* Ends a plan; NULL is ignored. No run of it may be in progress on the host. Work that it has enqueued on a
 * GPU, and graphs that captured it, go on without it. */
TOPK_API void topk_plan_destroy(topk_plan *plan);

/* Runs a plan, in a workspace as large as topk_plan_query() says. It may be captured in a graph.
 *
 * Statuses as topk_run(); CONTRADICTION also for a predicate or an output that `what` did not name. */
TOPK_API topk_status topk_plan_run(const topk_plan *plan, const topk_input *input, const topk_output *output,
                                   void *workspace, size_t workspace_bytes, topk_stream stream);

typedef struct topk_plan_properties {
    size_t size;            /* sizeof(topk_plan_properties); set by the caller */
    const char *method;     /* that serves the problem. Constant, as is the variant */
    const char *variant;    /* the way it takes; NULL if it has only one */
    double predicted_us;    /* how long a run is expected to take, in microseconds */
    size_t workspace_bytes; /* that a run needs: what topk_workspace_size() says */
    int launches;           /* of kernels, at most, by a run; 0 on the CPU */
    int methods;            /* of the backend, for topk_plan_query_method() of topk_advanced.h */
} topk_plan_properties;

#define TOPK_PLAN_PROPERTIES_INIT                                                                            \
    { sizeof(topk_plan_properties), NULL, NULL, 0, 0, 0, 0 }

/* Fills *properties. NULL_POINTER, STRUCT_SIZE. */
TOPK_API topk_status topk_plan_query(const topk_plan *plan, topk_plan_properties *properties);

/* ---- Calls ----------------------------------------------------------------------------------- */

/* Writes to *bytes the workspace that `operation` on `problem` needs, perhaps 0. It may have any alignment.
 *
 * NULL_POINTER, STRUCT_SIZE, UNKNOWN_ENUM, OUT_OF_RANGE, OVERFLOW, INDEX_TOO_NARROW, MALFORMED,
 * CONTRADICTION, UNSUPPORTED, UNKNOWN_METHOD, METHOD_CANNOT (also: none fits workspace_limit or tuning). */
TOPK_API topk_status topk_workspace_size(const topk_context *context, topk_operation operation,
                                         const topk_problem *problem, size_t *bytes);

/* Decides and runs, in one call.
 *
 * Statuses as topk_workspace_size(), and: MISALIGNED, OVERLAP, over all of the capacity, WORKSPACE_TOO_SMALL,
 * DEVICE. CONTRADICTION for an output, predicate, routing, lists or groups that the operation lacks. */
TOPK_API topk_status topk_run(const topk_context *context, topk_operation operation,
                              const topk_problem *problem, const topk_input *input, const topk_output *output,
                              void *workspace, size_t workspace_bytes, topk_stream stream);

/* The same for one operation each: outputs are the fields of topk_output, `kth` being `values`. */
TOPK_API topk_status topk_select(topk_context *context, const topk_problem *problem, const topk_input *input,
                                 void *values, void *indices, void *workspace, size_t workspace_bytes,
                                 topk_stream stream);
TOPK_API topk_status topk_kth(topk_context *context, const topk_problem *problem, const topk_input *input,
                              void *kth, int64_t *better, int64_t *equal, void *workspace,
                              size_t workspace_bytes, topk_stream stream);
TOPK_API topk_status topk_where(topk_context *context, const topk_problem *problem, const topk_input *input,
                                const topk_predicate *predicate, void *values, void *indices,
                                int64_t capacity, int64_t *offsets, void *workspace, size_t workspace_bytes,
                                topk_stream stream);
TOPK_API topk_status topk_select_where(topk_context *context, const topk_problem *problem,
                                       const topk_input *input, const topk_predicate *predicate, void *values,
                                       void *indices, void *workspace, size_t workspace_bytes,
                                       topk_stream stream);
TOPK_API topk_status topk_kth_where(topk_context *context, const topk_problem *problem,
                                    const topk_input *input, const topk_predicate *predicate, void *kth,
                                    int64_t *better, int64_t *equal, void *workspace, size_t workspace_bytes,
                                    topk_stream stream);
TOPK_API topk_status topk_count(topk_context *context, const topk_problem *problem, const topk_input *input,
                                const topk_predicate *predicate, int64_t *counts, void *workspace,
                                size_t workspace_bytes, topk_stream stream);
TOPK_API topk_status topk_mask(topk_context *context, const topk_problem *problem, const topk_input *input,
                               const topk_predicate *predicate, void *mask, void *workspace,
                               size_t workspace_bytes, topk_stream stream);

#ifdef __cplusplus
}
#endif

#endif /* TOPK_H */
