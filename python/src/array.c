/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "core.h"

/* What numpy's __array_struct__ points to: its array interface, version 3. */
struct numpy_interface {
    int two, dims;
    char typekind;
    int itemsize, flags;
    Py_ssize_t *shape, *strides;
    void *data;
    PyObject *description;
};

enum { NUMPY_ALIGNED = 0x100, NUMPY_NATIVE = 0x200, NUMPY_WRITEABLE = 0x400 };

#define ATTRIBUTE(object, text) attribute_of(object, INTERNED(text))
#define METHOD(object, text) result_of(object, INTERNED(text))

static PyObject *attribute_of(PyObject *object, PyObject *name) {
    return name == NULL ? NULL : PyObject_GetAttr(object, name);
}

static PyObject *result_of(PyObject *object, PyObject *name) {
    return name == NULL ? NULL : PyObject_CallMethodObjArgs(object, name, NULL);
}

/* Takes the reference; -1 with an exception set where there is none or it is no number. */
static int64_t number(PyObject *object) {
    int64_t result = object == NULL ? -1 : PyLong_AsLongLong(object);
    Py_XDECREF(object);
    return result;
}

static int numbers(PyObject *tuple, int64_t *result, int *count) {
    Py_ssize_t size = tuple == NULL ? -1 : PyTuple_Size(tuple);
    for (Py_ssize_t i = 0; i < size && i < DIMENSIONS_MAX; ++i) {
        result[i] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
    }
    Py_XDECREF(tuple);
    *count = (int)size;
    if (size > DIMENSIONS_MAX) {
        PyErr_Format(PyExc_ValueError, "an array of more than %d dimensions", DIMENSIONS_MAX);
    }
    return PyErr_Occurred() ? -1 : 0;
}

/* Sets the type from the object that is the array's dtype. Takes the reference. */
static int type_by_dtype(PyObject *dtype, const char *name, struct array *array) {
    PyObject *dtypes = kinds[array->kind].dtypes;
    Py_ssize_t count = dtype == NULL ? 0 : PyTuple_Size(dtypes);
    Py_ssize_t type = 0;
    while (type < count && PyTuple_GetItem(dtypes, type) != dtype) { /* nearly always the same object */
        ++type;
    }
    for (Py_ssize_t i = 0; type == count && i < count; ++i) { /* or an equal one */
        int equal = PyObject_RichCompareBool(PyTuple_GetItem(dtypes, i), dtype, Py_EQ);
        if (equal < 0) {
            PyErr_Clear();
        } else if (equal) {
            type = i;
        }
    }
    if (dtype != NULL && type == count) {
        kinds_refuse_type(name, dtype);
    }
    Py_XDECREF(dtype);
    array->type = (topk_type)type;
    return PyErr_Occurred() ? -1 : 0;
}

/* A dimension of one element may have any stride: nothing is read by it. */
static void set_strides_from_bytes(struct array *array, int64_t itemsize) {
    for (int d = 0; d < array->dims; ++d) {
        if (array->shape[d] > 1 && array->strides[d] % itemsize != 0) {
            array->is_plain = false;
        }
        array->strides[d] /= itemsize;
    }
}

static topk_type numpy_type(const struct numpy_interface *interface) {
    static const struct {
        char typekind;
        topk_type of_size[9];
    } table[] = {
        {'f', {[2] = TOPK_F16, [4] = TOPK_F32, [8] = TOPK_F64}},
        {'i', {[1] = TOPK_I8, [2] = TOPK_I16, [4] = TOPK_I32, [8] = TOPK_I64}},
        {'u', {[1] = TOPK_U8, [2] = TOPK_U16, [4] = TOPK_U32, [8] = TOPK_U64}},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; ++i) {
        if (table[i].typekind == interface->typekind && interface->itemsize <= 8) {
            return table[i].of_size[interface->itemsize];
        }
    }
    return TOPK_TYPE_UNDEFINED;
}

