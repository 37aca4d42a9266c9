/* SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

/* The arrays among the options that hold integers, and where the C library takes them. */
static const struct {
    const char *name;
    size_t place; /* of a pointer in topk_input */
} extents[] = {
    [GIVEN_K] = {"k", offsetof(topk_input, k)},
    [GIVEN_LENGTHS] = {"lengths", offsetof(topk_input, lengths)},
    [GIVEN_OFFSETS] = {"offsets", offsetof(topk_input, offsets)},
    [GIVEN_BEGINS] = {"begins", offsetof(topk_input, begins)},
    [GIVEN_ENDS] = {"ends", offsetof(topk_input, ends)},
    [GIVEN_GROUPS] = {"groups", offsetof(topk_input, groups)},
};

enum { EXTENTS = sizeof extents / sizeof *extents };

bool inputs_are_beside_x(const struct call *call, const struct array *array) {
    return array->device == call->x.device || array->device == ON_ANY_DEVICE;
}

int inputs_refuse_shape(const struct call *call, const struct array *array, const char *name) {
    if (array->kind != KIND_SHAPE || call->is_plan) {
        return 0;
    }
    PyErr_Format(PyExc_TypeError,
                 "%s is a Shape, which has no elements: workspace_size() and explain() take it", name);
    return -1;
}

int inputs_check_integers(const struct array *array, const char *name) {
    if (array->type >= TOPK_I8 || array_elements(array) == 0) { /* an empty list counts as one of floats */
        return 0;
    }
    PyErr_Format(PyExc_TypeError, "%s must hold integers", name);
    return -1;
}

int inputs_keep(struct call *call, PyObject *object, const char *name, struct array **kept) {
    struct array *array = &call->kept[call->kept_count];
    if (array_from(object, name, array, NULL) != 0) {
        return -1;
    }
    ++call->kept_count;
    *kept = array;
    return inputs_refuse_shape(call, array, name);
}

/* Replaces an array by one of contiguous int64 where x is. */
static int make_integers(struct call *call, struct array *array, const char *name) {
    bool is_shape = array->kind == KIND_SHAPE || call->x.kind == KIND_SHAPE;
    enum kind kind = is_shape ? array->kind : call->x.kind;
    PyObject *made = PyObject_CallFunctionObjArgs(kinds[kind].integers, array->object, call->x.object, NULL);
    if (made == NULL) {
        return -1;
    }
    struct array converted;
    int status = array_of(made, kind, name, &converted);
    Py_DECREF(made);
    if (status == 0) {
        array_drop(array);
        *array = converted;
    }
    return status;
}

static bool is_usable_extent(const struct call *call, const struct array *array, topk_type type) {
    return inputs_are_beside_x(call, array) && array->type == type && array_is_contiguous(array);
}

static int keep_extents(struct call *call, struct array **arrays) {
    for (int i = 0; i < EXTENTS; ++i) {
        if (call->given[i] != NULL && (inputs_keep(call, call->given[i], extents[i].name, &arrays[i]) != 0 ||
                                       inputs_check_integers(arrays[i], extents[i].name) != 0)) {
            return -1;
        }
    }
    return 0;
}

/* k of kth with one dimension more than the rows have: several of each row, or of all rows alike where the
 * other dimensions have length 1. */
static int take_ranks(struct call *call, const struct array *k) {
    bool is_shared = true, is_own = true;
    for (int d = 0; d < call->lead; ++d) {
        is_shared = is_shared && k->shape[d] == 1;
        is_own = is_own && k->shape[d] == call->lead_shape[d];
    }
    if ((!is_shared && !is_own) || k->shape[call->lead] == 0) {
        PyErr_SetString(PyExc_ValueError, is_shared || is_own
                                              ? "k has no ranks"
                                              : "k has ranks, but neither for each row nor for all alike");
        return -1;
    }
    call->problem.ranks = k->shape[call->lead];
    call->problem.k_stride = is_own ? call->problem.ranks : 0;
    return 0;
}

