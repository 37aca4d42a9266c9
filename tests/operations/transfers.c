/* SPDX-License-Identifier: Apache-2.0
 *
 * topk_transfer.h on a backend: copies between memories, filling, streams and events, sums, positions that
 * become others or do not ascend, rows that are broken, and each status.
 *
 * usage: transfers cpu|cuda */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "random.h"
#include "topk_transfer.h"

enum { NUMBERS = 5000, EXIT_NONE = 77 };

static topk_context *context;
static bool has_streams;

static void *allocate(topk_memory kind, size_t bytes) {
    void *memory = NULL;
    if (!CHECK_STATUS(TOPK_OK, topk_memory_allocate(context, kind, bytes, &memory))) {
        exit(1);
    }
    return memory;
}

static void release(topk_memory kind, void *memory) {
    CHECK_STATUS(TOPK_OK, topk_memory_release(context, kind, memory));
}

static void copy(void *to, const void *from, size_t bytes) {
    CHECK_STATUS(TOPK_OK, topk_copy(context, to, from, bytes, NULL));
}

/* Through each kind of memory, from ordinary memory of the host and back. */
static void check_copies(void) {
    unsigned char before[NUMBERS], after[NUMBERS];
    random_state random = {1};
    for (int i = 0; i < NUMBERS; i++) {
        before[i] = (unsigned char)random_bits(&random);
    }
    memset(after, 0, sizeof after);
    void *const device = allocate(TOPK_MEMORY_DEVICE, NUMBERS),
                *const other = allocate(TOPK_MEMORY_DEVICE, NUMBERS),
                *const pinned = allocate(TOPK_MEMORY_HOST, NUMBERS);
    copy(device, before, NUMBERS);
    copy(other, device, NUMBERS);
    copy(pinned, other, NUMBERS);
    CHECK_STATUS(TOPK_OK, topk_wait(context, NULL));
    CHECK(memcmp(pinned, before, NUMBERS) == 0);
    CHECK_STATUS(TOPK_OK, topk_fill(context, (char *)device + 1, 0x1a5, NUMBERS - 2, NULL));
    copy(other, pinned, 10);
    copy(after, device, NUMBERS);
    CHECK_STATUS(TOPK_OK, topk_wait(context, NULL));
    CHECK(after[0] == before[0] && after[NUMBERS - 1] == before[NUMBERS - 1]);
    for (int i = 1; i < NUMBERS - 1; i++) {
        CHECK(after[i] == 0xa5);
    }
    release(TOPK_MEMORY_DEVICE, device);
    release(TOPK_MEMORY_DEVICE, other);
    release(TOPK_MEMORY_HOST, pinned);
}

/* Rows that overlap where they come from, that leave gaps, and that lie one behind the other. */
static void check_rows(void) {
    static const struct {
        size_t to_pitch, from_pitch, row_bytes;
        int64_t rows;
    } shapes[] = {{7, 9, 7, 100}, {9, 7, 7, 100}, {7, 7, 7, 100}, {8, 3, 7, 100},
                  {3, 0, 7, 1},   {9, 5, 0, 4},   {9, 5, 4, 0}};
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        unsigned char before[1000], after[1000], wanted[1000];
        for (int i = 0; i < 1000; i++) {
            before[i] = (unsigned char)(i * 7 + i / 256);
            wanted[i] = 0x77;
        }
        void *const from = allocate(TOPK_MEMORY_HOST, sizeof before), *const to =
                                                                          allocate(TOPK_MEMORY_DEVICE, 1000);
        memcpy(from, before, sizeof before);
        copy(to, wanted, sizeof wanted);
        for (int64_t row = 0; row < shapes[s].rows; row++) {
            memcpy(wanted + (size_t)row * shapes[s].to_pitch, before + (size_t)row * shapes[s].from_pitch,
                   shapes[s].row_bytes);
        }
        CHECK_STATUS(TOPK_OK, topk_copy_rows(context, to, shapes[s].to_pitch, from, shapes[s].from_pitch,
                                             shapes[s].row_bytes, shapes[s].rows, NULL));
        copy(after, to, sizeof after);
        CHECK_STATUS(TOPK_OK, topk_wait(context, NULL));
        CHECK(memcmp(after, wanted, sizeof after) == 0);
        release(TOPK_MEMORY_HOST, from);
        release(TOPK_MEMORY_DEVICE, to);
    }
}

