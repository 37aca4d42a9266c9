/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "core.h"

/* Sets of operations that an option goes with. */
enum {
    OF_SELECT = 1 << TOPK_OPERATION_SELECT,
    OF_KTH = 1 << TOPK_OPERATION_KTH,
    OF_WHERE = 1 << TOPK_OPERATION_WHERE,
    OF_SELECT_WHERE = 1 << TOPK_OPERATION_SELECT_WHERE,
    OF_COUNT = 1 << TOPK_OPERATION_COUNT,
    OF_MASK = 1 << TOPK_OPERATION_MASK,
    OF_ROUTE = 1 << TOPK_OPERATION_ROUTE,
    OF_STATE = 1 << OPERATION_INIT | 1 << OPERATION_MERGE | 1 << OPERATION_PEEK | 1 << OPERATION_FINISH |
               1 << OPERATION_EXPORT | 1 << OPERATION_IMPORT | 1 << OPERATION_BAR | 1 << OPERATION_RAISE,
    OF_RAISE = 1 << OPERATION_RAISE,
    OF_PUSH = 1 << OPERATION_PUSH,
    OF_MERGE = 1 << TOPK_OPERATION_MERGE,
    OF_SELECT_BY = 1 << TOPK_OPERATION_SELECT_BY,
    OF_SHARD = 1 << OPERATION_SHARD_BEGIN | 1 << OPERATION_SHARD_COUNT | 1 << OPERATION_SHARD_ADVANCE |
               1 << OPERATION_SHARD_RESULT | 1 << OPERATION_SHARD_SELECT,

    OF_SELECTIONS = OF_SELECT | OF_SELECT_WHERE,
    OF_RANKINGS = OF_SELECTIONS | OF_KTH | OF_STATE | OF_PUSH | OF_MERGE | OF_SHARD | OF_SELECT_BY,
    OF_PREDICATES = OF_WHERE | OF_SELECT_WHERE | OF_KTH | OF_COUNT | OF_MASK | OF_PUSH | OF_SHARD,
    OF_COMPACTIONS = OF_WHERE | OF_COUNT | OF_MASK, /* elements rank there for at_least alone */
    OF_ROWS = OF_SELECTIONS | OF_KTH | OF_WHERE | OF_COUNT | OF_MASK,
    OF_POSITIONS = OF_SELECTIONS | OF_WHERE | OF_ROUTE | OF_STATE | OF_PUSH | OF_SHARD | OF_SELECT_BY,
    OF_ALL = OF_ROWS | OF_ROUTE | OF_STATE | OF_PUSH | OF_MERGE | OF_SELECT_BY,
};

struct option {
    const char *name;
    int operations;
    int (*read)(struct call *, PyObject *value, const struct option *);
    size_t place;             /* of what it sets, in struct call; the reader knows its type */
    const char *const *words; /* of an option that takes one of a few words, ended by NULL */
    int number;               /* what a reader needs besides */
};

static void *place_of(struct call *call, const struct option *option) {
    return (char *)call + option->place;
}

static int read_word(struct call *call, PyObject *value, const struct option *option) {
    const char *word = PyUnicode_Check(value) ? PyUnicode_AsUTF8AndSize(value, NULL) : NULL;
    for (int i = 0; word != NULL && option->words[i] != NULL; ++i) {
        if (strcmp(word, option->words[i]) == 0) {
            *(int *)place_of(call, option) = i;
            return 0;
        }
    }
    if (!PyErr_Occurred()) {
        PyErr_Format(PyExc_ValueError, "%s is %R, and can be '%s' or '%s'", option->name, value,
                     option->words[0], option->words[1]);
    }
    return -1;
}

static int read_flag(struct call *call, PyObject *value, const struct option *option) {
    int truth = PyObject_IsTrue(value);
    *(int *)place_of(call, option) = truth;
    return truth < 0 ? -1 : 0;
}

