/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>

#include "elements.h"
#include "run.h"

/* Where the matches of all rows lie, in output order. */
typedef struct matches {
    int64_t total;
    int64_t *offsets;  /* rows + 1 */
    int64_t *elements; /* of input->values */
    int64_t *indices;
} matches;

static void *allocate(int64_t count) {
    void *memory = malloc(((size_t)count + 1) * sizeof(int64_t));
    if (memory == NULL) {
        abort();
    }
    return memory;
}

static matches find_matches(const instance *i) {
    matches m = {0, allocate(i->problem.rows), NULL, NULL};
    int64_t total = 0;
    for (int64_t r = 0; r < i->problem.rows; r++) {
        total += i->rows[r].place.length;
    }
    m.elements = allocate(total);
    m.indices = allocate(total);
    m.offsets[0] = 0;
    for (int64_t r = 0; r < i->problem.rows; r++) {
        const instance_row *row = &i->rows[r];
        for (int64_t position = 0; position < row->place.length; position++) {
            int64_t element = row->place.first + position;
            if (oracle_matches(i->problem.type, &i->input, &i->predicate, element)) {
                m.elements[m.total] = element;
                m.indices[m.total++] = instance_index(i, row, position);
            }
        }
        m.offsets[r + 1] = m.total;
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
static run_result check_poison(const guarded *output, int64_t written_bytes) {
    for (size_t b = (size_t)written_bytes; b < output->bytes; b++) {
        if (((const unsigned char *)output->data)[b] != 0xdd) {
            return run_fail("wrote past the last match, at byte %zu", b);
        }
    }
    return RUN_PASSED;
}

static run_result check_matches(const instance *i, const matches *m, int64_t capacity,
                                const guarded outputs[3]) {
    const topk_problem *p = &i->problem;
    int64_t written = m->total < capacity ? m->total : capacity;
    for (int64_t r = 0; outputs[2].map != NULL && r <= p->rows; r++) {
        int64_t got = ((const int64_t *)outputs[2].data)[r];
        if (got != m->offsets[r]) {
            return run_fail("offset %" PRId64 ": expected %" PRId64 ", got %" PRId64, r, m->offsets[r], got);
        }
    }
    for (int64_t s = 0; s < written; s++) {
        uint64_t bits =
            outputs[0].map != NULL ? element_get_bits(p->type, i->input.values, m->elements[s]) : 0;
        if (outputs[0].map != NULL && run_output_bits(p->type, &outputs[0], s) != bits) {
            return run_fail("match %" PRId64 ": expected bits %#" PRIx64 ", got %#" PRIx64, s, bits,
                            run_output_bits(p->type, &outputs[0], s));
        }
        if (outputs[1].map != NULL && instance_read_index(p, outputs[1].data, s) != m->indices[s]) {
            return run_fail("match %" PRId64 ": expected index %" PRId64 ", got %" PRId64, s, m->indices[s],
                            instance_read_index(p, outputs[1].data, s));
        }
    }
    run_result values = check_poison(&outputs[0], written * (int64_t)oracle_type_size(p->type));
    return values == RUN_PASSED ? check_poison(&outputs[1], written * (int64_t)instance_index_bytes(p))
                                : values;
}

run_result run_where(topk_context *context, const instance *i, const char *method) {
    run_setup setup;
    const topk_problem *p = &i->problem;
    run_result result = run_prepare(context, TOPK_OPERATION_WHERE, i, method, &setup);
    if (result != RUN_PASSED) {
        return result;
    }
    matches m = find_matches(i);
    int64_t capacity = capacity_of(i->source, m.total, i->elements * (p->rows + 1));
    capacity = capacity < m.total + 100 ? capacity : m.total + 100;
    guarded outputs[] = {run_output(wants_values(i), capacity, oracle_type_size(p->type)),
                         run_output(wants_indices(i), capacity, instance_index_bytes(p)),
                         run_output(i->source->seed % 4 != 0, p->rows + 1, sizeof(int64_t))};
    topk_status status =
        topk_where(context, &setup.problem, &i->input, &i->predicate, outputs[0].data, outputs[1].data,
                   capacity, outputs[2].data, setup.workspace.data, setup.workspace.bytes, NULL);
    if (status == TOPK_OK) {
        result = check_matches(i, &m, capacity, outputs);
    }
    free(m.offsets);
    free(m.elements);
    free(m.indices);
    return run_finish(i, &setup, status, result, outputs, 3);
}
