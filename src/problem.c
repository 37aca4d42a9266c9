/* SPDX-License-Identifier: Apache-2.0 */
#include "problem.h"

#include <string.h>

#include "status.h"
#include "structs.h"

size_t topk_checked_bytes(int64_t count, size_t element_bytes, bool *overflow) {
    int64_t bytes;
    if (__builtin_mul_overflow(count, (int64_t)element_bytes, &bytes)) {
        *overflow = true;
        return 0;
    }
    return (size_t)bytes;
}

/* The enumerations of a problem, and their values. */
static const struct {
    const char *name;
    size_t at;
    unsigned first, last;
} enums[] = {
    {"type", offsetof(topk_problem, type), TOPK_F16, TOPK_U64},
    {"index_type", offsetof(topk_problem, index_type), TOPK_INDEX_I32, TOPK_INDEX_I64},
    {"extent_type", offsetof(topk_problem, extent_type), TOPK_INDEX_I32, TOPK_INDEX_I64},
    {"direction", offsetof(topk_problem, direction), TOPK_LARGEST, TOPK_SMALLEST},
    {"rank", offsetof(topk_problem, rank), TOPK_BY_VALUE, TOPK_BY_MAGNITUDE},
    {"ties", offsetof(topk_problem, ties), TOPK_TIES_LOWEST_INDEX, TOPK_TIES_ANY},
    {"order", offsetof(topk_problem, order), TOPK_ORDER_BEST_FIRST, TOPK_ORDER_BY_POSITION},
    {"nan", offsetof(topk_problem, nan), TOPK_NAN_AS_LARGEST, TOPK_NAN_LAST},
    {"shape", offsetof(topk_problem, shape), TOPK_SHAPE_STRIDED, TOPK_SHAPE_CSR},
};
enum { ENUMS = sizeof enums / sizeof enums[0] };

static unsigned enum_at(const topk_problem *p, size_t at) {
    unsigned value;
    memcpy(&value, (const char *)p + at, sizeof value);
    return value;
}

static topk_status check_enums(const topk_problem *p) {
    for (size_t i = 0; i < ENUMS; i++) {
        const unsigned value = enum_at(p, enums[i].at);
        if (value - enums[i].first > enums[i].last - enums[i].first) {
            return topk_fail(TOPK_ERROR_UNKNOWN_ENUM, "problem->%s is %d, must be %u to %u", enums[i].name,
                             (int)value, enums[i].first, enums[i].last);
        }
    }
    return TOPK_OK;
}

static uint64_t bits_of(double number) {
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

/* By its bits: a comparison could raise an exception, and takes a denormal for 0 in some modes. */
static bool is_set(double epsilon) {
    return bits_of(epsilon) << 1 != 0;
}

static topk_status check_epsilon(const char *name, double epsilon) {
    static const uint64_t infinity = 0x7ffull << 52;
    if (is_set(epsilon) && bits_of(epsilon) >= infinity) { /* or with a sign */
        return topk_fail(TOPK_ERROR_OUT_OF_RANGE, "problem->%s is %g, must be finite and not negative", name,
                         epsilon);
    }
    return TOPK_OK;
}

static topk_status check_counts(const topk_problem *p) {
    const struct {
        const char *name;
        int64_t value;
    } counts[] = {
        {"rows", p->rows},
        {"length_max", p->length_max},
        {"k_max", p->k_max},
        {"row_stride", p->row_stride},
        {"elements_max", p->elements_max},
        {"index_base", p->index_base},
        {"max_iterations", p->max_iterations},
        {"ranks", p->ranks},
        {"k_stride", p->k_stride},
    };
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        if (counts[i].value < 0) {
            return topk_fail(TOPK_ERROR_OUT_OF_RANGE, "problem->%s is %lld, must not be negative",
                             counts[i].name, (long long)counts[i].value);
        }
    }
    return TOPK_OK;
}

