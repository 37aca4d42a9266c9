/* SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

bool rows_in_place(const struct array *array, int dim, struct rows *rows) {
    int64_t count = 1, stride = 0;
    bool is_even = true; /* the rows follow one another at that stride */
    for (int d = array->dims - 1; d >= 0; --d) {
        if (d == dim || array->shape[d] == 1) {
            continue;
        }
        if (count == 1) {
            stride = array->strides[d];
        }
        is_even = is_even && array->strides[d] == stride * count;
        count *= array->shape[d];
    }
    *rows =
        (struct rows){array->data, count, array->dims == 0 ? 1 : array->shape[dim], count > 1 ? stride : 0};
    if (rows->rows == 0 || rows->length == 0) { /* strides mean nothing then */
        rows->stride = 0;
        return true;
    }
    return array->is_plain && is_even && (rows->length == 1 || array->strides[dim] == 1) &&
           (count == 1 || stride > 0);
}

int rows_of(struct array *array, int *dim, bool dense, const char *name, struct rows *rows) {
    if (rows_in_place(array, *dim, rows) && !(dense && rows->stride != 0 && rows->stride != rows->length)) {
        return 0;
    }
    PyObject *copy = PyObject_CallFunction(kinds[array->kind].rows, "Oi", array->object, *dim);
    if (copy == NULL) {
        return -1;
    }
    enum kind kind = array->kind;
    array_drop(array);
    int status = array_of(copy, kind, name, array);
    Py_DECREF(copy);
    if (status != 0) {
        return -1;
    }
    *dim = array->dims - 1;
    if (!rows_in_place(array, *dim, rows)) {
        PyErr_Format(PyExc_SystemError, "the copy of %s has no rows side by side", name);
        return -1;
    }
    return 0;
}
