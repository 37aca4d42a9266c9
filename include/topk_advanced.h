/* SPDX-License-Identifier: Apache-2.0
 *
 * What the library decides by itself, and how to decide it otherwise: fields of topk_problem and variables of
 * the environment; and what it decided, for people and for programs.
 *
 * Of topk_problem:
 *
 *   method            Forces a method by name; it is an error where that cannot serve. NULL: the library
 *                     chooses, or TOPK_METHOD does.
 *   tuning            Settings of the knobs of methods, "alpha=64,early_stop=0"; NULL or "": the library
 *                     chooses. Each knob is named once at most, in letters, digits and underscores; there are
 * at most 16 settings in 255 bytes, and no blanks. Only a method that has all these knobs, and takes these
 * values, can serve; topk_explain() lists the knobs of each. No setting changes a result that CONTRACT.md
 * fixes. workspace_limit   Bytes that topk_workspace_size() may ask for at most; 0: no limit. An
 * accumulator's state has, on top of these, what it keeps. max_iterations, epsilon, epsilon_relative How
 * early a selection may end, and so be approximate (CONTRACT.md, 2.5); 0: exact. One of the three at most is
 * set, for topk_select() and topk_select_where() on floating-point types. Only the method "rtopk" takes them.
 * RTop-K (ICLR 2025) searches for a threshold between the least and the greatest element of a row, by
 * halving: max_iterations times (Algorithm 2); until the interval is no wider than epsilon, or k elements are
 * found (Algorithm 1); likewise, than epsilon_relative times the larger magnitude of the two elements.
 *
 * Of the environment, which topk_context_create() reads, and nothing else does:
 *
 *   TOPK_METHOD       The method to take wherever a problem names none itself and the method can serve.
 *                     Elsewhere it steps aside: the library chooses as without it, and topk_explain() says
 * why. So it makes no problem fail; topk_problem.method does. It may name a method of any backend, also of
 * one that this build or this machine lacks. TOPK_CPU_DISABLE  Comma-separated CPU features not to use:
 * avx512, avx2 (avx2 implies avx512), neon; one that the processor lacks changes nothing. Read for contexts
 * on the CPU alone. OMP_NUM_THREADS   The number of threads where the options name none: its first number, if
 * it is positive. Read for contexts on the CPU alone.
 *
 * A value that names no method of any backend, or no such feature, is TOPK_ERROR_UNKNOWN_METHOD or
 * TOPK_ERROR_UNKNOWN_ENUM. */
#ifndef TOPK_ADVANCED_H
#define TOPK_ADVANCED_H

#include "topk.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/* What the choice of a plan knew of one method. */
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

/* Writes to `text` (at most text_bytes, always terminated unless text_bytes is 0) how the method is
 * chosen: a line for each method with its predicted cost and workspace or the reason why it cannot
 * serve, the chosen one marked, and below it a line for each of its knobs, with type, range, default and
 * meaning; and what topk_problem.method or TOPK_METHOD has to do with it. The text is for people and may
 * change. *needed, unless NULL, gets the size of the buffer that the whole text takes: its length and one
 * byte for the terminator, whatever text_bytes is.
 *
 * Succeeds also when no method can serve. NULL_POINTER (also: text is NULL and text_bytes is not 0),
 * STRUCT_SIZE, UNKNOWN_ENUM, OUT_OF_RANGE, OVERFLOW, INDEX_TOO_NARROW, MALFORMED, CONTRADICTION,
 * UNSUPPORTED, UNKNOWN_METHOD. */
TOPK_API topk_status topk_explain(const topk_context *context, topk_operation operation,
                                  const topk_problem *problem, char *text, size_t text_bytes, size_t *needed);

#ifdef __cplusplus
}
#endif

#endif /* TOPK_ADVANCED_H */
