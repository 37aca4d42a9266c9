/* SPDX-License-Identifier: Apache-2.0
 *
 * libtopk._core: from Python objects to calls of the C library. It keeps to Python's limited interface, so
 * one build serves all versions from 3.11 on.
 *
 *   library.c     the C library, which is loaded when the module is, and its messages
 *   kinds.c       what an array library does for the core: numpy, torch and cupy; and libtopk.Shape
 *   exchange.c    DLPack: its interface in C, which describes an array in one call, and its capsules
 *   array.c       an array's memory, type and shape
 *   rows.c        arrays as rows that the C library can read where they lie
 *   context.c     contexts and workspaces
 *   options.c     keyword options
 *   inputs.c      x, k and extents, as a problem of the C library
 *   companions.c  payloads and masks, which go with the elements of x, and biases
 *   outputs.c     where results go
 *   overlap.c     whether they may go there
 *   shards.c      rows in shards
 *   call.c        a call, from its arguments to its results
 *   xla.c         handlers for programs of XLA, which libtopk.jax compiles; xla.h is what they see of it
 *
 * Functions that return int return 0, or -1 with a Python exception set. */
#ifndef TOPK_PYTHON_CORE_H
#define TOPK_PYTHON_CORE_H

#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

#include "topk_accumulator.h"
#include "topk_advanced.h"
#include "topk_merge.h"
#include "topk_route.h"
#include "topk_sharded.h"

/* ---- library.c ---- */

/* clang-format off */
#define LIBRARY_FUNCTIONS(X)                                                                                  \
    X(last_error) X(version) X(type_size)                                                    \
    X(context_create) X(context_destroy) X(context_query)                                                     \
    X(workspace_size) X(run) X(explain)                                                                       \
    X(plan_create) X(plan_query) X(plan_query_method) X(plan_destroy)                                         \
    X(accumulator_size) X(accumulator_init) X(accumulator_push) X(accumulator_push_where)                     \
    X(accumulator_merge) X(accumulator_peek) X(accumulator_finish) X(accumulator_export_size)                  \
    X(accumulator_export) X(accumulator_import) X(accumulator_bar) X(accumulator_raise)                       \
    X(sharded_query) X(sharded_begin) X(sharded_count) X(sharded_advance) X(sharded_result)                   \
    X(sharded_select)
/* clang-format on */

struct library {
#define X(name) __typeof__(topk_##name) *name;
    LIBRARY_FUNCTIONS(X)
#undef X
};

/* Filled once, when the module is made. */
extern struct library library;

int library_load(const char *path);

/* Sets the exception for a failure of the calling thread; 0 for TOPK_OK. */
int library_check(topk_status status);

/* Imports libtopk._messages. */
int messages_init(void);
/* A text of the C library as one that names options as Python does; a new reference. */
PyObject *messages_of(const char *text);
/* Sets the exception for an option that the operation does not have. */
void messages_refuse_option(int operation, PyObject *name);

/* A name as Python's text, made once; borrowed, or NULL. */
#define INTERNED(text)                                                                                       \
    __extension__({                                                                                          \
        static PyObject *interned;                                                                           \
        interned != NULL ? interned : (interned = PyUnicode_InternFromString(text));                         \
    })

/* ---- kinds.c ---- */

enum kind { KIND_NUMPY, KIND_TORCH, KIND_CUPY, KIND_SHAPE, KINDS };

/* Python functions of libtopk._kinds for arrays of one kind, which numpy and libtopk.Shape always have, and
 * others once an array of theirs has been seen. A Shape is planned with, and refused by calls that run. */
