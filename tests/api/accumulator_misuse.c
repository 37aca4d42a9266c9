/* SPDX-License-Identifier: Apache-2.0
 *
 * The statuses of the accumulator: what it refuses, and what it leaves untouched when it does. With the
 * argument `cuda` on a GPU whose memory is the host's; there BAD_STATE is no status
 * (tests/cuda/bad_states.c). */
#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"
#include "random.h"
#include "topk_accumulator.h"

static fixture f;
static topk_context *context;
static bool on_gpu;

static topk_status bad_state(void) {
    return on_gpu ? TOPK_OK : TOPK_ERROR_BAD_STATE;
}

typedef struct push_arguments {
    int64_t length, base;
} push_arguments;

static push_arguments push;
static size_t state_bytes;

static topk_status call_init(fixture *x) {
    return topk_accumulator_init(x->context, &x->problem, x->workspace, x->workspace_bytes, x->stream);
}

static topk_status call_push(fixture *x) {
    return topk_accumulator_push(x->context, &x->problem, x->workspace, x->workspace_bytes, &x->input,
                                 push.length, push.base, x->stream);
}

static topk_status call_push_where(fixture *x) {
    return topk_accumulator_push_where(x->context, &x->problem, x->workspace, x->workspace_bytes, &x->input,
                                       &x->predicate, push.length, push.base, x->stream);
}

static void *other; /* a state */
static size_t other_bytes;

static topk_status call_merge_states(fixture *x) {
    return topk_accumulator_merge(x->context, &x->problem, x->workspace, x->workspace_bytes, other,
                                  other_bytes, x->stream);
}

static topk_status call_peek(fixture *x) {
    return topk_accumulator_peek(x->context, &x->problem, x->workspace, x->workspace_bytes, x->out_values,
                                 x->out_indices, x->stream);
}

static topk_status call_finish(fixture *x) {
    return topk_accumulator_finish(x->context, &x->problem, x->workspace, x->workspace_bytes, x->out_values,
                                   x->out_indices, x->stream);
}

static topk_status call_bar(fixture *x) {
    return topk_accumulator_bar(x->context, &x->problem, x->workspace, x->workspace_bytes, x->out_values,
                                x->out_counts, x->stream);
}

/* Of rows that have none. */
static topk_status call_raise(fixture *x) {
    return topk_accumulator_raise(x->context, &x->problem, x->workspace, x->workspace_bytes, x->input.values,
                                  (const int64_t *)x->input.k, x->stream);
}

static unsigned char *bytes; /* a state as bytes, at an odd address */
static size_t capacity, bytes_size;

static topk_status call_export(fixture *x) {
    return topk_accumulator_export(x->context, &x->problem, x->workspace, x->workspace_bytes, bytes, capacity,
                                   x->stream);
}

static topk_status call_import(fixture *x) {
    return topk_accumulator_import(x->context, &x->problem, x->workspace, x->workspace_bytes, bytes, capacity,
                                   x->stream);
}

/* A state, initialised, with the exact number of bytes. */
static void begin(void) {
    fixture_init(&f, context);
    CHECK_STATUS(TOPK_OK, topk_accumulator_size(context, &f.problem, &state_bytes));
    CHECK(state_bytes <= WORKSPACE_BYTES);
    f.workspace_bytes = state_bytes;
    push = (push_arguments){LENGTH, 0};
    EXPECT(&f, call_init, TOPK_OK);
    other_bytes = state_bytes;
    other = f.memory + WORKSPACE_BYTES / 2;
    CHECK_STATUS(TOPK_OK, topk_accumulator_export_size(context, &f.problem, &bytes_size));
    capacity = bytes_size;
    bytes = f.memory + WORKSPACE_BYTES / 4 * 3 + 1;
    CHECK_STATUS(TOPK_OK, topk_accumulator_init(context, &f.problem, other, other_bytes, NULL));
}

#define EXPECT_EACH(wanted) expect_each(wanted, __FILE__, __LINE__)

static void expect_each(topk_status wanted, const char *file, int line) {
    expect_at(&f, call_push, wanted, "push", file, line);
    expect_at(&f, call_push_where, wanted, "push_where", file, line);
    expect_at(&f, call_merge_states, wanted, "merge", file, line);
    expect_at(&f, call_peek, wanted, "peek", file, line);
    expect_at(&f, call_finish, wanted, "finish", file, line);
    expect_at(&f, call_export, wanted, "export", file, line);
}