/* How many elements an array of extents must have. */
static int64_t extents_expected(const struct call *call, int i) {
    const int64_t rows = call->problem.rows;
    if (i == GIVEN_K && call->problem.ranks > 0) {
        return call->problem.k_stride == 0 ? call->problem.ranks : rows * call->problem.ranks;
    }
    if (i == GIVEN_GROUPS) {
        return call->length;
    }
    return i == GIVEN_LENGTHS && call->operation == TOPK_OPERATION_MERGE ? rows * call->lists.lists
                                                                         : rows + (i == GIVEN_OFFSETS);
}

/* int32 if all of them are usable as such, else int64, to which the others are converted. */
static int take_extents(struct call *call, struct array **arrays) {
    const struct array *const k = arrays[GIVEN_K];
    if (k != NULL && call->operation == TOPK_OPERATION_KTH && k->dims == call->lead + 1 &&
        take_ranks(call, k) != 0) {
        return -1;
    }
    bool are_narrow = call->is_ragged || call->problem.shape == TOPK_SHAPE_STRIDED; /* spans() makes int64 */
    for (int i = 0; i < EXTENTS; ++i) {
        are_narrow = are_narrow && (arrays[i] == NULL || is_usable_extent(call, arrays[i], TOPK_I32));
    }
    call->problem.extent_type = are_narrow ? TOPK_INDEX_I32 : TOPK_INDEX_I64;
    for (int i = 0; i < EXTENTS; ++i) {
        if (arrays[i] == NULL) {
            continue;
        }
        if (!are_narrow && !is_usable_extent(call, arrays[i], TOPK_I64) &&
            make_integers(call, arrays[i], extents[i].name) != 0) {
            return -1;
        }
        *(const void **)((char *)&call->input + extents[i].place) = arrays[i]->data;
        if (array_elements(arrays[i]) != extents_expected(call, i)) {
            PyErr_Format(PyExc_ValueError, "%s has %lld elements, where the %s are %lld", extents[i].name,
                         (long long)array_elements(arrays[i]),
                         i == GIVEN_GROUPS                             ? "elements of x"
                         : call->operation == TOPK_OPERATION_SELECT_BY ? "groups"
                                                                       : "rows",
                         (long long)(i == GIVEN_GROUPS ? call->length : call->problem.rows));
            return -1;
        }
    }
    return 0;
}

/* The greatest k of all rows, where the host can read them. */
static int find_k_max(struct call *call) {
    if (call->has_k_max || call->given[GIVEN_K] == NULL || call->problem.rows == 0) {
        return 0;
    }
    if (call->x.device != ON_CPU || call->input.k == NULL) {
        PyErr_SetString(PyExc_TypeError, "x is on a GPU, or k is a Shape: k_max must say how large k may be");
        return -1;
    }
    for (int64_t i = 0; i < extents_expected(call, GIVEN_K); ++i) {
        int64_t k = call->problem.extent_type == TOPK_INDEX_I32 ? ((const int32_t *)call->input.k)[i]
                                                                : ((const int64_t *)call->input.k)[i];
        call->problem.k_max = k > call->problem.k_max ? k : call->problem.k_max;
    }
    return 0;
}

static bool needs_k(int operation) {
    return operation != TOPK_OPERATION_WHERE && operation != TOPK_OPERATION_COUNT &&
           operation != TOPK_OPERATION_MASK;
}

/* One k for all rows, unless the object is an array of them. An array without dimensions is one number; but
 * k_max, which goes with arrays, makes it the only row's. */
