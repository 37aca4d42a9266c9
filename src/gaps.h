/* SPDX-License-Identifier: Apache-2.0
 * What lies between the arrays of a workspace, watched in builds for tests: arrays are then at least a line
 * apart, and what writes past the end of one of them is found.
 *
 * With TOPK_SHRINK gaps are filled with a pattern, which is looked at when the call has ended; and, where the
 * program has AddressSanitizer, poisoned during the call. With AddressSanitizer alone (TOPK_POISON_GAPS) they
 * are poisoned. Everywhere else there is nothing. Memory must be the host's, as the emulated GPU's is.
 */
#ifndef TOPK_SRC_GAPS_H
#define TOPK_SRC_GAPS_H

#include <stdbool.h>
#include <stddef.h>

#if defined(TOPK_SHRINK) || defined(TOPK_POISON_GAPS)
enum { TOPK_GAP_BYTES = 64 };
#else
enum { TOPK_GAP_BYTES = 0 };
#endif

#if defined(TOPK_SHRINK)

/* [array, array + bytes) is in use from now on, also if it lies over older arrays; [array + bytes, next) is
 * the gap behind it. Threads may call this side by side. */
void topk_gaps_take(char *array, size_t bytes, char *next);

/* What was taken in [begin, end) will be cleared as one, gaps and all: they must be zero afterwards. */
void topk_gaps_join(char *begin, char *end);

/* The call has ended: gaps in this memory are looked at and watched no longer. */
void topk_gaps_release(void *memory, size_t bytes);

/* Whether all gaps were found as they should be since this was last asked. */
bool topk_gaps_intact(void);

#elif defined(TOPK_POISON_GAPS)
#include <sanitizer/asan_interface.h>

static inline void topk_gaps_take(char *array, size_t bytes, char *next) {
    __asan_unpoison_memory_region(array, bytes);
    __asan_poison_memory_region(array + bytes, (size_t)(next - array) - bytes);
}

static inline void topk_gaps_join(char *begin, char *end) {
    __asan_unpoison_memory_region(begin, (size_t)(end - begin));
}

static inline void topk_gaps_release(void *memory, size_t bytes) {
    __asan_unpoison_memory_region(memory, bytes);
}

#else

static inline void topk_gaps_take(char *array, size_t bytes, char *next) {
    (void)array, (void)bytes, (void)next;
}

static inline void topk_gaps_join(char *begin, char *end) {
    (void)begin, (void)end;
}

static inline void topk_gaps_release(void *memory, size_t bytes) {
    (void)memory, (void)bytes;
}

#endif

#ifndef TOPK_SHRINK
static inline bool topk_gaps_intact(void) {
    return true;
}
#endif

#endif