static topk_status check_ranges(const topk_problem *p) {
    const int64_t any = p->rows | p->length_max | p->k_max | p->row_stride | p->elements_max | p->index_base |
                        p->max_iterations | p->ranks | p->k_stride;
    if (any < 0) {
        return check_counts(p);
    }
    topk_status status = check_epsilon("epsilon", p->epsilon);
    if (status != TOPK_OK || (status = check_epsilon("epsilon_relative", p->epsilon_relative)) != TOPK_OK) {
        return status;
    }
    if (p->shape == TOPK_SHAPE_STRIDED && p->elements_max != 0) {
        return topk_fail(TOPK_ERROR_CONTRADICTION,
                         "problem->elements_max belongs to spans and CSR, not strided rows");
    }
    if (p->shape != TOPK_SHAPE_STRIDED && p->row_stride != 0) {
        return topk_fail(TOPK_ERROR_CONTRADICTION,
                         "problem->row_stride belongs to strided rows, not spans or CSR");
    }
    return TOPK_OK;
}

/* Whether the operation, the type and the fields of an approximation go together. */
static topk_status check_approximation(struct plan *plan) {
    const topk_problem *p = &plan->problem;
    const char *const names[] = {"max_iterations", "epsilon", "epsilon_relative"};
    const bool set[] = {p->max_iterations != 0, is_set(p->epsilon), is_set(p->epsilon_relative)};
    const char *name = NULL;
    plan->approximate = set[0] || set[1] || set[2];
    for (int i = 0; i < 3 && plan->approximate; i++) {
        if (set[i] && name != NULL) {
            return topk_fail(TOPK_ERROR_CONTRADICTION, "problem->%s and problem->%s do not go together", name,
                             names[i]);
        }
        name = set[i] ? names[i] : name;
    }
    if (plan->approximate && !operation_selects(plan->operation)) {
        return topk_fail(TOPK_ERROR_CONTRADICTION,
                         "problem->%s makes a selection approximate, which this operation is not", name);
    }
    if (plan->approximate && !topk_type_traits(p->type).is_float) {
        return topk_fail(TOPK_ERROR_UNSUPPORTED, "problem->%s goes with floating-point types, not with %s",
                         name, topk_type_name(p->type));
    }
    return TOPK_OK;
}

/* Whether the operation has ranks, and how they lie. */
static topk_status check_ranks(struct plan *plan) {
    const topk_problem *p = &plan->problem;
    if (p->ranks != 0 && !operation_is_kth(plan->operation)) {
        return topk_fail(TOPK_ERROR_CONTRADICTION,
                         "problem->ranks belongs to kth and kth_where, %s has no ranks",
                         topk_operations[plan->operation].name);
    }
    if (p->k_stride != 0 && p->ranks == 0) {
        return topk_fail(TOPK_ERROR_CONTRADICTION, "problem->k_stride belongs to problem->ranks, which is 0");
    }
    plan->ranks = p->ranks == 0 ? 1 : p->ranks;
    plan->k_pitch = p->ranks == 0 ? 1 : p->k_stride;
    return TOPK_OK;
}

/* Entries of input.k, and slots of all ranks. */
static bool ranks_overflow(struct plan *plan) {
    const topk_problem *p = &plan->problem;
    const int64_t last_row = p->rows > 0 ? p->rows - 1 : 0;
    int64_t entries, slots;
    bool overflow = __builtin_mul_overflow(p->rows, plan->ranks, &slots) ||
                    __builtin_mul_overflow(last_row, plan->k_pitch, &entries) ||
                    __builtin_add_overflow(entries, p->rows > 0 ? plan->ranks : 0, &entries);
    if (!overflow) {
        (void)topk_checked_bytes(slots, 8, &overflow);
        (void)topk_checked_bytes(entries, 8, &overflow);
        plan->k_entries = (size_t)entries;
    }
    return overflow;
}

