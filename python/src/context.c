/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "core.h"

static PyTypeObject *context_type;
/* Those that calls use unless they name one: the CPU's, then one for each CUDA device. */
static struct context *defaults[1 + DEVICES_MAX];

static int open_context(struct context *context, topk_backend backend, int device, int threads,
                        uint64_t seed) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    options.backend = backend;
    options.device = device;
    options.threads = threads;
    options.seed = seed;
    topk_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = library.context_create(&options, &context->handle);
    Py_END_ALLOW_THREADS;
    topk_context_properties properties = TOPK_CONTEXT_PROPERTIES_INIT;
    if (library_check(status) != 0 ||
        library_check(library.context_query(context->handle, &properties)) != 0) {
        return -1;
    }
    context->backend = properties.backend;
    context->device = properties.device;
    context->threads = properties.threads;
    context->features = strdup(properties.features == NULL ? "" : properties.features);
    if (context->features == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    context->reads_host =
        properties.backend == TOPK_BACKEND_CPU || strncmp(context->features, "emulated", 8) == 0;
    return 0;
}

static PyObject *make(PyTypeObject *type, topk_backend backend, int device, int threads, uint64_t seed) {
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    struct context *context = (struct context *)allocate(type, 0);
    if (context != NULL && open_context(context, backend, device, threads, seed) != 0) {
        Py_CLEAR(context);
    }
    return (PyObject *)context;
}

static int read_seed(PyObject *object, unsigned long long *seed) {
    PyObject *integer = PyNumber_Index(object);
    *seed = integer == NULL ? 0 : PyLong_AsUnsignedLongLong(integer);
    Py_XDECREF(integer);
    if (integer != NULL && PyErr_Occurred()) {
        PyErr_Clear();
        PyErr_Format(PyExc_ValueError, "seed is %R, and must be 0 to 2^64 - 1", object);
    }
    return PyErr_Occurred() ? -1 : 0;
}

/* Leaves *number as it is without an object. */
static int read_int(PyObject *object, const char *name, int *number) {
    int64_t wide = *number;
    if (object != NULL && options_integer(object, name, &wide) != 0) {
        return -1;
    }
    if (wide != (int)wide) {
        PyErr_Format(PyExc_OverflowError, "%s is %lld, and beyond 32 bits", name, (long long)wide);
        return -1;
    }
    *number = (int)wide;
    return 0;
}

static PyObject *context_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    static char *names[] = {"backend", "device", "threads", "seed", NULL};
    static const char *const backends[] = {"auto", "cpu", "cuda"};
    const char *backend = "auto";
    int device = 0, threads = 0;
    PyObject *device_object = NULL, *threads_object = NULL, *seed_object = NULL;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|s$OOO", names, &backend, &device_object,
                                     &threads_object, &seed_object) ||
        read_int(device_object, "device", &device) != 0 ||
        read_int(threads_object, "threads", &threads) != 0) {
        return NULL;
    }
    unsigned long long seed = 0;
    if (seed_object != NULL && read_seed(seed_object, &seed) != 0) {
        return NULL;
    }
    for (int i = 0; i < 3; ++i) {
        if (strcmp(backend, backends[i]) == 0) {
            return make(type, (topk_backend)i, device, threads, seed);
        }
    }
    PyErr_Format(PyExc_ValueError, "backend is '%s', and can be 'auto', 'cpu' or 'cuda'", backend);
    return NULL;
}

static void context_dealloc(PyObject *self) {
    struct context *context = (struct context *)self;
    PyTypeObject *type = Py_TYPE(self);
    Py_BEGIN_ALLOW_THREADS;
    library.context_destroy(context->handle); /* waits for its threads */
    Py_END_ALLOW_THREADS;
    free(context->features);
    free(context->spare);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyObject *get_backend(PyObject *self, void *Py_UNUSED(closure)) {
    return PyUnicode_FromString(((struct context *)self)->backend == TOPK_BACKEND_CPU ? "cpu" : "cuda");
}

static PyObject *get_device(PyObject *self, void *Py_UNUSED(closure)) {
    return PyLong_FromLong(((struct context *)self)->device);
}

static PyObject *get_threads(PyObject *self, void *Py_UNUSED(closure)) {
    return PyLong_FromLong(((struct context *)self)->threads);
}

static PyObject *get_features(PyObject *self, void *Py_UNUSED(closure)) {
    return PyUnicode_FromString(((struct context *)self)->features);
}

static PyGetSetDef getters[] = {
    {"backend", get_backend, NULL, "'cpu' or 'cuda'", NULL},
    {"device", get_device, NULL, "The CUDA device; 0 on the CPU", NULL},
    {"threads", get_threads, NULL, "Threads of the CPU that a call may use; 1 on CUDA", NULL},
    {"features", get_features, NULL, "The CPU's instruction set in use, or the name of the CUDA device",
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static const char documentation[] =
    "Context(backend='auto', *, device=0, threads=0, seed=0)\n--\n\n"
    "What calls on one device share: its threads, its capabilities and the environment's overrides.\n\n"
    "Calls make one for each device when they first need it. A context of your own, as the option context "
    "of\n"
    "a call, has another number of threads: threads=0 means OMP_NUM_THREADS, or one for each processor\n"
    "that affinity and CPU quota allow. On the CPU a context's threads do the work of one call at a time;\n"
    "who calls from many Python threads gives each a context. A seed that is not 0 fixes which elements\n"
    "methods sample, never a result.\n\n"
    "Raises ValueError for values out of range, RuntimeError where there is no such device.";

int context_init(PyObject *module) {
    PyType_Slot slots[] = {
        {Py_tp_new, (void *)context_new},
        {Py_tp_dealloc, (void *)context_dealloc},
        {Py_tp_getset, getters},
        {Py_tp_doc, (void *)documentation},
        {0, NULL},
    };
    PyType_Spec spec = {"libtopk.Context", sizeof(struct context), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, slots};
    context_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return context_type == NULL ? -1 : PyModule_AddObjectRef(module, "Context", (PyObject *)context_type);
}

struct context *context_for(int device) {
    if (device >= DEVICES_MAX) {
        PyErr_Format(PyExc_ValueError, "CUDA device %d, where %d are known", device, DEVICES_MAX);
        return NULL;
    }
    struct context **slot = &defaults[1 + device];
    if (*slot == NULL) {
        PyObject *made = make(context_type, device == ON_CPU ? TOPK_BACKEND_CPU : TOPK_BACKEND_CUDA,
                              device == ON_CPU ? 0 : device, 0, 0);
        if (*slot != NULL) { /* another thread was first: making one lets others run */
            Py_XDECREF(made);
            PyErr_Clear(); /* of the one that was not needed */
        } else {
            *slot = (struct context *)made;
        }
    }
    return *slot;
}

struct context *context_from(PyObject *object) {
    if (!PyObject_TypeCheck(object, context_type)) {
        PyErr_Format(PyExc_TypeError, "context is no libtopk.Context, but %R", object);
        return NULL;
    }
    return (struct context *)object;
}