struct kind_functions {
    PyObject *array_type;
    PyObject *empty;    /* (like, shape, dtype name or None for that of `like`): a new array beside `like` */
    PyObject *keywords; /* a tuple indexed by topk_type, of what like.new_empty(*shape, **keywords) takes for
                           that type: the same as `empty`, but faster; or None */
    PyObject *rows;     /* (array, dim): contiguous, with that dimension last */
    PyObject *move;     /* (array, dim): a view whose last dimension is at `dim` */
    PyObject *assign;   /* (target, source) */
    PyObject *tell_written; /* (tuple of arrays): they have been written to by the core; or None */
    PyObject *integers;     /* (object, like): contiguous int64 where `like` is */
    PyObject *stream; /* (device): the address of the current CUDA stream; None where there is no CUDA */
    PyObject *dtypes; /* a tuple of the kind's types, indexed by topk_type; 0 is bool, absent ones are None */
    const struct exchange *exchange; /* or NULL */
};

extern struct kind_functions kinds[KINDS];

/* libtopk._expanded, for arrays that have strides of 0; borrowed. */
extern PyObject *kinds_expanded;
/* The class of exceptions that tell of columns with nulls; borrowed. */
extern PyObject *kinds_nulls;

/* Imports the modules of libtopk that the core calls. */
int kinds_init(void);

/* The kind of an object. For one that is no array of a known kind, *adopted becomes an array that shares its
 * memory where it can, and *giver what turns results into arrays of its kind (NULL: nothing does). `adopted`
 * and `giver` are new references, or NULL. */
int kinds_of(PyObject *object, enum kind *kind, PyObject **adopted, PyObject **giver);

/* TypeError for an array of that dtype. `name` is for the message. */
void kinds_refuse_type(const char *name, PyObject *dtype);

/* A new array beside `like`, of a type and its name; NULL stands for the type of `like`. */
PyObject *kinds_new(enum kind kind, PyObject *like, const int64_t *shape, int dims, topk_type type,
                    const char *dtype);
/* The current stream of the kind's library on a CUDA device. */
int kinds_stream(enum kind kind, int device, topk_stream *stream);
/* What libtopk calls a type of some library; a new reference. */
PyObject *kinds_dtype_name(PyObject *dtype);
/* A tuple of Python's integers. */
PyObject *kinds_tuple(const int64_t *numbers, int count);

/* ---- exchange.c ---- */

struct array;

/* DLPack's interface of a type of arrays; NULL if it has none that is known here. */
const struct exchange *exchange_of(PyObject *array_type);
/* Sets data, device, type, shape and strides of array->object, an array of exactly that type. False, without
 * an exception, if it is none that DLPack and libtopk both know. */
bool exchange_describe(const struct exchange *exchange, struct array *array);
int exchange_stream(const struct exchange *exchange, int device, topk_stream *stream);
/* Makes the elements in a DLPack capsule unsigned integers if their type is one that numpy's DLPack lacks;
 * returns the type's name, or None. */
PyObject *exchange_as_bits(PyObject *self, PyObject *capsule);

/* ---- array.c ---- */

enum { DIMENSIONS_MAX = 64, DEVICES_MAX = 64, ON_CPU = -1, ON_ANY_DEVICE = -2 };

struct array {
    PyObject *object; /* an array of `kind`; a new reference */
    enum kind kind;
    void *data;     /* NULL for a Shape */
    int device;     /* CUDA ordinal, ON_CPU, or ON_ANY_DEVICE for a Shape that names none */
    topk_type type; /* UNDEFINED for bool */
    bool is_plain;  /* native byte order, aligned, whole elements between neighbours */
    bool is_writable;
    int dims;
    int64_t shape[DIMENSIONS_MAX];
    int64_t strides[DIMENSIONS_MAX]; /* in elements */
};

/* Describes an array of that kind. `name` is for messages. On failure *array holds nothing. */
int array_of(PyObject *object, enum kind kind, const char *name, struct array *array);
/* Likewise any object that kinds_of() takes. `giver` as there, or NULL where nobody asks for it. */
int array_from(PyObject *object, const char *name, struct array *array, PyObject **giver);
void array_drop(struct array *array);
int64_t array_elements(const struct array *array);
/* Whether its elements follow one another in C order. */
bool array_is_contiguous(const struct array *array);

/* ---- rows.c ---- */