/* What is copied on another stream is there for work that waits for its event. */
static void check_streams(void) {
    enum { BYTES = 1 << 22 };
    topk_stream stream = (topk_stream)(void *)&context;
    topk_event event = (topk_event)(void *)&context;
    unsigned char *const pinned = allocate(TOPK_MEMORY_HOST, BYTES), *const back =
                                                                         allocate(TOPK_MEMORY_HOST, BYTES);
    void *const device = allocate(TOPK_MEMORY_DEVICE, BYTES);
    CHECK_STATUS(TOPK_OK, topk_stream_create(context, &stream));
    CHECK_STATUS(TOPK_OK, topk_event_create(context, &event));
    CHECK((stream != NULL) == has_streams && (event != NULL) == has_streams);
    memset(back, 0, BYTES);
    for (int again = 1; again <= 3; again++) {
        memset(pinned, again, BYTES);
        CHECK_STATUS(TOPK_OK, topk_copy(context, device, pinned, BYTES, stream));
        CHECK_STATUS(TOPK_OK, topk_event_record(context, event, stream));
        CHECK_STATUS(TOPK_OK, topk_event_await(context, event, NULL));
        CHECK_STATUS(TOPK_OK, topk_copy(context, back, device, BYTES, NULL));
        CHECK_STATUS(TOPK_OK, topk_event_wait(context, event));
        CHECK_STATUS(TOPK_OK, topk_wait(context, NULL));
        CHECK(back[0] == again && back[BYTES - 1] == again);
    }
    CHECK_STATUS(TOPK_OK, topk_event_destroy(context, event));
    CHECK_STATUS(TOPK_OK, topk_stream_destroy(context, stream));
    release(TOPK_MEMORY_HOST, pinned);
    release(TOPK_MEMORY_HOST, back);
    release(TOPK_MEMORY_DEVICE, device);
}

static void check_sums(void) {
    int64_t from[1000], to[1001];
    for (int i = 0; i <= 1000; i++) {
        to[i] = i * INT64_C(3000000000);
        from[i % 1000] = -i;
    }
    to[7] = INT64_MIN; /* sums are modulo 2^64 */
    int64_t *const device_from = allocate(TOPK_MEMORY_DEVICE, sizeof from), *const device_to =
                                                                                allocate(TOPK_MEMORY_DEVICE,
                                                                                         sizeof to);
    copy(device_from, from, sizeof from);
    copy(device_to, to, sizeof to);
    CHECK_STATUS(TOPK_OK, topk_add(context, 1000, device_from, device_to, NULL));
    CHECK_STATUS(TOPK_OK, topk_add(context, 0, NULL, NULL, NULL));
    copy(to, device_to, sizeof to);
    CHECK_STATUS(TOPK_OK, topk_wait(context, NULL));
    for (int i = 0; i <= 1000; i++) {
        CHECK(to[i] == (i == 7 ? INT64_MAX - 6 : i * INT64_C(3000000000) + (i < 1000 ? from[i] : 0)));
    }
    release(TOPK_MEMORY_DEVICE, device_from);
    release(TOPK_MEMORY_DEVICE, device_to);
}

/* ---- Positions ---- */

static void write_number(topk_index_type type, void *array, int64_t at, int64_t number) {
    if (type == TOPK_INDEX_I32) {
        ((int32_t *)array)[at] = (int32_t)number;
    } else {
        ((int64_t *)array)[at] = number;
    }
}

static int64_t read_number(topk_index_type type, const void *array, int64_t at) {
    return type == TOPK_INDEX_I32 ? ((const int32_t *)array)[at] : ((const int64_t *)array)[at];
}

