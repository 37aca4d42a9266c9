/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include "groups.h"
#include "operations.h"
#include "status.h"
#include "structs.h"
#include "workspace.h"

topk_status topk_decided_make(const topk_context *context, topk_operation operation,
                              const topk_problem *problem, struct decided *decided) {
    if (context == NULL) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "context is NULL");
    }
    const topk_status status = topk_plan_make(operation, problem, &decided->plan);
    if (status != TOPK_OK) {
        return status;
    }
    decided->context = context;
    decided->predicate = TOPK_PREDICATE_UNDEFINED;
    decided->outputs = topk_operations[operation].outputs;
    decided->room.used = 0; /* nothing more of it is cleared */
    return topk_choose_one(context, &decided->plan, &decided->room, &decided->chosen);
}

/* The fields of topk_output that are arrays, by the number of their bit. */
enum { OUTPUTS = 9 };
static const struct output {
    const char *name;
    size_t at; /* in topk_output */
} outputs[OUTPUTS] = {
    {"values", offsetof(topk_output, values)},   {"indices", offsetof(topk_output, indices)},
    {"offsets", offsetof(topk_output, offsets)}, {"better", offsetof(topk_output, better)},
    {"equal", offsetof(topk_output, equal)},     {"counts", offsetof(topk_output, counts)},
    {"mask", offsetof(topk_output, mask)},       {"weights", offsetof(topk_output, weights)},
    {"payload", offsetof(topk_output, payload)},
};

static unsigned first_of(unsigned bits) {
    return (unsigned)__builtin_ctz(bits);
}

static unsigned bit_if(const void *array, topk_outputs bit) {
    return array != NULL ? bit : 0;
}

/* A set of TOPK_OUTPUT_*: the arrays that are there. */
static unsigned given_outputs(const topk_output *o) {
    return bit_if(o->values, TOPK_OUTPUT_VALUES) | bit_if(o->indices, TOPK_OUTPUT_INDICES) |
           bit_if(o->offsets, TOPK_OUTPUT_OFFSETS) | bit_if(o->better, TOPK_OUTPUT_BETTER) |
           bit_if(o->equal, TOPK_OUTPUT_EQUAL) | bit_if(o->counts, TOPK_OUTPUT_COUNTS) |
           bit_if(o->mask, TOPK_OUTPUT_MASK) | bit_if(o->weights, TOPK_OUTPUT_WEIGHTS) |
           bit_if(o->payload, TOPK_OUTPUT_PAYLOAD);
}

/* Slots of an operation's results: of where as many as the caller has room for. */
static size_t results_of(const struct plan *plan, const topk_output *output) {
    return plan->operation == TOPK_OPERATION_WHERE      ? (size_t)output->capacity
           : topk_operations[plan->operation].has_slots ? plan->output_elements
                                                        : (size_t)(plan->problem.rows * plan->ranks);
}

/* `payload_bytes` of an element of that output. */
static struct buffer buffer_of(const struct plan *plan, const topk_output *output, size_t payload_bytes,
                               unsigned number) {
    const size_t rows = (size_t)plan->problem.rows;
    size_t count = rows, element_bytes = sizeof(int64_t);
    switch ((topk_outputs)(1u << number)) {
    case TOPK_OUTPUT_VALUES:
        count = results_of(plan, output), element_bytes = plan->element_bytes;
        break;
    case TOPK_OUTPUT_INDICES:
        count = results_of(plan, output), element_bytes = plan->index_bytes;
        break;
    case TOPK_OUTPUT_WEIGHTS:
        count = results_of(plan, output), element_bytes = sizeof *output->weights;
        break;
    case TOPK_OUTPUT_PAYLOAD:
        count = results_of(plan, output), element_bytes = payload_bytes;
        break;
    case TOPK_OUTPUT_OFFSETS:
        count = rows + 1;
        break;
    case TOPK_OUTPUT_MASK:
        count = bit_mask_bytes(plan->input_elements), element_bytes = 1;
        break;
    case TOPK_OUTPUT_BETTER:
    case TOPK_OUTPUT_EQUAL:
        count = results_of(plan, output);
        break;
    case TOPK_OUTPUT_COUNTS:
        break;
    }
    return (struct buffer){.name = outputs[number].name,
                           .data = *(void *const *)((const char *)output + outputs[number].at),
                           .bytes = count * element_bytes,
                           .alignment = element_bytes,
                           .required = topk_operations[plan->operation].required >> number & 1,
                           .output = true};
}

/* A run on its way: buffers are listed step by step. */
struct entry {
    topk_predicate predicate;
    topk_routing routing;
    topk_lists lists;
    struct buffer_list buffers;
    bool anything; /* that can be written */
};

