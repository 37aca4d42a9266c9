/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "core.h"

/* A payload or a mask: an element for each of x, laid out alike. */
static int take_companion(struct call *call, enum given which, const char *name, struct array **array) {
    if (inputs_keep(call, call->given[which], name, array) != 0) {
        return -1;
    }
    bool is_alike = (*array)->dims == (call->is_scalar ? 0 : call->is_ragged ? 1 : call->lead + 1);
    for (int d = 0, lead = 0; is_alike && d < (*array)->dims && !call->is_ragged; ++d) {
        is_alike = (*array)->shape[d] == (d == call->dim ? call->length : call->lead_shape[lead++]);
    }
    const bool is_of_lists = call->operation == TOPK_OPERATION_MERGE;
    const bool is_as_given = is_of_lists || call->operation == TOPK_OPERATION_SELECT_BY;
    if (is_as_given) { /* x as it was given: its rows are the last dimension */
        is_alike = (*array)->dims == call->x.dims &&
                   memcmp((*array)->shape, call->x.shape, sizeof *call->x.shape * (size_t)call->x.dims) == 0;
    }
    if (!is_alike || array_elements(*array) != array_elements(&call->x)) {
        PyErr_Format(PyExc_ValueError, "%s is not of the shape of %s", name, is_of_lists ? "values" : "x");
        return -1;
    }
    struct rows rows;
    int dim = is_as_given ? (*array)->dims - 1 : call->dim;
    return rows_of(*array, &dim, true, name, &rows);
}

static int check_where(const struct call *call, const struct array *array, const char *name) {
    if (inputs_are_beside_x(call, array)) {
        return 0;
    }
    PyErr_Format(PyExc_ValueError, "%s and x are not on the same device", name);
    return -1;
}

static int take_indices(struct call *call) {
    struct array *indices;
    if (take_companion(call, GIVEN_INDICES, "indices", &indices) != 0 ||
        check_where(call, indices, "indices") != 0) {
        return -1;
    }
    topk_type type = call->problem.index_type == TOPK_INDEX_I64 ? TOPK_I64 : TOPK_I32;
    if (indices->type != type) {
        PyErr_Format(PyExc_TypeError, "indices are not of type %s, as the results are",
                     type == TOPK_I64 ? "int64" : "int32");
        return -1;
    }
    call->input.indices = indices->data;
    return 0;
}

/* Replaces an array by a copy unless its elements follow one another. */
static int make_contiguous(struct array *array, const char *name) {
    struct rows rows;
    int dim = array->dims - 1;
    return dim < 0 || array_is_contiguous(array) ? 0 : rows_of(array, &dim, true, name, &rows);
}

/* One element for each candidate, or several along a last dimension of its own. */
int companions_take_payload(struct call *call) {
    struct array *payload;
    const struct array *x = &call->x;
    if (call->given[GIVEN_PAYLOAD] == NULL) {
        return 0;
    }
    if (inputs_keep(call, call->given[GIVEN_PAYLOAD], "payload", &payload) != 0 ||
        check_where(call, payload, "payload") != 0) {
        return -1;
    }
    int more = payload->dims - x->dims;
    if ((more != 0 && more != 1) || payload->kind != x->kind ||
        memcmp(payload->shape, x->shape, sizeof *x->shape * (size_t)x->dims) != 0) {
        PyErr_SetString(PyExc_ValueError,
                        "payload is not of the kind and shape of values, but for a last dimension");
        return -1;
    }
    const int64_t size = payload->type == TOPK_TYPE_UNDEFINED ? 1 : (int64_t)library.type_size(payload->type);
    const int64_t count = more == 1 ? payload->shape[x->dims] : 1;
    if (count < 1 || count > 16 || size * count > 16 || (size * count & (size * count - 1)) != 0) {
        PyErr_SetString(PyExc_ValueError, "payload has no 1, 2, 4, 8 or 16 bytes for each candidate");
        return -1;
    }
    if (make_contiguous(payload, "payload") != 0) {
        return -1;
    }
    call->payload = payload;
    call->lists.payload = payload->data;
    call->lists.payload_bytes = size * count;
    return 0;
}