static void check_states(void) {
    begin();
    memset(f.memory, 0xee, state_bytes);
    EXPECT_EACH(bad_state());
    memset(f.memory, 0, state_bytes);
    EXPECT_EACH(bad_state());
    EXPECT(&f, call_init, TOPK_OK);
    EXPECT(&f, call_push, TOPK_OK);
    EXPECT(&f, call_peek, TOPK_OK);
    EXPECT(&f, call_finish, TOPK_OK);
    EXPECT_EACH(bad_state());
    EXPECT(&f, call_init, TOPK_OK);
    EXPECT(&f, call_finish, TOPK_OK);
}

/* What a state was begun for. */
static void check_other_problem(void) {
    for (int change = 0; change < 9; change++) {
        begin();
        switch (change) {
        case 0:
            f.problem.type = TOPK_I32;
            break;
        case 1:
            f.problem.k_max--;
            break;
        case 2:
            f.problem.rows--;
            f.workspace_bytes = other_bytes = WORKSPACE_BYTES / 2;
            break;
        case 3:
            f.problem.direction = TOPK_SMALLEST;
            break;
        case 4:
            f.problem.rank = TOPK_BY_MAGNITUDE;
            break;
        case 5:
            f.problem.nan = TOPK_NAN_LAST;
            break;
        case 6:
            f.problem.index_type = TOPK_INDEX_I64;
            f.workspace_bytes = WORKSPACE_BYTES;
            capacity = WORKSPACE_BYTES / 8;
            break;
        case 7:
            f.problem.index_base = 1;
            break;
        default:
            f.problem.length_max--;
            push.length = 1;
        }
        EXPECT_EACH(bad_state());
    }
}

/* Each call may come with another method, order and ties, and each chunk with a pitch and a width of lengths
 * of its own. The results equal one selection's, sorted. */
static void check_what_may_differ(void) {
    enum { HALF = LENGTH / 2, RESULTS = ROWS * K };
    static fixture whole;
    float second[ROWS * HALF];
    int32_t lengths[ROWS];
    fixture_init(&whole, context);
    EXPECT(&whole, call_select, TOPK_OK);
    for (int r = 0; r < ROWS; r++) {
        memcpy(second + r * HALF, whole.values + r * LENGTH + HALF, HALF * sizeof(float));
        lengths[r] = HALF;
    }
    begin();
    f.workspace_bytes = WORKSPACE_BYTES; /* enough for every method */
    push = (push_arguments){HALF, 0};
    EXPECT(&f, call_push, TOPK_OK);
    f.problem.method = on_gpu ? "air" : "reference";
    f.problem.row_stride = HALF;
    f.problem.extent_type = TOPK_INDEX_I32;
    f.input.values = second;
    f.input.lengths = lengths;
    push.base = HALF;
    EXPECT(&f, call_push, TOPK_OK);
    f.problem.method = on_gpu ? NULL : "bracket";
    f.problem.row_stride = INT64_C(1) << 40;
    f.problem.order = TOPK_ORDER_ANY;
    f.problem.ties = TOPK_TIES_ANY;
    EXPECT(&f, call_peek, TOPK_OK);
    CHECK(memcmp(f.results, whole.results, RESULTS * sizeof(float)) == 0);
    CHECK(memcmp(f.indices, whole.indices, RESULTS * sizeof(int32_t)) == 0);
    f.problem.order = TOPK_ORDER_BY_POSITION;
    EXPECT(&f, call_peek, TOPK_OK);
    for (int i = 1; i < RESULTS; i++) {
        CHECK(f.indices[i - 1] < f.indices[i] || i % K == 0);
    }
    f.problem.row_stride = INT64_MAX; /* it must make sense all the same */
    EXPECT(&f, call_peek, TOPK_ERROR_OVERFLOW);
}

