/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "core.h"

enum { OWN_TYPE = -1, INDEX_TYPE = -2, PAYLOAD_TYPE = -3 }; /* that of x, of indices, and of the payload */
enum {
    OF_ROWS,
    OF_ROWS_AND_RANKS,
    OF_ROWS_AND_K,
    OF_ROWS_AND_PITCH,
    OF_PAYLOAD,
    OF_CAPACITY,
    OF_OFFSETS,
    OF_BITS
};

/* What each operation writes, in the order of its results. */
struct result_spec {
    const char *name;
    int type, shape;
    size_t at; /* its array in topk_output, or topk_sharded_output */
};

#define AT(field) offsetof(topk_output, field)

static const struct result_spec selected[] = {{"values", OWN_TYPE, OF_ROWS_AND_K, AT(values)},
                                              {"indices", INDEX_TYPE, OF_ROWS_AND_K, AT(indices)},
                                              {0}};
static const struct result_spec merged[] = {{"values", OWN_TYPE, OF_ROWS_AND_K, AT(values)},
                                            {"indices", INDEX_TYPE, OF_ROWS_AND_K, AT(indices)},
                                            {"payload", PAYLOAD_TYPE, OF_PAYLOAD, AT(payload)},
                                            {0}};
static const struct result_spec grouped[] = {{"values", OWN_TYPE, OF_ROWS_AND_K, AT(values)},
                                             {"indices", INDEX_TYPE, OF_ROWS_AND_K, AT(indices)},
                                             {"counts", TOPK_I64, OF_ROWS, AT(counts)},
                                             {0}};
static const struct result_spec ranked[] = {{"kth", OWN_TYPE, OF_ROWS_AND_RANKS, AT(values)},
                                            {"better", TOPK_I64, OF_ROWS_AND_RANKS, AT(better)},
                                            {"equal", TOPK_I64, OF_ROWS_AND_RANKS, AT(equal)},
                                            {0}};
static const struct result_spec matching[] = {{"values", OWN_TYPE, OF_CAPACITY, AT(values)},
                                              {"indices", INDEX_TYPE, OF_CAPACITY, AT(indices)},
                                              {"offsets", TOPK_I64, OF_OFFSETS, AT(offsets)},
                                              {0}};
static const struct result_spec counted[] = {{"counts", TOPK_I64, OF_ROWS, AT(counts)}, {0}};
static const struct result_spec masked[] = {{"bits", TOPK_U8, OF_BITS, AT(mask)}, {0}};
static const struct result_spec routed[] = {{"indices", INDEX_TYPE, OF_ROWS_AND_K, AT(indices)},
                                            {"weights", TOPK_F32, OF_ROWS_AND_K, AT(weights)},
                                            {0}};
static const struct result_spec barred[] = {
    {"values", OWN_TYPE, OF_ROWS, AT(values)}, {"positions", TOPK_I64, OF_ROWS, AT(better)}, {0}};
#define AT_SHARD(field) offsetof(topk_sharded_output, field)
static const struct result_spec sharded[] = {{"kth", OWN_TYPE, OF_ROWS, AT_SHARD(kth)},
                                             {"better", TOPK_I64, OF_ROWS, AT_SHARD(better)},
                                             {"equal", TOPK_I64, OF_ROWS, AT_SHARD(equal)},
                                             {"own_better", TOPK_I64, OF_ROWS, AT_SHARD(own_better)},
                                             {"own_equal", TOPK_I64, OF_ROWS, AT_SHARD(own_equal)},
                                             {"own_k", TOPK_I64, OF_ROWS, AT_SHARD(own_k)},
                                             {"after", TOPK_I64, OF_ROWS, AT_SHARD(after)},
                                             {"known", TOPK_I64, OF_ROWS, AT_SHARD(known)},
                                             {0}};
static const struct result_spec chosen[] = {{"values", OWN_TYPE, OF_ROWS_AND_PITCH, AT(values)},
                                            {"indices", INDEX_TYPE, OF_ROWS_AND_PITCH, AT(indices)},
                                            {0}};
