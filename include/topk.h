/* SPDX-License-Identifier: Apache-2.0
 *
 * libtopk: exact selection at the speed of memory.
 *
 *   topk_select   the k best elements of each row
 *   topk_kth      the k-th best element of each row, and how many are better and equal
 *   topk_where    the elements of each row that meet a predicate, in input order
 *   topk_select_where    the k best of those elements
 *   topk_count, topk_mask    how many they are in each row, and which, as a bit mask
 *   topk_route    the k best experts of each token, and their weights
 *   topk_plan_*   each of these, decided once and run many times
 *   topk_accumulator_*   the k best elements of a stream of chunks
 *
 * This is the whole core interface, with topk_types.h for status codes, types and options. CONTRACT.md states
 * what every function promises on every backend: the total order of elements, ties, NaN, padding, limits. In
 * short:
 *
 *   - Elements rank by value (or magnitude), then by lower position. Results are exact, and by
 *     default sorted best first: the same bits on every backend, method and thread count.
 *   - A call neither allocates memory nor synchronises nor keeps state. The caller provides the
 *     workspace, whose size topk_workspace_size() gives; it may hold garbage on entry.
 *   - Every function that can fail returns a topk_status; topk_last_error() adds a sentence.
 *     Nothing in the library aborts, prints or exits. On an error nothing has been written, but for
 *     TOPK_ERROR_DEVICE: a GPU may have done a part of the work.
 *
 * Structs begin with their size. Start from their initializer, which sets it. Later releases may add fields
 * at the end of a struct; a program that was built with an earlier header goes on working, and for it the new
 * fields are 0 (CONTRACT.md, 8.2).
 *
 * On the CPU backend all pointers are to host memory, `stream` must be NULL, and a call returns
 * when its work is done. On a GPU the data pointers are to device memory, and a call returns when
 * its work is enqueued on `stream`; NULL is the default stream of the context's device. Structs, and
 * what problem->method and problem->tuning point to, are in host memory everywhere, and read before a call
 * returns.
 *
 * Threads: a context may be used by any number of threads at once, provided that each call has a
 * workspace and outputs of its own. All other functions are free of shared state, but for the state of an
 * accumulator. No function changes errno. On the CPU a context's threads do the work of one call at a time: a
 * call that finds them at work goes on on the calling thread alone. Who wants calls side by side on many
 * threads each needs a context for each, and threads enough for all.
 */
#ifndef TOPK_H
#define TOPK_H

#include "topk_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Context --------------------------------------------------------------------------------- */

typedef enum topk_backend { TOPK_BACKEND_AUTO = 0, TOPK_BACKEND_CPU = 1, TOPK_BACKEND_CUDA = 2 } topk_backend;

/* TOPK_OK if a context of that backend can be created here, on some device; else the status that creating
 * one would give, with the reason in topk_last_error(). */
TOPK_API topk_status topk_backend_status(topk_backend backend);

typedef struct topk_context_options {
    size_t size;          /* sizeof(topk_context_options) */
    topk_backend backend; /* the CPU unless a GPU is asked for; AUTO: a GPU where that device serves */
    int device;           /* CUDA device ordinal; must be 0 on the CPU */
    int threads;          /* CPU threads per call, 1 to 1024; 0: what OMP_NUM_THREADS says, else one for each
                             processor of the process's affinity. CPU quotas of control groups (cpu.max,
                             docker run --cpus) change nothing: under a quota, set this or OMP_NUM_THREADS */
    /* Decides which elements a method samples; 0: drawn from the system's randomness for each context, so
     * that nobody can make data that misleads the samples. Changes a call's time, never its results. */
    uint64_t seed;
} topk_context_options;

#define TOPK_CONTEXT_OPTIONS_INIT                                                                            \
    { sizeof(topk_context_options), TOPK_BACKEND_CPU, 0, 0, 0 }

/* What calls on one device share: its capabilities, the CPU's threads and the environment's overrides,
 * all made and read once here. Immutable after creation. */
typedef struct topk_context topk_context;