/* Some are padding. Behind the last one nothing is written. */
static void check_numbers(topk_renumbering how, bool in_place) {
    int64_t before[NUMBERS + 1], after[NUMBERS + 1];
    random_state random = {(uint64_t)how.count * 7 + (uint64_t)how.factor};
    for (int64_t i = 0; i <= NUMBERS; i++) {
        write_number(how.from_type, before, i,
                     random_below(&random, 4) == 0 ? -1 - random_below(&random, 2)
                                                   : random_below(&random, 100000));
    }
    memset(after, 0x77, sizeof after);
    void *const from = allocate(TOPK_MEMORY_DEVICE, sizeof before);
    void *const to = in_place ? from : allocate(TOPK_MEMORY_DEVICE, sizeof after);
    copy(from, before, sizeof before);
    if (!in_place) {
        copy(to, after, sizeof after);
    }
    CHECK_STATUS(TOPK_OK, topk_renumber(context, &how, from, to, NULL));
    copy(after, to, sizeof after);
    CHECK_STATUS(TOPK_OK, topk_wait(context, NULL));
    for (int64_t i = 0; i < how.count; i++) {
        const int64_t number = read_number(how.from_type, before, i);
        const int64_t wanted = number < 0 ? number : number * how.factor + how.addend;
        if (!CHECK(read_number(how.to_type, after, i) == wanted)) {
            break;
        }
    }
    const int64_t behind = in_place                        ? read_number(how.from_type, before, how.count)
                           : how.to_type == TOPK_INDEX_I32 ? 0x77777777
                                                           : 0x7777777777777777;
    CHECK(read_number(how.to_type, after, how.count) == behind);
    release(TOPK_MEMORY_DEVICE, from);
    if (!in_place) {
        release(TOPK_MEMORY_DEVICE, to);
    }
}

static void check_renumbering(void) {
    static const int64_t counts[] = {0, 1, 255, 257, NUMBERS};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        for (int types = 0; types < 4; types++) {
            topk_renumbering how = TOPK_RENUMBERING_INIT;
            how.from_type = types & 1 ? TOPK_INDEX_I32 : TOPK_INDEX_I64;
            how.to_type = types & 2 ? TOPK_INDEX_I32 : TOPK_INDEX_I64;
            how.count = counts[c];
            check_numbers(how, false);
            how.factor = 7;
            how.addend = 5;
            check_numbers(how, false);
            if (how.from_type == how.to_type) {
                check_numbers(how, true);
            }
        }
    }
}

/* ---- Rows whose positions do not ascend ---- */

enum { DESCENT_ROWS = 7, DESCENT_LENGTH = 17000, DESCENT_STRIDE = DESCENT_LENGTH + 3 };

/* Rows of a table, each with none or several places at which it does not ascend: places that parts of a
 * kernel's or a thread's work begin and end with, among others. */
typedef struct table {
    int64_t numbers[DESCENT_ROWS * DESCENT_STRIDE];
    int64_t lengths[DESCENT_ROWS], offsets[DESCENT_ROWS + 1], wanted[DESCENT_ROWS];
} table;

static int64_t draw_place(random_state *random, int64_t length) {
    static const int64_t places[] = {0, 1, 31, 255, 256, 8191, 8192, 8193, 16384};
    const int64_t drawn = random_below(random, 12);
    const int64_t place = drawn < 9 ? places[drawn] : random_below(random, length);
    return drawn == 11 || place >= length ? length - 1 : place;
}

/* The number there becomes negative, or the one before it, or less than that. */
static void spoil(random_state *random, topk_index_type type, table *t, int64_t begin, int64_t place) {
    const int64_t before = place > 0 ? read_number(type, t->numbers, begin + place - 1) : 0;
    const int64_t kind = place > 0 ? random_below(random, 3) : 0;
    const int64_t number = kind == 0 ? -1 - random_below(random, 1000) : kind == 1 ? before : before / 2;
    write_number(type, t->numbers, begin + place, number);
}

/* The first place of a row, by its definition. */
static int64_t first_descent(topk_index_type type, const table *t, int64_t begin, int64_t length) {
    for (int64_t i = 0; i < length; i++) {
        const int64_t number = read_number(type, t->numbers, begin + i);
        if (number < 0 || (i > 0 && number <= read_number(type, t->numbers, begin + i - 1))) {
            return i;
        }
    }
    return -1;
}