static topk_status list_input(const struct decided *decided, const topk_input *input,
                              const topk_output *output, struct entry *entry) {
    const struct operation *operation = &topk_operations[decided->plan.operation];
    const bool reads_values = !operation->has_predicate || operation->ranks || output->values != NULL ||
                              !predicate_masks(entry->predicate.kind);
    return operation->has_lists
               ? topk_list_lists(&decided->plan, input, output, &entry->lists, &entry->buffers)
           : operation->has_groups ? topk_list_groups(&decided->plan, input, &entry->buffers)
                                   : topk_check_input(&decided->plan, input, reads_values, &entry->buffers);
}

static topk_status check_predicate(const struct decided *decided, const topk_predicate *predicate,
                                   struct entry *entry) {
    const struct operation *operation = &topk_operations[decided->plan.operation];
    entry->predicate.kind = TOPK_PREDICATE_UNDEFINED;
    if (!operation->has_predicate) {
        return predicate == NULL
                   ? TOPK_OK
                   : topk_fail(TOPK_ERROR_CONTRADICTION,
                               "input->predicate must be NULL: %s takes no predicate", operation->name);
    }
    const topk_status status = topk_check_predicate(predicate, &entry->predicate);
    if (status == TOPK_OK && decided->predicate != TOPK_PREDICATE_UNDEFINED &&
        decided->predicate != entry->predicate.kind) {
        return topk_fail(TOPK_ERROR_CONTRADICTION, "predicate->kind is %d, the plan is for %d alone",
                         (int)entry->predicate.kind, (int)decided->predicate);
    }
    return status;
}

static topk_status list_predicate(const struct decided *decided, struct entry *entry) {
    const struct backend *backend = decided->context->backend;
    if (!topk_operations[decided->plan.operation].has_predicate) {
        return TOPK_OK;
    }
    const topk_status status = topk_list_predicate(&decided->plan, &entry->predicate, &entry->buffers);
    return status != TOPK_OK || backend->check_predicate == NULL
               ? status
               : backend->check_predicate(&decided->plan, &entry->predicate);
}

/* Lists say where everything else of the input lies. */
static topk_status check_lists(const struct decided *decided, const topk_input *input, struct entry *entry) {
    const struct operation *operation = &topk_operations[decided->plan.operation];
    if (operation->has_lists) {
        return topk_check_lists(&decided->plan, input->lists, &entry->lists);
    }
    entry->lists.payload_bytes = 0;
    return input->lists == NULL ? TOPK_OK
                                : topk_fail(TOPK_ERROR_CONTRADICTION,
                                            "input->lists must be NULL: %s takes no lists", operation->name);
}

static topk_status check_groups(const struct decided *decided, const topk_input *input) {
    const struct operation *operation = &topk_operations[decided->plan.operation];
    return input->groups == NULL || operation->has_groups
               ? TOPK_OK
               : topk_fail(TOPK_ERROR_CONTRADICTION, "input->groups must be NULL: %s takes no groups",
                           operation->name);
}

/* Of routing nothing of the input but the logits has a meaning. */
static topk_status list_routing(const struct decided *decided, const topk_input *input, struct entry *entry) {
    const struct plan *plan = &decided->plan;
    if (!topk_operations[plan->operation].has_routing) {
        return input->routing == NULL
                   ? TOPK_OK
                   : topk_fail(TOPK_ERROR_CONTRADICTION, "input->routing must be NULL: %s takes no routing",
                               topk_operations[plan->operation].name);
    }
    if (input->indices != NULL || input->lengths != NULL || input->k != NULL) {
        return topk_fail(TOPK_ERROR_UNSUPPORTED, "input->%s must be NULL in routing",
                         input->indices != NULL   ? "indices"
                         : input->lengths != NULL ? "lengths"
                                                  : "k");
    }
    const topk_status status = topk_check_routing(&plan->problem, input->routing, &entry->routing);
    if (status == TOPK_OK) {
        const float *bias = entry->routing.bias;
        buffer_list_add(&entry->buffers,
                        (struct buffer){.name = "routing->bias",
                                        .data = bias,
                                        .bytes = (size_t)plan->problem.length_max * sizeof *bias,
                                        .alignment = sizeof *bias});
    }
    return status;
}

static topk_status check_capacity(const struct plan *plan, const topk_output *output) {
    bool overflow = false;
    if (plan->operation != TOPK_OPERATION_WHERE) {
        return TOPK_OK;
    }
    if (output->capacity < 0) {
        return topk_fail(TOPK_ERROR_OUT_OF_RANGE, "capacity is %lld, must not be negative",
                         (long long)output->capacity);
    }
    (void)topk_checked_bytes(output->capacity, 8, &overflow);
    return overflow && (output->values != NULL || output->indices != NULL)
               ? topk_fail(TOPK_ERROR_OVERFLOW, "outputs of capacity %lld exceed 2^63 bytes",
                           (long long)output->capacity)
               : TOPK_OK;
}