/* Creates a context. `options` may be NULL: TOPK_CONTEXT_OPTIONS_INIT, which is the CPU. On success the
 * caller owns *context and ends it with topk_context_destroy(); on failure *context is NULL.
 *
 * Environment read here, and nowhere else:
 *   TOPK_METHOD       the method to take wherever a problem names none itself and the method can serve.
 *                     Elsewhere it steps aside: the library chooses as without it, and topk_explain()
 *                     says why. So it makes no problem fail; topk_problem.method does. It may name a method
 *                     of any backend, also of one that this build or this machine lacks
 *   TOPK_CPU_DISABLE  comma-separated CPU features not to use: avx512, avx2 (avx2 implies avx512).
 *                     Read for contexts on the CPU alone
 *   OMP_NUM_THREADS   the number of threads where the options name none: its first number, if it is positive.
 *                     Read for contexts on the CPU alone
 * A value that names no method of any backend, or no such feature, is TOPK_ERROR_UNKNOWN_METHOD or
 * TOPK_ERROR_UNKNOWN_ENUM.
 *
 * On the CPU it starts the threads of its calls, all but the caller's; fewer than were asked for if the
 * system gives no more, which topk_context_query() tells.
 *
 * Also: NULL_POINTER, STRUCT_SIZE, UNKNOWN_ENUM, OUT_OF_RANGE, BACKEND_UNAVAILABLE, OUT_OF_MEMORY. */
TOPK_API topk_status topk_context_create(const topk_context_options *options, topk_context **context);

/* Ends a context and its threads; NULL is ignored. No call may be in progress with it. */
TOPK_API void topk_context_destroy(topk_context *context);

typedef struct topk_context_properties {
    size_t size;          /* sizeof(topk_context_properties); set by the caller */
    topk_backend backend; /* CPU or CUDA, never AUTO */
    int device;
    int threads;          /* CPU threads that a call from this process may use; 1 on CUDA */
    const char *features; /* on the CPU the instruction set in use, e.g. "avx512"; on CUDA the device's name
                             and what it has, for people. Owned by the context */
} topk_context_properties;

#define TOPK_CONTEXT_PROPERTIES_INIT                                                                         \
    { sizeof(topk_context_properties), TOPK_BACKEND_AUTO, 0, 0, NULL }

/* Fills *properties. NULL_POINTER, STRUCT_SIZE. */
TOPK_API topk_status topk_context_query(const topk_context *context, topk_context_properties *properties);

/* ---- Problem and data ------------------------------------------------------------------------ */

/* Everything about a problem but its data: options, and bounds that the host knows. Workspace
 * size, output pitch, index width and method depend on these alone, so they stay fixed while
 * lengths, offsets and per-row k change, e.g. in a replayed CUDA graph.
 *
 * Start from TOPK_PROBLEM_INIT, then set type, length_max and k_max at least. */
typedef struct topk_problem {
    size_t size; /* sizeof(topk_problem) */
    topk_type type;
    topk_index_type index_type;  /* of result indices and of topk_input.indices */
    topk_index_type extent_type; /* of lengths, begins, ends, offsets and k in topk_input */
    topk_direction direction;
    topk_rank rank;
    topk_ties ties;
    topk_order order;
    topk_nan nan;
    topk_shape shape;
    int64_t rows;           /* >= 0 */
    int64_t length_max;     /* capacity of every row in elements, >= 0; longer rows are cut to it. Above
                               elements_max (SPANS, CSR) it cuts nothing and costs nothing */
    int64_t k_max;          /* >= 0, may exceed length_max; also the pitch of the output rows */
    int64_t row_stride;     /* STRIDED: elements from one row's start to the next; 0: length_max.
                               May be smaller than length_max: rows then overlap. Else 0 */
    int64_t elements_max;   /* SPANS, CSR: number of elements in values; offsets are clamped to it. Else 0 */
    int64_t index_base;     /* >= 0, added to every position that is written (not to caller-supplied
                               indices) */
    size_t workspace_limit; /* bytes that topk_workspace_size() may ask for at most; 0: no limit. An
                               accumulator's state has, on top of these, what it keeps */
    const char *method;     /* forces a method by name, and is an error where that cannot serve; NULL: the
                               library chooses, or TOPK_METHOD does */
    /* Settings of the knobs of methods, "alpha=64,early_stop=0"; NULL or "": the library chooses. Each knob
     * is named once at most, in letters, digits and underscores; there are at most 16 settings in 255 bytes,
     * and no blanks. Only a method that has all these knobs, and takes these values, can serve;
     * topk_explain() lists the knobs of each. No setting changes a result that CONTRACT.md fixes. */
    const char *tuning;
    /* How early a selection may end, and so be approximate (CONTRACT.md, 2.5); 0: exact. One of the three at
     * most is set, for topk_select() and topk_select_where() on floating-point types. Only the method "rtopk"
     * takes them. RTop-K (ICLR 2025) searches for a threshold between the least and the greatest element of a
     * row, by halving: */
    int64_t max_iterations; /* so many times (Algorithm 2) */
    double epsilon; /* until the interval is no wider than this, or k elements are found (Algorithm 1) */
    double epsilon_relative; /* likewise, than this times the larger magnitude of the two elements */
} topk_problem;