static const struct result_spec nothing[] = {{0}};

static const struct result_spec *results_of(const struct call *call) {
    switch (call->operation) {
    case TOPK_OPERATION_MERGE:
        return call->given[GIVEN_PAYLOAD] == NULL ? selected : merged;
    case TOPK_OPERATION_SELECT_BY:
        return grouped;
    case TOPK_OPERATION_KTH:
        return ranked;
    case TOPK_OPERATION_WHERE:
        return matching;
    case TOPK_OPERATION_COUNT:
        return counted;
    case TOPK_OPERATION_MASK:
        return masked;
    case TOPK_OPERATION_ROUTE:
        return routed;
    case OPERATION_BAR:
        return barred;
    case OPERATION_INIT:
    case OPERATION_PUSH:
    case OPERATION_MERGE:
    case OPERATION_EXPORT:
    case OPERATION_IMPORT:
    case OPERATION_RAISE:
    case OPERATION_SHARD_BEGIN:
    case OPERATION_SHARD_COUNT:
    case OPERATION_SHARD_ADVANCE:
        return nothing;
    case OPERATION_SHARD_RESULT:
        return sharded;
    case OPERATION_SHARD_SELECT:
        return chosen;
    default:
        return selected;
    }
}

static void set_shape(const struct call *call, int shape, struct output *output) {
    output->dims = 1;
    switch (shape) {
    case OF_CAPACITY:
        output->shape[0] = call->capacity;
        return;
    case OF_OFFSETS:
        output->shape[0] = call->problem.rows + 1;
        return;
    case OF_BITS:
        output->shape[0] = (array_elements(&call->x) + 7) / 8;
        return;
    default:
        output->dims = call->lead;
        memcpy(output->shape, call->lead_shape, sizeof *output->shape * (size_t)call->lead);
        if (shape == OF_ROWS || (shape == OF_ROWS_AND_RANKS && call->problem.ranks == 0)) {
            return;
        }
        output->shape[output->dims++] = shape == OF_ROWS_AND_PITCH   ? call->capacity
                                        : shape == OF_ROWS_AND_RANKS ? call->problem.ranks
                                                                     : call->problem.k_max;
        output->has_k = shape != OF_PAYLOAD;
        if (shape == OF_PAYLOAD && call->payload->dims > call->x.dims) {
            output->shape[output->dims++] = call->payload->shape[call->x.dims];
        }
    }
}

static void set_type(const struct call *call, int type, struct output *output) {
    bool is_wide = call->problem.index_type == TOPK_INDEX_I64;
    output->type = type == OWN_TYPE       ? call->x.type
                   : type == INDEX_TYPE   ? (is_wide ? TOPK_I64 : TOPK_I32)
                   : type == PAYLOAD_TYPE ? call->payload->type
                                          : (topk_type)type;
    output->dtype = type == OWN_TYPE || type == PAYLOAD_TYPE ? NULL
                    : output->type == TOPK_I32               ? "int32"
                    : output->type == TOPK_U8                ? "uint8"
                    : output->type == TOPK_F32               ? "float32"
                                                             : "int64";
}

/* The dimension of the caller's array along which results lie. */
static int dim_of(const struct call *call, const struct output *output) {
    return output->has_k && !call->is_ragged ? call->dim : output->dims - 1;
}

static bool has_shape(const struct array *array, const struct output *output, int dim) {
    if (array->dims != output->dims) {
        return false;
    }
    for (int d = 0, next = 0; d < array->dims; ++d) {
        if (array->shape[d] != (d == dim ? output->shape[output->dims - 1] : output->shape[next++])) {
            return false;
        }
    }
    return true;
}

static bool is_broadcast(const struct array *array) {
    for (int d = 0; d < array->dims && array_elements(array) > 0; ++d) {
        if (array->shape[d] > 1 && array->strides[d] == 0) {
            return true;
        }
    }
    return false;
}