static void draw_table(random_state *random, topk_index_type type, bool is_csr, table *t) {
    const int64_t lengths[DESCENT_ROWS] = {0, 1, 2, 300, 8193, DESCENT_LENGTH, 5000};
    int64_t begin = 0;
    for (int64_t row = 0; row < DESCENT_ROWS; row++) {
        const int64_t length = lengths[(row + random_below(random, 2)) % DESCENT_ROWS];
        int64_t number = random_below(random, 3);
        begin = is_csr ? begin : row * DESCENT_STRIDE;
        for (int64_t i = 0; i < length; i++) {
            write_number(type, t->numbers, begin + i, number);
            number += 1 + random_below(random, 5);
        }
        for (int64_t n = random_below(random, 3); n > 0 && length > 0; n--) {
            spoil(random, type, t, begin, draw_place(random, length));
        }
        t->wanted[row] = first_descent(type, t, begin, length);
        t->lengths[row] = length;
        t->offsets[row] = begin;
        begin += length;
    }
    t->offsets[DESCENT_ROWS] = begin;
}

static void check_table(random_state *random, topk_index_type type, bool is_csr) {
    static table t;
    int64_t places[DESCENT_ROWS + 1];
    topk_problem problem = TOPK_PROBLEM_INIT;
    topk_input input = TOPK_INPUT_INIT;
    table *const device = allocate(TOPK_MEMORY_DEVICE, sizeof t);
    int64_t *const found = allocate(TOPK_MEMORY_DEVICE, sizeof places);
    draw_table(random, type, is_csr, &t);
    memset(places, 0x77, sizeof places);
    copy(device, &t, sizeof t);
    copy(found, places, sizeof places);
    problem.type = TOPK_F32;
    problem.index_type = type;
    problem.extent_type = TOPK_INDEX_I64;
    problem.rows = DESCENT_ROWS;
    problem.length_max = DESCENT_LENGTH;
    problem.k_max = 1;
    problem.shape = is_csr ? TOPK_SHAPE_CSR : TOPK_SHAPE_STRIDED;
    problem.row_stride = is_csr ? 0 : DESCENT_STRIDE;
    problem.elements_max = is_csr ? t.offsets[DESCENT_ROWS] : 0;
    input.indices = device->numbers;
    input.lengths = is_csr ? NULL : device->lengths;
    input.offsets = is_csr ? device->offsets : NULL;
    CHECK_STATUS(TOPK_OK, topk_find_descents(context, &problem, &input, found, NULL));
    copy(places, found, sizeof places);
    CHECK_STATUS(TOPK_OK, topk_wait(context, NULL));
    CHECK(memcmp(places, t.wanted, sizeof t.wanted) == 0 && places[DESCENT_ROWS] == 0x7777777777777777);
    release(TOPK_MEMORY_DEVICE, device);
    release(TOPK_MEMORY_DEVICE, found);
}

static void check_descents(void) {
    random_state random = {3};
    for (int i = 0; i < 24; i++) {
        check_table(&random, i & 1 ? TOPK_INDEX_I32 : TOPK_INDEX_I64, (i & 2) != 0);
    }
}