#define TOPK_PROBLEM_INIT                                                                                    \
    {                                                                                                        \
        sizeof(topk_problem), TOPK_TYPE_UNDEFINED, TOPK_INDEX_I32, TOPK_INDEX_I64, TOPK_LARGEST,             \
            TOPK_BY_VALUE, TOPK_TIES_LOWEST_INDEX, TOPK_ORDER_BEST_FIRST, TOPK_NAN_AS_LARGEST,               \
            TOPK_SHAPE_STRIDED, 1, 0, 0, 0, 0, 0, 0, NULL, NULL, 0, 0, 0                                     \
    }

struct topk_predicate;
struct topk_routing;

/* The data of a problem. Arrays are read when the work runs and never written. Extents that make
 * no sense are clamped, never reported: k into [0, k_max], begins, ends and offsets into
 * [0, elements_max], lengths into [0, length_max]; a row whose end lies before its begin is empty. */
typedef struct topk_input {
    size_t size;         /* sizeof(topk_input) */
    const void *values;  /* elements; may be NULL only if rows, length_max or elements_max says that no row
                            can hold any, or where a function says so. A k_max of 0 is no such case */
    const void *indices; /* NULL, or a payload for each element of values, at the same positions; it is what
                            is written as an element's index, and never compared. index_type */
    const void *lengths; /* STRIDED: NULL (all rows are full) or rows lengths. Else NULL. extent_type */
    const void *begins;  /* SPANS: rows first elements, also if length_max is 0. Else NULL. extent_type */
    const void *ends;    /* SPANS: rows ends (one past the last), likewise. Else NULL. extent_type */
    const void *offsets; /* CSR: rows + 1 offsets, also if length_max is 0; may be NULL if rows is 0.
                            Else NULL. extent_type */
    const void *k;       /* NULL (k_max for every row) or k for each row. extent_type */
    /* For topk_plan_run() alone; else NULL. */
    const struct topk_predicate *predicate; /* NULL unless the operation takes a predicate, as topk_where() */
    const struct topk_routing *routing;     /* NULL unless the plan is one of TOPK_OPERATION_ROUTE */
} topk_input;

#define TOPK_INPUT_INIT                                                                                      \
    { sizeof(topk_input), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL }

/* A CUDA stream: a cudaStream_t is a pointer to this. NULL on the CPU. */
struct CUstream_st;
typedef struct CUstream_st *topk_stream;

/* ---- Selection ------------------------------------------------------------------------------- */

/* Writes to *bytes the workspace that `operation` on `problem` needs: a pure function of context,
 * operation and problem. 0 is possible. The workspace may have any alignment.
 *
 * NULL_POINTER, STRUCT_SIZE, UNKNOWN_ENUM, OUT_OF_RANGE, OVERFLOW, INDEX_TOO_NARROW, MALFORMED, UNSUPPORTED,
 * UNKNOWN_METHOD, METHOD_CANNOT (also: no method fits workspace_limit, or takes the tuning). */
TOPK_API topk_status topk_workspace_size(const topk_context *context, topk_operation operation,
                                         const topk_problem *problem, size_t *bytes);

