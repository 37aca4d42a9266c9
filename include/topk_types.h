/* SPDX-License-Identifier: Apache-2.0
 *
 * The version of libtopk, the outcomes of its calls, the types and options of a problem, and predicates.
 * topk.h includes this header. */
#ifndef TOPK_TYPES_H
#define TOPK_TYPES_H

#include <stddef.h>
#include <stdint.h>

#define TOPK_VERSION_MAJOR 0
#define TOPK_VERSION_MINOR 1
#define TOPK_VERSION_PATCH 0
#define TOPK_VERSION (TOPK_VERSION_MAJOR * 10000 + TOPK_VERSION_MINOR * 100 + TOPK_VERSION_PATCH)

#if defined(__GNUC__)
#define TOPK_API __attribute__((visibility("default")))
#else
#define TOPK_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status ---------------------------------------------------------------------------------- */

/* The outcome of a call. The numbers are pinned: they will not change, and new ones are appended. */
typedef enum topk_status {
    TOPK_OK = 0,
    TOPK_ERROR_NULL_POINTER = 1,         /* a required pointer is NULL */
    TOPK_ERROR_STRUCT_SIZE = 2,          /* the size field is no release's, or a field is set that this
                                            library does not know */
    TOPK_ERROR_UNKNOWN_ENUM = 3,         /* a field holds no value of its enumeration */
    TOPK_ERROR_OUT_OF_RANGE = 4,         /* a count, stride, base, device or number of threads is outside
                                            its range */
    TOPK_ERROR_OVERFLOW = 5,             /* a buffer of 2^63 bytes or more, or beyond the address space */
    TOPK_ERROR_INDEX_TOO_NARROW = 6,     /* int32 indices cannot hold every position plus index_base; also
                                            where no position is written */
    TOPK_ERROR_MISALIGNED = 7,           /* a pointer is not aligned to its element */
    TOPK_ERROR_OVERLAP = 8,              /* an output overlaps another buffer */
    TOPK_ERROR_WORKSPACE_TOO_SMALL = 9,  /* the workspace, state or room for its bytes is smaller than its
                                            size function says */
    TOPK_ERROR_UNSUPPORTED = 10,         /* a limit of this library; listed below */
    TOPK_ERROR_UNKNOWN_METHOD = 11,      /* the backend has no method of that name */
    TOPK_ERROR_METHOD_CANNOT = 12,       /* the forced method, or none, can serve this problem, with this
                                            tuning, within workspace_limit; the text says why */
    TOPK_ERROR_BACKEND_UNAVAILABLE = 13, /* no such backend in this build or on this machine */
    TOPK_ERROR_OUT_OF_MEMORY = 14,       /* topk_context_create(), or topk_simple.h, could not allocate */
    TOPK_ERROR_BAD_STATE = 15,           /* an accumulator in no state for this call; listed below */
    TOPK_ERROR_DEVICE = 16,              /* the device reported an error; the text gives it */
    TOPK_ERROR_MALFORMED = 17,           /* problem->tuning cannot be read, or bytes are no state of the
                                            problem's accumulator; the text quotes what */
    TOPK_ERROR_CONTRADICTION = 18        /* what does not go together; listed below */
} topk_status;

/* TOPK_ERROR_CONTRADICTION is a mistake of the caller's, that no release will serve:
 *   - in a problem: elements_max with strided rows, or row_stride with spans or CSR; two of max_iterations,
 *     epsilon and epsilon_relative; one of these with an operation other than select and select_where; ranks
 *     with one other than kth and kth_where; k_stride without ranks
 *   - in an input: lengths, begins, ends or offsets that its shape has no use for; a predicate, a routing or
 *     lists where the operation takes none, or the function takes it otherwise
 *   - in an output: an array that the operation does not write
 *   - in a predicate: bounds, a mask or a threshold with another kind than theirs
 *   - in a routing: groups_kept without groups
 *   - in lists: a payload, as input or output, with payload_bytes 0
 *   - in select_by: a row_stride; groups where the operation takes none
 *   - for a plan: what topk_plan_what did not name
 *   - on the CPU: a stream; memory of a GPU, where CUDA's driver can tell (CONTRACT.md, 7.8)
 * each where NULL or 0 would do. What an option has no meaning for, but does no harm to, is ignored.
 *
 * TOPK_ERROR_UNSUPPORTED has a meaning, but this library does not do it:
 *   - max_iterations, epsilon or epsilon_relative with an integer type
 *   - routing of integers, by another direction or rank than the first, of a shape other than STRIDED, or
 * with lengths, indices or k in the input
 *   - merging and select_by of a shape other than STRIDED; select_by with lengths in the input
 *   - AT_LEAST in accumulators and shards; on a GPU also with a threshold for each row, or of floats by
 *     magnitude, the largest first, with NaN last
 *   - for an accumulator: a shape other than STRIDED; max_iterations, epsilon or epsilon_relative; on a GPU a
 *     k_max above 2^29
 *   - ranks in shards and many ranks
 *   - an operation that no method of the backend does
 *
 * TOPK_ERROR_BAD_STATE is, on the CPU, from all calls but size, init and import: memory that init did not
 * write; a state that was finished, or is another problem's (topk_accumulator_init() says what must be the
 * same); from push, push_where and merge, indices in one chunk that has elements and none in another. On a
 * GPU see CONTRACT.md, 10.8. */