static int take_k(struct call *call, PyObject *k) {
    if (k == Py_None) {
        if (needs_k(call->operation)) {
            PyErr_SetString(PyExc_TypeError, "k is needed");
            return -1;
        }
        return 0;
    }
    bool is_array = !PyIndex_Check(k);
    if (!PyLong_Check(k) && !is_array) { /* arrays have __index__, too */
        PyObject *shape = PyObject_GetAttrString(k, "shape");
        is_array = shape != NULL && (call->has_k_max || PyObject_Size(shape) > 0);
        PyErr_Clear();
        Py_XDECREF(shape);
    }
    if (is_array) {
        call->given[GIVEN_K] = k;
        return 0;
    }
    if (call->has_k_max) {
        PyErr_SetString(PyExc_TypeError,
                        "k is one number, where an array of them, one for each row, is needed");
        return -1;
    }
    if (options_integer(k, "k", &call->problem.k_max) != 0) {
        return -1;
    }
    if (call->problem.k_max < 0) {
        PyErr_Format(PyExc_ValueError, "k is %lld, and cannot be negative", (long long)call->problem.k_max);
        return -1;
    }
    return 0;
}

/* Rows that extents cut from one array. */
static int take_ragged(struct call *call, struct array **arrays) {
    bool is_csr = call->given[GIVEN_OFFSETS] != NULL;
    if (is_csr == (call->given[GIVEN_BEGINS] != NULL) ||
        (call->given[GIVEN_BEGINS] == NULL) != (call->given[GIVEN_ENDS] == NULL)) {
        PyErr_SetString(PyExc_TypeError, "rows are given by offsets, or by begins and ends");
        return -1;
    }
    struct rows rows;
    int dim = 0;
    if (call->x.dims != 1) {
        PyErr_Format(PyExc_ValueError, "x has %d dimensions; with offsets, or begins and ends, it has one",
                     call->x.dims);
        return -1;
    }
    if (rows_of(&call->x, &dim, true, "x", &rows) != 0) {
        return -1;
    }
    enum given which = is_csr ? GIVEN_OFFSETS : GIVEN_BEGINS;
    if (arrays[which]->dims != 1 || arrays[which]->shape[0] < is_csr) {
        PyErr_Format(PyExc_ValueError, "%s must have one dimension%s", extents[which].name,
                     is_csr ? ", and one element more than there are rows" : "");
        return -1;
    }
    call->problem.shape = is_csr ? TOPK_SHAPE_CSR : TOPK_SHAPE_SPANS;
    call->problem.rows = call->lead_shape[0] = arrays[which]->shape[0] - is_csr;
    call->problem.elements_max = rows.length;
    call->lead = 1;
    call->length = rows.length;
    call->input.values = rows.data;
    return 0;
}

bool inputs_have_shared_elements(const struct call *call) {
    bool result = false;
    for (int d = 0; d < call->x.dims; ++d) {
        result = result || (call->x.strides[d] == 0 && call->x.shape[d] > 1);
    }
    return result && call->x.kind != KIND_SHAPE && array_elements(&call->x) > 0;
}

/* Whether rows that share memory are read there. Short ones are copied: their results are as large. A method
 * that is asked for may know no spans. */
static bool can_be_spans(const struct call *call) {
    enum { LEAST_BYTES = 64 };
    bool is_selection = call->operation == TOPK_OPERATION_SELECT || call->operation == TOPK_OPERATION_KTH ||
                        call->operation == TOPK_OPERATION_WHERE || call->operation == TOPK_OPERATION_COUNT ||
                        call->operation == TOPK_OPERATION_SELECT_WHERE;
    return is_selection && call->given[GIVEN_INDICES] == NULL && call->given[GIVEN_MASK] == NULL &&
           call->method[0] == '\0' && call->tuning[0] == '\0' && inputs_have_shared_elements(call) &&
           call->x.strides[call->dim] != 0 &&
           call->x.shape[call->dim] * (int64_t)library.type_size(call->x.type) >= LEAST_BYTES;
}

/* Replaces x by the same elements in contiguous rows, which share memory as they did, if they are not such.
 */