/* Many rows, each of which might have all of a large input. Almost all of it is not there. */
static void check_loose_rows(void) {
    enum { ROWS = 1 << 17, NUMBERS_THERE = 4 };
    int64_t *const memory = allocate(TOPK_MEMORY_DEVICE, (2 * ROWS + 1 + NUMBERS_THERE) * sizeof *memory);
    int64_t *const places = memory, *const offsets = places + ROWS, *const numbers = offsets + ROWS + 1;
    topk_problem problem = TOPK_PROBLEM_INIT;
    topk_input input = TOPK_INPUT_INIT;
    problem.type = TOPK_F32;
    problem.index_type = problem.extent_type = TOPK_INDEX_I64;
    problem.rows = ROWS;
    problem.length_max = problem.elements_max = (INT64_C(1) << 60) - 1;
    problem.shape = TOPK_SHAPE_CSR;
    input.indices = numbers;
    input.offsets = offsets;
    for (int64_t row = 0; row <= ROWS; row++) {
        offsets[row] = row < 2 ? 0 : row < ROWS ? 2 : NUMBERS_THERE;
    }
    for (int64_t i = 0; i < NUMBERS_THERE; i++) {
        numbers[i] = i / 3; /* the last two are 0 and 1 */
    }
    CHECK_STATUS(TOPK_OK, topk_find_descents(context, &problem, &input, places, NULL));
    for (int64_t row = 0; row < ROWS; row++) {
        CHECK(places[row] == (row == 1 ? 1 : -1));
    }
    release(TOPK_MEMORY_DEVICE, memory);
}

static void check_breaking(topk_index_type from_type, topk_index_type to_type) {
    enum { ROWS = 300, FROM = 3, TO = 5 };
    int64_t from[ROWS * FROM], to[ROWS * TO + 1];
    random_state random = {5};
    for (int64_t i = 0; i < ROWS * FROM; i++) {
        write_number(from_type, from, i, random_below(&random, 6) - 3);
    }
    for (int64_t i = 0; i <= ROWS * TO; i++) {
        write_number(to_type, to, i, i);
    }
    void *const device_from = allocate(TOPK_MEMORY_DEVICE, sizeof from), *const device_to = allocate(
                                                                             TOPK_MEMORY_DEVICE, sizeof to);
    copy(device_from, from, sizeof from);
    copy(device_to, to, sizeof to);
    CHECK_STATUS(TOPK_OK,
                 topk_break_rows(context, ROWS, from_type, device_from, FROM, to_type, device_to, TO, NULL));
    CHECK_STATUS(TOPK_OK,
                 topk_break_rows(context, ROWS, from_type, device_from, 0, to_type, device_to, TO, NULL));
    copy(to, device_to, sizeof to);
    CHECK_STATUS(TOPK_OK, topk_wait(context, NULL));
    for (int64_t i = 0; i <= ROWS * TO; i++) {
        const bool breaks = i < ROWS * TO && read_number(from_type, from, i / TO * FROM) < -1;
        CHECK(read_number(to_type, to, i) == (breaks ? -2 : i));
    }
    release(TOPK_MEMORY_DEVICE, device_from);
    release(TOPK_MEMORY_DEVICE, device_to);
}

static topk_status find(int64_t *indices, int64_t *places) {
    topk_problem problem = TOPK_PROBLEM_INIT;
    topk_input input = TOPK_INPUT_INIT;
    problem.type = TOPK_F32;
    problem.rows = problem.length_max = 2;
    problem.index_type = TOPK_INDEX_I64;
    input.indices = indices;
    return topk_find_descents(context, &problem, &input, places, NULL);
}

static void check_descent_statuses(void) {
    int64_t numbers[8] = {0};
    const topk_index_type wide = TOPK_INDEX_I64;
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_find_descents(NULL, NULL, NULL, numbers, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_find_descents(context, NULL, NULL, numbers, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, find(NULL, numbers));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, find(numbers, NULL));
    CHECK_STATUS(TOPK_ERROR_OVERLAP, find(numbers, numbers + 3));
    CHECK_STATUS(TOPK_ERROR_MISALIGNED, find((int64_t *)(void *)((char *)numbers + 4), numbers + 6));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER,
                 topk_break_rows(NULL, 1, wide, numbers, 1, wide, numbers + 4, 1, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_break_rows(context, 1, wide, NULL, 1, wide, numbers, 1, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_break_rows(context, 1, wide, numbers, 1, wide, NULL, 1, NULL));
    CHECK_STATUS(TOPK_ERROR_UNKNOWN_ENUM,
                 topk_break_rows(context, 1, (topk_index_type)7, numbers, 1, wide, numbers + 4, 1, NULL));
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE,
                 topk_break_rows(context, -1, wide, numbers, 1, wide, numbers + 4, 1, NULL));
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE,
                 topk_break_rows(context, 4, wide, numbers, 1, wide, numbers + 4, INT64_MAX / 16, NULL));
    CHECK_STATUS(TOPK_ERROR_OVERLAP,
                 topk_break_rows(context, 2, wide, numbers, 2, wide, numbers + 3, 1, NULL));
    CHECK_STATUS(TOPK_OK, topk_break_rows(context, 0, wide, NULL, 1, wide, NULL, 1, NULL));
}