/* The name of a status, e.g. "TOPK_ERROR_OVERLAP"; "unknown status" for other numbers. Static. */
TOPK_API const char *topk_status_string(topk_status status);

/* One sentence on the calling thread's most recent failure: which argument, which value, which
 * limit. "" when nothing has failed yet on this thread. Valid until the thread's next failure. */
TOPK_API const char *topk_last_error(void);

/* TOPK_VERSION of the library that is loaded, which may be newer than the header. */
TOPK_API int topk_version(void);

/* ---- Where work is done ------------------------------------------------------------------------ */

typedef enum topk_backend { TOPK_BACKEND_AUTO = 0, TOPK_BACKEND_CPU = 1, TOPK_BACKEND_CUDA = 2 } topk_backend;

/* A CUDA stream: a cudaStream_t is a pointer to this. NULL on the CPU. */
struct CUstream_st;
typedef struct CUstream_st *topk_stream;

/* ---- Types and options ----------------------------------------------------------------------- */

/* Element types. Floats are IEEE 754; F8 are the OCP formats; bytes are in the machine's order. */
typedef enum topk_type {
    TOPK_TYPE_UNDEFINED = 0,
    TOPK_F16 = 1,     /* binary16 */
    TOPK_BF16 = 2,    /* bfloat16: the upper half of a binary32 */
    TOPK_F32 = 3,     /* binary32 */
    TOPK_F64 = 4,     /* binary64 */
    TOPK_F8_E4M3 = 5, /* OCP e4m3fn: no infinities, one NaN of each sign, largest 448 */
    TOPK_F8_E5M2 = 6, /* OCP e5m2: infinities and NaN as IEEE */
    TOPK_I8 = 7,
    TOPK_I16 = 8,
    TOPK_I32 = 9,
    TOPK_I64 = 10,
    TOPK_U8 = 11,
    TOPK_U16 = 12,
    TOPK_U32 = 13,
    TOPK_U64 = 14
} topk_type;

/* Bytes of one element, 0 for a value that is no type. */
TOPK_API size_t topk_type_size(topk_type type);

/* "f16", "bf16", "f32", "f64", "f8_e4m3", "f8_e5m2", "i8" ... "u64"; NULL for what is no type. */
TOPK_API const char *topk_type_name(topk_type type);

/* Width of an integer array. */
typedef enum topk_index_type { TOPK_INDEX_I32 = 0, TOPK_INDEX_I64 = 1 } topk_index_type;

typedef enum topk_direction { TOPK_LARGEST = 0, TOPK_SMALLEST = 1 } topk_direction;

/* Rank elements by x, or by |x|. With magnitude the signed element is still what is returned; the
 * minimum of a signed integer type ranks as 2^(bits-1). */
typedef enum topk_rank { TOPK_BY_VALUE = 0, TOPK_BY_MAGNITUDE = 1 } topk_rank;

/* Which of the elements equal to the k-th are taken: those at the lowest positions, or any (the
 * choice may then differ from run to run). */
typedef enum topk_ties { TOPK_TIES_LOWEST_INDEX = 0, TOPK_TIES_ANY = 1 } topk_ties;

/* Order of the results within a row: best first with ties by lowest position, any, or by ascending position,
 * which is the position in the row, whatever index array the caller gives. Padding comes last in each. */
typedef enum topk_order {
    TOPK_ORDER_BEST_FIRST = 0,
    TOPK_ORDER_ANY = 1,
    TOPK_ORDER_BY_POSITION = 2
} topk_order;

