/* SPDX-License-Identifier: Apache-2.0 */
#include "accumulator.h"

#include "../base/alloc.h"
#include "../base/fail.h"
#include "topk_accumulator.h"

static void check(topk_status status) {
    if (status != TOPK_OK)
        fail_library();
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* An accumulator needs a method for chunks with a predicate and without. The forced one may serve only the
 * operation at hand. Then the library chooses. */
static void settle_method(struct accumulator *accumulator, topk_operation operation) {
    topk_problem problem = accumulator->problem;
    const topk_context *context = accumulator->session->context;
    size_t bytes;
    problem.k_max = least(problem.k_max, problem.length_max);
    check(topk_workspace_size(context, operation, &problem, &bytes));
    if (topk_accumulator_size(context, &problem, &bytes) == TOPK_ERROR_METHOD_CANNOT)
        session_choose_freely(&accumulator->problem);
}

/* State, results and slots; a quarter of the memory is left alone. */
static bool fits_device(const struct accumulator *accumulator) {
    const topk_problem *problem = &accumulator->problem;
    uint64_t element = topk_type_size(problem->type);
    size_t state;
    if (topk_accumulator_size(accumulator->session->context, problem, &state) != TOPK_OK)
        return false;
    uint64_t results = (uint64_t)problem->k_max * (element + sizeof(int64_t));
    uint64_t slots = DEVICE_SLOTS * (uint64_t)problem->length_max * element;
    uint64_t usable = device_free_bytes() / 4 * 3;
    return state <= usable && results <= usable - state && slots <= usable - state - results;
}

void accumulator_make(struct accumulator *accumulator, struct session *session, topk_operation operation,
                      const topk_problem *problem, bool on_host) {
    *accumulator = (struct accumulator){.session = session, .problem = *problem};
    accumulator->problem.row_stride = 0;
    if (session_on_device(session)) {
        int64_t slot = (int64_t)(device_slot_bytes() / topk_type_size(problem->type));
        accumulator->problem.length_max = least(problem->length_max, slot);
    }
    settle_method(accumulator, operation);
    if (session_on_device(session) && (on_host || !fits_device(accumulator))) {
        accumulator->session = session->host;
        accumulator->problem.length_max = problem->length_max;
        session_choose_freely(&accumulator->problem);
    }
}

bool accumulator_on_device(const struct accumulator *accumulator) {
    return session_on_device(accumulator->session);
}

static void allocate_state(struct accumulator *accumulator) {
    const topk_problem *problem = &accumulator->problem;
    check(topk_accumulator_size(accumulator->session->context, problem, &accumulator->state_bytes));
    if (accumulator_on_device(accumulator)) {
        accumulator->state = device_allocate(accumulator->state_bytes);
        slots_begin(&accumulator->slots, accumulator->session,
                    (uint64_t)problem->length_max * topk_type_size(problem->type));
    } else {
        accumulator->state = allocate(accumulator->state_bytes, 1);
    }
}

void accumulator_begin(struct accumulator *accumulator) {
    if (accumulator->state == NULL)
        allocate_state(accumulator);
    check(topk_accumulator_init(accumulator->session->context, &accumulator->problem, accumulator->state,
                                accumulator->state_bytes, NULL));
}

static void push_part(struct accumulator *accumulator, const topk_predicate *predicate, const void *elements,
                      int64_t length, int64_t base) {
    topk_context *context = accumulator->session->context;
    const topk_problem *problem = &accumulator->problem;
    topk_input input = TOPK_INPUT_INIT;
    input.values = elements;
    check(predicate == NULL
              ? topk_accumulator_push(context, problem, accumulator->state, accumulator->state_bytes, &input,
                                      length, base, NULL)
              : topk_accumulator_push_where(context, problem, accumulator->state, accumulator->state_bytes,
                                            &input, predicate, length, base, NULL));
}

/* Begins to fill a slot with the part of `length` elements that begins at `at`, if there is one. */
static void fill(struct accumulator *accumulator, const void *elements, int64_t length, int64_t at) {
    const size_t element = topk_type_size(accumulator->problem.type);
    const int64_t part = least(length - at, accumulator->problem.length_max);
    if (part > 0)
        slots_fill(&accumulator->slots, (const char *)elements + (size_t)at * element,
                   (uint64_t)part * element);
}

void accumulator_push(struct accumulator *accumulator, const topk_predicate *predicate, const void *elements,
                      int64_t length, int64_t base) {
    const size_t element = topk_type_size(accumulator->problem.type);
    const bool on_device = accumulator_on_device(accumulator);
    const int64_t ahead = on_device ? SLOTS_AHEAD * accumulator->problem.length_max : 0;
    for (int64_t at = 0; at < ahead; at += accumulator->problem.length_max)
        fill(accumulator, elements, length, at);
    for (int64_t at = 0; at < length; at += accumulator->problem.length_max) {
        int64_t part = least(length - at, accumulator->problem.length_max);
        const void *values =
            on_device ? slots_upload(&accumulator->slots) : (const char *)elements + (size_t)at * element;
        topk_predicate behind;
        push_part(accumulator, predicate_behind(predicate, at, &behind), values, part, base + at);
        if (on_device) {
            slots_pass(&accumulator->slots);
            fill(accumulator, elements, length, at + ahead);
        }
    }
}

void accumulator_write(struct accumulator *accumulator, bool ends, void *values, int64_t *indices) {
    const topk_problem *problem = &accumulator->problem;
    struct session *session = accumulator->session;
    if (accumulator_on_device(accumulator))
        check(staging_accumulated(&session->staging, problem, accumulator->state, accumulator->state_bytes,
                                  ends, values, indices));
    else
        check((ends ? topk_accumulator_finish : topk_accumulator_peek)(
            session->context, problem, accumulator->state, accumulator->state_bytes, values, indices, NULL));
}

void accumulator_end(struct accumulator *accumulator) {
    if (accumulator->state != NULL && accumulator_on_device(accumulator)) {
        slots_end(&accumulator->slots);
        device_release(accumulator->state);
    } else {
        release(accumulator->state);
    }
}
