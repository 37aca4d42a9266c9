/* SPDX-License-Identifier: Apache-2.0
 *
 * The handlers of libtopk.jax: what a compiled program of XLA calls. XLA calls them from threads of its own,
 * several at a time and without Python's lock, so nothing here but the two functions of the module touches
 * Python.
 *
 *   libtopk_select   (x) -> (values, indices, scratch)
 *   libtopk_kth      (x) -> (kth, better, equal, scratch)
 *
 * x has the rows along its last dimension. Attributes are int64: k, largest, nan_last. `scratch` is bytes
 * that the program gives for the time of the call: the workspace. `better` and `equal` have 64 bits for each
 * row: one int64, or where JAX has none two int32, the low one first.
 *
 * On CUDA a handler enqueues on XLA's stream, with the context of XLA's device. XLA also calls it before the
 * program runs, in the stage "initialize": that opens the context, since a capture for a CUDA graph allows
 * none to be made. The handler's traits tell XLA that the rest can be captured. */
#include "xla.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "core.h"

/* Contexts of all handlers: the CPU's, then one for each CUDA device. They live as long as the process. */
static _Atomic(topk_context *) contexts[1 + DEVICES_MAX];

/* NULL if there can be none, with the reason in the library's last error. XLA's threads may come first, in a
 * program that another process has compiled. `device` is ON_CPU, or the number of a CUDA device. */
static const topk_context *context_on(int device) {
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    _Atomic(topk_context *) *slot = &contexts[1 + device];
    topk_context *context = atomic_load_explicit(slot, memory_order_acquire);
    if (context != NULL) {
        return context;
    }
    pthread_mutex_lock(&one_at_a_time);
    context = atomic_load_explicit(slot, memory_order_relaxed);
    if (context == NULL) {
        topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
        options.backend = device == ON_CPU ? TOPK_BACKEND_CPU : TOPK_BACKEND_CUDA;
        options.device = device == ON_CPU ? 0 : device;
        if (library.context_create(&options, &context) == TOPK_OK) {
            atomic_store_explicit(slot, context, memory_order_release);
        }
    }
    pthread_mutex_unlock(&one_at_a_time);
    return context;
}

/* ---- Problems ---- */

struct selection {
    int64_t k, largest, nan_last;
};

static topk_problem problem_of(topk_type type, int64_t rows, int64_t length, bool is_wide,
                               const struct selection *selection) {
    topk_problem problem = TOPK_PROBLEM_INIT;
    problem.type = type;
    problem.index_type = is_wide ? TOPK_INDEX_I64 : TOPK_INDEX_I32;
    problem.direction = selection->largest ? TOPK_LARGEST : TOPK_SMALLEST;
    problem.nan = selection->nan_last ? TOPK_NAN_LAST : TOPK_NAN_AS_LARGEST;
    problem.rows = rows;
    problem.length_max = length;
    problem.k_max = selection->k;
    return problem;
}

/* ---- Calls ---- */

static struct xla_error *refuse(const struct xla_call *call, enum xla_error_code code, const char *message) {
    struct xla_error_arguments arguments = {sizeof arguments, NULL, message, code};
    return call->api->error_create(&arguments);
}

static struct xla_error *refuse_status(const struct xla_call *call, topk_status status) {
    switch (status) {
    case TOPK_ERROR_OUT_OF_MEMORY:
        return refuse(call, XLA_RESOURCE_EXHAUSTED, library.last_error());
    case TOPK_ERROR_UNSUPPORTED:
    case TOPK_ERROR_METHOD_CANNOT:
        return refuse(call, XLA_UNIMPLEMENTED, library.last_error());
    case TOPK_ERROR_BACKEND_UNAVAILABLE:
    case TOPK_ERROR_DEVICE:
        return refuse(call, XLA_INTERNAL, library.last_error());
    default:
        return refuse(call, XLA_INVALID_ARGUMENT, library.last_error());
    }
}

/* Where a call works. */
struct place {
    const topk_context *context;
    topk_stream stream;
};

static struct xla_error *find_context(const struct xla_call *call, bool is_cuda, struct place *place) {
    int device = ON_CPU;
    if (is_cuda) {
        struct xla_device_arguments asked = {sizeof asked, NULL, call->context, 0};
        struct xla_error *error = call->api->device_get(&asked);
        if (error != NULL) {
            return error;
        }
        device = asked.device;
        if (device < 0 || device >= DEVICES_MAX) {
            return refuse(call, XLA_UNIMPLEMENTED, "libtopk: CUDA devices are numbered 0 to 63");
        }
    }
    place->context = context_on(device);
    return place->context == NULL ? refuse(call, XLA_INTERNAL, library.last_error()) : NULL;
}

static struct xla_error *find_stream(const struct xla_call *call, bool is_cuda, struct place *place) {
    struct xla_stream_arguments asked = {sizeof asked, NULL, call->context, NULL};
    struct xla_error *error = is_cuda ? call->api->stream_get(&asked) : NULL;
    place->stream = asked.stream;
    return error;
}

