/* SPDX-License-Identifier: Apache-2.0
 * Counting a digit of the keys in an interval. Part of kernels.c. */

/* Neighbours go to tables of their own: an increment waits for the one before it in the same bin, and where
 * all keys are equal that would take several times as long. */
_Static_assert(DIGIT_TABLES == 4, "the loop below has as many lines");

static void count_digits(const void *elements, size_t n, const struct key_map *key_map, uint64_t low,
                         uint64_t high, unsigned shift, uint32_t *bins, size_t pitch) {
    const struct map map = narrow(key_map);
    const kint *in = elements, base = (kint)low, span = (kint)(high - low),
               others = (kint)((span >> shift) + 1); /* not used where all keys are in the interval */
    uint32_t *const table[DIGIT_TABLES] = {bins, bins + pitch, bins + 2 * pitch, bins + 3 * pitch};
    for (size_t i = 0; i < n; i += WORD) {
        kint digits[WORD] __attribute__((aligned(64)));
        const size_t rest = n - i < WORD ? n - i : WORD;
        fetch_ahead(in + i);
        if (rest == WORD) {
            word_keys(in + i, &map, digits);
        } else {
            part_keys(in + i, rest, &map, digits);
        }
        for (unsigned j = 0; j < WORD; j++) {
            const kint above = (kint)(digits[j] - base);
            digits[j] = above > span ? others : (kint)(above >> shift);
        }
        if (rest < WORD) { /* what lies beyond the row has some digit */
            for (unsigned j = 0; j < rest; j++) {
                table[0][digits[j]]++;
            }
            continue;
        }
        for (unsigned j = 0; j < WORD; j += DIGIT_TABLES) {
            table[0][digits[j]]++;
            table[1][digits[j + 1]]++;
            table[2][digits[j + 2]]++;
            table[3][digits[j + 3]]++;
        }
    }
}