/* Positions and sizes: none may overflow. */
static topk_status derive_sizes(struct plan *plan) {
    topk_problem *p = &plan->problem;
    int64_t last_position, elements = p->elements_max, outputs = 0;
    bool overflow = false;
    if (p->shape != TOPK_SHAPE_STRIDED && p->length_max > p->elements_max) {
        p->length_max = p->elements_max; /* no row holds more */
    }
    if (__builtin_add_overflow(p->length_max, p->index_base, &last_position)) {
        return topk_fail(TOPK_ERROR_OVERFLOW, "the longest row plus problem->index_base overflows 64 bits");
    }
    if (p->index_type == TOPK_INDEX_I32 && last_position > INT32_MAX) {
        return topk_fail(TOPK_ERROR_INDEX_TOO_NARROW,
                         "rows of %lld elements plus base %lld exceed 2^31 - 1: use TOPK_INDEX_I64",
                         (long long)p->length_max, (long long)p->index_base);
    }
    if (p->rows == 0 || p->length_max == 0) {
        elements = 0;
        p->row_stride = 0; /* so that no row begins beyond the input */
    } else if (topk_operations[plan->operation].has_groups) {
        elements = p->length_max; /* whatever the number of groups */
    } else if (p->shape == TOPK_SHAPE_STRIDED) {
        p->row_stride = p->row_stride == 0 ? p->length_max : p->row_stride;
        overflow |= __builtin_mul_overflow(p->rows - 1, p->row_stride, &elements) ||
                    __builtin_add_overflow(elements, p->length_max, &elements);
    }
    if (topk_operations[plan->operation].has_slots) {
        overflow |= __builtin_mul_overflow(p->rows, p->k_max, &outputs);
    }
    (void)topk_checked_bytes(elements, 8, &overflow);
    (void)topk_checked_bytes(outputs, 8, &overflow);
    (void)topk_checked_bytes(p->rows, 16, &overflow);
    if (overflow) {
        return topk_fail(
            TOPK_ERROR_OVERFLOW,
            "the buffers of %lld rows of %lld elements, stride %lld and k_max %lld exceed 2^63 bytes",
            (long long)p->rows, (long long)p->length_max, (long long)p->row_stride, (long long)p->k_max);
    }
    if (ranks_overflow(plan)) {
        return topk_fail(TOPK_ERROR_OVERFLOW,
                         "%lld ranks of %lld rows, with k_stride %lld, exceed 2^63 bytes",
                         (long long)plan->ranks, (long long)p->rows, (long long)plan->k_pitch);
    }
    plan->input_elements = (size_t)elements;
    plan->output_elements = (size_t)outputs;
    return TOPK_OK;
}

topk_status topk_plan_make(topk_operation operation, const topk_problem *problem, struct plan *plan) {
    topk_problem *p = &plan->problem;
    topk_status status = topk_read_struct(STRUCT_PROBLEM, problem, p);
    if (status != TOPK_OK || (status = check_enums(p)) != TOPK_OK || (status = check_ranges(p)) != TOPK_OK) {
        return status;
    }
    if ((unsigned)operation < OPERATION_FIRST || (unsigned)operation > OPERATION_LAST) {
        return topk_fail(TOPK_ERROR_UNKNOWN_ENUM, "operation is %d, must be %d to %d", (int)operation,
                         OPERATION_FIRST, OPERATION_LAST);
    }
    plan->operation = operation;
    if (!operation_ranks(operation)) {
        p->k_max = 0; /* it has no meaning here, and must not enter sizes or choices */
    }
    if (p->order == TOPK_ORDER_BY_POSITION && !operation_orders(operation)) {
        p->order = TOPK_ORDER_ANY; /* other operations ignore it */
    }
    plan->element_bytes = topk_type_size(p->type);
    plan->element_bits = (unsigned)plan->element_bytes * 8;
    plan->index_bytes = p->index_type == TOPK_INDEX_I32 ? 4 : 8;
    plan->extent_bytes = p->extent_type == TOPK_INDEX_I32 ? 4 : 8;
    plan->order = topk_order_of(p->type, p->direction, p->rank, p->nan);
    plan->map = topk_key_map(&plan->order);
    plan->point_map = topk_point_map(&plan->order);
    plan->padding = topk_padding_bits(p->type, p->direction);
    plan->surplus = 0;
    if ((p->tuning != NULL && (status = topk_tuning_check(p->tuning)) != TOPK_OK) ||
        (status = check_approximation(plan)) != TOPK_OK || (status = check_ranks(plan)) != TOPK_OK) {
        return status;
    }
    if (topk_operations[operation].check != NULL &&
        (status = topk_operations[operation].check(p)) != TOPK_OK) {
        return status;
    }
    return derive_sizes(plan);
}

static topk_status check_buffer(const struct buffer *b) {
    if (b->data == NULL) {
        return b->required ? topk_fail(TOPK_ERROR_NULL_POINTER, "%s is NULL", b->name) : TOPK_OK;
    }
    if (((uintptr_t)b->data & (b->alignment - 1)) != 0) {
        return topk_fail(TOPK_ERROR_MISALIGNED, "%s is not aligned to its %zu-byte elements", b->name,
                         b->alignment);
    }
    if (b->bytes > UINTPTR_MAX - (uintptr_t)b->data) {
        return topk_fail(TOPK_ERROR_OVERFLOW, "%s reaches beyond the address space", b->name);
    }
    return TOPK_OK;
}