static topk_status list_outputs(const struct decided *decided, const topk_output *output,
                                struct entry *entry) {
    const struct plan *plan = &decided->plan;
    const struct operation *operation = &topk_operations[plan->operation];
    const unsigned refused = given_outputs(output) & ~decided->outputs;
    entry->anything = false;
    for (unsigned bits = operation->outputs; bits != 0; bits &= bits - 1) {
        const struct buffer buffer =
            buffer_of(plan, output, (size_t)entry->lists.payload_bytes, first_of(bits));
        entry->anything |= buffer.bytes > 0;
        buffer_list_add(&entry->buffers, buffer);
    }
    if (refused != 0) {
        return topk_fail(TOPK_ERROR_CONTRADICTION,
                         operation->outputs & refused & -refused
                             ? "output->%s must be NULL: the plan was made without it"
                             : "output->%s must be NULL: %s does not write it",
                         outputs[first_of(refused)].name, operation->name);
    }
    return check_capacity(plan, output);
}

static struct call call_of(const struct decided *decided, const topk_input *input, const topk_output *output,
                           void *workspace, topk_stream stream, const struct entry *entry) {
    const struct operation *operation = &topk_operations[decided->plan.operation];
    return (struct call){.context = decided->context,
                         .plan = &decided->plan,
                         .decision = &decided->chosen.decision,
                         .input = *input,
                         .workspace = workspace,
                         .values = output->values,
                         .indices = output->indices,
                         .better = output->better,
                         .equal = output->equal,
                         .predicate = operation->has_predicate ? &entry->predicate : NULL,
                         .capacity = output->capacity,
                         .offsets = output->offsets,
                         .counts = output->counts,
                         .mask = output->mask,
                         .routing = operation->has_routing ? &entry->routing : NULL,
                         .weights = output->weights,
                         .lists = operation->has_lists ? &entry->lists : NULL,
                         .payload = output->payload,
                         .stream = stream};
}

static topk_status run(const struct decided *decided, const topk_input *input, const topk_output *output,
                       const struct peer_lists *exchange, void *workspace, size_t workspace_bytes,
                       topk_stream stream) {
    const struct candidate *chosen = &decided->chosen;
    const size_t needed_bytes = chosen->decision.workspace_bytes;
    struct entry entry;
    entry.buffers.count = 0;
    topk_status status;
    if ((status = check_predicate(decided, input->predicate, &entry)) != TOPK_OK ||
        (status = topk_check_stream(decided->context, stream)) != TOPK_OK ||
        (status = check_lists(decided, input, &entry)) != TOPK_OK ||
        (status = check_groups(decided, input)) != TOPK_OK ||
        (status = list_input(decided, input, output, &entry)) != TOPK_OK) {
        return status;
    }
    if (workspace_bytes < needed_bytes) {
        return topk_fail(TOPK_ERROR_WORKSPACE_TOO_SMALL, "the workspace has %zu bytes, method '%s' needs %zu",
                         workspace_bytes, chosen->method->name, needed_bytes);
    }
    if ((status = list_predicate(decided, &entry)) != TOPK_OK ||
        (status = list_routing(decided, input, &entry)) != TOPK_OK ||
        (status = list_outputs(decided, output, &entry)) != TOPK_OK) {
        return status;
    }
    buffer_list_add(&entry.buffers, (struct buffer){"workspace", workspace, needed_bytes, 1, true, true});
    status = topk_check_memory(decided->context, &entry.buffers);
    if (status == TOPK_OK && (entry.anything || exchange != NULL)) {
        struct call call = call_of(decided, input, output, workspace, stream, &entry);
        call.exchange = exchange;
        status = decided->context->backend->run(&call);
        topk_gaps_release(workspace, needed_bytes);
    }
    return status;
}

topk_status topk_run_decided(const struct decided *decided, const topk_input *input,
                             const topk_output *output, void *workspace, size_t workspace_bytes,
                             topk_stream stream) {
    topk_input input_copy;
    topk_output output_copy;
    const void *known_input, *known_output;
    topk_status status;
    if ((status = topk_view_struct(STRUCT_INPUT, input, &input_copy, &known_input)) != TOPK_OK ||
        (status = topk_view_struct(STRUCT_OUTPUT, output, &output_copy, &known_output)) != TOPK_OK) {
        return status;
    }
    return run(decided, known_input, known_output, NULL, workspace, workspace_bytes, stream);
}

topk_status topk_run_given(const struct decided *decided, const struct given *given, void *workspace,
                           size_t workspace_bytes, topk_stream stream) {
    topk_input input;
    const topk_status status = topk_read_input(given->input, &input);
    input.predicate = given->predicate;
    input.routing = given->routing;
    input.lists = given->lists;
    return status != TOPK_OK
               ? status
               : run(decided, &input, &given->output, given->exchange, workspace, workspace_bytes, stream);
}