/* The k best elements of each row.
 *
 * values   rows x k_max elements of problem->type, or NULL
 * indices  rows x k_max integers of problem->index_type, or NULL: the position of each result in
 *          its row plus index_base, or its entry of input->indices
 *
 * Row r fills its first min(k, length) slots with results and the rest of its k_max slots with
 * padding: index -1, and the value that loses to all numbers (largest: -infinity, e4m3 -448,
 * integers their minimum; smallest: the opposite). Results are copies of input elements, so signed
 * zeros and NaN payloads survive.
 *
 * With k_max = 0 nothing is written, but everything is checked.
 *
 * Statuses as topk_workspace_size(), and: MISALIGNED, OVERLAP, WORKSPACE_TOO_SMALL, DEVICE. */
TOPK_API topk_status topk_select(topk_context *context, const topk_problem *problem, const topk_input *input,
                                 void *values, void *indices, void *workspace, size_t workspace_bytes,
                                 topk_stream stream);

/* The k-th best element of each row, counting from 1, and its rank. Order and ties
 * have no meaning here, but must be valid.
 *
 * kth     rows elements of problem->type, or NULL. The class is what is written: +0.0 for both
 *         zeros, one quiet NaN for all NaN; with TOPK_BY_MAGNITUDE the magnitude (for the minimum
 *         of a signed type, whose magnitude it cannot hold, that minimum)
 * better  rows counts, or NULL: elements of the row that rank above the k-th key
 * equal   rows counts, or NULL: elements of the row that tie with it, itself included
 *
 * k = 0 gives the padding value with better = equal = 0; k > length gives the padding value with
 * better = length and equal = 0. No output has k_max slots, so k_max may be any number >= 0.
 *
 * Statuses as topk_select(). */
TOPK_API topk_status topk_kth(topk_context *context, const topk_problem *problem, const topk_input *input,
                              void *kth, int64_t *better, int64_t *equal, void *workspace,
                              size_t workspace_bytes, topk_stream stream);

/* ---- Predicates ------------------------------------------------------------------------------ */

/* How a bound is written. Whatever its type, it is compared as the real number it stands for, also
 * where the element type cannot hold it: x > 2.5 on integers, x <= 300 on u8, x == 0.1 on f32
 * (never true). Comparisons follow IEEE 754: false with NaN on either side, but for NE. */
typedef enum topk_bound_type {
    TOPK_BOUND_F64 = 0,
    TOPK_BOUND_I64 = 1,
    TOPK_BOUND_U64 = 2,
    TOPK_BOUND_UNSET = 255 /* what TOPK_PREDICATE_INIT sets. F64; but an error where the bits look like an
                              integer that was written without its type (CONTRACT.md, 6.3) */
} topk_bound_type;

/* Arrays of these may lie in the device's memory: the struct never grows. */
typedef struct topk_bound {
    topk_bound_type type;
    union {
        double f64;
        int64_t i64;
        uint64_t u64;
    } value;
} topk_bound;

/* A bound with its type: predicate.low = topk_bound_i64(5). */
static inline topk_bound topk_bound_f64(double number) {
    topk_bound bound = {TOPK_BOUND_F64, {0.0}};
    bound.value.f64 = number;
    return bound;
}

static inline topk_bound topk_bound_i64(int64_t number) {
    topk_bound bound = {TOPK_BOUND_I64, {0.0}};
    bound.value.i64 = number;
    return bound;
}

static inline topk_bound topk_bound_u64(uint64_t number) {
    topk_bound bound = {TOPK_BOUND_U64, {0.0}};
    bound.value.u64 = number;
    return bound;
}

typedef struct topk_predicate {
    size_t size; /* sizeof(topk_predicate) */
    topk_predicate_kind kind;
    topk_bound low;           /* the bound of a comparison, the lower one of BETWEEN. Unused with a mask */
    topk_bound high;          /* BETWEEN: the upper bound. Else unused */
    const topk_bound *bounds; /* comparisons: NULL, or {low, high}, to be read when the work runs; then both
                                 fields above are unused. Only BETWEEN reads bounds[1]. An unknown type in
                                 it is read as F64. NULL with a mask */
    const void *mask;         /* masks: laid out as values, element e for element e. Comparisons: NULL */
} topk_predicate;

#define TOPK_PREDICATE_INIT                                                                                  \
    {                                                                                                        \
        sizeof(topk_predicate), TOPK_PREDICATE_UNDEFINED, {TOPK_BOUND_UNSET, {0.0}},                         \
            {TOPK_BOUND_UNSET, {0.0}}, NULL, NULL                                                            \
    }