/* A type by its name, or an object of some library that stands for it. */
static int read_index_dtype(struct call *call, PyObject *value, const struct option *option) {
    PyObject *name = PyUnicode_Check(value) ? Py_NewRef(value) : kinds_dtype_name(value);
    int status = name == NULL ? -1 : read_word(call, name, option);
    Py_XDECREF(name);
    return status;
}

int options_integer(PyObject *value, const char *name, int64_t *number) {
    int overflow = 0;
    PyObject *integer = PyNumber_Index(value);
    *number = integer == NULL ? -1 : PyLong_AsLongLongAndOverflow(integer, &overflow);
    Py_XDECREF(integer);
    if (integer == NULL && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "%s is %R, and must be an integer", name, value);
    } else if (overflow != 0) { /* the number may be too long to be written */
        PyErr_Format(PyExc_OverflowError, "%s is an integer beyond 64 bits", name);
    }
    return PyErr_Occurred() ? -1 : 0;
}

static int read_integer(struct call *call, PyObject *value, const struct option *option) {
    return options_integer(value, option->name, place_of(call, option));
}

static int read_axis(struct call *call, PyObject *value, const struct option *option) {
    (void)option;
    call->axis = value;
    return 0;
}

static int read_size(struct call *call, PyObject *value, const struct option *option) {
    if (read_integer(call, value, option) != 0) {
        return -1;
    }
    if (*(int64_t *)place_of(call, option) < 0) {
        PyErr_Format(PyExc_ValueError, "%s is %R, and cannot be negative", option->name, value);
        return -1;
    }
    return 0;
}

/* As read_size(), and tells that the option was given: `number` is the place of a bool. */
static int read_told(struct call *call, PyObject *value, const struct option *option) {
    *((bool *)call + option->number) = true;
    return read_size(call, value, option);
}

/* Puts the option's name before the message of an exception, if there is one. */
static int name_exception(const struct option *option) {
    PyObject *type, *value, *trace;
    if (!PyErr_Occurred()) {
        return 0;
    }
    PyErr_Fetch(&type, &value, &trace);
    PyErr_Format(type, "%s: %S", option->name, value == NULL ? Py_None : value);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return -1;
}

static int read_double(struct call *call, PyObject *value, const struct option *option) {
    *(double *)place_of(call, option) = PyFloat_AsDouble(value);
    return name_exception(option);
}

static int read_factor(struct call *call, PyObject *value, const struct option *option) {
    call->routing.factor = (float)PyFloat_AsDouble(value);
    return name_exception(option);
}

/* Text that is copied to an array of `number` bytes in the call. */
static int read_text(struct call *call, PyObject *value, const struct option *option) {
    Py_ssize_t size = 0;
    if (!PyUnicode_Check(value)) {
        PyErr_Format(PyExc_TypeError, "%s is %R, and must be a str", option->name, value);
        return -1;
    }
    const char *text = PyUnicode_AsUTF8AndSize(value, &size);
    if (text == NULL) {
        return -1;
    }
    if (size >= option->number || (size_t)size != strlen(text)) {
        PyErr_Format(PyExc_ValueError, "%s has %zd bytes, of at most %d, and none may be zero", option->name,
                     size, option->number - 1);
        return -1;
    }
    memcpy(place_of(call, option), text, (size_t)size + 1);
    return 0;
}

static int read_given(struct call *call, PyObject *value, const struct option *option) {
    call->given[option->number] = value;
    return 0;
}

static int read_context(struct call *call, PyObject *value, const struct option *option) {
    (void)option;
    call->context_object = value;
    return 0;
}

