/* SPDX-License-Identifier: Apache-2.0
 *
 * The C library sees arrays for results that it writes to itself. Those with gaps get a copy, so what they
 * overlap is looked for here, element by element. */
#include <stdlib.h>

#include "core.h"

struct bytes {
    uintptr_t begin, end;
};

/* Pieces of `length` bytes, each `stride` behind the one before. */
struct pieces {
    struct bytes all;
    uintptr_t length, stride;
};

static size_t size_of(const struct array *array) {
    size_t size = library.type_size(array->type);
    return size == 0 ? 1 : size; /* of a bool */
}

static struct bytes extent_of(const struct array *array) {
    uintptr_t begin = (uintptr_t)array->data, end = begin, size = size_of(array);
    if (array_elements(array) == 0) {
        return (struct bytes){begin, begin};
    }
    for (int d = 0; d < array->dims; ++d) {
        int64_t reach = (array->shape[d] - 1) * array->strides[d] * (int64_t)size;
        *(reach < 0 ? &begin : &end) += (uintptr_t)reach;
    }
    return (struct bytes){begin, end + size};
}

static bool do_meet(struct bytes a, struct bytes b) {
    return a.begin < b.end && b.begin < a.end;
}

/* False where each dimension strides over all that those with lower strides reach: the usual case. */
static bool may_meet_itself(const struct array *array) {
    int64_t reached = 1, last = 0;
    for (;;) {
        int64_t least = INT64_MAX, shape = 0;
        for (int d = 0; d < array->dims; ++d) {
            int64_t stride = array->strides[d] < 0 ? -array->strides[d] : array->strides[d];
            if (array->shape[d] > 1 && stride > last && stride == least) {
                return true;
            }
            if (array->shape[d] > 1 && stride > last && stride < least) {
                least = stride;
                shape = array->shape[d];
            }
        }
        if (shape == 0 || least < reached) {
            return shape != 0;
        }
        reached += least * (shape - 1);
        last = least;
    }
}

/* The bytes of each element; returns what lies behind them in the list. */
static struct bytes *list(const struct array *array, struct bytes *elements) {
    uintptr_t size = size_of(array);
    for (int64_t i = 0, count = array_elements(array); i < count; ++i) {
        uintptr_t begin = (uintptr_t)array->data;
        int64_t rest = i;
        for (int d = array->dims - 1; d >= 0; --d) {
            begin += (uintptr_t)(rest % array->shape[d] * array->strides[d]) * size;
            rest /= array->shape[d];
        }
        *elements++ = (struct bytes){begin, begin + size};
    }
    return elements;
}

