/* SPDX-License-Identifier: Apache-2.0
 *
 * The watch over the gaps of workspaces: one byte behind any array is noticed, whatever lies over it before
 * or afterwards, and nothing else is. */
#include <string.h>

#include "check.h"
#include "workspace.h"

enum { ARRAYS = 7, BYTES = 1 << 14 };

static unsigned char memory[BYTES];

/* AddressSanitizer, which would notice first, does not watch the functions that write where they must not. */
#define UNWATCHED __attribute__((no_sanitize("address")))

static char *take(struct arena *arena, size_t bytes) {
    char *array = arena_take(arena, bytes, 1);
    memset(array, 0xff, bytes);
    return array;
}

/* Arrays of all kinds of ends; array `wrong` is written to `beyond` bytes behind its end, the last one with
 * -1. */
UNWATCHED static bool intact_with(int wrong, size_t beyond) {
    static const size_t sizes[ARRAYS] = {1, 63, 64, 65, 128, 500, 8};
    struct arena arena = arena_over(memory + 3);
    for (int a = 0; a < ARRAYS; a++) {
        char *array = take(&arena, sizes[a]);
        if (a == wrong) {
            array[sizes[a] + beyond] ^= 1;
        }
    }
    topk_gaps_release(memory + 3, arena_bytes(&arena));
    return topk_gaps_intact();
}

static void check_every_array(void) {
    CHECK(intact_with(-1, 0));
    for (int a = 0; a < ARRAYS; a++) {
        CHECK(!intact_with(a, 0));
        CHECK(!intact_with(a, 63));
        CHECK(intact_with(-1, 0)); /* the next call is another matter */
    }
}

/* A second layout over the memory of the first: what it takes is its own, the rest stays watched. */
UNWATCHED static void check_layouts_over_each_other(void) {
    for (int wrong = 0; wrong < 2; wrong++) {
        struct arena first = arena_over(memory), second = arena_over(memory);
        (void)take(&first, 10);
        char *array = take(&first, 1000);
        (void)take(&second, 700);
        array[1000] ^= (char)wrong;
        topk_gaps_release(memory, arena_bytes(&first));
        CHECK(topk_gaps_intact() == !wrong);
    }
}

/* What was joined is cleared as one; a byte that is not zero afterwards was written behind an array. */
static void check_joined(void) {
    for (int wrong = 0; wrong < 2; wrong++) {
        struct arena arena = arena_over(memory);
        (void)take(&arena, 100);
        const size_t before = arena.used;
        char *begin = take(&arena, 40);
        (void)take(&arena, 24);
        memset(begin, 0, arena_join(&arena, before));
        begin[40] = (char)wrong;
        topk_gaps_release(memory, arena_bytes(&arena));
        CHECK(topk_gaps_intact() == !wrong);
    }
}

int main(void) {
    check_every_array();
    check_layouts_over_each_other();
    check_joined();
    return check_report();
}