static topk_type type_of(int type) {
    switch (type) {
    case XLA_F16:
        return TOPK_F16;
    case XLA_BF16:
        return TOPK_BF16;
    case XLA_F32:
        return TOPK_F32;
    case XLA_F64:
        return TOPK_F64;
    case XLA_F8_E4M3FN:
        return TOPK_F8_E4M3;
    case XLA_F8_E5M2:
        return TOPK_F8_E5M2;
    case XLA_S8:
        return TOPK_I8;
    case XLA_S16:
        return TOPK_I16;
    case XLA_S32:
        return TOPK_I32;
    case XLA_S64:
        return TOPK_I64;
    case XLA_U8:
        return TOPK_U8;
    case XLA_U16:
        return TOPK_U16;
    case XLA_U32:
        return TOPK_U32;
    case XLA_U64:
        return TOPK_U64;
    default:
        return TOPK_TYPE_UNDEFINED;
    }
}

/* An attribute of 64 bits; false if there is none of that name. */
static bool find_attribute(const struct xla_attributes *attributes, const char *name, int64_t *value) {
    for (int64_t i = 0; i < attributes->count; ++i) {
        const struct xla_text *text = attributes->names[i];
        const struct xla_scalar *scalar = attributes->items[i];
        if (text->length == strlen(name) && memcmp(text->start, name, text->length) == 0) {
            if (attributes->kinds[i] != XLA_SCALAR || scalar->type != XLA_S64) {
                return false;
            }
            memcpy(value, scalar->value, sizeof *value);
            return true;
        }
    }
    return false;
}

static int64_t elements_of(const struct xla_buffer *buffer) {
    int64_t elements = 1;
    for (int64_t d = 0; d < buffer->rank; ++d) {
        elements *= buffer->dims[d];
    }
    return elements;
}

/* A call, once it is known to have what the head of this file lists. */
struct request {
    const struct xla_buffer *x, *results[3], *scratch;
    struct selection selection;
    topk_problem problem;
};

/* Why a call is not as libtopk.jax makes it, or NULL: programs come from files, too. */
static const char *read_call(const struct xla_call *call, int results, struct request *given) {
    if (call->arguments.count != 1 || call->results.count != results + 1) {
        return "libtopk: the program calls with other numbers of arguments and results than this version "
               "takes";
    }
    given->x = call->arguments.items[0];
    for (int i = 0; i < results; ++i) {
        given->results[i] = call->results.items[i];
    }
    given->scratch = call->results.items[results];
    struct selection *selection = &given->selection;
    if (!find_attribute(&call->attributes, "k", &selection->k) ||
        !find_attribute(&call->attributes, "largest", &selection->largest) ||
        !find_attribute(&call->attributes, "nan_last", &selection->nan_last)) {
        return "libtopk: the program calls with other attributes than this version takes";
    }
    const int64_t rank = given->x->rank;
    const topk_type type = type_of(given->x->type);
    const bool is_wide = given->results[1]->type == XLA_S64;
    if (rank < 1 || type == TOPK_TYPE_UNDEFINED || given->results[0]->type != given->x->type ||
        (!is_wide && given->results[1]->type != XLA_S32) || given->scratch->type != XLA_U8) {
        return "libtopk: the program calls with other types than this version takes";
    }
    const int64_t length = given->x->dims[rank - 1];
    int64_t rows = 1;
    for (int64_t d = 0; d + 1 < rank; ++d) {
        rows *= given->x->dims[d];
    }
    given->problem = problem_of(type, rows, length, is_wide, selection);
    return NULL;
}

/* If the scratch was measured on another machine, a method that gets along with it serves. */
static topk_status run(const struct place *place, topk_operation operation, const struct request *given,
                       const topk_output *output) {
    void *workspace = given->scratch->data;
    const int64_t bytes = elements_of(given->scratch);
    topk_problem problem = given->problem;
    topk_input input = TOPK_INPUT_INIT;
    input.values = given->x->data;
    topk_status status = library.run(place->context, operation, &problem, &input, output, workspace,
                                     (size_t)bytes, place->stream);
    if (status == TOPK_ERROR_WORKSPACE_TOO_SMALL) {
        problem.workspace_limit = bytes == 0 ? 1 : (size_t)bytes;
        status = library.run(place->context, operation, &problem, &input, output, workspace, (size_t)bytes,
                             place->stream);
    }
    return status;
}

/* Tells XLA the version of this file and what handlers promise, if it asks; then there is no call. */
static bool tell_metadata(const struct xla_call *call, bool is_cuda) {
    const struct xla_extension *extension = call->extensions;
    if (extension == NULL || extension->type != XLA_EXTENSION_METADATA) {
        return false;
    }
    struct xla_metadata *metadata = ((const struct xla_metadata_extension *)extension)->metadata;
    metadata->version.major = XLA_MAJOR;
    metadata->version.minor = XLA_MINOR;
    metadata->traits = is_cuda ? XLA_CAN_BE_CAPTURED : 0;
    return true;
}

