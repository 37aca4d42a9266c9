/* SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

/* An error in all interpreters of the process but the first: what the core keeps belongs to one. */
static int check_interpreter(void) {
    static int64_t owner = -1;
    int64_t current = PyInterpreterState_GetID(PyInterpreterState_Get());
    if (owner != -1 && owner != current) {
        PyErr_SetString(PyExc_ImportError, "libtopk can be imported by one interpreter of a process alone");
        return -1;
    }
    owner = current;
    return 0;
}

/* What a second import of the package finds loaded stays; the modules beside this one are new then. */
static PyObject *load(PyObject *self, PyObject *path) {
    PyObject *bytes = NULL;
    (void)self;
    if (check_interpreter() != 0) {
        return NULL;
    }
    if (library.version == NULL) {
        if (!PyUnicode_FSConverter(path, &bytes)) {
            return NULL;
        }
        int status = library_load(PyBytes_AsString(bytes));
        Py_DECREF(bytes);
        if (status != 0) {
            return NULL;
        }
    }
    if (messages_init() != 0 || kinds_init() != 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *version(PyObject *self, PyObject *Py_UNUSED(none)) {
    (void)self;
    return PyLong_FromLong(library.version());
}

/* (an array of a known kind, what turns results into the caller's kind or None) */
static PyObject *adopt(PyObject *self, PyObject *object) {
    enum kind kind;
    PyObject *adopted, *giver;
    (void)self;
    if (kinds_of(object, &kind, &adopted, &giver) != 0) {
        return NULL;
    }
    PyObject *pair = PyTuple_Pack(2, adopted == NULL ? object : adopted, giver == NULL ? Py_None : giver);
    Py_XDECREF(adopted);
    Py_XDECREF(giver);
    return pair;
}

/* A new array beside another one of a known kind. */
static PyObject *empty(PyObject *self, PyObject *arguments) {
    PyObject *like, *shape, *dtype, *adopted, *giver;
    enum kind kind;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOO", &like, &shape, &dtype) ||
        kinds_of(like, &kind, &adopted, &giver) != 0) {
        return NULL;
    }
    Py_XDECREF(adopted);
    Py_XDECREF(giver);
    return PyObject_CallFunctionObjArgs(kinds[kind].empty, like, shape, dtype, NULL);
}

/* The address of an array's memory. */
static PyObject *address(PyObject *self, PyObject *object) {
    struct array array;
    (void)self;
    if (array_from(object, "array", &array, NULL) != 0) {
        return NULL;
    }
    array_drop(&array);
    return PyLong_FromVoidPtr(array.data);
}

/* Integers as contiguous int64 beside an array of a known kind. */
static PyObject *integers(PyObject *self, PyObject *arguments) {
    PyObject *object, *like, *adopted, *giver;
    const char *name;
    enum kind kind;
    struct array array;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOs", &object, &like, &name) ||
        array_from(object, name, &array, NULL) != 0) {
        return NULL;
    }
    PyObject *result = NULL;
    if (inputs_check_integers(&array, name) == 0 && kinds_of(like, &kind, &adopted, &giver) == 0) {
        result = PyObject_CallFunctionObjArgs(kinds[kind].integers, array.object, like, NULL);
        Py_XDECREF(adopted);
        Py_XDECREF(giver);
    }
    array_drop(&array);
    return result;
}

static PyMethodDef functions[] = {
    {"load", load, METH_O, "Loads the C library; before everything else."},
    {"version", version, METH_NOARGS, "TOPK_VERSION of the library that is loaded."},
    {"adopt", adopt, METH_O, "An array as one of numpy, torch or cupy, and what turns results back or None."},
    {"as_bits", exchange_as_bits, METH_O,
     "Makes what a DLPack capsule holds unsigned integers if numpy does not know its type, whose name it "
     "returns."},
    {"empty", empty, METH_VARARGS,
     "empty(like, shape, dtype): a new array beside one of numpy, torch or cupy."},
    {"address", address, METH_O, "The address of an array's memory."},
    {"integers", integers, METH_VARARGS,
     "integers(object, like, name): as contiguous int64 beside an array of numpy, torch or cupy."},
    {"run", (PyCFunction)(void (*)(void))call_run, METH_FASTCALL, "A call of the C library."},
    {"xla_handler", xla_handler, METH_VARARGS,
     "xla_handler(platform, operation): a capsule of the handler that a program of XLA calls."},
    {"xla_scratch", xla_scratch, METH_VARARGS, "The bytes of scratch that a handler needs."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "libtopk._core", NULL, -1, functions, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC PyInit__core(void) {
    PyObject *made = PyModule_Create(&module);
    if (made != NULL && context_init(made) != 0) {
        Py_CLEAR(made);
    }
    return made;
}