static int describe_numpy(PyObject *object, const char *name, struct array *array) {
    PyObject *capsule = ATTRIBUTE(object, "__array_struct__");
    const struct numpy_interface *interface = capsule == NULL ? NULL : PyCapsule_GetPointer(capsule, NULL);
    if (interface == NULL) {
        Py_XDECREF(capsule);
        return -1;
    }
    array->dims = interface->dims; /* numpy has 64 at most */
    for (int d = 0; d < array->dims; ++d) {
        array->shape[d] = interface->shape[d];
        array->strides[d] = interface->strides[d];
    }
    array->data = interface->data;
    array->device = ON_CPU;
    array->is_plain = (interface->flags & NUMPY_ALIGNED) != 0 && (interface->flags & NUMPY_NATIVE) != 0;
    array->is_writable = (interface->flags & NUMPY_WRITEABLE) != 0;
    array->type = numpy_type(interface);
    if (interface->itemsize > 0) {
        set_strides_from_bytes(array, interface->itemsize);
    }
    bool is_settled = array->type != TOPK_TYPE_UNDEFINED || interface->typekind == 'b';
    Py_DECREF(capsule); /* the array itself owns shape, strides and memory; the interface is gone now */
    return is_settled ? 0 : type_by_dtype(ATTRIBUTE(object, "dtype"), name, array);
}

/* torch flips the signs of a negated tensor when it reads it: its memory holds other numbers. */
static int resolve_negation(struct array *array) {
    PyObject *resolved = METHOD(array->object, "resolve_neg");
    if (resolved == NULL) {
        return -1;
    }
    Py_DECREF(array->object);
    array->object = resolved;
    return 0;
}

/* Sets the device of a tensor in memory of the CPU or of CUDA. */
static int torch_device(struct array *array, const char *name) {
    PyObject *is_cuda = ATTRIBUTE(array->object, "is_cuda");
    PyObject *is_cpu = is_cuda == Py_False ? ATTRIBUTE(array->object, "is_cpu") : NULL;
    if (is_cuda == Py_False && is_cpu == Py_False) {
        PyErr_Format(PyExc_TypeError, "%s is neither in the CPU's memory nor in that of a CUDA device", name);
    }
    array->device = is_cuda == Py_True ? (int)number(METHOD(array->object, "get_device")) : ON_CPU;
    Py_XDECREF(is_cuda);
    Py_XDECREF(is_cpu);
    return PyErr_Occurred() ? -1 : 0;
}

static int refuse_memory(const char *name) {
    PyErr_Format(
        PyExc_TypeError,
        "%s has no memory that can be read as rows: sparse, nested and fake tensors have none, nor those "
        "of torch.func",
        name);
    return -1;
}

/* What describe_torch() asks for where the exchange interface does not tell it. */
static int describe_by_attributes(const char *name, struct array *array) {
    int strides = 0;
    if (torch_device(array, name) != 0) {
        return -1;
    }
    array->data = (void *)(uintptr_t)number(METHOD(array->object, "data_ptr"));
    if (PyErr_Occurred() || numbers(ATTRIBUTE(array->object, "shape"), array->shape, &array->dims) != 0 ||
        numbers(METHOD(array->object, "stride"), array->strides, &strides) != 0) {
        /* a ValueError, of too many dimensions, stays */
        return PyErr_ExceptionMatches(PyExc_ValueError) ? -1 : refuse_memory(name);
    }
    return type_by_dtype(ATTRIBUTE(array->object, "dtype"), name, array);
}

/* Whether there is memory at `data`. Where there is none, torch counts from address 0: a low address, as
 * memory has in some processes too, is looked at again. */
static bool has_memory(const struct array *array, size_t itemsize) {
    uintptr_t address = (uintptr_t)array->data;
    if (address >> 40 != 0 || array_elements(array) == 0) {
        return true;
    }
    uint64_t offset = (uint64_t)number(METHOD(array->object, "storage_offset"));
    return !PyErr_Occurred() && address != offset * (itemsize == 0 ? 1 : itemsize);
}