static void check_pointers(void) {
    begin();
    f.context = NULL;
    EXPECT(&f, call_init, TOPK_ERROR_NULL_POINTER);
    EXPECT_EACH(TOPK_ERROR_NULL_POINTER);
    begin();
    f.workspace = NULL;
    EXPECT(&f, call_init, TOPK_ERROR_NULL_POINTER);
    EXPECT_EACH(TOPK_ERROR_NULL_POINTER);
    begin();
    f.input.values = NULL;
    EXPECT(&f, call_push, TOPK_ERROR_NULL_POINTER);
    begin();
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER,
                 topk_accumulator_push(context, &f.problem, f.memory, state_bytes, NULL, 1, 0, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_accumulator_init(context, NULL, f.memory, state_bytes, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER,
                 topk_accumulator_peek(context, NULL, f.memory, state_bytes, f.results, f.indices, NULL));
    f.out_values = f.out_indices = NULL;
    EXPECT(&f, call_peek, TOPK_OK);
    f.input.values = NULL;
    push.length = 0;
    EXPECT(&f, call_push, TOPK_OK);
}

static void check_short_state(void) {
    begin();
    f.workspace_bytes--;
    EXPECT(&f, call_init, TOPK_ERROR_WORKSPACE_TOO_SMALL);
    EXPECT_EACH(TOPK_ERROR_WORKSPACE_TOO_SMALL);
}

static void check_push_arguments(void) {
    begin();
    push.length = -1;
    EXPECT(&f, call_push, TOPK_ERROR_OUT_OF_RANGE);
    push.length = LENGTH + 1;
    EXPECT(&f, call_push, TOPK_ERROR_OUT_OF_RANGE);
    push = (push_arguments){LENGTH, -1};
    EXPECT(&f, call_push, TOPK_ERROR_OUT_OF_RANGE);
    push.base = INT32_MAX - LENGTH;
    EXPECT(&f, call_push, TOPK_OK);
    push.base++;
    EXPECT(&f, call_push, TOPK_ERROR_INDEX_TOO_NARROW);
    begin();
    f.input.offsets = f.extents;
    EXPECT(&f, call_push, TOPK_ERROR_CONTRADICTION);
}

static void check_large_bases(void) {
    fixture_init(&f, context);
    f.problem.index_type = TOPK_INDEX_I64;
    CHECK_STATUS(TOPK_OK, topk_accumulator_size(context, &f.problem, &state_bytes));
    EXPECT(&f, call_init, TOPK_OK);
    push = (push_arguments){LENGTH, INT64_MAX - LENGTH + 1};
    EXPECT(&f, call_push, TOPK_ERROR_OVERFLOW);
    push.base--;
    EXPECT(&f, call_push, TOPK_OK);
}

/* Positions with index_base added must fit, too, and no more than those of the chunk's own elements. */
static void check_index_base(void) {
    static const struct {
        topk_index_type type;
        int64_t most;
        topk_status beyond;
    } widths[] = {{TOPK_INDEX_I32, INT32_MAX, TOPK_ERROR_INDEX_TOO_NARROW},
                  {TOPK_INDEX_I64, INT64_MAX, TOPK_ERROR_OVERFLOW}};
    for (int w = 0; w < 2; w++) {
        fixture_init(&f, context);
        f.problem.index_type = widths[w].type;
        f.problem.index_base = widths[w].most - LENGTH;
        EXPECT(&f, call_init, TOPK_OK);
        push = (push_arguments){LENGTH, 1};
        EXPECT(&f, call_push, widths[w].beyond);
        push.length--;
        EXPECT(&f, call_push, TOPK_OK);
        push = (push_arguments){0, LENGTH + 1};
        EXPECT(&f, call_push, widths[w].beyond);
        push.base--;
        EXPECT(&f, call_push, TOPK_OK);
    }
}

/* Either all chunks carry indices or none. */
static void check_payload_mix(void) {
    for (int first = 0; first < 2; first++) {
        begin();
        f.input.indices = first == 0 ? NULL : f.payload;
        EXPECT(&f, call_push, TOPK_OK);
        push.base = LENGTH;
        f.input.indices = first == 0 ? f.payload : NULL;
        EXPECT(&f, call_push, bad_state());
    }
}

/* A chunk without elements carries neither indices nor none, whatever its pointer. */
static void check_payload_of_empty_chunks(void) {
    for (int first = 0; first < 2; first++) {
        begin();
        f.input.indices = first == 0 ? NULL : f.payload;
        EXPECT(&f, call_push, TOPK_OK);
        push = (push_arguments){0, LENGTH};
        f.input.indices = first == 0 ? f.payload : NULL;
        EXPECT(&f, call_push, TOPK_OK);
        EXPECT(&f, call_push_where, TOPK_OK);
        EXPECT(&f, call_merge_states, TOPK_OK);
        EXPECT(&f, call_finish, TOPK_OK);
        CHECK(f.results[0] == 100 && f.indices[0] == (first == 0 ? 30 : f.payload[30]));
    }
    begin(); /* and it settles nothing for those behind it */
    push.length = 0;
    f.input.indices = NULL;
    EXPECT(&f, call_push, TOPK_OK);
    push.length = LENGTH;
    f.input.indices = f.payload;
    EXPECT(&f, call_push, TOPK_OK);
    EXPECT(&f, call_peek, TOPK_OK);
    CHECK(f.indices[0] == f.payload[30]);
}

static void check_buffers(void) {
    begin();
    f.input.values = (const char *)f.values + 2;
    f.problem.rows = ROWS;
    EXPECT(&f, call_push, TOPK_ERROR_MISALIGNED);
    begin();
    f.out_values = (char *)f.results + 1;
    EXPECT(&f, call_peek, TOPK_ERROR_MISALIGNED);
    EXPECT(&f, call_finish, TOPK_ERROR_MISALIGNED);
    begin();
    f.out_indices = f.results;
    EXPECT(&f, call_peek, TOPK_ERROR_OVERLAP);
    begin();
    f.out_values = f.memory;
    EXPECT(&f, call_peek, TOPK_ERROR_OVERLAP);
    EXPECT(&f, call_finish, TOPK_ERROR_OVERLAP);
    begin();
    f.input.values = f.memory;
    EXPECT(&f, call_push, TOPK_ERROR_OVERLAP);
    begin();
    if (!on_gpu) {
        f.stream = (topk_stream)(void *)&f;
        EXPECT(&f, call_init, TOPK_ERROR_CONTRADICTION);
        EXPECT_EACH(TOPK_ERROR_CONTRADICTION);
    }
}

/* The state may lie anywhere, and move to an address that is the same modulo 64: it holds no pointers. */
static void check_moved_state(void) {
    begin();
    f.workspace = f.memory + 1;
    EXPECT(&f, call_init, TOPK_OK);
    EXPECT(&f, call_push, TOPK_OK);
    memmove(f.memory + 1 + 1024, f.memory + 1, state_bytes);
    memset(f.memory, 0xaa, 1000);
    f.workspace = f.memory + 1 + 1024;
    EXPECT(&f, call_finish, TOPK_OK);
    CHECK(f.results[0] == 100);
}

/* A predicate is looked at as in topk_select_where(). */
static void check_predicates(void) {
    begin();
    f.predicate.kind = (topk_predicate_kind)(TOPK_AT_LEAST + 1);
    EXPECT(&f, call_push_where, TOPK_ERROR_UNKNOWN_ENUM);
    f.predicate.kind = TOPK_BYTE_MASK;
    EXPECT(&f, call_push_where, TOPK_ERROR_NULL_POINTER);
    f.predicate.mask = f.memory;
    EXPECT(&f, call_push_where, TOPK_ERROR_OVERLAP);
    f.predicate.mask = f.mask;
    EXPECT(&f, call_push_where, TOPK_OK);
    f.predicate.kind = TOPK_GT;
    EXPECT(&f, call_push_where, TOPK_ERROR_CONTRADICTION);
    f.predicate.mask = NULL;
    f.predicate.kind = TOPK_AT_LEAST;
    f.predicate.threshold = f.values;
    EXPECT(&f, call_push_where, TOPK_ERROR_UNSUPPORTED);
    f.predicate.threshold = NULL;
    f.predicate.kind = TOPK_GT;
    CHECK_STATUS(
        TOPK_ERROR_NULL_POINTER,
        topk_accumulator_push_where(context, &f.problem, f.memory, state_bytes, &f.input, NULL, 1, 0, NULL));
    push.length = 0;
    EXPECT(&f, call_push_where, TOPK_OK);
}

/* What a bar is read to or raised from is looked at as results and inputs are. */
static void check_all_of_bars(void) {
    begin();
    f.input.k = f.k;
    if (on_gpu) {
        EXPECT(&f, call_bar, TOPK_ERROR_UNSUPPORTED);
        EXPECT(&f, call_raise, TOPK_ERROR_UNSUPPORTED);
        return;
    }
    EXPECT(&f, call_raise, TOPK_OK);
    EXPECT(&f, call_bar, TOPK_OK);
    CHECK(f.counts[0] == K && f.results[0] == f.values[0]);
    f.out_values = (char *)f.results + 2;
    EXPECT(&f, call_bar, TOPK_ERROR_MISALIGNED);
    f.out_values = f.memory;
    EXPECT(&f, call_bar, TOPK_ERROR_OVERLAP);
    f.out_values = NULL;
    EXPECT(&f, call_bar, TOPK_OK);
    f.input.values = NULL;
    EXPECT(&f, call_raise, TOPK_ERROR_NULL_POINTER);
    f.input.values = f.memory;
    EXPECT(&f, call_raise, TOPK_ERROR_OVERLAP);
    f.workspace_bytes--;
    EXPECT(&f, call_bar, TOPK_ERROR_WORKSPACE_TOO_SMALL);
    EXPECT(&f, call_raise, TOPK_ERROR_WORKSPACE_TOO_SMALL);
    begin();
    f.input.k = f.k;
    EXPECT(&f, call_finish, TOPK_OK);
    EXPECT(&f, call_bar, TOPK_ERROR_BAD_STATE);
    EXPECT(&f, call_raise, TOPK_ERROR_BAD_STATE);
}

static void check_merges(void) {
    begin();
    EXPECT(&f, call_merge_states, TOPK_OK);
    other_bytes = 64; /* not even what is kept */
    EXPECT(&f, call_merge_states, TOPK_ERROR_WORKSPACE_TOO_SMALL);
    other = NULL;
    EXPECT(&f, call_merge_states, TOPK_ERROR_NULL_POINTER);
    begin();
    other = f.memory; /* with itself */
    EXPECT(&f, call_merge_states, TOPK_ERROR_OVERLAP);
    begin();
    memset(other, 0, other_bytes);
    EXPECT(&f, call_merge_states, bad_state());
    begin();
    f.problem.nan = TOPK_NAN_LAST; /* the other one's alone */
    CHECK_STATUS(TOPK_OK, topk_accumulator_init(context, &f.problem, other, other_bytes, NULL));
    f.problem.nan = TOPK_NAN_AS_LARGEST;
    EXPECT(&f, call_merge_states, bad_state());
    for (int first = 0; first < 2; first++) { /* payload in one of them */
        begin();
        f.input.indices = first == 0 ? NULL : f.payload;
        EXPECT(&f, call_push, TOPK_OK);
        EXPECT(&f, call_merge_states, TOPK_OK);
        f.input.indices = first == 0 ? f.payload : NULL;
        CHECK_STATUS(TOPK_OK, topk_accumulator_push(context, &f.problem, other, other_bytes, &f.input, LENGTH,
                                                    LENGTH, NULL));
        EXPECT(&f, call_merge_states, bad_state());
    }
}

/* ---- Bytes ---- */

/* A state with elements, and its bytes. */
static void begin_bytes(void) {
    begin();
    EXPECT(&f, call_push, TOPK_OK);
    EXPECT(&f, call_export, TOPK_OK);
}

/* On a GPU only a wrong size is one. */
static topk_status malformed(void) {
    return on_gpu ? TOPK_OK : TOPK_ERROR_MALFORMED;
}

static void check_arguments_of_bytes(void) {
    begin_bytes();
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_accumulator_export_size(context, &f.problem, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_accumulator_export_size(context, NULL, &bytes_size));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_accumulator_export_size(NULL, &f.problem, &bytes_size));
    f.context = NULL;
    EXPECT(&f, call_import, TOPK_ERROR_NULL_POINTER);
    begin_bytes();
    f.workspace = NULL;
    EXPECT(&f, call_import, TOPK_ERROR_NULL_POINTER);
    begin_bytes();
    f.workspace_bytes--;
    EXPECT(&f, call_import, TOPK_ERROR_WORKSPACE_TOO_SMALL);
    begin_bytes();
    capacity--;
    EXPECT(&f, call_export, TOPK_ERROR_WORKSPACE_TOO_SMALL);
    EXPECT(&f, call_import, TOPK_ERROR_MALFORMED);
    capacity += 2;
    EXPECT(&f, call_export, TOPK_OK);
    EXPECT(&f, call_import, TOPK_ERROR_MALFORMED);
    capacity = SIZE_MAX;
    EXPECT(&f, call_import, TOPK_ERROR_MALFORMED);
    capacity = 0;
    EXPECT(&f, call_import, TOPK_ERROR_MALFORMED);
    capacity = bytes_size;
    bytes = NULL;
    EXPECT(&f, call_export, TOPK_ERROR_NULL_POINTER);
    EXPECT(&f, call_import, TOPK_ERROR_NULL_POINTER);
    bytes = f.memory + state_bytes - 1;
    EXPECT(&f, call_export, TOPK_ERROR_OVERLAP);
    EXPECT(&f, call_import, TOPK_ERROR_OVERLAP);
    begin_bytes();
    f.problem.index_type = (topk_index_type)2;
    EXPECT(&f, call_export, TOPK_ERROR_UNKNOWN_ENUM);
    EXPECT(&f, call_import, TOPK_ERROR_UNKNOWN_ENUM);
    begin_bytes();
    if (!on_gpu) {
        f.stream = (topk_stream)(void *)&f;
        EXPECT(&f, call_import, TOPK_ERROR_CONTRADICTION);
    }
}