/* Other types than float have numbers that no double is: fractions, decimals, longer floats. */
static int read_bound_as_float(PyObject *value, topk_bound *bound) {
    bound->type = TOPK_BOUND_F64;
    bound->value.f64 = PyFloat_AsDouble(value);
    if (PyErr_Occurred() || PyFloat_Check(value) || bound->value.f64 != bound->value.f64) {
        return PyErr_Occurred() ? -1 : 0;
    }
    PyObject *rounded = PyFloat_FromDouble(bound->value.f64);
    PyObject *equal = rounded == NULL ? NULL : PyObject_RichCompare(rounded, value, Py_EQ);
    int is_equal = equal == NULL ? -1 : PyObject_IsTrue(equal);
    Py_XDECREF(rounded);
    Py_XDECREF(equal);
    if (is_equal == 0) {
        PyErr_Format(PyExc_ValueError, "%R is no number that a float or an integer of 64 bits can be", value);
    }
    return is_equal == 1 ? 0 : -1;
}

/* A number as the exact bound that it is. */
static int read_bound(PyObject *value, const struct option *option, topk_bound *bound) {
    PyObject *integer = PyFloat_Check(value) || !PyIndex_Check(value) ? NULL : PyNumber_Index(value);
    if (integer == NULL) {
        PyErr_Clear(); /* an array of one float has __index__, which fails */
        return read_bound_as_float(value, bound) == 0 ? 0 : name_exception(option);
    }
    int overflow = 0;
    bound->type = TOPK_BOUND_I64;
    bound->value.i64 = PyLong_AsLongLongAndOverflow(integer, &overflow);
    if (overflow > 0) {
        bound->type = TOPK_BOUND_U64;
        bound->value.u64 = PyLong_AsUnsignedLongLong(integer);
    }
    Py_DECREF(integer);
    if (overflow < 0 || PyErr_Occurred()) { /* the number may be too long to be written */
        PyErr_Clear();
        PyErr_Format(PyExc_OverflowError, "%s is %s all integers of 64 bits; a float can be %s", option->name,
                     overflow < 0 ? "below" : "above", overflow < 0 ? "lower" : "higher");
    }
    return PyErr_Occurred() ? -1 : 0;
}

static int take_predicate(struct call *call, topk_predicate_kind kind) {
    if (call->predicate.kind != TOPK_PREDICATE_UNDEFINED) {
        PyErr_SetString(
            PyExc_TypeError,
            "two predicates, where one is meant: gt, ge, lt, le, eq, ne, between, mask, bits or at_least");
        return -1;
    }
    call->predicate.kind = kind;
    return 0;
}

static int read_comparison(struct call *call, PyObject *value, const struct option *option) {
    return take_predicate(call, (topk_predicate_kind)option->number) == 0 &&
                   read_bound(value, option, &call->predicate.low) == 0
               ? 0
               : -1;
}

static int read_between(struct call *call, PyObject *value, const struct option *option) {
    PyObject *low, *high;
    if (take_predicate(call, TOPK_BETWEEN) != 0) {
        return -1;
    }
    if (!PyTuple_Check(value) || PyTuple_Size(value) != 2) {
        PyErr_Format(PyExc_TypeError, "%s is %R, and must be a tuple (low, high)", option->name, value);
        return -1;
    }
    low = PyTuple_GetItem(value, 0);
    high = PyTuple_GetItem(value, 1);
    return read_bound(low, option, &call->predicate.low) == 0 &&
                   read_bound(high, option, &call->predicate.high) == 0
               ? 0
               : -1;
}

static int read_mask(struct call *call, PyObject *value, const struct option *option) {
    call->given[GIVEN_MASK] = value;
    return take_predicate(call, (topk_predicate_kind)option->number);
}

static int read_threshold(struct call *call, PyObject *value, const struct option *option) {
    call->given[GIVEN_THRESHOLD] = value;
    return take_predicate(call, (topk_predicate_kind)option->number);
}

static int read_largest(struct call *call, PyObject *value, const struct option *option) {
    int largest = PyObject_IsTrue(value);
    (void)option;
    call->problem.direction = largest ? TOPK_LARGEST : TOPK_SMALLEST;
    return largest < 0 ? -1 : 0;
}

