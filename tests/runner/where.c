/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>

#include "elements.h"
#include "run.h"

/* Where the matches of all rows lie, in output order. */
struct matches {
    int64_t total;
    int64_t *offsets;  /* rows + 1 */
    int64_t *elements; /* of input->values */
    int64_t *indices;
};

static void *allocate(int64_t count) {
    void *memory = malloc(((size_t)count + 1) * sizeof(int64_t));
    if (memory == NULL) {
        abort();
    }
    return memory;
}

static struct matches *find_matches(const instance *i) {
    struct matches *m = allocate(sizeof *m / sizeof(int64_t));
    int64_t total = 0;
    for (int64_t r = 0; r < i->problem.rows; r++) {
        total += i->rows[r].extent.length;
    }
    *m = (struct matches){0, allocate(i->problem.rows), allocate(total), allocate(total)};
    m->offsets[0] = 0;
    for (int64_t r = 0; r < i->problem.rows; r++) {
        const instance_row *row = &i->rows[r];
        for (int64_t position = 0; position < row->extent.length; position++) {
            int64_t element = row->extent.first + position;
            if (row->is_match[position]) {
                m->elements[m->total] = element;
                m->indices[m->total++] = instance_index(i, row, position);
            }
        }
        m->offsets[r + 1] = m->total;
    }
    return m;
}

static int64_t capacity_of(const test_case *c, int64_t total, int64_t most) {
    switch (c->value[DIM_CAPACITY]) {
    case CAPACITY_EXACT:
        return total;
    case CAPACITY_ONE_LESS:
        return total > 0 ? total - 1 : 0;
    case CAPACITY_ONE:
        return 1;
    case CAPACITY_ZERO:
        return 0;
    default:
        return most;
    }
}

/* Slots past the last match keep their poison: only matches are written. */
static run_result check_poison(const device_buffer *output, int64_t written_bytes) {
    for (size_t b = (size_t)written_bytes; b < output->bytes; b++) {
        if (((const unsigned char *)output->seen)[b] != RUN_POISON) {
            return run_fail("wrote past the last match, at byte %zu", b);
        }
    }
    return RUN_PASSED;
}

static run_result judge(const run *ended) {
    const instance *i = ended->instance;
    const topk_problem *p = &i->problem;
    const struct matches *m = ended->matches;
    const device_buffer *outputs = ended->outputs;
    int64_t written = m->total < ended->capacity ? m->total : ended->capacity;
    for (int64_t r = 0; outputs[2].data != NULL && r <= p->rows; r++) {
        int64_t got = ((const int64_t *)outputs[2].seen)[r];
        if (got != m->offsets[r]) {
            return run_fail("offset %" PRId64 ": expected %" PRId64 ", got %" PRId64, r, m->offsets[r], got);
        }
    }
    for (int64_t s = 0; s < written; s++) {
        uint64_t bits =
            outputs[0].data != NULL ? element_get_bits(p->type, i->input.values, m->elements[s]) : 0;
        if (outputs[0].data != NULL && run_output_bits(p->type, &outputs[0], s) != bits) {
            return run_fail("match %" PRId64 ": expected bits %#" PRIx64 ", got %#" PRIx64, s, bits,
                            run_output_bits(p->type, &outputs[0], s));
        }
        if (outputs[1].data != NULL && instance_read_index(p, outputs[1].seen, s) != m->indices[s]) {
            return run_fail("match %" PRId64 ": expected index %" PRId64 ", got %" PRId64, s, m->indices[s],
                            instance_read_index(p, outputs[1].seen, s));
        }
    }
    run_result values = check_poison(&outputs[0], written * (int64_t)oracle_type_size(p->type));
    return values == RUN_PASSED ? check_poison(&outputs[1], written * (int64_t)instance_index_bytes(p))
                                : values;
}

static void make_outputs(run *r) {
    const instance *i = r->instance;
    const topk_problem *p = &r->problem;
    r->matches = find_matches(i);
    const int64_t total = r->matches->total;
    const int64_t capacity = capacity_of(i->source, total, i->elements * (p->rows + 1));
    r->capacity = capacity < total + 100 ? capacity : total + 100;
    r->outputs[0] = run_output(wants_values(i), r->capacity, oracle_type_size(p->type));
    r->outputs[1] = run_output(wants_indices(i), r->capacity, instance_index_bytes(p));
    r->outputs[2] = run_output(i->source->seed % 4 != 0, p->rows + 1, sizeof(int64_t));
}

static topk_status call(topk_context *context, run *r, const topk_input *input) {
    return topk_where(context, &r->problem, input, &r->predicate, r->outputs[0].data, r->outputs[1].data,
                      r->capacity, r->outputs[2].data, r->workspace.data, r->workspace.bytes,
                      device_stream());
}

static void give(const run *r, topk_input *input, topk_output *output) {
    input->predicate = &r->predicate;
    output->values = r->outputs[0].data;
    output->indices = r->outputs[1].data;
    output->capacity = r->capacity;
    output->offsets = r->outputs[2].data;
}

static void end(run *r) {
    free(r->matches->offsets);
    free(r->matches->elements);
    free(r->matches->indices);
    free(r->matches);
}

const run_operation run_where = {"where", TOPK_OPERATION_WHERE, make_outputs, call, give, judge,
                                 end,     PROBLEM_PLAIN};