/* Array libraries differ in what they make of sizes beyond 64 bits, and some of them make nonsense. */
static int check_size(const struct output *output) {
    int64_t bytes = (int64_t)library.type_size(output->type);
    bool is_too_large = false;
    for (int d = 0; d < output->dims; ++d) {
        int64_t size = output->shape[d] == 0 ? 1 : output->shape[d];
        is_too_large = is_too_large || __builtin_mul_overflow(bytes, size, &bytes);
    }
    if (is_too_large) {
        PyObject *shape = kinds_tuple(output->shape, output->dims);
        PyErr_Format(PyExc_OverflowError, "%s of shape %S would have more than 2^63 bytes", output->name,
                     shape);
        Py_XDECREF(shape);
    }
    return is_too_large ? -1 : 0;
}

/* torch says by a RuntimeError that the host has no memory: makes it a MemoryError. */
static void settle_exception(const struct call *call, const struct output *output) {
    PyObject *type, *value, *trace;
    if (call->x.device != ON_CPU || !PyErr_ExceptionMatches(PyExc_RuntimeError)) {
        return;
    }
    PyErr_Fetch(&type, &value, &trace);
    PyObject *sentence = value == NULL ? NULL : PyObject_Str(value);
    const char *text = sentence == NULL ? NULL : PyUnicode_AsUTF8AndSize(sentence, NULL);
    if (text != NULL && strstr(text, "allocate memory") != NULL) {
        PyObject *shape = kinds_tuple(output->shape, output->dims);
        PyErr_Format(PyExc_MemoryError, "no memory for %s of shape %S", output->name, shape);
        Py_XDECREF(shape);
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(trace);
    } else {
        PyErr_Restore(type, value, trace);
    }
    Py_XDECREF(sentence);
}

/* The array library's own code makes the array, and a subclass may have a say: so it is looked at. */
static int make_new(const struct call *call, struct output *output) {
    struct array array;
    if (check_size(output) != 0) {
        return -1;
    }
    PyObject *like = output->spec->type == PAYLOAD_TYPE ? call->payload->object : call->x.object;
    output->result = kinds_new(call->x.kind, like, output->shape, output->dims, output->type, output->dtype);
    if (output->result == NULL) {
        settle_exception(call, output);
        return -1;
    }
    if (array_of(output->result, call->x.kind, output->name, &array) != 0) {
        return -1;
    }
    bool is_right = array.type == output->type && array.device == call->x.device &&
                    has_shape(&array, output, output->dims - 1) && array_is_contiguous(&array);
    output->data = array.data;
    array_drop(&array);
    if (!is_right) {
        PyErr_Format(PyExc_TypeError,
                     "%s: the library of x has made an array of another type, shape, layout or device",
                     output->name);
    }
    return is_right ? 0 : -1;
}

static int check_target(const struct call *call, const struct array *array, const struct output *output,
                        int dim) {
    if (array->kind == call->x.kind && array->device == call->x.device && array->type == output->type &&
        has_shape(array, output, dim) && array->is_writable && !is_broadcast(array)) {
        return 0;
    }
    PyObject *shape = kinds_tuple(output->shape, output->dims);
    PyErr_Format(PyExc_ValueError, "out: %s must be a writable array beside x, of type %s and shape %S%s",
                 output->name,
                 output->dtype != NULL                ? output->dtype
                 : output->spec->type == PAYLOAD_TYPE ? "of the payload given"
                                                      : "of x",
                 shape, dim == output->dims - 1 ? "" : " with the last dimension moved to dim");
    Py_XDECREF(shape);
    return -1;
}

/* TypeError if numpy copied the target to read it: then it copies to another place each time. */
static int check_shared(PyObject *target, const char *name, const struct array *array) {
    struct array again;
    if (array_from(target, name, &again, NULL) != 0) {
        return -1;
    }
    bool is_shared = again.data == array->data;
    array_drop(&again);
    if (!is_shared) {
        PyErr_Format(PyExc_TypeError,
                     "out: %s is no array with memory of its own, so nothing can be written to it", name);
    }
    return is_shared ? 0 : -1;
}

