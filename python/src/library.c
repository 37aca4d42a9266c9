/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <string.h>

#include "core.h"

struct library library;

static int find_functions(void *handle, const char *path) {
    struct library found;
#define X(name)                                                                                              \
    if ((found.name = (__typeof__(found.name))dlsym(handle, "topk_" #name)) == NULL) {                       \
        PyErr_Format(PyExc_ImportError, "%s has no topk_" #name "()", path);                                 \
        return -1;                                                                                           \
    }
    LIBRARY_FUNCTIONS(X)
#undef X
    int version = found.version();
    if (version / 10000 != TOPK_VERSION_MAJOR ||
        (TOPK_VERSION_MAJOR == 0 && version / 100 != TOPK_VERSION / 100)) {
        PyErr_Format(PyExc_ImportError, "%s is version %d.%d, but %d.%d is needed", path, version / 10000,
                     version / 100 % 100, TOPK_VERSION_MAJOR, TOPK_VERSION_MINOR);
        return -1;
    }
    library = found;
    return 0;
}

int library_load(const char *path) {
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        PyErr_Format(PyExc_ImportError, "libtopk cannot be loaded: %s", dlerror());
        return -1;
    }
    if (find_functions(handle, path) != 0) {
        dlclose(handle);
        return -1;
    }
    return 0;
}

static PyObject *exception_of(topk_status status) {
    switch (status) {
    case TOPK_ERROR_OUT_OF_MEMORY:
        return PyExc_MemoryError;
    case TOPK_ERROR_DEVICE:
    case TOPK_ERROR_BACKEND_UNAVAILABLE:
    case TOPK_ERROR_BAD_STATE:
        return PyExc_RuntimeError;
    case TOPK_ERROR_UNSUPPORTED:
    case TOPK_ERROR_METHOD_CANNOT:
        return PyExc_NotImplementedError;
    case TOPK_ERROR_OVERFLOW:
    case TOPK_ERROR_INDEX_TOO_NARROW:
        return PyExc_OverflowError;
    default:
        return PyExc_ValueError;
    }
}

static PyObject *messages; /* libtopk._messages */

int messages_init(void) {
    Py_XDECREF(messages);
    messages = PyImport_ImportModule("libtopk._messages");
    return messages == NULL ? -1 : 0;
}

PyObject *messages_of(const char *text) {
    PyObject *message = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace"); /* it may be cut */
    PyObject *translated = message == NULL ? NULL : PyObject_CallMethod(messages, "in_python", "O", message);
    Py_XDECREF(message);
    return translated;
}

/* Sets an exception with a message that is a new reference, or NULL with another exception set. */
static void raise(PyObject *exception, PyObject *message) {
    if (message != NULL) {
        PyErr_SetObject(exception, message);
    }
    Py_XDECREF(message);
}

void messages_refuse_option(int operation, PyObject *name) {
    raise(PyExc_TypeError, PyObject_CallMethod(messages, "no_option", "iO", operation, name));
}

int library_check(topk_status status) {
    if (status == TOPK_OK) {
        return 0;
    }
    raise(exception_of(status), messages_of(library.last_error()));
    return -1;
}