static bool overlap(const struct buffer *a, const struct buffer *b) {
    const uintptr_t a_begin = (uintptr_t)a->data, b_begin = (uintptr_t)b->data;
    return (a->output || b->output) && a_begin < b_begin + b->bytes && b_begin < a_begin + a->bytes;
}

topk_status topk_check_buffers(const struct buffer_list *buffers) {
    const struct buffer *const list = buffers->list, *const end = list + buffers->count;
    for (const struct buffer *b = list; b < end; b++) {
        const topk_status status = check_buffer(b);
        if (status != TOPK_OK) {
            return status;
        }
    }
    for (const struct buffer *b = list; b < end; b++) {
        for (const struct buffer *a = list; a < b; a++) {
            if (overlap(a, b)) {
                return topk_fail(TOPK_ERROR_OVERLAP, "%s overlaps %s", a->name, b->name);
            }
        }
    }
    return TOPK_OK;
}

/* An array that this shape has no use for must be NULL. */
static topk_status check_shape_arrays(const topk_problem *p, const topk_input *input) {
    const topk_shape shape = p->shape;
    const char *const name = input->lengths != NULL && shape != TOPK_SHAPE_STRIDED ? "lengths"
                             : input->begins != NULL && shape != TOPK_SHAPE_SPANS  ? "begins"
                             : input->ends != NULL && shape != TOPK_SHAPE_SPANS    ? "ends"
                             : input->offsets != NULL && shape != TOPK_SHAPE_CSR   ? "offsets"
                                                                                   : NULL;
    return name == NULL
               ? TOPK_OK
               : topk_fail(TOPK_ERROR_CONTRADICTION, "input->%s does not go with shape %d", name, (int)shape);
}

topk_status topk_read_input(const topk_input *caller, topk_input *input) {
    const topk_status status = topk_read_struct(STRUCT_INPUT, caller, input);
    if (status == TOPK_OK && (input->predicate != NULL || input->routing != NULL || input->lists != NULL)) {
        return topk_fail(TOPK_ERROR_CONTRADICTION,
                         "input->%s must be NULL: topk_run() and plans take it from there",
                         input->predicate != NULL ? "predicate"
                         : input->routing != NULL ? "routing"
                                                  : "lists");
    }
    return status;
}

topk_status topk_check_input(const struct plan *plan, const topk_input *input, bool values_required,
                             struct buffer_list *buffers) {
    const topk_problem *p = &plan->problem;
    const size_t extent = plan->extent_bytes, rows = (size_t)p->rows, ks = plan->k_entries;
    const bool routes = topk_operations[plan->operation].has_routing;
    const topk_status status = check_shape_arrays(p, input);
    if (status != TOPK_OK) {
        return status;
    }
    buffer_list_add(buffers, (struct buffer){routes ? "logits" : "input->values", input->values,
                                             plan->input_elements * plan->element_bytes, plan->element_bytes,
                                             values_required, false});
    buffer_list_add(buffers, (struct buffer){"input->indices", input->indices,
                                             plan->input_elements * plan->index_bytes, plan->index_bytes,
                                             false, false});
    switch (p->shape) { /* the arrays of other shapes are NULL */
    case TOPK_SHAPE_STRIDED:
        buffer_list_add(
            buffers, (struct buffer){"input->lengths", input->lengths, rows * extent, extent, false, false});
        break;
    case TOPK_SHAPE_SPANS:
        buffer_list_add(buffers,
                        (struct buffer){"input->begins", input->begins, rows * extent, extent, true, false});
        buffer_list_add(buffers,
                        (struct buffer){"input->ends", input->ends, rows * extent, extent, true, false});
        break;
    case TOPK_SHAPE_CSR:
        buffer_list_add(buffers, (struct buffer){"input->offsets", input->offsets, (rows + 1) * extent,
                                                 extent, rows > 0, false});
        break;
    }
    buffer_list_add(buffers, (struct buffer){"input->k", input->k, ks * extent, extent, false, false});
    return TOPK_OK;
}