/* The elements of each row that meet a predicate, in input order. The results of all rows lie one
 * after the other, without gaps. k_max, direction, rank, ties, order and nan of the problem have no meaning
 * here, nor has input->k, but they must be valid.
 *
 * values    capacity elements of problem->type, or NULL
 * indices   capacity integers of problem->index_type, or NULL: position in its row plus index_base,
 *           or the entry of input->indices
 * capacity  >= 0: how many results the outputs have room for, no more: buffers are checked for overlap over
 *           all of it. Matches beyond it are counted, never written; slots behind the last match are left
 *           as they were. Without values and indices it means nothing
 * offsets   rows + 1 counts, or NULL: the results of row r are [offsets[r], offsets[r + 1]); the last is
 *           the number of all matches, and may exceed capacity
 *
 * input->values may be NULL with a mask when `values` is NULL.
 * Statuses as topk_select(); also OUT_OF_RANGE and OVERFLOW for capacity. */
TOPK_API topk_status topk_where(topk_context *context, const topk_problem *problem, const topk_input *input,
                                const topk_predicate *predicate, void *values, void *indices,
                                int64_t capacity, int64_t *offsets, void *workspace, size_t workspace_bytes,
                                topk_stream stream);

/* The k best elements among those of each row that meet a predicate: topk_select() as if the row had
 * only these, but positions are those in the whole row. A row with fewer than k of them ends in
 * padding. All parameters and options of the problem mean what they mean to topk_select(), and the
 * predicate what it means to topk_where(), but input->values is read with every predicate.
 *
 * Statuses as topk_select(). */
TOPK_API topk_status topk_select_where(topk_context *context, const topk_problem *problem,
                                       const topk_input *input, const topk_predicate *predicate, void *values,
                                       void *indices, void *workspace, size_t workspace_bytes,
                                       topk_stream stream);

/* How many elements of each row meet a predicate. What has no meaning to topk_where() has none here.
 *
 * counts  rows counts, one for each row; not NULL, unless rows is 0
 *
 * input->values may be NULL with a mask; input->indices and input->k have no meaning here, but must be
 * valid. Statuses as topk_select(). */
TOPK_API topk_status topk_count(topk_context *context, const topk_problem *problem, const topk_input *input,
                                const topk_predicate *predicate, int64_t *counts, void *workspace,
                                size_t workspace_bytes, topk_stream stream);

/* Which elements meet a predicate, as a bit mask that TOPK_BIT_MASK can read. What has no meaning to
 * topk_where() has none here.
 *
 * mask  (elements + 7) / 8 bytes; not NULL, unless these are none. Bit e % 8 (lowest first) of byte
 *       mask[e / 8] is 1 if element e of values lies in a row and meets the predicate, else 0; the bits
 *       behind the last element are 0. `elements` is what the problem's bounds let rows reach: for strided
 *       rows (rows - 1) * row_stride + length_max, else elements_max; 0 if rows or length_max is 0
 *
 * An element that several rows share has one bit. The inputs are those of topk_count(), and so are the
 * statuses. */
TOPK_API topk_status topk_mask(topk_context *context, const topk_problem *problem, const topk_input *input,
                               const topk_predicate *predicate, void *mask, void *workspace,
                               size_t workspace_bytes, topk_stream stream);

/* ---- Routing --------------------------------------------------------------------------------- */

/* What experts are chosen by. CONTRACT.md, 11.2, gives the sigmoid step by step: its bits are the same
 * everywhere. */
typedef enum topk_score { TOPK_SCORE_LOGIT = 0, TOPK_SCORE_SIGMOID = 1 } topk_score;

/* What a chosen expert is weighed by: exp(logit) or sigmoid(logit), divided by the sum of that over the
 * chosen. */
typedef enum topk_weighing { TOPK_WEIGH_SOFTMAX = 0, TOPK_WEIGH_SIGMOID = 1 } topk_weighing;

