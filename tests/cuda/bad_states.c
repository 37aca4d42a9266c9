/* SPDX-License-Identifier: Apache-2.0
 *
 * What only the device can know of an accumulator's state (CONTRACT.md, 10.8): a call that finds it in no
 * state for what it has to do leaves it broken, and results say so, until it begins anew. Over the memory of
 * any device. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "device.h"
#include "reached_paths.h"
#include "topk_accumulator.h"

enum { ROWS = 3, LENGTH = 300, K = 7, PATHS_MAX = 512 };

static topk_context *context;
static float elements[ROWS * LENGTH];
static int32_t numbers[ROWS * LENGTH];
static device_buffer values, payload;

typedef struct accumulator {
    topk_problem problem;
    device_buffer state;
} accumulator;

static topk_problem usual_problem(void) {
    topk_problem p = TOPK_PROBLEM_INIT;
    p.type = TOPK_F32;
    p.rows = ROWS;
    p.length_max = LENGTH;
    p.k_max = K;
    return p;
}

static topk_status init(const accumulator *a) {
    return topk_accumulator_init(context, &a->problem, a->state.data, a->state.bytes, device_stream());
}

static accumulator begin_for(const topk_problem *problem) {
    accumulator a = {.problem = *problem};
    size_t bytes = 0;
    CHECK_STATUS(TOPK_OK, topk_accumulator_size(context, problem, &bytes));
    a.state = device_workspace(bytes, 0, DEVICE_GARBAGE, 5);
    device_send();
    CHECK_STATUS(TOPK_OK, init(&a));
    return a;
}

static accumulator begin(void) {
    const topk_problem usual = usual_problem();
    return begin_for(&usual);
}

static void push(const accumulator *a, const topk_problem *problem, int64_t base, bool has_payload) {
    topk_input input = TOPK_INPUT_INIT;
    input.values = values.data;
    input.indices = has_payload ? payload.data : NULL;
    CHECK_STATUS(TOPK_OK, topk_accumulator_push(context, problem, a->state.data, a->state.bytes, &input,
                                                LENGTH, base, device_stream()));
}

static void merge(const accumulator *to, const accumulator *from) {
    CHECK_STATUS(TOPK_OK, topk_accumulator_merge(context, &to->problem, to->state.data, to->state.bytes,
                                                 from->state.data, from->state.bytes, device_stream()));
}

/* Looks at results: all of them say that the state is broken, or none does. */
static void results_are(const accumulator *a, bool broken, bool finish, const char *what) {
    const size_t slots = (size_t)(a->problem.rows * a->problem.k_max);
    const bool is_wide = a->problem.index_type == TOPK_INDEX_I64;
    device_buffer found = device_output(slots * sizeof(float), 0x5a);
    device_buffer indices = device_output(slots * (is_wide ? 8 : 4), 0x5a);
    topk_status (*call)(topk_context *, const topk_problem *, void *, size_t, void *, void *, topk_stream) =
        finish ? topk_accumulator_finish : topk_accumulator_peek;
    size_t as_wanted = 0;
    device_send();
    CHECK_STATUS(TOPK_OK, call(context, &a->problem, a->state.data, a->state.bytes, found.data, indices.data,
                               device_stream()));
    CHECK(device_fetch());
    for (size_t i = 0; i < slots; i++) {
        const int64_t index =
            is_wide ? ((const int64_t *)indices.seen)[i] : ((const int32_t *)indices.seen)[i];
        const bool is_padding = ((const float *)found.seen)[i] == -__builtin_inff();
        as_wanted += broken ? index == -2 && is_padding : index >= -1;
    }
    if (!CHECK(as_wanted == slots)) {
        fprintf(stderr, "    %s: %zu of %zu\n", what, as_wanted, slots);
    }
    CHECK(device_intact(&found) && device_intact(&indices));
    device_free(&found);
    device_free(&indices);
}

static void check_garbage(void) {
    accumulator a = begin();
    for (int fill = 0; fill < 256; fill += 85) {
        a.state = device_workspace(a.state.bytes, 0, fill == 85 ? DEVICE_GARBAGE : fill, 9);
        device_send();
        results_are(&a, true, fill == 0, "memory that nobody began");
        push(&a, &a.problem, 0, false);
        results_are(&a, true, true, "a push there");
        CHECK_STATUS(TOPK_OK, init(&a));
        push(&a, &a.problem, 0, false);
        results_are(&a, false, true, "begun at last");
    }
}

static void check_finished(void) {
    const accumulator a = begin();
    push(&a, &a.problem, 0, true);
    results_are(&a, false, false, "a peek");
    results_are(&a, false, true, "the end");
    results_are(&a, true, true, "a second end");
    push(&a, &a.problem, LENGTH, true);
    results_are(&a, true, false, "a push behind it");
    CHECK_STATUS(TOPK_OK, init(&a));
    results_are(&a, false, true, "a new beginning");
}

/* A chunk that came for another problem is missing. */
static void check_other_problem(void) {
    topk_problem other = usual_problem(), narrower = usual_problem();
    other.direction = TOPK_SMALLEST;
    narrower.k_max--;
    const topk_problem *const others[] = {&other, &narrower};
    for (int i = 0; i < 2; i++) {
        const accumulator a = begin();
        push(&a, &a.problem, 0, false);
        push(&a, others[i], LENGTH, false);
        results_are(&a, true, true, "a push of another problem");
    }
}