static int make_compact(struct call *call) {
    bool is_compact = call->x.is_plain && call->x.strides[call->dim] == 1;
    for (int d = 0; d < call->x.dims; ++d) {
        is_compact = is_compact && call->x.strides[d] >= 0;
    }
    if (is_compact) {
        return 0;
    }
    PyObject *made = PyObject_CallMethod(kinds_expanded, "compact", "Oi", call->x.object, call->dim);
    enum kind kind = call->x.kind;
    if (made == NULL) {
        return -1;
    }
    array_drop(&call->x);
    int status = array_of(made, kind, "x", &call->x);
    Py_DECREF(made);
    return status;
}

/* Keeps the begins and ends of rows that share memory, which take the place of lengths. */
static int keep_spans(struct call *call, const int64_t *strides, struct array **arrays) {
    PyObject *shape = kinds_tuple(call->lead_shape, call->lead), *steps = kinds_tuple(strides, call->lead);
    PyObject *lengths = call->given[GIVEN_LENGTHS], *pair = NULL, *begins, *ends;
    if (shape != NULL && steps != NULL) {
        pair = PyObject_CallMethod(kinds_expanded, "spans", "OOOLO", call->x.object, shape, steps,
                                   (long long)call->length, lengths == NULL ? Py_None : lengths);
    }
    int status = pair != NULL && PyArg_ParseTuple(pair, "OO", &begins, &ends) &&
                         inputs_keep(call, begins, "begins", &arrays[GIVEN_BEGINS]) == 0 &&
                         inputs_keep(call, ends, "ends", &arrays[GIVEN_ENDS]) == 0
                     ? 0
                     : -1;
    arrays[GIVEN_LENGTHS] = NULL;
    Py_XDECREF(shape);
    Py_XDECREF(steps);
    Py_XDECREF(pair);
    return status;
}

/* Rows that share memory, as spans. */
static int take_shared(struct call *call, struct array **arrays) {
    int64_t strides[DIMENSIONS_MAX], rows = 1, last = 0;
    if (make_compact(call) != 0) {
        return -1;
    }
    call->length = call->x.shape[call->dim];
    for (int d = 0, lead = 0; d < call->x.dims; ++d) {
        if (d != call->dim) {
            strides[lead++] = call->x.strides[d];
            rows *= call->x.shape[d];
            last += (call->x.shape[d] - 1) * call->x.strides[d];
        }
    }
    call->problem.shape = TOPK_SHAPE_SPANS;
    call->problem.rows = rows;
    call->problem.elements_max = last + call->length;
    call->input.values = call->x.data;
    return call->is_plan ? 0 : keep_spans(call, strides, arrays);
}

/* Lists along the first dimension, and their candidates along the last one. */
static int take_lists(struct call *call) {
    const int dims = call->x.dims;
    int dim = dims - 1;
    struct rows rows;
    if (dims < 2) {
        PyErr_Format(PyExc_ValueError,
                     "values have %d dimensions, and need one of lists and one of candidates", dims);
        return -1;
    }
    if (rows_of(&call->x, &dim, true, "values", &rows) != 0) {
        return -1;
    }
    call->problem.rows = 1;
    for (int d = 1; d < dims - 1; ++d) {
        call->lead_shape[call->lead++] = call->x.shape[d];
        call->problem.rows *= call->x.shape[d];
    }
    call->dim = call->lead; /* of the results */
    call->lists.lists = call->x.shape[0];
    call->length = call->problem.row_stride = rows.length;
    call->input.values = rows.data;
    return 0;
}

/* Elements that name their groups: each group is a row of the results. */
static int take_grouped(struct call *call) {
    int dim = 0;
    struct rows rows;
    if (call->x.dims != 1) {
        PyErr_Format(PyExc_ValueError, "x has %d dimensions; with groups it has one", call->x.dims);
        return -1;
    }
    if (rows_of(&call->x, &dim, true, "x", &rows) != 0) {
        return -1;
    }
    call->lead_shape[0] = call->problem.rows;
    call->lead = call->dim = 1; /* of the results */
    call->length = rows.length;
    call->input.values = rows.data;
    return 0;
}