/* How experts are chosen and weighed. Start from TOPK_ROUTING_INIT. */
typedef struct topk_routing {
    size_t size; /* sizeof(topk_routing) */
    topk_score score;
    topk_weighing weighing;
    const float *bias;   /* NULL, or a number for each expert: added to its score, for choosing alone */
    int64_t groups;      /* 0: none. Else experts are in so many groups of neighbours, all of one size: a
                            divisor of length_max. Only experts of the best groups can be chosen */
    int64_t groups_kept; /* how many groups that are, 1 to groups; 0 without groups */
    float factor;        /* that weights are multiplied by; finite */
} topk_routing;

#define TOPK_ROUTING_INIT                                                                                    \
    { sizeof(topk_routing), TOPK_SCORE_LOGIT, TOPK_WEIGH_SOFTMAX, NULL, 0, 0, 1.0f }

/* Chooses experts for tokens: of each row of logits the k_max with the greatest scores, best first, equal
 * ones by lowest index. A score is a logit, or its sigmoid, plus the expert's bias. If there are groups, the
 * experts of a row are those of its groups_kept best groups: by the sum of their two best scores, equal ones
 * by lowest index.
 *
 * problem   a row for each token, an expert for each of its length_max elements: of a floating-point type, 0
 *           to 1024 experts, k_max 0 to 32, in strided rows. direction and rank must be those of
 *           TOPK_PROBLEM_INIT; order and ties have no meaning here, but must be valid
 * logits    laid out as topk_input.values
 * indices   rows x k_max integers of problem->index_type, or NULL: the expert's position plus index_base
 * weights   rows x k_max float32 numbers, or NULL: in float32, CONTRACT.md, 11.5
 *
 * A row of fewer than k_max experts, or whose groups have fewer, ends in padding: index -1, weight 0.
 *
 * Statuses as topk_select(). They are OUT_OF_RANGE for more experts, a larger k_max, groups that do not
 * divide the experts, or a factor that is not finite. */
TOPK_API topk_status topk_route(topk_context *context, const topk_problem *problem,
                                const topk_routing *routing, const void *logits, void *indices,
                                float *weights, void *workspace, size_t workspace_bytes, topk_stream stream);

/* ---- Plans ----------------------------------------------------------------------------------- */

/* A problem that was validated once, and the method that serves it. A run of a plan does what the operation's
 * own function does, with the same results and statuses, but decides nothing. */
typedef struct topk_plan topk_plan;

/* Where a run writes. Each array is the one of that name in the operation's own function, of the same size.
 * NULL: it is not written. An operation's other outputs must be NULL:
 *
 *   select, select_where   values, indices
 *   kth                    values (the k-th elements), better, equal
 *   where                  values, indices, offsets; it alone looks at capacity
 *   count                  counts, which may not be NULL
 *   mask                   mask, which may not be NULL
 *   route                  indices, weights */
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
} topk_output;

#define TOPK_OUTPUT_INIT                                                                                     \
    { sizeof(topk_output), NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL }

/* What runs will ask for, so that a plan can be made for that alone. */
typedef struct topk_plan_what {
    size_t size; /* sizeof(topk_plan_what) */
    topk_predicate_kind
        predicate;    /* of the predicate that runs bring; UNDEFINED: any that the operation takes */
    uint32_t outputs; /* a set of TOPK_OUTPUT_* bits that runs may be given; 0: all of the operation */
} topk_plan_what;

#define TOPK_PLAN_WHAT_INIT                                                                                  \
    { sizeof(topk_plan_what), TOPK_PREDICATE_UNDEFINED, 0 }

/* Creates a plan. `what` may be NULL: any predicate and any output of the operation. It allocates, as
 * topk_context_create() does, and copies what it needs of `problem`, method and tuning included. On success
 * the caller owns *plan and ends it with topk_plan_destroy(), before the context ends; on failure *plan is
 * NULL.
 *
 * Statuses as topk_workspace_size(), and OUT_OF_MEMORY. Of `what`: UNKNOWN_ENUM for a kind or a bit that does
 * not exist, UNSUPPORTED for a predicate or an output that the operation does not have. */
TOPK_API topk_status topk_plan_create(const topk_context *context, topk_operation operation,
                                      const topk_problem *problem, const topk_plan_what *what,
                                      topk_plan **plan);

/* Ends a plan; NULL is ignored. No run of it may be in progress on the host. What its runs have enqueued on a
 * GPU, and graphs that captured them, go on without it. */
