/* SPDX-License-Identifier: Apache-2.0
 *
 * topk_transfer.h on a backend: copies between memories, filling, positions that become others, and each
 * status.
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

/* ---- Statuses ---- */

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
    options.threads = has_streams ? 0 : 1;
    const topk_status status = topk_context_create(&options, &context);
    if (status == TOPK_ERROR_BACKEND_UNAVAILABLE) {
        return EXIT_NONE;
    }
    if (!CHECK_STATUS(TOPK_OK, status)) {
        return 1;
    }
    check_copies();
    check_renumbering();
    check_statuses();
    topk_context_destroy(context);
    return check_report();
}