static int describe_torch(const char *name, struct array *array) {
    PyObject *negated = METHOD(array->object, "is_neg");
    bool is_negated = negated == Py_True;
    Py_XDECREF(negated);
    if (negated == NULL || (is_negated && resolve_negation(array) != 0)) {
        return -1;
    }
    const struct kind_functions *torch = &kinds[KIND_TORCH];
    bool has_exchange = torch->exchange != NULL && (PyObject *)Py_TYPE(array->object) == torch->array_type;
    if (!(has_exchange && exchange_describe(torch->exchange, array)) &&
        describe_by_attributes(name, array) != 0) {
        return -1;
    }
    bool is_told = (array->type != TOPK_I8 && array->type != TOPK_U8) || !has_exchange;
    if (!is_told && type_by_dtype(ATTRIBUTE(array->object, "dtype"), name, array) != 0) {
        return -1; /* DLPack says that int4 and its like are int8 */
    }
    size_t itemsize = library.type_size(array->type);
    if (!has_memory(array, itemsize)) {
        return refuse_memory(name);
    }
    array->is_plain = itemsize == 0 || (uintptr_t)array->data % itemsize == 0;
    array->is_writable = !is_negated;
    return 0;
}

static int describe_cupy(PyObject *object, const char *name, struct array *array) {
    int strides = 0;
    PyObject *memory = ATTRIBUTE(object, "data"), *device = ATTRIBUTE(object, "device");
    array->data = memory == NULL ? NULL : (void *)(uintptr_t)number(ATTRIBUTE(memory, "ptr"));
    array->device = device == NULL ? 0 : (int)number(ATTRIBUTE(device, "id"));
    Py_XDECREF(memory);
    Py_XDECREF(device);
    int64_t itemsize = number(ATTRIBUTE(object, "itemsize"));
    if (PyErr_Occurred() || numbers(ATTRIBUTE(object, "shape"), array->shape, &array->dims) != 0 ||
        numbers(ATTRIBUTE(object, "strides"), array->strides, &strides) != 0) {
        return -1;
    }
    array->is_plain = array->is_writable = true;
    set_strides_from_bytes(array, itemsize);
    return type_by_dtype(ATTRIBUTE(object, "dtype"), name, array);
}

static int describe_shape(PyObject *object, const char *name, struct array *array) {
    array->data = NULL;
    array->is_plain = true;
    array->is_writable = false;
    array->device = (int)number(ATTRIBUTE(object, "ordinal"));
    if (PyErr_Occurred() || numbers(ATTRIBUTE(object, "shape"), array->shape, &array->dims) != 0) {
        return -1;
    }
    int64_t stride = 1;
    for (int d = array->dims - 1; d >= 0; --d) {
        array->strides[d] = stride;
        stride *= array->shape[d];
    }
    return type_by_dtype(ATTRIBUTE(object, "dtype"), name, array);
}

int array_of(PyObject *object, enum kind kind, const char *name, struct array *array) {
    Py_INCREF(object);
    array->object = object;
    array->kind = kind;
    int status = kind == KIND_NUMPY   ? describe_numpy(object, name, array)
                 : kind == KIND_TORCH ? describe_torch(name, array)
                 : kind == KIND_CUPY  ? describe_cupy(object, name, array)
                                      : describe_shape(object, name, array);
    if (status != 0) {
        array_drop(array);
    }
    return status;
}

int array_from(PyObject *object, const char *name, struct array *array, PyObject **giver) {
    enum kind kind;
    PyObject *adopted, *give;
    if (kinds_of(object, &kind, &adopted, &give) != 0) {
        return -1;
    }
    int status = array_of(adopted == NULL ? object : adopted, kind, name, array);
    Py_XDECREF(adopted);
    if (status == 0 && giver != NULL) {
        *giver = give;
    } else {
        Py_XDECREF(give);
    }
    return status;
}

void array_drop(struct array *array) {
    Py_CLEAR(array->object);
}

int64_t array_elements(const struct array *array) {
    int64_t elements = 1;
    for (int d = 0; d < array->dims; ++d) {
        elements *= array->shape[d];
    }
    return elements;
}

bool array_is_contiguous(const struct array *array) {
    int64_t expected = 1;
    for (int d = array->dims - 1; d >= 0; --d) {
        if (array->shape[d] != 1 && array->strides[d] != expected) {
            return array_elements(array) == 0;
        }
        expected *= array->shape[d];
    }
    return array->is_plain;
}
