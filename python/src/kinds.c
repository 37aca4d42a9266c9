/* SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

static const char *const modules[KINDS] = {"numpy", "torch", "cupy", "shape"};

struct kind_functions kinds[KINDS];

static PyObject *kinds_module, *adopt_module, *loaded_modules; /* libtopk._kinds, ._adopt, sys.modules */

PyObject *kinds_expanded; /* libtopk._expanded */
PyObject *kinds_nulls;    /* libtopk._adopt.Nulls */

/* Fills kinds[kind] from the class of libtopk._kinds that is named after the module. AttributeError where the
 * module is half imported, or banned by None: the next call tries again. */
static int learn(enum kind kind) {
    struct kind_functions found = {0};
    const struct {
        const char *name;
        bool is_called; /* for what it returns, once */
        PyObject **place;
    } parts[] = {
        {"array_type", true, &found.array_type},
        {"dtypes", true, &found.dtypes},
        {"empty", false, &found.empty},
        {"keywords", true, &found.keywords},
        {"rows", false, &found.rows},
        {"move", false, &found.move},
        {"assign", false, &found.assign},
        {"tell_written", true, &found.tell_written},
        {"integers", false, &found.integers},
        {"stream", true, &found.stream},
    };
    enum { PARTS = sizeof parts / sizeof *parts };
    PyObject *functions = PyObject_GetAttrString(kinds_module, modules[kind]);
    int count = 0;
    while (functions != NULL && count < PARTS) {
        *parts[count].place = parts[count].is_called ? PyObject_CallMethod(functions, parts[count].name, NULL)
                                                     : PyObject_GetAttrString(functions, parts[count].name);
        if (*parts[count].place == NULL) {
            break;
        }
        ++count;
    }
    Py_XDECREF(functions);
    if (count < PARTS) {
        while (count > 0) {
            Py_DECREF(*parts[--count].place);
        }
        return -1;
    }
    found.exchange = exchange_of(found.array_type);
    kinds[kind] = found;
    return 0;
}

int kinds_init(void) {
    PyObject *kinds_found = PyImport_ImportModule("libtopk._kinds");
    PyObject *adopt_found = PyImport_ImportModule("libtopk._adopt");
    if (kinds_found == NULL || adopt_found == NULL) {
        return -1;
    }
    kinds_module = kinds_found;
    adopt_module = adopt_found;
    loaded_modules = PyImport_GetModuleDict();
    kinds_expanded = PyImport_ImportModule("libtopk._expanded");
    kinds_nulls = PyObject_GetAttrString(adopt_found, "Nulls");
    return kinds_expanded == NULL || kinds_nulls == NULL || learn(KIND_NUMPY) != 0 ? -1 : learn(KIND_SHAPE);
}

static bool is_of(PyObject *object, enum kind kind) {
    return kinds[kind].array_type != NULL &&
           PyObject_TypeCheck(object, (PyTypeObject *)kinds[kind].array_type);
}

/* An array of a subclass may be more than its memory. */
static int check_subclass(PyObject *object, enum kind kind) {
    if (kind != KIND_NUMPY || (PyObject *)Py_TYPE(object) == kinds[kind].array_type) {
        return 0;
    }
    PyObject *none = PyObject_CallMethod(adopt_module, "check_subclass", "(O)", object);
    Py_XDECREF(none);
    return none == NULL ? -1 : 0;
}

int kinds_of(PyObject *object, enum kind *kind, PyObject **adopted, PyObject **giver) {
    *adopted = *giver = NULL;
    for (*kind = 0; *kind < KINDS; ++*kind) {
        if (is_of(object, *kind)) {
            return check_subclass(object, *kind);
        }
    }
    for (*kind = KIND_TORCH; *kind < KINDS; ++*kind) { /* a kind that was imported since */
        if (kinds[*kind].array_type == NULL && PyDict_GetItemString(loaded_modules, modules[*kind]) != NULL) {
            if (learn(*kind) != 0) {
                if (!PyErr_ExceptionMatches(PyExc_AttributeError)) {
                    return -1;
                }
                PyErr_Clear();
            } else if (is_of(object, *kind)) {
                return 0;
            }
        }
    }
    PyObject *pair = PyObject_CallMethod(adopt_module, "adopt", "(O)", object);
    PyObject *give;
    if (pair == NULL || !PyArg_ParseTuple(pair, "OO", adopted, &give)) {
        Py_XDECREF(pair);
        *adopted = NULL;
        return -1;
    }
    Py_INCREF(*adopted);
    if (give != Py_None) {
        Py_INCREF(give);
        *giver = give;
    }
    Py_DECREF(pair);
    PyObject *nested, *ignored;
    int status = kinds_of(*adopted, kind, &nested, &ignored); /* of a known kind, so at the first level */
    if (status == 0 && nested != NULL) {
        Py_DECREF(nested);
        Py_XDECREF(ignored);
        PyErr_SetString(PyExc_TypeError, "what DLPack or numpy has made of an array is no array");
        status = -1;
    }
    if (status != 0) {
        Py_CLEAR(*adopted);
        Py_CLEAR(*giver);
    }
    return status;
}

PyObject *kinds_dtype_name(PyObject *dtype) {
    return PyObject_CallMethod(kinds_module, "name_of", "(O)", dtype);
}

void kinds_refuse_type(const char *name, PyObject *dtype) {
    Py_XDECREF(PyObject_CallMethod(adopt_module, "refuse_type", "sO", name, dtype)); /* it always raises */
}

PyObject *kinds_tuple(const int64_t *numbers, int count) {
    PyObject *tuple = PyTuple_New(count);
    for (int i = 0; tuple != NULL && i < count; ++i) {
        PyObject *integer = PyLong_FromLongLong(numbers[i]);
        if (integer == NULL || PyTuple_SetItem(tuple, i, integer) != 0) {
            Py_CLEAR(tuple);
        }
    }
    return tuple;
}

PyObject *kinds_new(enum kind kind, PyObject *like, const int64_t *shape, int dims, topk_type type,
                    const char *dtype) {
    const struct kind_functions *functions = &kinds[kind];
    PyObject *sizes = kinds_tuple(shape, dims), *result = NULL;
    if (sizes == NULL) {
        return NULL;
    }
    /* A subclass may have a method of its own. */
    bool has_method = functions->keywords != Py_None && (PyObject *)Py_TYPE(like) == functions->array_type;
    if (has_method && dims > 0) {
        PyObject *method = PyObject_GetAttr(like, INTERNED("new_empty"));
        PyObject *keywords =
            PyDict_Copy(PyTuple_GetItem(functions->keywords, type)); /* modes of torch may add to it */
        result = method == NULL || keywords == NULL ? NULL : PyObject_Call(method, sizes, keywords);
        Py_XDECREF(method);
        Py_XDECREF(keywords);
    } else {
        result = PyObject_CallFunction(functions->empty, "OOz", like, sizes, dtype);
    }
    Py_DECREF(sizes);
    return result;
}

int kinds_stream(enum kind kind, int device, topk_stream *stream) {
    if (kinds[kind].exchange != NULL) {
        return exchange_stream(kinds[kind].exchange, device, stream);
    }
    PyObject *address = PyObject_CallFunction(kinds[kind].stream, "i", device);
    *stream = address == NULL ? NULL : (topk_stream)PyLong_AsVoidPtr(address);
    Py_XDECREF(address);
    return PyErr_Occurred() ? -1 : 0;
}