#define PLACE(member) offsetof(struct call, member)

static const char *const nans[] = {"largest", "last", NULL};
static const char *const ties[] = {"lowest", "any", NULL};
static const char *const orders[] = {"best", "any", "position", NULL};
static const char *const index_types[] = {"int32", "int64", NULL};
static const char *const scores[] = {"logit", "sigmoid", NULL};
static const char *const weighings[] = {"softmax", "sigmoid", NULL};

static const struct option table[] = {
    {"nan", OF_RANKINGS | OF_COMPACTIONS, read_word, PLACE(problem.nan), nans, 0},
    {"ties", OF_SELECTIONS | OF_MERGE | OF_SELECT_BY, read_word, PLACE(problem.ties), ties, 0},
    {"order", OF_SELECTIONS | OF_STATE | OF_PUSH | OF_MERGE | OF_SELECT_BY, read_word, PLACE(problem.order),
     orders, 0},
    {"largest", OF_COMPACTIONS, read_largest, 0, NULL, 0},
    {"magnitude", OF_RANKINGS | OF_COMPACTIONS, read_flag, PLACE(problem.rank), NULL, 0},
    {"index_dtype", OF_POSITIONS | OF_MERGE, read_index_dtype, PLACE(problem.index_type), index_types, 0},
    {"index_base", OF_POSITIONS, read_integer, PLACE(problem.index_base), NULL, 0},
    {"k_max", OF_SELECTIONS | OF_KTH | OF_PUSH | OF_MERGE | OF_SHARD | OF_SELECT_BY, read_told,
     PLACE(problem.k_max), NULL, PLACE(has_k_max)},
    {"length_max", (OF_ROWS & ~OF_MASK) | OF_STATE | OF_PUSH | OF_SHARD, read_told, PLACE(problem.length_max),
     NULL, PLACE(has_length_max)},
    {"method", OF_ALL, read_text, PLACE(method), NULL, sizeof((struct call *)0)->method},
    {"tuning", OF_ALL, read_text, PLACE(tuning), NULL, sizeof((struct call *)0)->tuning},
    {"workspace_limit", OF_ALL | OF_SHARD, read_size, PLACE(problem.workspace_limit), NULL, 0},
    {"max_iterations", OF_SELECTIONS, read_integer, PLACE(problem.max_iterations), NULL, 0},
    {"epsilon", OF_SELECTIONS, read_double, PLACE(problem.epsilon), NULL, 0},
    {"epsilon_relative", OF_SELECTIONS, read_double, PLACE(problem.epsilon_relative), NULL, 0},
    {"context", OF_ALL | OF_SHARD, read_context, 0, NULL, 0},

    {"lengths", OF_ROWS | OF_PUSH | OF_MERGE | OF_SHARD, read_given, 0, NULL, GIVEN_LENGTHS},
    {"indices", OF_SELECTIONS | OF_WHERE | OF_PUSH | OF_MERGE | OF_SHARD | OF_SELECT_BY, read_given, 0, NULL,
     GIVEN_INDICES},
    {"offsets", OF_ROWS | OF_SHARD, read_given, 0, NULL, GIVEN_OFFSETS},
    {"begins", OF_ROWS | OF_SHARD, read_given, 0, NULL, GIVEN_BEGINS},
    {"ends", OF_ROWS | OF_SHARD, read_given, 0, NULL, GIVEN_ENDS},

    {"gt", OF_PREDICATES, read_comparison, 0, NULL, TOPK_GT},
    {"ge", OF_PREDICATES, read_comparison, 0, NULL, TOPK_GE},
    {"lt", OF_PREDICATES, read_comparison, 0, NULL, TOPK_LT},
    {"le", OF_PREDICATES, read_comparison, 0, NULL, TOPK_LE},
    {"eq", OF_PREDICATES, read_comparison, 0, NULL, TOPK_EQ},
    {"ne", OF_PREDICATES, read_comparison, 0, NULL, TOPK_NE},
    {"between", OF_PREDICATES, read_between, 0, NULL, 0},
    {"mask", OF_PREDICATES, read_mask, 0, NULL, TOPK_BYTE_MASK},
    {"bits", OF_PREDICATES & ~OF_PUSH, read_mask, 0, NULL, TOPK_BIT_MASK},
    {"at_least", OF_COMPACTIONS | OF_SELECT_WHERE | OF_KTH, read_threshold, 0, NULL, TOPK_AT_LEAST},
    {"capacity", OF_WHERE, read_size, PLACE(capacity), NULL, 0},

    {"score", OF_ROUTE, read_word, PLACE(routing.score), scores, 0},
    {"weighing", OF_ROUTE, read_word, PLACE(routing.weighing), weighings, 0},
    {"bias", OF_ROUTE, read_given, 0, NULL, GIVEN_BIAS},
    {"groups", OF_ROUTE, read_integer, PLACE(routing.groups), NULL, 0},
    {"groups_kept", OF_ROUTE, read_integer, PLACE(routing.groups_kept), NULL, 0},
    {"factor", OF_ROUTE, read_factor, 0, NULL, 0},

    {"groups", OF_SELECT_BY, read_given, 0, NULL, GIVEN_GROUPS},
    {"group_count", OF_SELECT_BY, read_size, PLACE(problem.rows), NULL, 0},

    {"axis", OF_ROWS | OF_ROUTE, read_axis, 0, NULL, 0},
    {"bar", OF_RAISE, read_given, 0, NULL, GIVEN_THRESHOLD},
    {"positions", OF_RAISE, read_given, 0, NULL, GIVEN_POSITIONS},

    {"base", OF_PUSH, read_integer, PLACE(base), NULL, 0},

    {"lists_sorted", OF_MERGE, read_flag, PLACE(lists.sorted), NULL, 0},
    {"payload", OF_MERGE, read_given, 0, NULL, GIVEN_PAYLOAD},

    {"round", OF_SHARD, read_integer, PLACE(round), NULL, 0},
    {"counters", OF_SHARD, read_given, 0, NULL, GIVEN_COUNTERS},
    {"sums", OF_SHARD, read_given, 0, NULL, GIVEN_SUMS},
    {"before", OF_SHARD, read_given, 0, NULL, GIVEN_BEFORE},
    {"pitch", 1 << OPERATION_SHARD_SELECT, read_size, PLACE(capacity), NULL, 0},
};