/* Whether each index that a peek writes is -2: the state is broken. On the CPU a state is never. */
static bool is_broken(void) {
    int broken = 0;
    EXPECT(&f, call_peek, TOPK_OK);
    for (int i = 0; i < ROWS * K; i++) {
        broken += f.indices[i] == -2;
    }
    CHECK(broken == 0 || broken == ROWS * K);
    return broken > 0;
}

/* The bytes must be refused, and on the CPU leave the state alone. */
static void expect_refused(const char *what, long where) {
    EXPECT(&f, call_import, malformed());
    if (!CHECK(is_broken() == on_gpu)) {
        fprintf(stderr, "    %s %ld\n", what, where);
    }
}

/* Bytes of other problems. */
static void check_bytes_of_others(void) {
    for (int change = 0; change < 8; change++) {
        begin_bytes();
        topk_problem *const p = &f.problem;
        if (change == 0) {
            p->type = TOPK_I32;
        } else if (change == 1) {
            p->direction = TOPK_SMALLEST;
        } else if (change == 2) {
            p->rank = TOPK_BY_MAGNITUDE;
        } else if (change == 3) {
            p->nan = TOPK_NAN_LAST;
        } else if (change == 4) {
            p->index_base = 1;
        } else if (change == 5) {
            p->k_max--;
        } else if (change == 6) {
            p->rows--;
        } else {
            p->index_type = TOPK_INDEX_I64;
        }
        f.workspace_bytes = WORKSPACE_BYTES / 2;
        EXPECT(&f, call_init, TOPK_OK);
        EXPECT(&f, call_import, change < 5 ? malformed() : TOPK_ERROR_MALFORMED);
        if (change < 5) {
            CHECK(is_broken() == on_gpu);
        } else {
            CHECK(strstr(topk_last_error(), "must be ") != NULL);
        }
    }
    begin_bytes(); /* which need not have had chunks of the same length */
    f.problem.length_max *= 3;
    f.workspace_bytes = WORKSPACE_BYTES / 2;
    EXPECT(&f, call_import, TOPK_OK);
    CHECK(!is_broken() && f.indices[0] == 30);
}

