/* SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

PyObject *shards_measure(const struct call *call) {
    topk_sharded_properties properties = TOPK_SHARDED_PROPERTIES_INIT;
    if (library_check(library.sharded_query(call->context->handle, &call->problem, &properties)) != 0) {
        return NULL;
    }
    return Py_BuildValue("nLi", (Py_ssize_t)properties.state_bytes, (long long)properties.counters,
                         properties.rounds);
}

/* An array of `count` int64 beside x. *numbers stays as it is where none is given. */
static int take_numbers(struct call *call, enum given which, const char *name, int64_t count,
                        int64_t **numbers) {
    struct array *array;
    if (call->given[which] == NULL) {
        return 0;
    }
    if (inputs_keep(call, call->given[which], name, &array) != 0) {
        return -1;
    }
    if (array->type != TOPK_I64 || !array_is_contiguous(array) || !inputs_are_beside_x(call, array) ||
        array_elements(array) != count) {
        PyErr_Format(PyExc_ValueError, "%s are not %lld contiguous int64 beside x", name, (long long)count);
        return -1;
    }
    *numbers = array->data;
    return 0;
}

int shards_take(struct call *call) {
    topk_sharded_properties properties = TOPK_SHARDED_PROPERTIES_INIT;
    if (call->operation < OPERATION_SHARD_RESULT &&
        library_check(library.sharded_query(call->context->handle, &call->problem, &properties)) != 0) {
        return -1;
    }
    return take_numbers(call, GIVEN_COUNTERS, "counters", properties.counters, &call->counters) == 0 &&
                   take_numbers(call, GIVEN_SUMS, "sums", properties.counters, &call->numbers) == 0 &&
                   take_numbers(call, GIVEN_BEFORE, "before", call->problem.rows, &call->numbers) == 0
               ? 0
               : -1;
}

topk_status shards_run(struct call *call, void *state, size_t bytes) {
    topk_context *context = call->context->handle;
    const topk_problem *problem = &call->problem;
    const int round = (int)call->round;
    topk_sharded_output output;
    call->input.predicate = call->predicate.kind == TOPK_PREDICATE_UNDEFINED ? NULL : &call->predicate;
    switch (call->operation) {
    case OPERATION_SHARD_BEGIN:
        return library.sharded_begin(context, problem, state, bytes, call->input.k, call->counters,
                                     call->stream);
    case OPERATION_SHARD_COUNT:
        return library.sharded_count(context, problem, state, bytes, round, &call->input, call->counters,
                                     call->stream);
    case OPERATION_SHARD_ADVANCE:
        return library.sharded_advance(context, problem, state, bytes, round, call->numbers, call->counters,
                                       call->stream);
    case OPERATION_SHARD_SELECT:
        return library.sharded_select(context, problem, state, bytes, &call->input, call->numbers,
                                      call->capacity, call->outputs[0].data, call->outputs[1].data,
                                      call->stream);
    default:
        output = outputs_of_shard(call);
        return library.sharded_result(context, problem, state, bytes, call->numbers, &output, call->stream);
    }
}