TOPK_API void topk_plan_destroy(topk_plan *plan);

/* Runs a plan: the operation's own function with this input, and with the outputs in one struct. Predicate
 * and routing come with the input. Of a topk_route() problem input->values are the logits, and the other
 * arrays are NULL. workspace_bytes is at least what topk_plan_query() says.
 *
 * It neither allocates nor synchronises, and may be captured in a graph. Threads may run one plan at the same
 * time, each with a workspace and outputs of its own. In a child process a plan does what its context does.
 *
 * Statuses as the operation's function; UNSUPPORTED for a predicate, a routing or an output that the
 * operation does not have, or that `what` did not name. */
TOPK_API topk_status topk_plan_run(const topk_plan *plan, const topk_input *input, const topk_output *output,
                                   void *workspace, size_t workspace_bytes, topk_stream stream);

typedef struct topk_plan_properties {
    size_t size;            /* sizeof(topk_plan_properties); set by the caller */
    const char *method;     /* that serves the problem. Constant, as is the variant */
    const char *variant;    /* the way it takes; NULL if it has only one */
    double predicted_us;    /* how long a run is expected to take, in microseconds */
    size_t workspace_bytes; /* that a run needs: what topk_workspace_size() says */
    int launches;           /* of kernels, at most, by a run; 0 on the CPU */
    int methods;            /* of the backend, for topk_plan_query_method() */
} topk_plan_properties;

#define TOPK_PLAN_PROPERTIES_INIT                                                                            \
    { sizeof(topk_plan_properties), NULL, NULL, 0, 0, 0, 0 }

/* Fills *properties. NULL_POINTER, STRUCT_SIZE. */
TOPK_API topk_status topk_plan_query(const topk_plan *plan, topk_plan_properties *properties);

/* What the plan's choice knew of one method. */
typedef struct topk_plan_method {
    size_t size;         /* sizeof(topk_plan_method); set by the caller */
    const char *method;  /* constant, as is the variant */
    const char *cannot;  /* why it cannot serve this problem, for people; owned by the plan. NULL: it can */
    const char *variant; /* this and what follows as in topk_plan_properties; NULL and 0 if it cannot */
    double predicted_us;
    size_t workspace_bytes;
    int launches;
    int within_bound; /* 1 if its workspace is within the bound of CONTRACT.md, 7.2, else 0 */
} topk_plan_method;

#define TOPK_PLAN_METHOD_INIT                                                                                \
    { sizeof(topk_plan_method), NULL, NULL, NULL, 0, 0, 0, 0 }

/* Fills *row for the method of that index, from 0 to topk_plan_properties.methods - 1, in the order of
 * topk_explain(). NULL_POINTER, STRUCT_SIZE, OUT_OF_RANGE. */
TOPK_API topk_status topk_plan_query_method(const topk_plan *plan, int index, topk_plan_method *row);

/* ---- Accumulator ----------------------------------------------------------------------------- */

/* The k best elements of each of problem->rows streams that arrive in chunks. The state lives in memory of
 * the context's device. It holds no pointers: it can be copied to an address that is the same modulo 64. One
 * problem serves all calls on one state, in so far as topk_accumulator_init() says:
 *
 *   problem->length_max   the longest chunk of a row that is pushed at once
 *   problem->shape        must be STRIDED; row_stride is the pitch of the chunks
 *
 * A push takes time in proportion to its chunk, on average over all pushes. An element that is not among the
 * k best so far is only read; another one is kept, and sorted out later, which takes far longer. So the
 * smaller k is beside the number of elements that came, the faster is a push. Every call writes to the
 * state's memory, one at a time. Results are sorted best first, ties by lowest position, whatever
 * problem->order and ties say; or they come by position, where the order of that call is
 * TOPK_ORDER_BY_POSITION. */

/* Bytes of state. Statuses as topk_workspace_size(). */
TOPK_API topk_status topk_accumulator_size(const topk_context *context, const topk_problem *problem,
                                           size_t *bytes);

/* Begins: no elements seen. The state may hold garbage and have any alignment.
 *
 * The calls that follow must have the same type, index_type, direction, rank, nan, rows, length_max, k_max
 * and index_base in their problem. All else may differ from call to call, if it is valid: a push reads
 * row_stride and extent_type for its chunk; method, tuning, workspace_limit and context change nothing but
 * how large the state must be.
 *
 * Statuses as topk_workspace_size(), and WORKSPACE_TOO_SMALL. */