struct rows {
    const void *data;
    int64_t rows;
    int64_t length;
    int64_t stride; /* 0: the length */
};

/* Rows along a dimension; false if only a copy can be read as such. A gap between rows is a stride. */
bool rows_in_place(const struct array *array, int dim, struct rows *rows);

/* Likewise, after replacing *array by a contiguous copy where it must be; without gaps if `dense`. */
int rows_of(struct array *array, int *dim, bool dense, const char *name, struct rows *rows);

/* ---- context.c ---- */

struct context {
    PyObject_HEAD topk_context *handle;
    topk_backend backend;
    int device;
    int threads;
    bool reads_host; /* its memory is the host's: the CPU, and the emulated GPU of the tests */
    char *features;
    void *spare; /* a workspace of the host, free for the next call; or NULL */
    size_t spare_bytes;
};

int context_init(PyObject *module);
/* A borrowed context for arrays on that device, which lives as long as the process. */
struct context *context_for(int device);
/* NULL if it is none. */
struct context *context_from(PyObject *object);

/* ---- call.c ---- */

enum { OUTPUTS_MAX = 8 };

/* Operations of accumulators, and then of shards, follow those of topk_operation. */
enum operation {
    OPERATION_INIT = 11,
    OPERATION_PUSH,
    OPERATION_MERGE,
    OPERATION_PEEK,
    OPERATION_FINISH,
    OPERATION_EXPORT,
    OPERATION_IMPORT,
    OPERATION_BAR,
    OPERATION_RAISE,
    OPERATION_SHARD_BEGIN,
    OPERATION_SHARD_COUNT,
    OPERATION_SHARD_ADVANCE,
    OPERATION_SHARD_RESULT,
    OPERATION_SHARD_SELECT
};

/* Options that are arrays. */
enum given {
    GIVEN_K,
    GIVEN_LENGTHS,
    GIVEN_OFFSETS,
    GIVEN_BEGINS,
    GIVEN_ENDS,
    GIVEN_GROUPS,
    GIVEN_INDICES,
    GIVEN_MASK,
    GIVEN_THRESHOLD, /* of at_least, and of a bar */
    GIVEN_POSITIONS, /* of a bar */
    GIVEN_BIAS,
    GIVEN_COUNTERS,
    GIVEN_SUMS,
    GIVEN_BEFORE,
    GIVEN_PAYLOAD,
    GIVENS
};

struct result_spec; /* of outputs.c */

struct output {
    const char *name;
    const char *dtype; /* NULL: that of x */
    topk_type type;
    const struct result_spec *spec;
    bool has_k;              /* its last dimension is k, in place of the dimension `dim` of x */
    void *data;              /* NULL where nothing is wanted */
    PyObject *result;        /* what `data` lies in, or the caller's array for it; a new reference, or NULL */
    PyObject *memory;        /* of the caller's array, what `data` lies in; a new reference, or NULL */
    PyObject *target;        /* the caller's array that the result is copied to, borrowed; or NULL */
    PyObject *target_memory; /* of a known kind, what `target` is for the copy; a new reference, or NULL */
    int dims;
    int64_t shape[DIMENSIONS_MAX]; /* in which the C library writes it */
};

/* A call of the C library, while it is put together. */
struct call {
    int operation;
    bool is_plan;    /* asks about the call, and does not run it */
    int dim;         /* of x as it was given, from 0 */
    int lead;        /* dimensions that rows are counted along, in order */
    bool is_scalar;  /* x as it was given has no dimensions */
    bool is_ragged;  /* extents cut the rows from one array */
    PyObject *giver; /* turns results into arrays of the caller's kind, or NULL */
    bool has_k_max, has_length_max;
    int64_t capacity, base, length, round;
    PyObject *given[GIVENS];  /* borrowed, or NULL */
    PyObject *axis;           /* what stands for `dim`; borrowed, or NULL */
    PyObject *context_object; /* borrowed, or NULL */
    struct context *context;  /* borrowed */
    topk_stream stream;
    int kept_count, outputs_count;
    char method[64], tuning[256]; /* what the problem points to, or "" */
    struct array x;               /* what lies before it is zero at first */
    int64_t lead_shape[DIMENSIONS_MAX];
    topk_problem problem;
    topk_input input;
    topk_predicate predicate;
    const int64_t *positions; /* of a bar */
    topk_routing routing;
    topk_lists lists;
    int64_t *counters, *numbers; /* of a shard: its own, and those of others */
    const struct array *payload; /* of lists, one of `kept`; or NULL */
    struct array kept[GIVENS];   /* other arrays that the call reads */
    struct output outputs[OUTPUTS_MAX];
    struct array workspace;
    struct array other; /* the state that is merged */
};