static void check_flipped_headers(void) {
    for (size_t bit = 0; bit < 8 * 80; bit++) {
        begin_bytes();
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        expect_refused("bit", (long)bit);
    }
}

static void put_number(size_t at, int64_t number) {
    memcpy(bytes + at, &number, sizeof number);
}

/* Numbers of a row, and what lies behind its candidates. The second row's k is 2. */
static void check_numbers_of_rows(void) {
    enum { TABLE = 80, POSITIONS = TABLE + 16 * ROWS, PAYLOAD = POSITIONS + 8 * ROWS * K };
    enum { VALUES = PAYLOAD + 4 * ROWS * K };
    static const struct {
        size_t at;
        int64_t number;
    } bad[] = {
        {TABLE, -1},
        {TABLE, K + 1},
        {TABLE, K - 1},
        {TABLE, INT64_MIN},
        {TABLE + 8, -1},
        {TABLE + 8, K + 1},
        {TABLE + 8, K - 1},
        {TABLE + 8, INT64_MAX},
        {TABLE + 24, 1},
        {TABLE + 24, 3},
        {POSITIONS, -1},
        {POSITIONS, LENGTH},
        {POSITIONS + 8 * (K - 1), INT32_MAX},
        {POSITIONS + 8 * (K - 1), INT64_MAX},
        {POSITIONS + 8 * (K - 1), 0},
        {POSITIONS + 8 * (K + 2), 1},
        {PAYLOAD, 1},
        {PAYLOAD + 4 * (K + 2), 1},
        {VALUES + 4 * (K + 2), 1},
    };
    int64_t ks[ROWS] = {K, 2, K};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        begin();
        f.problem.extent_type = TOPK_INDEX_I64;
        f.input.k = ks;
        EXPECT(&f, call_push, TOPK_OK);
        EXPECT(&f, call_export, TOPK_OK);
        EXPECT(&f, call_import, TOPK_OK);
        put_number(bad[i].at, bad[i].number);
        expect_refused("number", (long)i);
    }
    begin_bytes(); /* a position that is the one before */
    memcpy(bytes + POSITIONS + 8, bytes + POSITIONS, 8);
    expect_refused("position", 1);
    begin_bytes(); /* the last that there can be */
    put_number(POSITIONS + 8 * (K - 1), INT32_MAX - 1);
    EXPECT(&f, call_import, TOPK_OK);
    CHECK(!is_broken());
}

