/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "core.h"

enum mode { MODE_RUN, MODE_WORKSPACE, MODE_EXPLAIN, MODE_CHOICE };

/* Shapes are left as they are: setting them takes longer than a small call. */
static void begin(struct call *call, int operation, bool is_plan) {
    memset(call, 0, offsetof(struct call, x));
    call->operation = operation;
    call->is_plan = is_plan;
    call->problem = (topk_problem)TOPK_PROBLEM_INIT;
    call->problem.index_type = TOPK_INDEX_I64;
    call->input = (topk_input)TOPK_INPUT_INIT;
    call->predicate = (topk_predicate)TOPK_PREDICATE_INIT;
    call->routing = (topk_routing)TOPK_ROUTING_INIT;
    call->lists = (topk_lists)TOPK_LISTS_INIT;
    call->counters = call->numbers = NULL;
    call->positions = NULL;
    call->payload = NULL;
    call->x.object = call->workspace.object = call->other.object = NULL;
    for (int i = 0; i < OUTPUTS_MAX; ++i) {
        memset(&call->outputs[i], 0, offsetof(struct output, shape));
    }
}

static void end(struct call *call) {
    outputs_drop(call);
    for (int i = 0; i < call->kept_count; ++i) {
        array_drop(&call->kept[i]);
    }
    array_drop(&call->x);
    array_drop(&call->workspace);
    array_drop(&call->other);
    Py_CLEAR(call->giver);
}

static int take_x(struct call *call, PyObject *x, PyObject *dim) {
    const char *name = call->axis == NULL ? "dim" : "axis";
    if (call->axis != NULL && (PyLong_AsLong(dim) != -1 || PyErr_Occurred() != NULL)) {
        PyErr_SetString(PyExc_TypeError, "dim and axis are two names of one argument, and both are given");
        return -1;
    }
    if (array_from(x, "x", &call->x, &call->giver) != 0 || inputs_refuse_shape(call, &call->x, "x") != 0) {
        return -1;
    }
    int64_t number, dims = call->x.dims == 0 ? 1 : call->x.dims;
    if (options_integer(call->axis == NULL ? dim : call->axis, name, &number) != 0) {
        return -1;
    }
    if (number < -dims || number >= dims) {
        PyErr_Format(PyExc_IndexError, "%s is %lld, outside [%lld, %lld]", name, (long long)number,
                     -(long long)dims, (long long)dims - 1);
        return -1;
    }
    call->is_scalar = call->x.dims == 0;
    call->dim = (int)(number < 0 ? number + dims : number);
    return 0;
}

/* The context and, on a GPU, the current stream. */
static int take_context(struct call *call) {
    bool is_anywhere = call->x.device == ON_ANY_DEVICE;
    call->context = call->context_object == NULL ? context_for(is_anywhere ? ON_CPU : call->x.device)
                                                 : context_from(call->context_object);
    if (call->context == NULL) {
        return -1;
    }
    if (is_anywhere) {
        call->x.device = call->context->reads_host ? ON_CPU : call->context->device;
    }
    bool fits = call->x.device == ON_CPU
                    ? call->context->reads_host
                    : !call->context->reads_host && call->context->device == call->x.device;
    if (!fits) {
        PyErr_SetString(PyExc_ValueError, "x is not in the memory of the context's device");
        return -1;
    }
    if (call->x.device != ON_CPU && !call->is_plan) {
        return kinds_stream(call->x.kind, call->x.device, &call->stream);
    }
    return 0;
}

static bool needs_predicate(int operation) {
    return operation == TOPK_OPERATION_WHERE || operation == TOPK_OPERATION_SELECT_WHERE ||
           operation == TOPK_OPERATION_COUNT || operation == TOPK_OPERATION_MASK;
}

/* Whether the call has a predicate: kth() may have one. */
static bool has_predicate(const struct call *call) {
    return needs_predicate(call->operation) ||
           (call->operation == TOPK_OPERATION_KTH && call->predicate.kind != TOPK_PREDICATE_UNDEFINED);
}

/* What the C library calls the operation. */
static topk_operation operation_of(const struct call *call) {
    return call->operation == TOPK_OPERATION_KTH && has_predicate(call) ? TOPK_OPERATION_KTH_WHERE
                                                                        : (topk_operation)call->operation;
}

/* The arguments of run(). */
enum { MODE, OPERATION, X, K, LARGEST, SORTED, DIM, OUT, WANTED, WORKSPACE, OPTIONS, OTHER, ARGUMENTS };

