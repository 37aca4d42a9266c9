/* SPDX-License-Identifier: Apache-2.0
 *
 * Buffers that are missing, misaligned, too small, or in each other's way. */
#include <stddef.h>

#include "fixture.h"

static fixture f;
static topk_context *context;

static void reset(void) {
    fixture_init(&f, context);
}

static void use_spans(void) {
    reset();
    f.problem.shape = TOPK_SHAPE_SPANS;
    f.problem.elements_max = ELEMENTS;
    f.input.begins = f.extents;
    f.input.ends = f.ends;
}

static void use_csr(void) {
    reset();
    f.problem.shape = TOPK_SHAPE_CSR;
    f.problem.elements_max = ELEMENTS;
    f.input.offsets = f.extents;
}

static void check_null(void) {
    reset();
    EXPECT_ALL(&f, TOPK_OK);
    f.input.values = NULL;
    EXPECT_ALL(&f, TOPK_ERROR_NULL_POINTER);
    use_spans();
    EXPECT_ALL(&f, TOPK_OK);
    f.input.begins = NULL;
    EXPECT_ALL(&f, TOPK_ERROR_NULL_POINTER);
    use_spans();
    f.input.ends = NULL;
    EXPECT_ALL(&f, TOPK_ERROR_NULL_POINTER);
    use_csr();
    EXPECT_ALL(&f, TOPK_OK);
    f.input.offsets = NULL;
    EXPECT_ALL(&f, TOPK_ERROR_NULL_POINTER);
    reset();
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_select(context, &f.problem, NULL, f.results, f.indices,
                                                      f.memory, sizeof f.memory, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_where(context, &f.problem, &f.input, NULL, f.results,
                                                     f.indices, 1, NULL, f.memory, sizeof f.memory, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_select_where(context, &f.problem, &f.input, NULL, f.results,
                                                            f.indices, f.memory, sizeof f.memory, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER,
                 topk_count(context, &f.problem, &f.input, NULL, f.counts, f.memory, sizeof f.memory, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER,
                 topk_mask(context, &f.problem, &f.input, NULL, f.bits, f.memory, sizeof f.memory, NULL));
}

/* Of several outputs any may be left out; a single one may not. */
static void check_null_outputs(void) {
    reset();
    f.out_values = f.out_indices = f.out_mask = NULL;
    f.out_counts = f.out_equal = NULL;
    EXPECT(&f, call_select, TOPK_OK);
    EXPECT(&f, call_kth, TOPK_OK);
    EXPECT(&f, call_where, TOPK_OK);
    EXPECT(&f, call_select_where, TOPK_OK);
    EXPECT(&f, call_count, TOPK_ERROR_NULL_POINTER);
    EXPECT(&f, call_mask, TOPK_ERROR_NULL_POINTER);
    f.problem.rows = 0;
    EXPECT_ALL(&f, TOPK_OK);
}

/* A buffer that holds nothing may be NULL. */
static void check_null_when_empty(void) {
    reset();
    f.input.values = NULL;
    f.problem.length_max = 0;
    EXPECT_ALL(&f, TOPK_OK);
    reset();
    f.input.values = NULL;
    f.problem.rows = 0;
    EXPECT_ALL(&f, TOPK_OK);
    use_spans();
    f.problem.elements_max = 0;
    f.input.values = NULL;
    EXPECT_ALL(&f, TOPK_OK);
    use_spans();
    f.problem.rows = 0;
    f.input.begins = f.input.ends = NULL;
    EXPECT_ALL(&f, TOPK_OK);
    use_csr(); /* it holds rows + 1 offsets, though nothing follows from them */
    f.problem.length_max = 0;
    EXPECT_ALL(&f, TOPK_OK);
    f.input.offsets = NULL;
    EXPECT_ALL(&f, TOPK_ERROR_NULL_POINTER);
    f.problem.rows = 0;
    EXPECT_ALL(&f, TOPK_OK);
    reset(); /* it holds elements, though none is wanted */
    f.problem.k_max = 0;
    EXPECT_ALL(&f, TOPK_OK);
    f.input.values = NULL;
    EXPECT_ALL(&f, TOPK_ERROR_NULL_POINTER);
}

/* The capacity is what the outputs have room for, all of it; it is nothing without them. */
static void check_capacity(void) {
    enum { MATCHES = 3 };
    float seven[ELEMENTS];
    reset();
    f.capacity = ELEMENTS + 64; /* `indices` begin within 64 bytes behind `results` */
    EXPECT(&f, call_where, TOPK_ERROR_OVERLAP);
    f.out_values = f.out_indices = NULL;
    f.capacity = INT64_MAX;
    EXPECT(&f, call_where, TOPK_OK);
    reset();
    for (int e = 0; e < ELEMENTS; e++) {
        f.results[e] = seven[e] = 7;
        f.values[e] = e % LENGTH == 0 ? 2000 : 0;
    }
    f.predicate.low.value.f64 = 1000;
    EXPECT(&f, call_where, TOPK_OK);
    CHECK(f.counts[ROWS] == MATCHES && f.results[MATCHES - 1] == 2000);
    CHECK(memcmp(f.results + MATCHES, seven, (ELEMENTS - MATCHES) * sizeof(float)) == 0);
}

/* k_max = 0 or rows = 0 writes nothing. */
static void check_empty_writes_nothing(void) {
    static float untouched[ELEMENTS];
    for (int i = 0; i < 4; i++) {
        reset();
        f.problem.rows = i % 2 == 0 ? 0 : ROWS;
        f.problem.k_max = i % 2 == 0 ? K : 0;
        EXPECT(&f, i < 2 ? call_select : call_select_where, TOPK_OK);
        CHECK(memcmp(f.results, untouched, sizeof f.results) == 0);
        CHECK(memcmp(f.indices, untouched, sizeof f.indices) == 0);
    }
}

/* Empty rows have no matches, and a count says so. Without elements there is no mask to write. */
static void check_empty_rows(void) {
    for (int i = 0; i < 2; i++) {
        reset();
        f.problem.length_max = i == 0 ? 0 : LENGTH;
        memset(f.counts, 0x55, sizeof f.counts);
        memset(f.bits, 0x55, sizeof f.bits);
        memset(f.ends, 0, sizeof f.ends);
        f.input.lengths = f.ends;
        EXPECT(&f, call_count, TOPK_OK);
        EXPECT(&f, call_mask, TOPK_OK);
        for (int r = 0; r < ROWS; r++) {
            CHECK(f.counts[r] == 0);
        }
        for (int b = 0; b < ELEMENTS / 8; b++) {
            CHECK(f.bits[b] == (i == 0 ? 0x55 : 0));
        }
    }
}

static void check_arrays_of_other_shapes(void) {
    const void **const arrays[] = {&f.input.lengths, &f.input.begins, &f.input.ends, &f.input.offsets};
    for (int a = 1; a < 4; a++) {
        reset();
        *arrays[a] = f.extents;
        EXPECT_ALL(&f, TOPK_ERROR_CONTRADICTION);
    }
    for (int a = 0; a < 4; a++) {
        if (a == 0 || a == 3) {
            use_spans();
            *arrays[a] = f.extents;
            EXPECT_ALL(&f, TOPK_ERROR_CONTRADICTION);
        }
        if (a < 3) {
            use_csr();
            *arrays[a] = f.extents;
            EXPECT_ALL(&f, TOPK_ERROR_CONTRADICTION);
        }
    }
}

/* Only the bounds that the predicate uses are looked at: `low`, for BETWEEN `high` too, and neither of them
 * next to a pointer to bounds. */
static void check_unused_bounds(void) {
    const topk_bound bounds[2] = {{TOPK_BOUND_F64, {1.0}}, {TOPK_BOUND_F64, {2.0}}};
    for (int kind = TOPK_GT; kind <= TOPK_BIT_MASK; kind++) {
        const bool masks = kind >= TOPK_BYTE_MASK;
        reset();
        f.predicate.kind = (topk_predicate_kind)kind;
        f.predicate.mask = masks ? f.mask : NULL;
        f.predicate.high.type = (topk_bound_type)-1;
        EXPECT_PREDICATE(&f, kind == TOPK_BETWEEN ? TOPK_ERROR_UNKNOWN_ENUM : TOPK_OK);
        f.predicate.low.type = (topk_bound_type)3;
        EXPECT_PREDICATE(&f, masks ? TOPK_OK : TOPK_ERROR_UNKNOWN_ENUM);
        f.predicate.bounds = masks ? NULL : bounds;
        EXPECT_PREDICATE(&f, TOPK_OK);
    }
}

static void check_predicates(void) {
    const topk_bound bounds[2] = {{TOPK_BOUND_F64, {1.0}}, {TOPK_BOUND_F64, {2.0}}};
    const int unknown[] = {-1, 0, 11};
    for (int i = 0; i < 3; i++) {
        reset();
        f.predicate.kind = (topk_predicate_kind)unknown[i];
        EXPECT_PREDICATE(&f, TOPK_ERROR_UNKNOWN_ENUM);
    }
    reset();
    f.predicate.low.type = (topk_bound_type)3;
    EXPECT_PREDICATE(&f, TOPK_ERROR_UNKNOWN_ENUM);
    reset();
    f.predicate.kind = TOPK_BETWEEN;
    f.predicate.high.type = (topk_bound_type)-1;
    EXPECT_PREDICATE(&f, TOPK_ERROR_UNKNOWN_ENUM);
    CHECK(strstr(topk_last_error(), "high") != NULL);
    for (int kind = TOPK_BYTE_MASK; kind <= TOPK_BIT_MASK; kind++) {
        reset();
        f.predicate.kind = (topk_predicate_kind)kind;
        EXPECT_PREDICATE(&f, TOPK_ERROR_NULL_POINTER);
        f.predicate.mask = f.mask;
        EXPECT_PREDICATE(&f, TOPK_OK);
        f.predicate.bounds = bounds;
        EXPECT_PREDICATE(&f, TOPK_ERROR_CONTRADICTION);
    }
    reset();
    f.predicate.mask = f.mask;
    EXPECT_PREDICATE(&f, TOPK_ERROR_CONTRADICTION);
    reset();
    f.predicate.bounds = (const topk_bound *)((const char *)bounds + 4);
    EXPECT_PREDICATE(&f, TOPK_ERROR_MISALIGNED);
    reset();
    f.capacity = -1;
    EXPECT(&f, call_where, TOPK_ERROR_OUT_OF_RANGE);
    f.capacity = INT64_MAX;
    EXPECT(&f, call_where, TOPK_ERROR_OVERFLOW);
}

/* A threshold is an element, or one for each row, and goes with AT_LEAST alone. */
static void check_thresholds(void) {
    reset();
    f.predicate.threshold = f.values;
    EXPECT_PREDICATE(&f, TOPK_ERROR_CONTRADICTION);
    CHECK(strstr(topk_last_error(), "threshold goes") != NULL);
    reset();
    f.predicate.threshold_stride = 1;
    EXPECT_PREDICATE(&f, TOPK_ERROR_CONTRADICTION);
    CHECK(strstr(topk_last_error(), "threshold_stride") != NULL);
    reset();
    f.predicate.kind = TOPK_AT_LEAST;
    EXPECT_PREDICATE(&f, TOPK_ERROR_NULL_POINTER);
    f.predicate.threshold = f.values;
    EXPECT_PREDICATE(&f, TOPK_OK);
    f.predicate.threshold_stride = 2;
    EXPECT_PREDICATE(&f, TOPK_OK);
    f.predicate.threshold_stride = -1;
    EXPECT_PREDICATE(&f, TOPK_ERROR_OUT_OF_RANGE);
    f.predicate.threshold_stride = INT64_MAX / 3;
    EXPECT_PREDICATE(&f, TOPK_ERROR_OVERFLOW);
    f.predicate.threshold_stride = 0;
    f.predicate.threshold = (const char *)f.values + 2;
    EXPECT_PREDICATE(&f, TOPK_ERROR_MISALIGNED);
    f.predicate.threshold = f.values;
    f.predicate.mask = f.mask;
    EXPECT_PREDICATE(&f, TOPK_ERROR_CONTRADICTION);
    reset();
    f.predicate.kind = TOPK_AT_LEAST;
    f.predicate.threshold = f.results;
    EXPECT(&f, call_select_where, TOPK_ERROR_OVERLAP);
    f.problem.rows = 0;
    f.predicate.threshold = NULL;
    EXPECT(&f, call_select_where, TOPK_OK);
}

/* With a mask elements are read only where they rank or are copied. */
static void check_mask_without_values(void) {
    reset();
    f.predicate.kind = TOPK_BIT_MASK;
    f.predicate.mask = f.mask;
    f.input.values = NULL;
    EXPECT(&f, call_where, TOPK_ERROR_NULL_POINTER);
    EXPECT(&f, call_select_where, TOPK_ERROR_NULL_POINTER);
    EXPECT(&f, call_count, TOPK_OK);
    EXPECT(&f, call_mask, TOPK_OK);
    f.out_values = NULL;
    EXPECT(&f, call_where, TOPK_OK);
    EXPECT(&f, call_select_where, TOPK_ERROR_NULL_POINTER);
}

/* Each pointer in turn, off by one byte. */
static void check_misaligned(void) {
    const void **const inputs[] = {&f.input.values, &f.input.indices, &f.input.lengths, &f.input.k};
    reset();
    const void *const arrays[] = {f.values, f.payload, f.ends, f.k};
    for (int a = 0; a < 4; a++) {
        reset();
        *inputs[a] = (const char *)arrays[a] + 1;
        f.problem.rows--; /* so that the shifted buffer stays inside its array */
        EXPECT_ALL(&f, TOPK_ERROR_MISALIGNED);
    }
    reset();
    f.out_values = (char *)f.results + 2;
    EXPECT(&f, call_select, TOPK_ERROR_MISALIGNED);
    EXPECT(&f, call_kth, TOPK_ERROR_MISALIGNED);
    EXPECT(&f, call_where, TOPK_ERROR_MISALIGNED);
    EXPECT(&f, call_select_where, TOPK_ERROR_MISALIGNED);
    reset();
    f.out_indices = (char *)f.indices + 2;
    EXPECT(&f, call_select, TOPK_ERROR_MISALIGNED);
    EXPECT(&f, call_where, TOPK_ERROR_MISALIGNED);
    EXPECT(&f, call_select_where, TOPK_ERROR_MISALIGNED);
    reset();
    f.out_counts = (int64_t *)((char *)f.counts + 4);
    EXPECT(&f, call_kth, TOPK_ERROR_MISALIGNED);
    EXPECT(&f, call_where, TOPK_ERROR_MISALIGNED);
    EXPECT(&f, call_count, TOPK_ERROR_MISALIGNED);
    reset();
    f.problem.rows--;
    f.out_mask = f.bits + 1; /* has no alignment */
    EXPECT(&f, call_mask, TOPK_OK);
    reset();
    f.out_equal = (int64_t *)((char *)f.equal + 4);
    EXPECT(&f, call_kth, TOPK_ERROR_MISALIGNED);
    reset();
    f.workspace = f.memory + 1; /* has no alignment */
    f.workspace_bytes--;
    EXPECT_ALL(&f, TOPK_OK);
}

/* A workspace big enough that the forced method needs some. */
static size_t needed_bytes(topk_operation operation) {
    size_t bytes = 0;
    CHECK_STATUS(TOPK_OK, topk_workspace_size(context, operation, &f.problem, &bytes));
    CHECK(bytes <= WORKSPACE_BYTES);
    return bytes;
}

static void check_workspace(void) {
    static const char *const methods[] = {"reference", "bracket", "rows", "rtopk", "compact"};
    bool tried = false;
    for (int i = 0; i < 5 * OPERATIONS; i++) {
        topk_operation operation = (topk_operation)(i / 5 + 1);
        size_t bytes;
        reset();
        f.problem.method = methods[i % 5];
        if (topk_workspace_size(context, operation, &f.problem, &bytes) != TOPK_OK) {
            continue;
        }
        f.workspace_bytes = needed_bytes(operation);
        EXPECT(&f, fixture_calls[i / 5], TOPK_OK);
        if (f.workspace_bytes > 0) {
            tried = true;
            f.workspace_bytes--;
            EXPECT(&f, fixture_calls[i / 5], TOPK_ERROR_WORKSPACE_TOO_SMALL);
            f.workspace_bytes++;
            f.workspace = NULL;
            EXPECT(&f, fixture_calls[i / 5], TOPK_ERROR_NULL_POINTER);
        }
    }
    CHECK(tried);
}

/* Puts two buffers of a call onto the same memory, at the first byte and at the last of the other. */
static void check_pair(topk_status (*call)(fixture *), void **output, const void *other, size_t other_bytes) {
    void *target = (void *)(uintptr_t)other;
    size_t last = (other_bytes - 1) / 8 * 8;
    static char saved_pointers[offsetof(fixture, values)];
    memcpy(saved_pointers, &f, sizeof saved_pointers);
    *output = target;
    EXPECT(&f, call, TOPK_ERROR_OVERLAP);
    *output = (char *)target + last;
    EXPECT(&f, call, TOPK_ERROR_OVERLAP);
    memcpy(&f, saved_pointers, sizeof saved_pointers);
}

static void use_everything(void) {
    reset();
    f.input.indices = f.payload;
    f.input.lengths = f.ends;
    f.input.k = f.k;
    f.predicate.kind = TOPK_BYTE_MASK;
    f.predicate.mask = f.mask;
}

static void check_overlaps(void) {
    struct {
        const void **pointer;
        size_t bytes;
    } inputs[] = {{&f.input.values, sizeof f.values},
                  {&f.input.indices, sizeof f.payload},
                  {&f.input.lengths, sizeof f.ends},
                  {&f.input.k, sizeof f.k},
                  {&f.predicate.mask, sizeof f.mask}};
    for (int i = 0; i < 5; i++) {
        use_everything();
        if (i < 4) {
            check_pair(call_select, &f.out_values, *inputs[i].pointer, inputs[i].bytes);
            check_pair(call_select, &f.out_indices, *inputs[i].pointer, inputs[i].bytes);
            check_pair(call_kth, &f.out_values, *inputs[i].pointer, inputs[i].bytes);
            check_pair(call_kth, (void **)&f.out_counts, *inputs[i].pointer, inputs[i].bytes);
            check_pair(call_kth, (void **)&f.out_equal, *inputs[i].pointer, inputs[i].bytes);
        }
        check_pair(call_where, &f.out_values, *inputs[i].pointer, inputs[i].bytes);
        check_pair(call_where, &f.out_indices, *inputs[i].pointer, inputs[i].bytes);
        check_pair(call_where, (void **)&f.out_counts, *inputs[i].pointer, inputs[i].bytes);
        check_pair(call_select_where, &f.out_values, *inputs[i].pointer, inputs[i].bytes);
        check_pair(call_select_where, &f.out_indices, *inputs[i].pointer, inputs[i].bytes);
        check_pair(call_count, (void **)&f.out_counts, *inputs[i].pointer, inputs[i].bytes);
        check_pair(call_mask, &f.out_mask, *inputs[i].pointer, inputs[i].bytes);
    }
}

static void check_output_overlaps(void) {
    use_everything();
    size_t result_bytes = ROWS * K * sizeof(float);
    check_pair(call_select, &f.out_indices, f.out_values, result_bytes);
    check_pair(call_kth, (void **)&f.out_counts, f.out_values, ROWS * sizeof(float));
    check_pair(call_kth, (void **)&f.out_equal, f.out_counts, ROWS * sizeof(int64_t));
    check_pair(call_select_where, &f.out_indices, f.out_values, result_bytes);
    check_pair(call_where, &f.out_indices, f.out_values, sizeof f.results);
    check_pair(call_where, (void **)&f.out_counts, f.out_indices, sizeof f.indices);
}

static void check_workspace_overlaps(void) {
    static const char *const methods[OPERATIONS] = {"bracket",   "bracket", "compact",
                                                    "reference", "compact", "compact"};
    for (int operation = 0; operation < OPERATIONS; operation++) {
        use_everything();
        f.problem.method = methods[operation];
        f.workspace_bytes = needed_bytes((topk_operation)(operation + 1));
        if (f.workspace_bytes >= 8) {
            f.workspace = f.values; /* an input */
            EXPECT(&f, fixture_calls[operation], TOPK_ERROR_OVERLAP);
            f.workspace = operation == TOPK_OPERATION_COUNT - 1  ? (void *)f.counts /* an output */
                          : operation == TOPK_OPERATION_MASK - 1 ? (void *)f.bits
                                                                 : (void *)f.results;
            EXPECT(&f, fixture_calls[operation], TOPK_ERROR_OVERLAP);
        }
    }
}

/* Touching is not overlapping: outputs may lie right behind an input, or before it. */
static void check_neighbours(void) {
    enum { RESULTS = ROWS * K };
    static _Alignas(64) float all[RESULTS + ELEMENTS + RESULTS];
    reset();
    memcpy(all + RESULTS, f.values, sizeof f.values);
    f.input.values = all + RESULTS;
    f.out_values = all;
    f.out_indices = all + RESULTS + ELEMENTS;
    EXPECT(&f, call_select, TOPK_OK);
}

/* What lies between rows belongs to the input. Behind the last row that the bounds allow it ends. */
static void check_gaps(void) {
    enum { SHORT = LENGTH / 2 };
    reset();
    f.problem.length_max = SHORT;
    f.problem.row_stride = LENGTH;
    f.out_indices = NULL;
    f.out_values = f.values + SHORT;
    EXPECT(&f, call_select, TOPK_ERROR_OVERLAP);
    EXPECT(&f, call_kth, TOPK_ERROR_OVERLAP);
    f.out_values = f.values + (ROWS - 1) * LENGTH + SHORT;
    EXPECT(&f, call_select, TOPK_OK);
    reset();
    int64_t lengths[ROWS] = {1, 1, 1}; /* shorter rows, which only the arrays tell */
    f.input.lengths = lengths;
    f.out_indices = NULL;
    f.out_values = f.values + 1;
    EXPECT(&f, call_select, TOPK_ERROR_OVERLAP);
    use_spans();
    f.input.ends = f.extents;
    f.out_indices = NULL;
    f.out_values = f.values;
    EXPECT(&f, call_select, TOPK_ERROR_OVERLAP);
}

static void check_stream(void) {
    reset();
    f.stream = (topk_stream)(void *)&f;
    EXPECT_ALL(&f, TOPK_ERROR_CONTRADICTION);
}

int main(void) {
    context = create_cpu_context(1);
    check_null();
    check_null_outputs();
    check_null_when_empty();
    check_capacity();
    check_empty_writes_nothing();
    check_arrays_of_other_shapes();
    check_empty_rows();
    check_predicates();
    check_thresholds();
    check_unused_bounds();
    check_mask_without_values();
    check_misaligned();
    check_workspace();
    check_overlaps();
    check_output_overlaps();
    check_workspace_overlaps();
    check_neighbours();
    check_gaps();
    check_stream();
    topk_context_destroy(context);
    return check_report();
}