static int view_target(PyObject *target, const char *name, struct array *array) {
    if (array_from(target, name, array, NULL) != 0) {
        return -1;
    }
    if (array->kind == KIND_NUMPY && array->object != target && check_shared(target, name, array) != 0) {
        array_drop(array);
        return -1;
    }
    return 0;
}

/* Writes to the caller's array if its memory is laid out as the C library writes, else beside it. */
static int take_target(const struct call *call, PyObject *target, const struct array *array,
                       struct output *output) {
    int dim = dim_of(call, output);
    struct rows rows;
    if (check_target(call, array, output, dim) != 0) {
        return -1;
    }
    if (rows_in_place(array, dim, &rows) && (rows.stride == 0 || rows.stride == rows.length)) {
        output->data = array->data;
        output->memory = Py_NewRef(array->object);
        output->result = Py_NewRef(target);
        return 0;
    }
    output->target = target;
    output->target_memory = Py_NewRef(array->object);
    return make_new(call, output);
}

/* `target` is None where the caller has no array for it. */
static int make_one(struct call *call, const struct result_spec *spec, PyObject *target, bool is_wanted,
                    struct output *output) {
    struct array array;
    output->name = spec->name;
    output->spec = spec;
    if (target != Py_None && view_target(target, spec->name, &array) != 0) {
        return -1;
    }
    if (target != Py_None && spec->type == INDEX_TYPE) { /* indices have the type of the caller's array */
        call->problem.index_type = array.type == TOPK_I32 ? TOPK_INDEX_I32 : TOPK_INDEX_I64;
    }
    if (call->is_plan) {
        if (target != Py_None) {
            array_drop(&array);
        }
        return 0;
    }
    set_type(call, spec->type, output);
    set_shape(call, spec->shape, output);
    if (target == Py_None) {
        return is_wanted ? make_new(call, output) : 0;
    }
    int status = take_target(call, target, &array, output);
    array_drop(&array);
    return status;
}

/* `out` for the i-th output; borrowed, None if there is none. */
static PyObject *target_at(PyObject *out, int i, int wanted, int count) {
    if (PyTuple_Check(out)) {
        return i < PyTuple_Size(out) ? PyTuple_GetItem(out, i) : Py_None;
    }
    return count == 1 || wanted == 1 << i ? out : Py_None; /* an array, for the one that is wanted */
}

int outputs_make(struct call *call, PyObject *out, int wanted) {
    const struct result_spec *specs = results_of(call);
    int count = 0;
    while (specs[count].name != NULL) {
        ++count;
    }
    call->outputs_count = count;
    if (PyTuple_Check(out) && PyTuple_Size(out) != count) {
        PyErr_Format(PyExc_ValueError, "out has %zd arrays, where there are %d results", PyTuple_Size(out),
                     count);
        return -1;
    }
    if (!PyTuple_Check(out) && out != Py_None && count > 1 && (wanted & (wanted - 1)) != 0) {
        PyErr_Format(PyExc_TypeError, "out is one array, where a tuple of %d is needed", count);
        return -1;
    }
    for (int i = 0; i < count; ++i) {
        PyObject *target = target_at(out, i, wanted, count);
        if (make_one(call, &specs[i], target, (wanted >> i & 1) != 0, &call->outputs[i]) != 0) {
            return -1;
        }
    }
    return 0;
}

/* Writes the addresses of the outputs to the struct that their `at` counts in. */
static void place(const struct call *call, void *given) {
    for (int i = 0; i < call->outputs_count; ++i) {
        memcpy((char *)given + call->outputs[i].spec->at, &call->outputs[i].data, sizeof(void *));
    }
}

topk_output outputs_given(const struct call *call) {
    topk_output given = TOPK_OUTPUT_INIT;
    given.capacity = call->capacity;
    place(call, &given);
    return given;
}

topk_sharded_output outputs_of_shard(const struct call *call) {
    topk_sharded_output given = TOPK_SHARDED_OUTPUT_INIT;
    place(call, &given);
    return given;
}