/* Options, x and the context. */
static int prepare(struct call *call, PyObject *const *arguments) {
    int largest = PyObject_IsTrue(arguments[LARGEST]), sorted = PyObject_IsTrue(arguments[SORTED]);
    if (largest < 0 || sorted < 0) {
        return -1;
    }
    call->problem.direction = largest ? TOPK_LARGEST : TOPK_SMALLEST;
    call->problem.order = sorted ? TOPK_ORDER_BEST_FIRST : TOPK_ORDER_ANY;
    if (options_read(call, arguments[OPTIONS] == Py_None ? NULL : arguments[OPTIONS]) != 0 ||
        take_x(call, arguments[X], arguments[DIM]) != 0 || take_context(call) != 0) {
        return -1;
    }
    call->problem.method = call->method[0] == '\0' ? NULL : call->method;
    call->problem.tuning = call->tuning[0] == '\0' ? NULL : call->tuning;
    if (inputs_are_truths(call) && call->predicate.kind == TOPK_PREDICATE_UNDEFINED) {
        call->predicate.kind = TOPK_NE; /* what is not false */
        call->predicate.low = (topk_bound){.type = TOPK_BOUND_I64, .value = {.i64 = 0}};
    }
    if (needs_predicate(call->operation) && call->predicate.kind == TOPK_PREDICATE_UNDEFINED) {
        PyErr_SetString(PyExc_TypeError,
                        "a predicate is needed: gt, ge, lt, le, eq, ne, between, mask, bits or at_least");
        return -1;
    }
    return 0;
}

static int measure(const struct call *call, size_t *bytes) {
    const topk_context *context = call->context->handle;
    if (call->operation == OPERATION_EXPORT) {
        return library_check(library.accumulator_export_size(context, &call->problem, bytes));
    }
    return library_check(call->operation >= OPERATION_INIT
                             ? library.accumulator_size(context, &call->problem, bytes)
                             : library.workspace_size(context, operation_of(call), &call->problem, bytes));
}

static topk_status run_accumulator(struct call *call, const topk_output *output, void *state, size_t bytes) {
    topk_context *context = call->context->handle;
    const topk_problem *problem = &call->problem;
    const topk_input *input = &call->input;
    const topk_predicate *predicate = &call->predicate;
    size_t other_bytes = (size_t)(call->other.object == NULL ? 0 : array_elements(&call->other));
    switch (call->operation) {
    case OPERATION_INIT:
        return library.accumulator_init(context, problem, state, bytes, call->stream);
    case OPERATION_PUSH:
        if (predicate->kind != TOPK_PREDICATE_UNDEFINED) {
            return library.accumulator_push_where(context, problem, state, bytes, input, predicate,
                                                  call->length, call->base, call->stream);
        }
        return library.accumulator_push(context, problem, state, bytes, input, call->length, call->base,
                                        call->stream);
    case OPERATION_MERGE:
        return library.accumulator_merge(context, problem, state, bytes, call->other.data, other_bytes,
                                         call->stream);
    case OPERATION_PEEK:
        return library.accumulator_peek(context, problem, state, bytes, output->values, output->indices,
                                        call->stream);
    case OPERATION_BAR:
        return library.accumulator_bar(context, problem, state, bytes, output->values, output->better,
                                       call->stream);
    case OPERATION_RAISE:
        return library.accumulator_raise(context, problem, state, bytes, predicate->threshold,
                                         call->positions, call->stream);
    case OPERATION_EXPORT:
        return library.accumulator_export(context, problem, state, bytes, call->other.data, other_bytes,
                                          call->stream);
    case OPERATION_IMPORT:
        return library.accumulator_import(context, problem, state, bytes, call->other.data, other_bytes,
                                          call->stream);
    default:
        return library.accumulator_finish(context, problem, state, bytes, output->values, output->indices,
                                          call->stream);
    }
}

/* Runs the operation without Python's lock. */
static topk_status run(struct call *call, void *memory, size_t bytes) {
    const topk_output output = outputs_given(call);
    if (call->operation >= OPERATION_SHARD_BEGIN) {
        return shards_run(call, memory, bytes);
    }
    if (call->operation >= OPERATION_INIT) {
        return run_accumulator(call, &output, memory, bytes);
    }
    call->input.predicate = has_predicate(call) ? &call->predicate : NULL;
    call->input.routing = call->operation == TOPK_OPERATION_ROUTE ? &call->routing : NULL;
    call->input.lists = call->operation == TOPK_OPERATION_MERGE ? &call->lists : NULL;
    return library.run(call->context->handle, operation_of(call), &call->problem, &call->input, &output,
                       memory, bytes, call->stream);
}

static topk_status run_unlocked(struct call *call, void *memory, size_t bytes) {
    topk_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = run(call, memory, bytes);
    Py_END_ALLOW_THREADS;
    return status;
}

static int run_in(struct call *call, void *memory, size_t bytes) {
    return overlap_check(call) == 0 ? library_check(run_unlocked(call, memory, bytes)) : -1;
}

