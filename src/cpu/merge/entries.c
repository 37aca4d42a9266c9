/* SPDX-License-Identifier: Apache-2.0 */
#include "entries.h"

size_t topk_cpu_merge_runs(const struct merge_entry *a, size_t a_count, const struct merge_entry *b,
                           size_t b_count, struct merge_entry *merged, size_t most) {
    size_t i = 0, j = 0, count = 0;
    for (; count < most && i < a_count && j < b_count; count++) {
        merged[count] = merge_before(&b[j], &a[i]) ? b[j++] : a[i++];
    }
    for (; count < most && i < a_count; count++) {
        merged[count] = a[i++];
    }
    for (; count < most && j < b_count; count++) {
        merged[count] = b[j++];
    }
    return count;
}

static void insert(struct merge_entry *entries, size_t count) {
    for (size_t i = 1; i < count; i++) {
        const struct merge_entry entry = entries[i];
        size_t at = i;
        for (; at > 0 && merge_before(&entry, &entries[at - 1]); at--) {
            entries[at] = entries[at - 1];
        }
        entries[at] = entry;
    }
}

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

struct merge_entry *topk_cpu_merge_sort(struct merge_entry *entries, struct merge_entry *others,
                                        size_t count) {
    for (size_t begin = 0; begin < count; begin += MERGE_INSERTED) {
        insert(entries + begin, smaller(MERGE_INSERTED, count - begin));
    }
    for (size_t width = MERGE_INSERTED; width < count; width *= 2) {
        for (size_t begin = 0; begin < count; begin += 2 * width) {
            const size_t left = smaller(width, count - begin);
            const size_t right = smaller(width, count - begin - left);
            (void)topk_cpu_merge_runs(entries + begin, left, entries + begin + left, right, others + begin,
                                      left + right);
        }
        struct merge_entry *const sorted = others;
        others = entries;
        entries = sorted;
    }
    return entries;
}