/* ---- Statuses ---- */

static void check_stream_statuses(void) {
    char bytes[64] = {0};
    int64_t numbers[4] = {0};
    topk_stream stream = NULL, none = (topk_stream)(void *)bytes;
    topk_event event = NULL, other = (topk_event)(void *)bytes;
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_copy_rows(NULL, bytes, 8, bytes + 32, 8, 8, 2, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_copy_rows(context, NULL, 8, bytes + 32, 8, 8, 2, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_copy_rows(context, bytes, 8, NULL, 8, 8, 2, NULL));
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, topk_copy_rows(context, bytes, 8, bytes + 32, 8, 8, -1, NULL));
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, topk_copy_rows(context, bytes, 7, bytes + 32, 8, 8, 2, NULL));
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, topk_copy_rows(context, bytes, 8, bytes, SIZE_MAX / 2, 8, 9, NULL));
    /* Rows that come to the same place again, beyond the end of all memory. */
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE,
                 topk_copy_rows(context, bytes + 8, 8, bytes + 32, SIZE_MAX - 7, 8, 3, NULL));
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE,
                 topk_copy_rows(context, bytes, SIZE_MAX - 7, bytes + 32, 8, 8, 3, NULL));
    CHECK_STATUS(TOPK_ERROR_OVERLAP, topk_copy_rows(context, bytes, 24, bytes + 31, 8, 8, 2, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_add(NULL, 1, numbers, numbers + 1, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_add(context, 1, NULL, numbers, NULL));
    CHECK_STATUS(TOPK_ERROR_OVERLAP, topk_add(context, 2, numbers, numbers + 1, NULL));
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, topk_add(context, -1, numbers, numbers + 1, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_stream_create(NULL, &stream));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_stream_create(context, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_stream_destroy(NULL, NULL));
    CHECK_STATUS(TOPK_OK, topk_stream_destroy(context, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_event_create(NULL, &event));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_event_create(context, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_event_destroy(NULL, NULL));
    CHECK_STATUS(TOPK_OK, topk_event_destroy(context, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_event_record(NULL, event, NULL));
    const topk_status without = has_streams ? TOPK_ERROR_NULL_POINTER : TOPK_OK;
    CHECK_STATUS(without, topk_event_record(context, NULL, NULL));
    CHECK_STATUS(without, topk_event_await(context, NULL, NULL));
    CHECK_STATUS(without, topk_event_wait(context, NULL));
    if (!has_streams) {
        CHECK_STATUS(TOPK_ERROR_CONTRADICTION, topk_stream_destroy(context, none));
        CHECK_STATUS(TOPK_ERROR_CONTRADICTION, topk_event_destroy(context, other));
        CHECK_STATUS(TOPK_ERROR_CONTRADICTION, topk_event_record(context, other, NULL));
        CHECK_STATUS(TOPK_ERROR_CONTRADICTION, topk_event_await(context, NULL, none));
        CHECK_STATUS(TOPK_ERROR_CONTRADICTION, topk_event_wait(context, other));
    }
}

static void check_statuses(void) {
    int64_t numbers[4] = {0, 0, 0, 0};
    void *memory = numbers;
    topk_stream const stream = (topk_stream)(void *)numbers;
    topk_renumbering how = TOPK_RENUMBERING_INIT;
    how.count = 2;
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_copy(NULL, numbers, numbers + 2, 8, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_copy(context, NULL, numbers, 8, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_copy(context, numbers, NULL, 8, NULL));
    CHECK_STATUS(TOPK_ERROR_OVERLAP, topk_copy(context, numbers, (char *)numbers + 7, 8, NULL));
    CHECK_STATUS(TOPK_ERROR_OVERLAP, topk_copy(context, (char *)numbers + 7, numbers, 8, NULL));
    CHECK_STATUS(TOPK_OK, topk_copy(context, NULL, NULL, 0, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_fill(NULL, numbers, 0, 8, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_fill(context, NULL, 0, 8, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_wait(NULL, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_memory_allocate(context, TOPK_MEMORY_DEVICE, 8, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_memory_allocate(NULL, TOPK_MEMORY_DEVICE, 8, &memory));
    CHECK(memory == NULL);
    CHECK_STATUS(TOPK_ERROR_UNKNOWN_ENUM, topk_memory_allocate(context, (topk_memory)2, 8, &memory));
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, topk_memory_allocate(context, TOPK_MEMORY_HOST, 0, &memory));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_memory_release(NULL, TOPK_MEMORY_HOST, NULL));
    CHECK_STATUS(TOPK_ERROR_UNKNOWN_ENUM, topk_memory_release(context, (topk_memory)-1, NULL));
    CHECK_STATUS(TOPK_OK, topk_memory_release(context, TOPK_MEMORY_HOST, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_renumber(NULL, &how, numbers, numbers + 2, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_renumber(context, NULL, numbers, numbers + 2, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_renumber(context, &how, NULL, numbers + 2, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_renumber(context, &how, numbers, NULL, NULL));
    CHECK_STATUS(TOPK_ERROR_MISALIGNED, topk_renumber(context, &how, numbers, (char *)numbers + 20, NULL));
    CHECK_STATUS(TOPK_ERROR_OVERLAP, topk_renumber(context, &how, numbers, numbers + 1, NULL));
    how.to_type = TOPK_INDEX_I32;
    CHECK_STATUS(TOPK_ERROR_OVERLAP, topk_renumber(context, &how, numbers, numbers, NULL));
    how.to_type = (topk_index_type)9;
    CHECK_STATUS(TOPK_ERROR_UNKNOWN_ENUM, topk_renumber(context, &how, numbers, numbers + 2, NULL));
    how.to_type = TOPK_INDEX_I64;
    how.count = -1;
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, topk_renumber(context, &how, numbers, numbers + 2, NULL));
    how.size = 3;
    CHECK_STATUS(TOPK_ERROR_STRUCT_SIZE, topk_renumber(context, &how, numbers, numbers + 2, NULL));
    if (!has_streams) {
        CHECK_STATUS(TOPK_ERROR_CONTRADICTION, topk_copy(context, numbers, numbers + 2, 8, stream));
        CHECK_STATUS(TOPK_ERROR_CONTRADICTION, topk_fill(context, numbers, 0, 8, stream));
        CHECK_STATUS(TOPK_ERROR_CONTRADICTION, topk_wait(context, stream));
        CHECK_STATUS(TOPK_ERROR_CONTRADICTION, topk_renumber(context, &how, numbers, numbers + 2, stream));
    }
}

int main(int argc, char **argv) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    has_streams = argc > 1 && strcmp(argv[1], "cuda") == 0;
    options.backend = has_streams ? TOPK_BACKEND_CUDA : TOPK_BACKEND_CPU;
    options.threads = has_streams ? 0 : 3;
    const topk_status status = topk_context_create(&options, &context);
    if (status == TOPK_ERROR_BACKEND_UNAVAILABLE) {
        return EXIT_NONE;
    }
    if (!CHECK_STATUS(TOPK_OK, status)) {
        return 1;
    }
    check_copies();
    check_rows();
    check_streams();
    check_sums();
    check_stream_statuses();
    check_renumbering();
    check_descents();
    if (!has_streams) { /* such an input is more than a GPU has */
        check_loose_rows();
    }
    for (int types = 0; types < 4; types++) {
        check_breaking(types & 1 ? TOPK_INDEX_I32 : TOPK_INDEX_I64,
                       types & 2 ? TOPK_INDEX_I32 : TOPK_INDEX_I64);
    }
    check_descent_statuses();
    check_statuses();
    topk_context_destroy(context);
    return check_report();
}