TOPK_API topk_status topk_accumulator_init(topk_context *context, const topk_problem *problem, void *state,
                                           size_t state_bytes, topk_stream stream);

/* Adds `length` elements (0 to length_max) to each row, or lengths[r] of them if chunk->lengths is given
 * (clamped to `length`). `base` >= 0 is the position of the chunk's first element in its stream.
 * Chunks may come in any order but must not overlap; of those with a length above 0 either all or none carry
 * indices. A row's k is the least one that chunk->k gave it, or k_max. The chunk may be reused once the
 * call's work is done.
 *
 * Statuses as topk_select(), and BAD_STATE. For `base` they are OUT_OF_RANGE, and OVERFLOW or
 * INDEX_TOO_NARROW if base + length + index_base exceeds what an index can hold. */
TOPK_API topk_status topk_accumulator_push(topk_context *context, const topk_problem *problem, void *state,
                                           size_t state_bytes, const topk_input *chunk, int64_t length,
                                           int64_t base, topk_stream stream);

/* The same of the elements that match, as topk_select_where() takes them; masks count from chunk->values.
 * Chunks with other predicates, and with none, may come before and after.
 *
 * Statuses as topk_select_where(), and topk_accumulator_push(). */
TOPK_API topk_status topk_accumulator_push_where(topk_context *context, const topk_problem *problem,
                                                 void *state, size_t state_bytes, const topk_input *chunk,
                                                 const topk_predicate *predicate, int64_t length,
                                                 int64_t base, topk_stream stream);

/* Adds to `state` all that was pushed to `other`, as if its chunks had come here: streams can be split among
 * threads or machines. `other` (of other_bytes, as topk_accumulator_size() says) is a state of the same
 * problem, as topk_accumulator_init() says; it is only read, and stays open. The positions of the two must
 * not overlap; either both or none carry indices, unless one has had no elements. A row's k is the lower one.
 *
 * Statuses as topk_accumulator_init(), and: OVERLAP, BAD_STATE. */
TOPK_API topk_status topk_accumulator_merge(topk_context *context, const topk_problem *problem, void *state,
                                            size_t state_bytes, const void *other, size_t other_bytes,
                                            topk_stream stream);

/* Writes the k best so far, as topk_select() on everything pushed would; more may be pushed.
 *
 * Statuses as topk_accumulator_init(), and: MISALIGNED, OVERLAP, BAD_STATE. */
TOPK_API topk_status topk_accumulator_peek(topk_context *context, const topk_problem *problem, void *state,
                                           size_t state_bytes, void *values, void *indices,
                                           topk_stream stream);

/* As peek, and ends the state: only init may follow. */
TOPK_API topk_status topk_accumulator_finish(topk_context *context, const topk_problem *problem, void *state,
                                             size_t state_bytes, void *values, void *indices,
                                             topk_stream stream);

/* ---- Explanation ----------------------------------------------------------------------------- */

/* Writes to `text` (at most text_bytes, always terminated unless text_bytes is 0) how the method is
 * chosen: a line for each method with its predicted cost and workspace or the reason why it cannot
 * serve, the chosen one marked, and below it a line for each of its knobs, with type, range, default and
 * meaning; and what topk_problem.method or TOPK_METHOD has to do with it. The text is for people and may
 * change. *needed, unless NULL, gets the size of the buffer that the whole text takes: its length and one
 * byte for the terminator, whatever text_bytes is.
 *
 * Succeeds also when no method can serve. NULL_POINTER (also: text is NULL and text_bytes is not 0),
 * STRUCT_SIZE, UNKNOWN_ENUM, OUT_OF_RANGE, OVERFLOW, INDEX_TOO_NARROW, MALFORMED, UNSUPPORTED,
 * UNKNOWN_METHOD. */
TOPK_API topk_status topk_explain(const topk_context *context, topk_operation operation,
                                  const topk_problem *problem, char *text, size_t text_bytes, size_t *needed);

#ifdef __cplusplus
}
#endif

#endif /* TOPK_H */
