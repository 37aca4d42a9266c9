/* SPDX-License-Identifier: Apache-2.0
 * The watch over gaps in the library with tiny internal sizes. */
#include "gaps.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { GAPS_MAX = 4096, UNTOUCHED = 0xb7 };

struct gap {
    unsigned char *begin, *end;
    unsigned char byte; /* that fills it */
};

/* All calls that are under way; an entry belongs to whose memory it lies in. */
static struct gap topk_gaps[GAPS_MAX];
static size_t topk_gap_count;
static bool topk_gap_broken;
static atomic_flag topk_gaps_lock = ATOMIC_FLAG_INIT;

#pragma weak __asan_poison_memory_region
#pragma weak __asan_unpoison_memory_region
void __asan_poison_memory_region(const volatile void *address, size_t bytes);
void __asan_unpoison_memory_region(const volatile void *address, size_t bytes);

static void hide(const void *begin, const void *end) {
    if (__asan_poison_memory_region != NULL) {
        __asan_poison_memory_region(begin, (size_t)((const char *)end - (const char *)begin));
    }
}

static void show(const void *begin, const void *end) {
    if (__asan_unpoison_memory_region != NULL) {
        __asan_unpoison_memory_region(begin, (size_t)((const char *)end - (const char *)begin));
    }
}

static void lock(void) {
    while (atomic_flag_test_and_set_explicit(&topk_gaps_lock, memory_order_acquire)) {
    }
}

static void unlock(void) {
    atomic_flag_clear_explicit(&topk_gaps_lock, memory_order_release);
}

static bool is_intact(const struct gap *gap) {
    const unsigned char *at = gap->begin;
    while (at < gap->end && *at == gap->byte) {
        at++;
    }
    return at == gap->end;
}

static bool reaches(const struct gap *gap, const void *begin, const void *end) {
    return gap->begin < (const unsigned char *)end && (const unsigned char *)begin < gap->end;
}

/* Ends the watch over gaps that reach into [begin, end). */
static void drop(const void *begin, const void *end) {
    for (size_t i = topk_gap_count; i-- > 0;) {
        const struct gap *gap = &topk_gaps[i];
        if (reaches(gap, begin, end)) {
            show(gap->begin, gap->end);
            topk_gap_broken |= !is_intact(gap);
            topk_gaps[i] = topk_gaps[--topk_gap_count];
        }
    }
}

void topk_gaps_take(char *array, size_t bytes, char *next) {
    lock();
    drop(array, next);
    show(array, next);
    if (topk_gap_count == GAPS_MAX) {
        abort();
    }
    topk_gaps[topk_gap_count++] =
        (struct gap){(unsigned char *)array + bytes, (unsigned char *)next, UNTOUCHED};
    memset(array + bytes, UNTOUCHED, (size_t)(next - array) - bytes);
    hide(array + bytes, next);
    unlock();
}

void topk_gaps_join(char *begin, char *end) {
    lock();
    for (size_t i = 0; i < topk_gap_count; i++) {
        struct gap *gap = &topk_gaps[i];
        if (reaches(gap, begin, end)) {
            show(gap->begin, gap->end);
            memset(gap->begin, 0, (size_t)(gap->end - gap->begin));
            gap->byte = 0;
        }
    }
    unlock();
}

void topk_gaps_release(void *memory, size_t bytes) {
    lock();
    drop(memory, (char *)memory + bytes);
    unlock();
}

bool topk_gaps_intact(void) {
    lock();
    const bool intact = !topk_gap_broken;
    topk_gap_broken = false;
    unlock();
    return intact;
}
