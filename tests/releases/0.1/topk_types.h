/* SPDX-License-Identifier: Apache-2.0
 * A copy of 0.1's header, without its words. It never changes. */
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
typedef enum topk_status {
    TOPK_OK = 0,
    TOPK_ERROR_NULL_POINTER = 1,
    TOPK_ERROR_STRUCT_SIZE = 2,
    TOPK_ERROR_UNKNOWN_ENUM = 3,
    TOPK_ERROR_OUT_OF_RANGE = 4,
    TOPK_ERROR_OVERFLOW = 5,
    TOPK_ERROR_INDEX_TOO_NARROW = 6,
    TOPK_ERROR_MISALIGNED = 7,
    TOPK_ERROR_OVERLAP = 8,
    TOPK_ERROR_WORKSPACE_TOO_SMALL = 9,
    TOPK_ERROR_UNSUPPORTED = 10,
    TOPK_ERROR_UNKNOWN_METHOD = 11,
    TOPK_ERROR_METHOD_CANNOT = 12,
    TOPK_ERROR_BACKEND_UNAVAILABLE = 13,
    TOPK_ERROR_OUT_OF_MEMORY = 14,
    TOPK_ERROR_BAD_STATE = 15,
    TOPK_ERROR_DEVICE = 16,
    TOPK_ERROR_MALFORMED = 17
} topk_status;
TOPK_API const char *topk_status_string(topk_status status);
TOPK_API const char *topk_last_error(void);
TOPK_API int topk_version(void);
typedef enum topk_type {
    TOPK_TYPE_UNDEFINED = 0,
    TOPK_F16 = 1,
    TOPK_BF16 = 2,
    TOPK_F32 = 3,
    TOPK_F64 = 4,
    TOPK_F8_E4M3 = 5,
    TOPK_F8_E5M2 = 6,
    TOPK_I8 = 7,
    TOPK_I16 = 8,
    TOPK_I32 = 9,
    TOPK_I64 = 10,
    TOPK_U8 = 11,
    TOPK_U16 = 12,
    TOPK_U32 = 13,
    TOPK_U64 = 14
} topk_type;
TOPK_API size_t topk_type_size(topk_type type);
TOPK_API const char *topk_type_name(topk_type type);
typedef enum topk_index_type { TOPK_INDEX_I32 = 0, TOPK_INDEX_I64 = 1 } topk_index_type;
typedef enum topk_direction { TOPK_LARGEST = 0, TOPK_SMALLEST = 1 } topk_direction;
typedef enum topk_rank { TOPK_BY_VALUE = 0, TOPK_BY_MAGNITUDE = 1 } topk_rank;
typedef enum topk_ties { TOPK_TIES_LOWEST_INDEX = 0, TOPK_TIES_ANY = 1 } topk_ties;
typedef enum topk_order { TOPK_ORDER_BEST_FIRST = 0, TOPK_ORDER_ANY = 1 } topk_order;
typedef enum topk_nan { TOPK_NAN_AS_LARGEST = 0, TOPK_NAN_LAST = 1 } topk_nan;
typedef enum topk_shape { TOPK_SHAPE_STRIDED = 0, TOPK_SHAPE_SPANS = 1, TOPK_SHAPE_CSR = 2 } topk_shape;
typedef enum topk_operation {
    TOPK_OPERATION_SELECT = 1,
    TOPK_OPERATION_KTH = 2,
    TOPK_OPERATION_WHERE = 3,
    TOPK_OPERATION_SELECT_WHERE = 4,
    TOPK_OPERATION_COUNT = 5,
    TOPK_OPERATION_MASK = 6,
    TOPK_OPERATION_ROUTE = 7
} topk_operation;
#ifdef __cplusplus
}
#endif
#endif
