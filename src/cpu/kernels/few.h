/* SPDX-License-Identifier: Apache-2.0
 * Sorts FEW_KEYS elements or fewer: the rank of an element is how many come before it. Part of kernels.c. */
#ifndef TOPK_SRC_CPU_KERNELS_FEW_H
#define TOPK_SRC_CPU_KERNELS_FEW_H

/* The widest vectors of the instruction set, as many as hold FEW_KEYS keys. */
#define FEW_BYTES                                                                                            \
    (FEW_KEYS * KEY_BITS / 8 < __BIGGEST_ALIGNMENT__ ? FEW_KEYS * KEY_BITS / 8 : __BIGGEST_ALIGNMENT__)
typedef kint few_lanes __attribute__((vector_size(FEW_BYTES)));
enum { FEW_VECTORS = FEW_KEYS * KEY_BITS / 8 / FEW_BYTES };

/* sort_few() without vectors, of up to RANKED_KEYS elements. */
static inline void rank_few(const kint *elements, uint64_t only, const struct map *map, uint32_t *slots) {
    kint keys[RANKED_KEYS];
    uint32_t slot[RANKED_KEYS];
    unsigned count = 0;
    for (; only != 0; only &= only - 1) {
        slot[count] = (uint32_t)__builtin_ctzll(only);
        keys[count] = key_of(elements[slot[count]], map);
        count++;
    }
    for (unsigned i = 0; i < count; i++) {
        unsigned rank = 0;
        for (unsigned j = 0; j < count; j++) {
            rank += (unsigned)(keys[j] > keys[i]) | ((unsigned)(keys[j] == keys[i]) & (unsigned)(j < i));
        }
        slots[rank] = slot[i];
    }
}

/* kernels.h */
static inline void sort_few(const void *elements, size_t n, uint64_t only, const struct key_map *key_map,
                            uint32_t *slots) {
    _Static_assert(FEW_KEYS == 16, "numbers has them all");
    static const kint numbers[FEW_KEYS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    if ((only & (only - 1)) == 0) {
        slots[0] = only != 0 ? (uint32_t)__builtin_ctzll(only) : 0;
        return;
    }
    const struct map map = narrow(key_map);
    if (__builtin_popcountll(only) <= RANKED_KEYS) {
        rank_few(elements, only, &map, slots);
        return;
    }
    kint padded[FEW_KEYS] = {0}, key[FEW_KEYS], rank[FEW_KEYS];
    few_lanes keys[FEW_VECTORS], order[FEW_VECTORS], ranks[FEW_VECTORS] = {0};
    memcpy(padded, elements, n * sizeof *padded);
    for (size_t i = 0; i < FEW_KEYS; i++) {
        key[i] = key_of(padded[i], &map);
    }
    memcpy(keys, key, sizeof keys);
    memcpy(order, numbers, sizeof order);
    for (uint64_t bits = only; bits != 0; bits &= bits - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(bits);
        for (unsigned v = 0; v < FEW_VECTORS; v++) { /* what is true is -1 */
            ranks[v] -= (few_lanes)((key[i] > keys[v]) | ((key[i] == keys[v]) & ((kint)i < order[v])));
        }
    }
    memcpy(rank, ranks, sizeof rank);
    for (uint64_t bits = only; bits != 0; bits &= bits - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(bits);
        slots[rank[i]] = i;
    }
}

#endif