static int read_option(struct call *call, PyObject *name, PyObject *value) {
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    if (text == NULL) {
        return -1;
    }
    for (size_t i = 0; i < sizeof table / sizeof *table; ++i) {
        if (strcmp(table[i].name, text) == 0 && (table[i].operations >> call->operation & 1) != 0) {
            /* An axis of None means all elements to numpy, and nothing here. */
            const bool is_given = value != Py_None || table[i].read == read_axis;
            return is_given ? table[i].read(call, value, &table[i]) : 0;
        }
    }
    messages_refuse_option(call->operation, name);
    return -1;
}

int options_read(struct call *call, PyObject *options) {
    PyObject *name, *value;
    Py_ssize_t position = 0;
    while (options != NULL && PyDict_Next(options, &position, &name, &value)) {
        if (read_option(call, name, value) != 0) {
            return -1;
        }
    }
    if ((OF_COMPACTIONS >> call->operation & 1) != 0 && call->predicate.kind != TOPK_AT_LEAST &&
        (call->problem.direction != TOPK_LARGEST || call->problem.rank != TOPK_BY_VALUE ||
         call->problem.nan != TOPK_NAN_AS_LARGEST)) {
        PyErr_SetString(PyExc_TypeError, "the options largest, magnitude and nan go with at_least here");
        return -1;
    }
    return 0;
}