/* run(mode, operation, x, k, largest, sorted, dim, out, wanted, workspace, options, other): see
 * libtopk._core's stub for Python. */
PyObject *call_run(PyObject *self, PyObject *const *arguments, Py_ssize_t count);

/* ---- options.c ---- */

/* Reads a dictionary of options into the call; NULL is empty. */
int options_read(struct call *call, PyObject *options);
/* An integer of 64 bits. `name` is for messages. */
int options_integer(PyObject *value, const char *name, int64_t *number);

/* ---- inputs.c ---- */

/* Whether x holds truth values and the operation takes these: as bytes, which are 0 or 1. */
bool inputs_are_truths(const struct call *call);
/* Fills problem and input from x, k and the arrays among the options. */
int inputs_take(struct call *call, PyObject *k);
/* Whether elements of x, along the dimension of the rows or across it, share memory by a stride of 0. */
bool inputs_have_shared_elements(const struct call *call);
/* An exception for a Shape in a call that runs. */
int inputs_refuse_shape(const struct call *call, const struct array *array, const char *name);
/* TypeError for an array of floats or truth values that is not empty. */
int inputs_check_integers(const struct array *array, const char *name);
/* Describes another array that the call reads, and keeps it until the call ends. `name` is for messages. */
int inputs_keep(struct call *call, PyObject *object, const char *name, struct array **kept);
/* Whether its memory is on the device of x. */
bool inputs_are_beside_x(const struct call *call, const struct array *array);

/* ---- companions.c ---- */

/* Takes indices, the mask and the bias, once index_type is settled. */
int companions_take(struct call *call);
/* Takes the payload of lists, if there is one, once x is settled and before outputs are made. */
int companions_take_payload(struct call *call);

/* ---- outputs.c ---- */

/* Makes or checks the outputs: `out` is None, an array, or a tuple of arrays and None. `wanted` has a bit for
 * each output that is to be made where `out` names none. A plan only takes the type of indices from them. */
int outputs_make(struct call *call, PyObject *out, int wanted);
/* Where the C library writes them. */
topk_output outputs_given(const struct call *call);
topk_sharded_output outputs_of_shard(const struct call *call);
/* The results: one object, or a tuple. Copies to the caller's arrays what could not be written there. */
PyObject *outputs_take(struct call *call);
void outputs_drop(struct call *call);

/* ---- shards.c ---- */

/* (bytes of a state, counters, rounds), as Python's integers. */
PyObject *shards_measure(const struct call *call);
/* Takes the arrays of counters and of numbers of other shards. */
int shards_take(struct call *call);
topk_status shards_run(struct call *call, void *state, size_t bytes);

/* ---- overlap.c ---- */

/* ValueError if an array for results overlaps another array of the call, or itself, and the C library cannot
 * see it. */
int overlap_check(const struct call *call);

/* ---- xla.c ---- */

/* (platform, operation): a capsule of the handler that a program of XLA calls. */
PyObject *xla_handler(PyObject *self, PyObject *arguments);
/* (device, operation, type, rows, length, is_wide, k, largest, nan_last): bytes of scratch that a handler
 * needs there. `device` is -1, the CPU, or the number of a CUDA device. */
PyObject *xla_scratch(PyObject *self, PyObject *arguments);

#endif /* TOPK_PYTHON_CORE_H */