/* Leaves the larger one of a block and the context's spare block, which another thread may have left. */
static void spare(struct context *context, void *block, size_t bytes) {
    void *smaller = block;
    if (bytes > context->spare_bytes) {
        smaller = context->spare;
        context->spare = block;
        context->spare_bytes = bytes;
    }
    free(smaller);
}

static int run_in_new_block(struct call *call) {
    size_t bytes = 0;
    if (measure(call, &bytes) != 0) {
        return -1;
    }
    void *block = bytes > 0 ? malloc(bytes) : NULL;
    if (bytes > 0 && block == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    const topk_status status = run_unlocked(call, block, bytes);
    spare(call->context, block, bytes);
    return library_check(status);
}

/* In the context's spare block, or in a new one that becomes it. The block is tried before anything is
 * measured: measuring takes as long as a small call. */
static int run_in_host_memory(struct call *call) {
    struct context *context = call->context;
    void *block = context->spare;
    const size_t bytes = context->spare_bytes;
    if (overlap_check(call) != 0) {
        return -1;
    }
    if (block == NULL) {
        return run_in_new_block(call);
    }
    context->spare = NULL;
    context->spare_bytes = 0;
    const topk_status status = run_unlocked(call, block, bytes);
    spare(context, block, bytes);
    return status == TOPK_ERROR_WORKSPACE_TOO_SMALL ? run_in_new_block(call) : library_check(status);
}

/* An array of bytes: a workspace or a state. */
static int take_bytes(struct call *call, PyObject *object, const char *name, struct array *array) {
    int status = array_from(object, name, array, NULL);
    if (status == 0 && (array->type != TOPK_U8 || !array_is_contiguous(array) || !array->is_writable ||
                        array->device != call->x.device)) {
        PyErr_Format(PyExc_ValueError, "%s is not a contiguous, writable array of uint8 on the device of x",
                     name);
        status = -1;
    }
    return status;
}

/* An array of bytes beside x, which its library keeps until the stream has passed. */
static int run_in_device_memory(struct call *call) {
    size_t bytes = 0;
    if (measure(call, &bytes) != 0) {
        return -1;
    }
    if (bytes == 0) {
        return run_in(call, NULL, 0);
    }
    int64_t length = (int64_t)bytes;
    PyObject *memory = kinds_new(call->x.kind, call->x.object, &length, 1, TOPK_U8, "uint8");
    if (memory == NULL) {
        return -1;
    }
    int status = take_bytes(call, memory, "workspace", &call->workspace);
    Py_DECREF(memory);
    if (status == 0 && array_elements(&call->workspace) != length) {
        PyErr_SetString(PyExc_TypeError, "workspace: the library of x has made an array of another size");
        status = -1;
    }
    return status == 0 ? run_in(call, call->workspace.data, bytes) : -1;
}

static PyObject *complete(struct call *call, PyObject *workspace, PyObject *other) {
    int status;
    if (other != Py_None && take_bytes(call, other, "other", &call->other) != 0) {
        return NULL;
    }
    if (workspace != Py_None) {
        status = take_bytes(call, workspace, "workspace", &call->workspace);
        if (status == 0) {
            status = run_in(call, call->workspace.data, (size_t)array_elements(&call->workspace));
        }
    } else if (call->context->reads_host) {
        status = run_in_host_memory(call);
    } else {
        status = run_in_device_memory(call);
    }
    return status == 0 ? outputs_take(call) : NULL;
}

static PyObject *explain(const struct call *call) {
    size_t needed = 0;
    const topk_context *context = call->context->handle;
    topk_operation operation = operation_of(call);
    if (library_check(library.explain(context, operation, &call->problem, NULL, 0, &needed)) != 0) {
        return NULL;
    }
    char *text = malloc(needed);
    if (text == NULL) {
        return PyErr_NoMemory();
    }
    int status = library_check(library.explain(context, operation, &call->problem, text, needed, NULL));
    PyObject *result = status == 0 ? messages_of(text) : NULL;
    free(text);
    return result;
}

/* (method, (cannot, variant, predicted_us, workspace_bytes, launches)) */
static PyObject *row_of(const topk_plan *plan, int index) {
    topk_plan_method row = TOPK_PLAN_METHOD_INIT;
    if (library_check(library.plan_query_method(plan, index, &row)) != 0) {
        return NULL;
    }
    PyObject *cannot = row.cannot == NULL ? Py_NewRef(Py_None) : messages_of(row.cannot);
    return cannot == NULL ? NULL
                          : Py_BuildValue("s(Nzdni)", row.method, cannot, row.variant, row.predicted_us,
                                          (Py_ssize_t)row.workspace_bytes, row.launches);
}

/* The method of a plan, and a tuple of rows for all methods. */
static PyObject *choice_of(const topk_plan *plan) {
    topk_plan_properties properties = TOPK_PLAN_PROPERTIES_INIT;
    if (library_check(library.plan_query(plan, &properties)) != 0) {
        return NULL;
    }
    PyObject *rows = PyTuple_New(properties.methods);
    for (int i = 0; rows != NULL && i < properties.methods; ++i) {
        PyObject *row = row_of(plan, i);
        if (row == NULL || PyTuple_SetItem(rows, i, row) != 0) {
            Py_CLEAR(rows);
        }
    }
    return rows == NULL ? NULL : Py_BuildValue("sN", properties.method, rows);
}

static PyObject *choose(const struct call *call) {
    topk_plan *plan = NULL;
    topk_operation operation = operation_of(call);
    if (library_check(library.plan_create(call->context->handle, operation, &call->problem, NULL, &plan)) !=
        0) {
        return NULL;
    }
    PyObject *choice = choice_of(plan);
    library.plan_destroy(plan);
    return choice;
}

/* The results where few elements of x answer for all; NotImplemented where the C library must see them. */
static PyObject *answer_from_few(struct call *call, PyObject *const *arguments) {
    if (call->operation >= TOPK_OPERATION_MERGE || call->giver != NULL ||
        !inputs_have_shared_elements(call)) {
        return Py_NewRef(Py_NotImplemented);
    }
    return PyObject_CallMethod(kinds_expanded, "answer", "OOOOOOiOOOO", arguments[MODE], arguments[OPERATION],
                               call->x.object, arguments[K], arguments[LARGEST], arguments[SORTED], call->dim,
                               arguments[OUT], arguments[WANTED], arguments[WORKSPACE], arguments[OPTIONS]);
}

static PyObject *answer(struct call *call, PyObject *const *arguments) {
    long mode = PyLong_AsLong(arguments[MODE]), wanted = PyLong_AsLong(arguments[WANTED]);
    size_t bytes = 0;
    if (PyErr_Occurred() || inputs_take(call, arguments[K]) != 0 || companions_take_payload(call) != 0 ||
        outputs_make(call, arguments[OUT], (int)wanted) != 0) {
        return NULL;
    }
    if (mode == MODE_EXPLAIN) {
        return explain(call);
    }
    if (mode == MODE_CHOICE) {
        return choose(call);
    }
    if (mode == MODE_WORKSPACE && call->operation == OPERATION_SHARD_BEGIN) {
        return shards_measure(call);
    }
    if (mode == MODE_WORKSPACE) {
        return measure(call, &bytes) == 0 ? PyLong_FromSize_t(bytes) : NULL;
    }
    if (call->operation >= OPERATION_SHARD_BEGIN && shards_take(call) != 0) {
        return NULL;
    }
    return companions_take(call) == 0 ? complete(call, arguments[WORKSPACE], arguments[OTHER]) : NULL;
}

/* The results where x, or its mask, is a column with nulls. An exception of another kind stays. adopted: the
 * array that x has become; None: it has not. */
static PyObject *answer_without_nulls(PyObject *adopted, PyObject *const *a) {
    PyObject *type, *error, *trace, *module, *result = NULL;
    if (!PyErr_ExceptionMatches(kinds_nulls)) {
        return NULL;
    }
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    module = PyImport_ImportModule("libtopk._nulls");
    if (module != NULL) {
        result = PyObject_CallMethod(module, "answer", "OOOOOOOOOOOOOO", error, adopted, a[MODE],
                                     a[OPERATION], a[X], a[K], a[LARGEST], a[SORTED], a[DIM], a[OUT],
                                     a[WANTED], a[WORKSPACE], a[OPTIONS], a[OTHER]);
    }
    Py_XDECREF(module);
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(trace);
    return result;
}

PyObject *call_run(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
    (void)self;
    if (count != ARGUMENTS) {
        PyErr_Format(PyExc_TypeError, "run() takes %d arguments", ARGUMENTS);
        return NULL;
    }
    struct call call;
    begin(&call, (int)PyLong_AsLong(arguments[OPERATION]), PyLong_AsLong(arguments[MODE]) != MODE_RUN);
    PyObject *result = NULL;
    if (!PyErr_Occurred() && prepare(&call, arguments) == 0) {
        result = answer_from_few(&call, arguments);
        if (result == Py_NotImplemented) {
            Py_DECREF(result);
            result = answer(&call, arguments);
        }
    }
    PyObject *adopted = Py_NewRef(call.x.object == NULL ? Py_None : call.x.object);
    end(&call);
    if (result == NULL) {
        result = answer_without_nulls(adopted, arguments);
    }
    Py_DECREF(adopted);
    return result;
}