/* What an import takes, export gives back. */
static void check_random_bytes(void) {
    static unsigned char before[4096];
    uint64_t random = 1;
    for (int round = 0; round < (on_gpu ? 150 : 3000); round++) {
        begin_bytes();
        for (int changes = 1 + round % 3; changes > 0; changes--) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            bytes[(random >> 33) % bytes_size] = (unsigned char)(random >> 20);
        }
        memcpy(before, bytes, bytes_size);
        const topk_status status = call_import(&f);
        CHECK(status == TOPK_OK || (!on_gpu && status == TOPK_ERROR_MALFORMED));
        if (status == TOPK_OK && !is_broken()) {
            EXPECT(&f, call_export, TOPK_OK);
            CHECK(memcmp(before, bytes, bytes_size) == 0);
        }
    }
}

/* A push of rows that lie apart, or into each other, finds room in a state whose pitch was not known.
 */
static void check_pitches(void) {
    random_state random = {7};
    for (int i = 0; i < 1000; i++) {
        topk_problem problem = TOPK_PROBLEM_INIT;
        size_t needed = 0, with_pitch = 1;
        problem.type = i & 1 ? TOPK_F32 : TOPK_F16;
        problem.index_type = TOPK_INDEX_I64;
        problem.rows = 1 + random_below(&random, i & 2 ? 5 : 2000);
        problem.length_max = 1 + random_below(&random, INT64_C(1) << random_below(&random, 28));
        problem.k_max = 1 + random_below(&random, 2000);
        CHECK_STATUS(TOPK_OK, topk_accumulator_size(context, &problem, &needed));
        problem.row_stride = 1 + random_below(&random, INT64_C(1) << random_below(&random, 33));
        CHECK_STATUS(TOPK_OK, topk_accumulator_size(context, &problem, &with_pitch));
        CHECK(needed == with_pitch);
    }
}

static topk_context *create_gpu_context(void) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    options.backend = TOPK_BACKEND_CUDA;
    CHECK_STATUS(TOPK_OK, topk_context_create(&options, &context));
    return context;
}

int main(int argc, char **argv) {
    on_gpu = argc > 1 && strcmp(argv[1], "cuda") == 0;
    context = on_gpu ? create_gpu_context() : create_cpu_context(1);
    check_states();
    check_other_problem();
    check_what_may_differ();
    check_pointers();
    check_short_state();
    check_push_arguments();
    check_large_bases();
    check_index_base();
    check_payload_mix();
    check_payload_of_empty_chunks();
    check_predicates();
    check_all_of_bars();
    check_merges();
    check_buffers();
    check_moved_state();
    check_arguments_of_bytes();
    check_bytes_of_others();
    check_flipped_headers();
    check_numbers_of_rows();
    check_random_bytes();
    check_pitches();
    topk_context_destroy(context);
    return check_report();
}