static void check_payload(void) {
    for (int first = 0; first < 2; first++) {
        const accumulator a = begin(), b = begin(), none = begin();
        push(&a, &a.problem, 0, first == 0);
        merge(&a, &none);
        results_are(&a, false, false, "a merge of nothing");
        push(&b, &b.problem, LENGTH, first != 0);
        merge(&a, &b);
        results_are(&a, true, false, "a merge of indices and none");
        results_are(&b, false, false, "the other one");
        push(&b, &b.problem, 0, first == 0);
        results_are(&b, true, true, "chunks with indices and without");
    }
}

/* Fetches the indices of all results so far. */
static void peek_indices(const accumulator *a, int32_t *indices, size_t count) {
    device_buffer found = device_output(count * sizeof *indices, 0x5a);
    device_send();
    CHECK_STATUS(TOPK_OK, topk_accumulator_peek(context, &a->problem, a->state.data, a->state.bytes, NULL,
                                                found.data, device_stream()));
    CHECK(device_fetch() && device_intact(&found));
    memcpy(indices, found.seen, count * sizeof *indices);
    device_free(&found);
}

/* A chunk without elements agrees with all others. Those before it may wait for the next call to add what was
 * selected from them: then that carries its indices all the same. So are many rows served, which overlap. */
static void check_chunk_without_elements(void) {
    enum { MANY = 70, STEP = 3 };
    static int32_t wanted[MANY * K], got[MANY * K];
    const size_t slots = MANY * K;
    topk_problem many = usual_problem();
    many.rows = MANY;
    many.row_stride = STEP;
    for (int first = 0; first < 2; first++) {
        const accumulator a = begin_for(&many), plain = begin_for(&many);
        topk_input nothing = TOPK_INPUT_INIT;
        nothing.values = values.data;
        nothing.indices = first == 0 ? NULL : payload.data;
        push(&plain, &many, 0, first == 0);
        push(&a, &many, 0, first == 0);
        CHECK_STATUS(TOPK_OK, topk_accumulator_push(context, &many, a.state.data, a.state.bytes, &nothing, 0,
                                                    LENGTH, device_stream()));
        push(&plain, &many, LENGTH, first == 0);
        push(&a, &many, LENGTH, first == 0);
        peek_indices(&plain, wanted, slots);
        peek_indices(&a, got, slots);
        CHECK(memcmp(got, wanted, sizeof got) == 0);
        results_are(&a, false, true, "a chunk without elements");
    }
}

static void check_merges(void) {
    const accumulator a = begin(), b = begin();
    push(&a, &a.problem, 0, false);
    push(&b, &b.problem, LENGTH, false);
    results_are(&b, false, true, "the end of the other one");
    merge(&a, &b);
    results_are(&a, true, false, "a merge of what is finished");
    CHECK_STATUS(TOPK_OK, init(&b));
    merge(&b, &a);
    results_are(&b, true, true, "a merge of what is broken");
}

/* A broken state gives zeros, which no state begins with; and bytes that are wrong break a state. */
static void check_bytes(void) {
    const accumulator a = begin(), b = begin();
    size_t size = 0, zeros = 0;
    CHECK_STATUS(TOPK_OK, topk_accumulator_export_size(context, &a.problem, &size));
    device_buffer bytes = device_output(size, 0x5a), from_broken = device_output(size, 0x5a);
    device_send();
    push(&a, &a.problem, 0, false);
    for (int broken = 0; broken < 2; broken++) {
        CHECK_STATUS(TOPK_OK,
                     topk_accumulator_export(context, &a.problem, a.state.data, a.state.bytes,
                                             broken ? from_broken.data : bytes.data, size, device_stream()));
        CHECK_STATUS(TOPK_OK,
                     topk_accumulator_import(context, &b.problem, b.state.data, b.state.bytes,
                                             broken ? from_broken.data : bytes.data, size, device_stream()));
        results_are(&b, broken, true, "a state from bytes");
        push(&a, &a.problem, LENGTH, true);
    }
    results_are(&a, true, true, "a state that was broken before");
    CHECK_STATUS(TOPK_OK, topk_accumulator_import(context, &a.problem, a.state.data, a.state.bytes,
                                                  bytes.data, size, device_stream()));
    results_are(&a, false, true, "a state that bytes began anew");
    CHECK(device_fetch() && device_intact(&bytes) && device_intact(&from_broken));
    for (size_t i = 0; i < size; i++) {
        zeros += ((const unsigned char *)from_broken.seen)[i] == 0;
    }
    CHECK(zeros == size);
    device_free(&bytes);
    device_free(&from_broken);
}

static void check_wide_indices(void) {
    topk_problem wide = usual_problem();
    wide.index_type = TOPK_INDEX_I64;
    const accumulator a = begin_for(&wide);
    results_are(&a, false, true, "the end of nothing");
    results_are(&a, true, true, "a second end, of wide indices");
}

int main(void) {
    static unsigned long counts[PATHS_MAX];
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    options.backend = TOPK_BACKEND_CUDA;
    device_open();
    CHECK_STATUS(TOPK_OK, topk_context_create(&options, &context));
    for (int e = 0; e < ROWS * LENGTH; e++) {
        elements[e] = (float)(e * 37 % 101);
        numbers[e] = e;
    }
    void (*const checks[])(void) = {
        check_garbage, check_finished, check_other_problem, check_payload, check_chunk_without_elements,
        check_merges,  check_bytes,    check_wide_indices};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        values = device_input(elements, sizeof elements);
        payload = device_input(numbers, sizeof numbers);
        checks[i]();
        device_reset();
    }
    reached_paths_read(counts, PATHS_MAX);
    CHECK(reached_paths_missing(counts, "cuda", "accumulator-states") == 0);
    topk_context_destroy(context);
    device_close();
    return check_report();
}
