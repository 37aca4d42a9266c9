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
 * that the program gives for the time of the call: for kth first two counts of 64 bits for each row, and then
 * the workspace. */
#include "xla.h"

#include <pthread.h>
#include <string.h>

#include "core.h"

static topk_context *cpu; /* of all handlers on the CPU; lives as long as the process */
static char cpu_failure[256];

/* XLA's threads may come first, in a program that another process has compiled. */
static void open_cpu(void) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    if (library.context_create(&options, &cpu) != TOPK_OK) {
        strncpy(cpu_failure, library.last_error(), sizeof cpu_failure - 1);
    }
}

/* NULL if there can be none, with the reason in cpu_failure. */
static const topk_context *cpu_context(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_cpu);
    return cpu;
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

/* The library writes counts of 64 bits, and results may have 32. */
static size_t bytes_of_counts(topk_operation operation, int64_t rows) {
    return operation == TOPK_OPERATION_KTH ? 2 * sizeof(int64_t) * (size_t)rows : 0;
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
    default:
        return refuse(call, XLA_INVALID_ARGUMENT, library.last_error());
    }
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

/* If the scratch was measured where a context has other threads, a method that gets along with it serves. */
static topk_status run(topk_operation operation, const struct request *given, const topk_output *output,
                       uint8_t *workspace, int64_t bytes) {
    topk_problem problem = given->problem;
    topk_input input = TOPK_INPUT_INIT;
    input.values = given->x->data;
    topk_status status =
        library.run(cpu, operation, &problem, &input, output, workspace, (size_t)bytes, NULL);
    if (status == TOPK_ERROR_WORKSPACE_TOO_SMALL) {
        problem.workspace_limit = bytes == 0 ? 1 : (size_t)bytes;
        status = library.run(cpu, operation, &problem, &input, output, workspace, (size_t)bytes, NULL);
    }
    return status;
}

/* Tells XLA the version of this file, if it asks; then there is no call. */
static bool tell_version(const struct xla_call *call) {
    const struct xla_extension *extension = call->extensions;
    if (extension == NULL || extension->type != XLA_EXTENSION_METADATA) {
        return false;
    }
    struct xla_metadata *metadata = ((const struct xla_metadata_extension *)extension)->metadata;
    metadata->version.major = XLA_MAJOR;
    metadata->version.minor = XLA_MINOR;
    return true;
}

static struct xla_error *select_on_cpu(struct xla_call *call) {
    struct request given;
    if (tell_version(call)) {
        return NULL;
    }
    const char *why = read_call(call, 2, &given);
    if (why == NULL && cpu_context() == NULL) {
        why = cpu_failure;
    }
    const int64_t slots = why == NULL ? given.problem.rows * given.problem.k_max : 0;
    if (why == NULL && (elements_of(given.results[0]) != slots || elements_of(given.results[1]) != slots)) {
        why = "libtopk: the program has other room for results than k for each row";
    }
    if (why != NULL) {
        return refuse(call, XLA_INVALID_ARGUMENT, why);
    }
    topk_output output = TOPK_OUTPUT_INIT;
    output.values = given.results[0]->data;
    output.indices = given.results[1]->data;
    topk_status status =
        run(TOPK_OPERATION_SELECT, &given, &output, given.scratch->data, elements_of(given.scratch));
    return status == TOPK_OK ? NULL : refuse_status(call, status);
}

static void copy_counts(const struct xla_buffer *result, const int64_t *counts, int64_t rows) {
    if (result->type == XLA_S64) {
        memcpy(result->data, counts, sizeof *counts * (size_t)rows);
        return;
    }
    int32_t *narrow = result->data;
    for (int64_t row = 0; row < rows; ++row) {
        narrow[row] = (int32_t)counts[row]; /* which the row's length bounds */
    }
}

static struct xla_error *kth_on_cpu(struct xla_call *call) {
    struct request given;
    if (tell_version(call)) {
        return NULL;
    }
    const char *why = read_call(call, 3, &given);
    if (why == NULL && cpu_context() == NULL) {
        why = cpu_failure;
    }
    const int64_t rows = why == NULL ? given.problem.rows : 0;
    const int64_t of_counts = (int64_t)bytes_of_counts(TOPK_OPERATION_KTH, rows);
    for (int i = 0; i < 3 && why == NULL; ++i) {
        if (elements_of(given.results[i]) != rows || elements_of(given.scratch) < of_counts ||
            given.results[2]->type != given.results[1]->type) {
            why = "libtopk: the program has other room for results than one for each row";
        }
    }
    if (why != NULL) {
        return refuse(call, XLA_INVALID_ARGUMENT, why);
    }
    topk_output output = TOPK_OUTPUT_INIT;
    output.values = given.results[0]->data;
    output.better = given.scratch->data;
    output.equal = output.better + rows;
    topk_status status = run(TOPK_OPERATION_KTH, &given, &output, (uint8_t *)given.scratch->data + of_counts,
                             elements_of(given.scratch) - of_counts);
    if (status != TOPK_OK) {
        return refuse_status(call, status);
    }
    if (rows > 0) {
        copy_counts(given.results[1], output.better, rows);
        copy_counts(given.results[2], output.equal, rows);
    }
    return NULL;
}

/* ---- Python ---- */

typedef struct xla_error *handler(struct xla_call *call);

/* NULL with an exception if there is none. */
static handler *find_handler(const char *platform, int operation) {
    static const struct {
        const char *platform;
        int operation;
        handler *handler;
    } handlers[] = {{"cpu", TOPK_OPERATION_SELECT, select_on_cpu}, {"cpu", TOPK_OPERATION_KTH, kth_on_cpu}};
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
    const char *platform;
    int operation, type, is_wide;
    long long rows, length, k, largest, nan_last;
    size_t bytes;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "siiLLiLLL", &platform, &operation, &type, &rows, &length, &is_wide, &k,
                          &largest, &nan_last) ||
        find_handler(platform, operation) == NULL) {
        return NULL;
    }
    const struct selection selection = {k, largest, nan_last};
    const topk_context *context;
    Py_BEGIN_ALLOW_THREADS;
    context = cpu_context();
    Py_END_ALLOW_THREADS;
    if (context == NULL) {
        PyErr_SetString(PyExc_RuntimeError, cpu_failure);
        return NULL;
    }
    topk_problem problem = problem_of((topk_type)type, rows, length, is_wide, &selection);
    if (library_check(library.workspace_size(context, (topk_operation)operation, &problem, &bytes)) != 0) {
        return NULL;
    }
    return PyLong_FromSize_t(bytes_of_counts((topk_operation)operation, rows) + bytes);
}