/* Bits are one array of bytes, whatever the shape of x. */
static int take_mask(struct call *call) {
    struct array *mask;
    bool is_bits = call->predicate.kind == TOPK_BIT_MASK;
    int status = is_bits ? inputs_keep(call, call->given[GIVEN_MASK], "bits", &mask)
                         : take_companion(call, GIVEN_MASK, "mask", &mask);
    if (status != 0 || check_where(call, mask, "the mask") != 0) {
        return -1;
    }
    if (mask->type != TOPK_U8 && (is_bits || mask->type != TOPK_TYPE_UNDEFINED)) {
        PyErr_SetString(PyExc_TypeError,
                        is_bits ? "bits are not of type uint8" : "mask is neither of type bool nor uint8");
        return -1;
    }
    if (is_bits && array_elements(mask) * 8 < array_elements(&call->x)) {
        PyErr_SetString(PyExc_ValueError, "bits holds less than a bit for each element of x");
        return -1;
    }
    if (is_bits && make_contiguous(mask, "bits") != 0) {
        return -1;
    }
    call->predicate.mask = mask->data;
    return 0;
}

/* An array of that type with one element for each row; or, with `or_one`, with one for all. */
static int take_numbers(struct call *call, int number, const char *name, topk_type type, bool or_one,
                        struct array **numbers) {
    if (inputs_keep(call, call->given[number], name, numbers) != 0 ||
        check_where(call, *numbers, name) != 0) {
        return -1;
    }
    if ((*numbers)->type != type) {
        PyErr_Format(PyExc_TypeError, "%s is not of %s", name,
                     number == GIVEN_THRESHOLD ? "the type of x" : "type int64");
        return -1;
    }
    const int64_t elements = array_elements(*numbers);
    if ((!or_one || elements != 1) && elements != call->problem.rows) {
        PyErr_Format(PyExc_ValueError, "%s has %lld elements, where the rows are %lld", name,
                     (long long)elements, (long long)call->problem.rows);
        return -1;
    }
    return make_contiguous(*numbers, name);
}

static int take_threshold(struct call *call) {
    const bool is_bar = call->operation == OPERATION_RAISE;
    struct array *threshold;
    if (take_numbers(call, GIVEN_THRESHOLD, is_bar ? "bar" : "at_least", call->x.type, !is_bar, &threshold) !=
        0) {
        return -1;
    }
    call->predicate.threshold = threshold->data;
    call->predicate.threshold_stride = array_elements(threshold) == 1 ? 0 : 1;
    return 0;
}

static int take_positions(struct call *call) {
    struct array *positions;
    if (take_numbers(call, GIVEN_POSITIONS, "positions", TOPK_I64, false, &positions) != 0) {
        return -1;
    }
    call->positions = positions->data;
    return 0;
}

static int take_bias(struct call *call) {
    struct array *bias;
    if (inputs_keep(call, call->given[GIVEN_BIAS], "bias", &bias) != 0 ||
        check_where(call, bias, "bias") != 0) {
        return -1;
    }
    if (bias->type != TOPK_F32 || bias->dims != 1 || bias->shape[0] != call->length) {
        PyErr_SetString(PyExc_ValueError, "bias is not one array of a float32 number for each expert");
        return -1;
    }
    if (make_contiguous(bias, "bias") != 0) {
        return -1;
    }
    call->routing.bias = bias->data;
    return 0;
}

int companions_take(struct call *call) {
    return (call->given[GIVEN_INDICES] == NULL || take_indices(call) == 0) &&
                   (call->given[GIVEN_MASK] == NULL || take_mask(call) == 0) &&
                   (call->given[GIVEN_THRESHOLD] == NULL || take_threshold(call) == 0) &&
                   (call->given[GIVEN_POSITIONS] == NULL || take_positions(call) == 0) &&
                   (call->given[GIVEN_BIAS] == NULL || take_bias(call) == 0)
               ? 0
               : -1;
}