static int compare(const void *first, const void *second) {
    const struct bytes *a = first, *b = second;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

static bool have_meeting_neighbours(struct bytes *elements, size_t count) {
    qsort(elements, count, sizeof *elements, compare);
    for (size_t i = 1; i < count; ++i) {
        if (elements[i].begin < elements[i - 1].end) {
            return true;
        }
    }
    return false;
}

static bool is_met_by(const struct pieces *pieces, const struct bytes *elements, const struct bytes *end) {
    for (; pieces->all.begin < pieces->all.end && elements < end; ++elements) {
        if (do_meet(pieces->all, *elements)) {
            uintptr_t begin = elements->begin - pieces->all.begin;
            if (elements->begin < pieces->all.begin || begin % pieces->stride < pieces->length ||
                begin % pieces->stride + (elements->end - elements->begin) > pieces->stride) {
                return true;
            }
        }
    }
    return false;
}

static struct pieces pieces_of_x(const struct call *call) {
    uintptr_t begin = (uintptr_t)call->x.data, size = size_of(&call->x), rows = (uintptr_t)call->problem.rows;
    uintptr_t length = (uintptr_t)call->length * size, stride = (uintptr_t)call->problem.row_stride * size;
    if (call->problem.shape != TOPK_SHAPE_STRIDED) {
        rows = 1;
        length = (uintptr_t)call->problem.elements_max * size;
    }
    if (call->operation == TOPK_OPERATION_SELECT_BY) {
        rows = 1;
    }
    if (call->operation == TOPK_OPERATION_MERGE) {
        rows *= (uintptr_t)call->lists.lists;
    }
    stride = stride == 0 || rows == 1 ? length : stride;
    bool is_empty = rows == 0 || length == 0;
    return (struct pieces){{begin, is_empty ? begin : begin + (rows - 1) * stride + length}, length, stride};
}

static struct pieces pieces_of(const struct array *array) {
    if (array->object == NULL) { /* no workspace of the caller's */
        return (struct pieces){0};
    }
    uintptr_t begin = (uintptr_t)array->data, length = (uintptr_t)array_elements(array) * size_of(array);
    return (struct pieces){{begin, begin + length}, length, length};
}

/* What the call reads or works in. */
static int list_used(const struct call *call, struct pieces *used) {
    used[0] = pieces_of_x(call);
    used[1] = pieces_of(&call->workspace);
    for (int i = 0; i < call->kept_count; ++i) {
        used[2 + i] = pieces_of(&call->kept[i]);
    }
    return 2 + call->kept_count;
}

/* False where extents alone show that no two elements share memory. */
static bool may_meet(const struct array *targets, int count, const struct pieces *used, int used_count) {
    for (int i = 0; i < count; ++i) {
        struct bytes extent = extent_of(&targets[i]);
        if (may_meet_itself(&targets[i])) {
            return true;
        }
        for (int j = 0; j < i; ++j) {
            if (do_meet(extent, extent_of(&targets[j]))) {
                return true;
            }
        }
        for (int j = 0; j < used_count; ++j) {
            if (do_meet(extent, used[j].all)) {
                return true;
            }
        }
    }
    return false;
}

/* Whether two elements share memory, by a list of all; -1 with an exception if there is no memory for it. */
static int do_elements_meet(const struct array *targets, int count, const struct pieces *used,
                            int used_count) {
    size_t room = 1;
    for (int i = 0; i < count; ++i) {
        room += (size_t)array_elements(&targets[i]);
    }
    struct bytes *elements = malloc(room * sizeof *elements), *end = elements;
    if (elements == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    bool do_meet_used = false;
    for (int i = 0; i < count; ++i) {
        end = list(&targets[i], end);
    }
    for (int i = 0; i < used_count; ++i) {
        do_meet_used = do_meet_used || is_met_by(&used[i], elements, end);
    }
    bool result = do_meet_used || have_meeting_neighbours(elements, (size_t)(end - elements));
    free(elements);
    return result;
}

static int refuse_overlap(const struct call *call, const struct array *targets, int count) {
    struct pieces used[GIVENS + 2];
    int used_count = list_used(call, used);
    if (!may_meet(targets, count, used, used_count)) {
        return 0;
    }
    int result = do_elements_meet(targets, count, used, used_count);
    if (result > 0) {
        PyErr_SetString(
            PyExc_ValueError,
            "out: two elements share memory, or one does with an array that the call reads or works in");
    }
    return result == 0 ? 0 : -1;
}

int overlap_check(const struct call *call) {
    struct array targets[OUTPUTS_MAX];
    int count = 0, status = 0;
    bool has_gaps = false;
    for (int i = 0; i < call->outputs_count; ++i) {
        has_gaps = has_gaps || call->outputs[i].target_memory != NULL;
    }
    for (int i = 0; has_gaps && status == 0 && i < call->outputs_count; ++i) {
        const struct output *output = &call->outputs[i];
        PyObject *memory = output->target_memory != NULL ? output->target_memory : output->memory;
        if (memory != NULL) {
            status = array_of(memory, call->x.kind, output->name, &targets[count]);
            count += status == 0;
        }
    }
    if (count > 0 && status == 0) {
        status = refuse_overlap(call, targets, count);
    }
    while (count > 0) {
        array_drop(&targets[--count]);
    }
    return status;
}