static const char *read_select(const struct xla_call *call, struct request *given, topk_output *output) {
    const char *why = read_call(call, 2, given);
    if (why != NULL) {
        return why;
    }
    const int64_t slots = given->problem.rows * given->problem.k_max;
    if (elements_of(given->results[0]) != slots || elements_of(given->results[1]) != slots) {
        return "libtopk: the program has other room for results than k for each row";
    }
    output->values = given->results[0]->data;
    output->indices = given->results[1]->data;
    return NULL;
}

static const char *read_kth(const struct xla_call *call, struct request *given, topk_output *output) {
    const char *why = read_call(call, 3, given);
    if (why != NULL) {
        return why;
    }
    const struct xla_buffer *better = given->results[1], *equal = given->results[2];
    const int64_t rows = given->problem.rows, counts = better->type == XLA_S64 ? rows : 2 * rows;
    if (elements_of(given->results[0]) != rows || better->type != equal->type ||
        elements_of(better) != counts || elements_of(equal) != counts) {
        return "libtopk: the program has other room for results than one for each row";
    }
    output->values = given->results[0]->data;
    output->better = better->data;
    output->equal = equal->data;
    return NULL;
}

static struct xla_error *handle(struct xla_call *call, bool is_cuda, topk_operation operation) {
    if (tell_metadata(call, is_cuda)) {
        return NULL;
    }
    struct place place;
    struct xla_error *error = find_context(call, is_cuda, &place);
    if (error != NULL || call->stage != XLA_EXECUTE) {
        return error;
    }
    struct request given;
    topk_output output = TOPK_OUTPUT_INIT;
    const char *why = operation == TOPK_OPERATION_KTH ? read_kth(call, &given, &output)
                                                      : read_select(call, &given, &output);
    if (why != NULL) {
        return refuse(call, XLA_INVALID_ARGUMENT, why);
    }
    error = find_stream(call, is_cuda, &place);
    if (error != NULL) {
        return error;
    }
    topk_status status = run(&place, operation, &given, &output);
    return status == TOPK_OK ? NULL : refuse_status(call, status);
}

static struct xla_error *select_on_cpu(struct xla_call *call) {
    return handle(call, false, TOPK_OPERATION_SELECT);
}

static struct xla_error *kth_on_cpu(struct xla_call *call) {
    return handle(call, false, TOPK_OPERATION_KTH);
}

static struct xla_error *select_on_cuda(struct xla_call *call) {
    return handle(call, true, TOPK_OPERATION_SELECT);
}

static struct xla_error *kth_on_cuda(struct xla_call *call) {
    return handle(call, true, TOPK_OPERATION_KTH);
}

/* ---- Python ---- */

typedef struct xla_error *handler(struct xla_call *call);

/* NULL with an exception if there is none. */
static handler *find_handler(const char *platform, int operation) {
    static const struct {
        const char *platform;
        int operation;
        handler *handler;
    } handlers[] = {{"cpu", TOPK_OPERATION_SELECT, select_on_cpu},
                    {"cpu", TOPK_OPERATION_KTH, kth_on_cpu},
                    {"cuda", TOPK_OPERATION_SELECT, select_on_cuda},
                    {"cuda", TOPK_OPERATION_KTH, kth_on_cuda}};
    for (size_t i = 0; i < sizeof handlers / sizeof *handlers; ++i) {
        if (strcmp(handlers[i].platform, platform) == 0 && handlers[i].operation == operation) {
            return handlers[i].handler;
        }
    }
    PyErr_Format(PyExc_NotImplementedError, "no handler on %s for operation %d", platform, operation);
    return NULL;
}

PyObject *xla_handler(PyObject *self, PyObject *arguments) {
    const char *platform;
    int operation;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "si", &platform, &operation)) {
        return NULL;
    }
    handler *found = find_handler(platform, operation);
    return found == NULL ? NULL : PyCapsule_New((void *)found, NULL, NULL);
}

PyObject *xla_scratch(PyObject *self, PyObject *arguments) {
    int device, operation, type, is_wide;
    long long rows, length, k, largest, nan_last;
    size_t bytes;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "iiiLLiLLL", &device, &operation, &type, &rows, &length, &is_wide, &k,
                          &largest, &nan_last) ||
        find_handler(device == ON_CPU ? "cpu" : "cuda", operation) == NULL) {
        return NULL;
    }
    if (device < ON_CPU || device >= DEVICES_MAX) {
        return PyErr_Format(PyExc_ValueError, "CUDA device %d, where %d are known", device, DEVICES_MAX);
    }
    const struct selection selection = {k, largest, nan_last};
    const topk_context *context;
    Py_BEGIN_ALLOW_THREADS;
    context = context_on(device);
    Py_END_ALLOW_THREADS;
    if (context == NULL) {
        PyErr_SetString(PyExc_RuntimeError, library.last_error());
        return NULL;
    }
    topk_problem problem = problem_of((topk_type)type, rows, length, is_wide, &selection);
    topk_status status = library.workspace_size(context, (topk_operation)operation, &problem, &bytes);
    return library_check(status) != 0 ? NULL : PyLong_FromSize_t(bytes);
}