/* Where NaN ranks, whatever its sign bit: above +infinity (as numpy and torch rank it), or behind
 * every number in either direction. All NaN are equal to each other. Ignored for integers. */
typedef enum topk_nan { TOPK_NAN_AS_LARGEST = 0, TOPK_NAN_LAST = 1 } topk_nan;

/* How rows lie in the input. */
typedef enum topk_shape {
    TOPK_SHAPE_STRIDED =
        0,                /* row r begins at element r * row_stride; its length is lengths[r] or length_max */
    TOPK_SHAPE_SPANS = 1, /* row r is elements [begins[r], ends[r]) */
    TOPK_SHAPE_CSR = 2    /* row r is elements [offsets[r], offsets[r + 1]) */
} topk_shape;

typedef enum topk_operation {
    TOPK_OPERATION_SELECT = 1,
    TOPK_OPERATION_KTH = 2,
    TOPK_OPERATION_WHERE = 3,
    TOPK_OPERATION_SELECT_WHERE = 4,
    TOPK_OPERATION_COUNT = 5,
    TOPK_OPERATION_MASK = 6,
    TOPK_OPERATION_ROUTE = 7,
    TOPK_OPERATION_MERGE = 8,
    TOPK_OPERATION_KTH_WHERE = 9,
    TOPK_OPERATION_SELECT_BY = 10
} topk_operation;

/* The outputs of operations, as bits of a set. */
typedef enum topk_outputs {
    TOPK_OUTPUT_VALUES = 1,
    TOPK_OUTPUT_INDICES = 2,
    TOPK_OUTPUT_OFFSETS = 4,
    TOPK_OUTPUT_BETTER = 8,
    TOPK_OUTPUT_EQUAL = 16,
    TOPK_OUTPUT_COUNTS = 32,
    TOPK_OUTPUT_MASK = 64,
    TOPK_OUTPUT_WEIGHTS = 128,
    TOPK_OUTPUT_PAYLOAD = 256
} topk_outputs;

/* ---- Predicates ------------------------------------------------------------------------------ */

typedef enum topk_predicate_kind {
    TOPK_PREDICATE_UNDEFINED = 0,
    TOPK_GT = 1,        /* x >  low */
    TOPK_GE = 2,        /* x >= low */
    TOPK_LT = 3,        /* x <  low */
    TOPK_LE = 4,        /* x <= low */
    TOPK_EQ = 5,        /* x == low */
    TOPK_NE = 6,        /* x != low, true for NaN */
    TOPK_BETWEEN = 7,   /* low <= x and x <= high */
    TOPK_BYTE_MASK = 8, /* mask[e] != 0, one byte for each element of values */
    TOPK_BIT_MASK = 9,  /* bit e % 8 (lowest first) of byte mask[e / 8] */
    TOPK_AT_LEAST = 10  /* x ranks at or above an element: by the problem's direction, rank and nan */
} topk_predicate_kind;

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
                                 it is read as F64. Else NULL */
    const void *mask;         /* masks: laid out as values, element e for element e. Else NULL */
    const void *threshold; /* AT_LEAST: an element of the problem's type, or one for each row, to be read when
                              the work runs. What kth writes is one: then all that tie with the k-th match,
                              too. Else NULL */
    int64_t threshold_stride; /* AT_LEAST: elements from one row's threshold to the next, >= 0; 0: all rows
                                 have one. Else 0 */
} topk_predicate;

#define TOPK_PREDICATE_INIT                                                                                  \
    {                                                                                                        \
        sizeof(topk_predicate), TOPK_PREDICATE_UNDEFINED, {TOPK_BOUND_UNSET, {0.0}},                         \
            {TOPK_BOUND_UNSET, {0.0}}, NULL, NULL, NULL, 0                                                   \
    }

#ifdef __cplusplus
}
#endif

/* In C11, the index_type of an array: problem.index_type = TOPK_INDEX_TYPE_OF(indices). Outputs are void
 * pointers, so an array of int64_t would otherwise take 32-bit numbers without a word. What is no array of
 * integers of 32 or 64 bits does not compile. topk_debug.h checks calls that set the type in another way. */
#if !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
/* clang-format off */
#define TOPK_INDEX_TYPE_OF(array)                                                                            \
    _Generic((array), int *: TOPK_INDEX_I32,                                                                 \
             long *: sizeof(long) == 8 ? TOPK_INDEX_I64 : TOPK_INDEX_I32, long long *: TOPK_INDEX_I64)
/* clang-format on */
#endif

#endif /* TOPK_TYPES_H */
