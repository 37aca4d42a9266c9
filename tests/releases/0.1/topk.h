/* SPDX-License-Identifier: Apache-2.0
 * A copy of 0.1's header, without its words. It never changes. */
#ifndef TOPK_H
#define TOPK_H
#include "topk_types.h"
#ifdef __cplusplus
extern "C" {
#endif
typedef enum topk_backend { TOPK_BACKEND_AUTO = 0, TOPK_BACKEND_CPU = 1, TOPK_BACKEND_CUDA = 2 } topk_backend;
TOPK_API topk_status topk_backend_status(topk_backend backend);
typedef struct topk_context_options {
    size_t size;
    topk_backend backend;
    int device;
    int threads;
    uint64_t seed;
} topk_context_options;
#define TOPK_CONTEXT_OPTIONS_INIT                                                                            \
    { sizeof(topk_context_options), TOPK_BACKEND_AUTO, 0, 0, 0 }
typedef struct topk_context topk_context;
TOPK_API topk_status topk_context_create(const topk_context_options *options, topk_context **context);
TOPK_API void topk_context_destroy(topk_context *context);
typedef struct topk_context_properties {
    size_t size;
    topk_backend backend;
    int device;
    int threads;
    const char *features;
} topk_context_properties;
#define TOPK_CONTEXT_PROPERTIES_INIT                                                                         \
    { sizeof(topk_context_properties), TOPK_BACKEND_AUTO, 0, 0, NULL }
TOPK_API topk_status topk_context_query(const topk_context *context, topk_context_properties *properties);
typedef struct topk_problem {
    size_t size;
    topk_type type;
    topk_index_type index_type;
    topk_index_type extent_type;
    topk_direction direction;
    topk_rank rank;
    topk_ties ties;
    topk_order order;
    topk_nan nan;
    topk_shape shape;
    int64_t rows;
    int64_t length_max;
    int64_t k_max;
    int64_t row_stride;
    int64_t elements_max;
    int64_t index_base;
    size_t workspace_limit;
    const char *method;
    const char *tuning;
    int64_t max_iterations;
    double epsilon;
    double epsilon_relative;
} topk_problem;
#define TOPK_PROBLEM_INIT                                                                                    \
    {                                                                                                        \
        sizeof(topk_problem), TOPK_TYPE_UNDEFINED, TOPK_INDEX_I32, TOPK_INDEX_I64, TOPK_LARGEST,             \
            TOPK_BY_VALUE, TOPK_TIES_LOWEST_INDEX, TOPK_ORDER_BEST_FIRST, TOPK_NAN_AS_LARGEST,               \
            TOPK_SHAPE_STRIDED, 1, 0, 0, 0, 0, 0, 0, NULL, NULL, 0, 0, 0                                     \
    }
typedef struct topk_input {
    size_t size;
    const void *values;
    const void *indices;
    const void *lengths;
    const void *begins;
    const void *ends;
    const void *offsets;
    const void *k;
} topk_input;
#define TOPK_INPUT_INIT                                                                                      \
    { sizeof(topk_input), NULL, NULL, NULL, NULL, NULL, NULL, NULL }
struct CUstream_st;
typedef struct CUstream_st *topk_stream;
TOPK_API topk_status topk_workspace_size(const topk_context *context, topk_operation operation,
                                         const topk_problem *problem, size_t *bytes);
TOPK_API topk_status topk_select(topk_context *context, const topk_problem *problem, const topk_input *input,
                                 void *values, void *indices, void *workspace, size_t workspace_bytes,
                                 topk_stream stream);
TOPK_API topk_status topk_kth(topk_context *context, const topk_problem *problem, const topk_input *input,
                              void *kth, int64_t *better, int64_t *equal, void *workspace,
                              size_t workspace_bytes, topk_stream stream);
typedef enum topk_predicate_kind {
    TOPK_PREDICATE_UNDEFINED = 0,
    TOPK_GT = 1,
    TOPK_GE = 2,
    TOPK_LT = 3,
    TOPK_LE = 4,
    TOPK_EQ = 5,
    TOPK_NE = 6,
    TOPK_BETWEEN = 7,
    TOPK_BYTE_MASK = 8,
    TOPK_BIT_MASK = 9
} topk_predicate_kind;
typedef enum topk_bound_type { TOPK_BOUND_F64 = 0, TOPK_BOUND_I64 = 1, TOPK_BOUND_U64 = 2 } topk_bound_type;
typedef struct topk_bound {
    topk_bound_type type;
    union {
        double f64;
        int64_t i64;
        uint64_t u64;
    } value;
} topk_bound;
typedef struct topk_predicate {
    size_t size;
    topk_predicate_kind kind;
    topk_bound low;
    topk_bound high;
    const topk_bound *bounds;
    const void *mask;
} topk_predicate;
#define TOPK_PREDICATE_INIT                                                                                  \
    {                                                                                                        \
        sizeof(topk_predicate), TOPK_PREDICATE_UNDEFINED, {TOPK_BOUND_F64, {0.0}}, {TOPK_BOUND_F64, {0.0}},  \
            NULL, NULL                                                                                       \
    }
TOPK_API topk_status topk_where(topk_context *context, const topk_problem *problem, const topk_input *input,
                                const topk_predicate *predicate, void *values, void *indices,
                                int64_t capacity, int64_t *offsets, void *workspace, size_t workspace_bytes,
                                topk_stream stream);
TOPK_API topk_status topk_select_where(topk_context *context, const topk_problem *problem,
                                       const topk_input *input, const topk_predicate *predicate, void *values,
                                       void *indices, void *workspace, size_t workspace_bytes,
                                       topk_stream stream);
TOPK_API topk_status topk_count(topk_context *context, const topk_problem *problem, const topk_input *input,
                                const topk_predicate *predicate, int64_t *counts, void *workspace,
                                size_t workspace_bytes, topk_stream stream);
TOPK_API topk_status topk_mask(topk_context *context, const topk_problem *problem, const topk_input *input,
                               const topk_predicate *predicate, void *mask, void *workspace,
                               size_t workspace_bytes, topk_stream stream);
typedef enum topk_score { TOPK_SCORE_LOGIT = 0, TOPK_SCORE_SIGMOID = 1 } topk_score;
typedef enum topk_weighing { TOPK_WEIGH_SOFTMAX = 0, TOPK_WEIGH_SIGMOID = 1 } topk_weighing;
typedef struct topk_routing {
    size_t size;
    topk_score score;
    topk_weighing weighing;
    const float *bias;
    int64_t groups;
    int64_t groups_kept;
    float factor;
} topk_routing;
#define TOPK_ROUTING_INIT                                                                                    \
    { sizeof(topk_routing), TOPK_SCORE_LOGIT, TOPK_WEIGH_SOFTMAX, NULL, 0, 0, 1.0f }
TOPK_API topk_status topk_route(topk_context *context, const topk_problem *problem,
                                const topk_routing *routing, const void *logits, void *indices,
                                float *weights, void *workspace, size_t workspace_bytes, topk_stream stream);
TOPK_API topk_status topk_accumulator_size(const topk_context *context, const topk_problem *problem,
                                           size_t *bytes);
TOPK_API topk_status topk_accumulator_init(topk_context *context, const topk_problem *problem, void *state,
                                           size_t state_bytes, topk_stream stream);
TOPK_API topk_status topk_accumulator_push(topk_context *context, const topk_problem *problem, void *state,
                                           size_t state_bytes, const topk_input *chunk, int64_t length,
                                           int64_t base, topk_stream stream);
TOPK_API topk_status topk_accumulator_push_where(topk_context *context, const topk_problem *problem,
                                                 void *state, size_t state_bytes, const topk_input *chunk,
                                                 const topk_predicate *predicate, int64_t length,
                                                 int64_t base, topk_stream stream);
TOPK_API topk_status topk_accumulator_merge(topk_context *context, const topk_problem *problem, void *state,
                                            size_t state_bytes, const void *other, size_t other_bytes,
                                            topk_stream stream);
TOPK_API topk_status topk_accumulator_peek(topk_context *context, const topk_problem *problem, void *state,
                                           size_t state_bytes, void *values, void *indices,
                                           topk_stream stream);
TOPK_API topk_status topk_accumulator_finish(topk_context *context, const topk_problem *problem, void *state,
                                             size_t state_bytes, void *values, void *indices,
                                             topk_stream stream);
TOPK_API topk_status topk_explain(const topk_context *context, topk_operation operation,
                                  const topk_problem *problem, char *text, size_t text_bytes, size_t *needed);
#ifdef __cplusplus
}
#endif
#endif