static int take_strided(struct call *call, struct array **arrays) {
    struct rows rows;
    int dim = call->dim;
    bool is_dense = call->given[GIVEN_INDICES] != NULL || call->given[GIVEN_MASK] != NULL ||
                    call->operation == TOPK_OPERATION_MASK;
    for (int d = 0; d < call->x.dims; ++d) {
        if (d != call->dim) {
            call->lead_shape[call->lead++] = call->x.shape[d];
        }
    }
    if (can_be_spans(call)) {
        return take_shared(call, arrays);
    }
    if (rows_of(&call->x, &dim, is_dense, "x", &rows) != 0) {
        return -1;
    }
    call->problem.rows = rows.rows;
    call->problem.row_stride = rows.stride == 0 ? rows.length : rows.stride;
    call->length = rows.length;
    call->input.values = rows.data;
    return 0;
}

/* Without rows the library writes no mask. All elements as one row, and the range [1, 0], which is empty,
 * give zeros.
 */
static void match_nothing(struct call *call) {
    call->problem.shape = TOPK_SHAPE_STRIDED;
    call->problem.rows = 1;
    call->problem.row_stride = call->length;
    call->problem.elements_max = 0;
    call->input = (topk_input){.size = sizeof call->input, .values = call->input.values};
    call->given[GIVEN_MASK] = call->given[GIVEN_THRESHOLD] = NULL;
    call->predicate.kind = TOPK_BETWEEN;
    call->predicate.low = (topk_bound){.type = TOPK_BOUND_I64, .value = {.i64 = 1}};
    call->predicate.high = (topk_bound){.type = TOPK_BOUND_I64, .value = {.i64 = 0}};
}

/* Whether length_max is not of x, but of all chunks of an accumulator. */
static bool is_of_stream(const struct call *call) {
    return call->operation >= OPERATION_INIT && call->operation < OPERATION_SHARD_BEGIN;
}

bool inputs_are_truths(const struct call *call) {
    return call->x.type == TOPK_TYPE_UNDEFINED &&
           (call->operation == TOPK_OPERATION_WHERE || call->operation == TOPK_OPERATION_COUNT ||
            call->operation == TOPK_OPERATION_MASK);
}

int inputs_take(struct call *call, PyObject *k) {
    struct array *arrays[EXTENTS] = {NULL};
    bool is_ragged = call->given[GIVEN_OFFSETS] != NULL || call->given[GIVEN_BEGINS] != NULL ||
                     call->given[GIVEN_ENDS] != NULL;
    call->is_ragged = is_ragged;
    call->problem.type = inputs_are_truths(call) ? TOPK_U8 : call->x.type;
    if (call->problem.type == TOPK_TYPE_UNDEFINED) {
        PyErr_SetString(PyExc_TypeError, "x holds truth values, which do not rank; x.view(uint8) does");
        return -1;
    }
    if (take_k(call, k) != 0 || keep_extents(call, arrays) != 0 ||
        (call->operation == TOPK_OPERATION_MERGE       ? take_lists(call)
         : call->operation == TOPK_OPERATION_SELECT_BY ? take_grouped(call)
         : is_ragged                                   ? take_ragged(call, arrays)
                                                       : take_strided(call, arrays)) != 0) {
        return -1;
    }
    if (!call->has_length_max) {
        call->problem.length_max = call->length;
    } else if (!is_ragged && !is_of_stream(call) && call->problem.length_max > call->length) {
        call->problem.length_max = call->length;
    }
    if (take_extents(call, arrays) != 0 || find_k_max(call) != 0) {
        return -1;
    }
    if (call->operation == TOPK_OPERATION_MASK && is_ragged && call->problem.rows == 0) {
        match_nothing(call);
    }
    return 0;
}