/* Tells the library of the caller's arrays which of them have been written to. */
static int tell_written(const struct call *call) {
    PyObject *tell = kinds[call->x.kind].tell_written, *written[OUTPUTS_MAX];
    int count = 0;
    for (int i = 0; tell != Py_None && i < call->outputs_count; ++i) {
        if (call->outputs[i].memory != NULL) {
            written[count++] = call->outputs[i].memory;
        }
    }
    if (count == 0) {
        return 0;
    }
    PyObject *arrays = PyTuple_New(count), *told = NULL;
    for (int i = 0; arrays != NULL && i < count; ++i) {
        if (PyTuple_SetItem(arrays, i, Py_NewRef(written[i])) != 0) {
            Py_CLEAR(arrays);
        }
    }
    if (arrays != NULL) {
        told = PyObject_CallFunctionObjArgs(tell, arrays, NULL);
    }
    Py_XDECREF(arrays);
    Py_XDECREF(told);
    return told == NULL ? -1 : 0;
}

/* The result as an array of the caller's kind, whose library may have narrower integers: it is told what they
 * can be at most. Positions count as if the longest row's last one were among them. */
static PyObject *give(const struct call *call, const struct output *output, PyObject *result) {
    int64_t rows = call->problem.rows, most = call->length;
    bool has_positions = output->spec->type == INDEX_TYPE;
    if (output->spec->type == OWN_TYPE || output->spec->type == PAYLOAD_TYPE ||
        (has_positions && call->given[GIVEN_INDICES] != NULL)) {
        return PyObject_CallFunctionObjArgs(call->giver, result, NULL);
    }
    if (has_positions) {
        most += call->problem.index_base - 1;
    } else if (output->spec->shape == OF_OFFSETS) {
        most = rows > 0 && most > INT64_MAX / rows ? INT64_MAX : most * rows;
    }
    return PyObject_CallFunction(call->giver, "OLO", result, (long long)most,
                                 has_positions ? Py_True : Py_False);
}

/* The result in the caller's shape, kind and array. */
static PyObject *take_one(struct call *call, struct output *output) {
    if (output->result == NULL) {
        return Py_NewRef(Py_None);
    }
    struct kind_functions *functions = &kinds[call->x.kind];
    PyObject *result = output->result;
    output->result = NULL;
    if (output->memory != NULL) {
        return result;
    }
    int dim = dim_of(call, output);
    if (dim != output->dims - 1) {
        PyObject *moved = PyObject_CallFunction(functions->move, "Oi", result, dim);
        Py_DECREF(result);
        result = moved;
    }
    if (result != NULL && output->target != NULL) {
        PyObject *assigned =
            PyObject_CallFunctionObjArgs(functions->assign, output->target_memory, result, NULL);
        Py_DECREF(result);
        Py_XDECREF(assigned);
        return assigned == NULL ? NULL : Py_NewRef(output->target);
    }
    if (result != NULL && call->giver != NULL) {
        PyObject *given = give(call, output, result);
        Py_DECREF(result);
        result = given;
    }
    return result;
}

PyObject *outputs_take(struct call *call) {
    if (tell_written(call) != 0) {
        return NULL;
    }
    if (call->outputs_count == 0) {
        return Py_NewRef(Py_None);
    }
    if (call->outputs_count == 1) {
        return take_one(call, &call->outputs[0]);
    }
    PyObject *tuple = PyTuple_New(call->outputs_count);
    for (int i = 0; tuple != NULL && i < call->outputs_count; ++i) {
        PyObject *result = take_one(call, &call->outputs[i]);
        if (result == NULL || PyTuple_SetItem(tuple, i, result) != 0) {
            Py_CLEAR(tuple);
        }
    }
    return tuple;
}

void outputs_drop(struct call *call) {
    for (int i = 0; i < OUTPUTS_MAX; ++i) {
        Py_CLEAR(call->outputs[i].result);
        Py_CLEAR(call->outputs[i].memory);
        Py_CLEAR(call->outputs[i].target_memory);
    }
}
