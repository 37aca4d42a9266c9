/* SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

/* What is used here of DLPack 1: laid out as in its dlpack.h. */
struct dl_tensor {
    void *data;
    struct {
        int32_t type, id;
    } device;
    int32_t dims;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } type;
    const int64_t *shape, *strides; /* strides in elements; NULL: C order */
    uint64_t byte_offset;
};

struct exchange {
    uint32_t major, minor;
    const struct exchange *older; /* the same in an older version of DLPack, or NULL */
    void (*not_used[3])(void);
    int (*describe)(PyObject *array, struct dl_tensor *tensor); /* may be NULL */
    int (*stream)(int32_t device_type, int32_t device, void **stream);
};

enum { DL_CPU = 1, DL_CUDA = 2 };
enum { DL_INT, DL_UINT, DL_FLOAT, DL_BFLOAT = 4, DL_BOOL = 6, DL_FLOAT8_E4M3FN = 10, DL_FLOAT8_E5M2 = 12 };

const struct exchange *exchange_of(PyObject *array_type) {
    PyObject *capsule = PyObject_GetAttrString(array_type, "__dlpack_c_exchange_api__");
    const struct exchange *found =
        capsule == NULL ? NULL : PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
    PyErr_Clear(); /* it lives as long as the process, where there is one */
    Py_XDECREF(capsule);
    while (found != NULL && found->major != 1) {
        found = found->older;
    }
    return found == NULL || found->describe == NULL || found->stream == NULL ? NULL : found;
}

/* -1 if libtopk has no such type. */
static int type_of(const struct dl_tensor *tensor) {
    static const struct {
        uint8_t code, bits;
        topk_type type;
    } table[] = {
        {DL_FLOAT, 32, TOPK_F32},
        {DL_INT, 64, TOPK_I64},
        {DL_UINT, 8, TOPK_U8},
        {DL_FLOAT, 16, TOPK_F16},
        {DL_BFLOAT, 16, TOPK_BF16},
        {DL_FLOAT, 64, TOPK_F64},
        {DL_FLOAT8_E4M3FN, 8, TOPK_F8_E4M3},
        {DL_FLOAT8_E5M2, 8, TOPK_F8_E5M2},
        {DL_INT, 8, TOPK_I8},
        {DL_INT, 16, TOPK_I16},
        {DL_INT, 32, TOPK_I32},
        {DL_UINT, 16, TOPK_U16},
        {DL_UINT, 32, TOPK_U32},
        {DL_UINT, 64, TOPK_U64},
        {DL_BOOL, 8, TOPK_TYPE_UNDEFINED},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; ++i) {
        if (table[i].code == tensor->type.code && table[i].bits == tensor->type.bits) {
            return tensor->type.lanes == 1 ? (int)table[i].type : -1;
        }
    }
    return -1;
}

bool exchange_describe(const struct exchange *exchange, struct array *array) {
    struct dl_tensor tensor;
    if (exchange->describe(array->object, &tensor) != 0) {
        PyErr_Clear();
        return false;
    }
    int type = type_of(&tensor);
    bool is_known = tensor.device.type == DL_CPU || tensor.device.type == DL_CUDA;
    if (type < 0 || !is_known || tensor.dims > DIMENSIONS_MAX) {
        return false;
    }
    array->data = (char *)tensor.data + tensor.byte_offset;
    array->device = tensor.device.type == DL_CPU ? ON_CPU : tensor.device.id;
    array->type = (topk_type)type;
    array->dims = tensor.dims;
    for (int d = 0; d < tensor.dims; ++d) {
        array->shape[d] = tensor.shape[d];
        array->strides[d] = tensor.strides[d];
    }
    return true;
}

int exchange_stream(const struct exchange *exchange, int device, topk_stream *stream) {
    void *found = NULL;
    int status = exchange->stream(DL_CUDA, device, &found);
    *stream = (topk_stream)found;
    return status;
}

/* A capsule of DLPack 1 holds the tensor behind this; one of an older version begins with it. */
struct dl_head {
    uint32_t major, minor;
    void *manager;
    void (*deleter)(void *managed);
    uint64_t flags;
};

static struct dl_tensor *tensor_in(PyObject *capsule) {
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        struct dl_head *head = PyCapsule_GetPointer(capsule, "dltensor_versioned");
        return head == NULL || head->major != 1 ? NULL : (struct dl_tensor *)(head + 1);
    }
    return PyCapsule_IsValid(capsule, "dltensor") ? PyCapsule_GetPointer(capsule, "dltensor") : NULL;
}

PyObject *exchange_as_bits(PyObject *self, PyObject *capsule) {
    (void)self;
    struct dl_tensor *tensor = tensor_in(capsule);
    int type = tensor == NULL ? -1 : type_of(tensor);
    const char *name = type == TOPK_BF16      ? "bfloat16"
                       : type == TOPK_F8_E4M3 ? "float8_e4m3fn"
                       : type == TOPK_F8_E5M2 ? "float8_e5m2"
                                              : NULL;
    if (name == NULL) {
        return Py_NewRef(Py_None);
    }
    tensor->type.code = DL_UINT; /* the capsule's consumer owns the description */
    return PyUnicode_FromString(name);
}
