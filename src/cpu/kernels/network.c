/* SPDX-License-Identifier: Apache-2.0
 * Sorts integers by a network of comparisons (Batcher, Sorting networks and their applications, 1968), for
 * one instruction set: network.h.
 *
 * The integers lie in vectors. First every lane of the vectors is sorted by itself, and no integer
 * leaves its lane; then neighbouring lanes are merged, in pairs, fours and so on. Integer i of the result is
 * in lane i / vectors, vector i % vectors. Two sorted halves are merged by comparing each integer with the
 * one as far from the other end, and then, in each half, with those half as far away, a quarter, and so on.
 *
 * Of an instruction set it asks for
 *   short_lanes            a vector of SHORT_LANES integers
 *   lesser_lanes, greater_lanes
 *                          the lesser and the greater number of each lane
 *   lanes_across(v, d)     lane i has what lane i ^ d had; d is 1 or 2, or one less than a power of 2
 *   lanes_by_bit(a, b, d)  the lanes of a whose number has bit d clear, and the lanes of b where it is set
 *   store_columns(v, c, s) lane i of SHORT_LANES vectors, one after the other, to c + i * s */
#include "network.h"

#include <string.h>

#include "inline.h"

#if defined(__AVX2__)
#include "avx2_lanes.h"
#elif defined(TOPK_NEON)
#include "neon_lanes.h"
#else
#include "portable_lanes.h"
#endif

enum { NETWORK_VECTORS = 8, NETWORK_VECTORS_MAX = NETWORK_MAX / SHORT_LANES };

static INLINE void order_vectors(short_lanes *a, short_lanes *b) {
    const short_lanes least = lesser_lanes(*a, *b);
    *b = greater_lanes(*a, *b);
    *a = least;
}

/* Sorts the lanes of NETWORK_VECTORS vectors. */
static INLINE void sort_vectors(short_lanes *vectors) {
    short_lanes v[NETWORK_VECTORS];
    memcpy(v, vectors, sizeof v);
    for (unsigned i = 0; i < 4; i++) {
        order_vectors(&v[2 * i], &v[2 * i + 1]);
    }
    for (unsigned i = 0; i < 8; i += 4) {
        order_vectors(&v[i], &v[i + 2]);
        order_vectors(&v[i + 1], &v[i + 3]);
        order_vectors(&v[i + 1], &v[i + 2]);
    }
    for (unsigned i = 0; i < 4; i++) {
        order_vectors(&v[i], &v[i + 4]);
    }
    order_vectors(&v[2], &v[4]);
    order_vectors(&v[3], &v[5]);
    for (unsigned i = 1; i < 7; i += 2) {
        order_vectors(&v[i], &v[i + 1]);
    }
    memcpy(vectors, v, sizeof v);
}

/* Sorts the lanes of NETWORK_VECTORS vectors, where each is bitonic. */
static INLINE void merge_few_vectors(short_lanes *vectors) {
    short_lanes v[NETWORK_VECTORS];
    memcpy(v, vectors, sizeof v);
    for (unsigned i = 0; i < 4; i++) {
        order_vectors(&v[i], &v[i + 4]);
    }
    for (unsigned i = 0; i < 8; i += 4) {
        order_vectors(&v[i], &v[i + 2]);
        order_vectors(&v[i + 1], &v[i + 3]);
    }
    for (unsigned i = 0; i < 8; i += 2) {
        order_vectors(&v[i], &v[i + 1]);
    }
    memcpy(vectors, v, sizeof v);
}

/* The same of more vectors. */
static INLINE void merge_vectors(short_lanes *vectors, unsigned count) {
    for (unsigned distance = count / 2; distance >= NETWORK_VECTORS; distance /= 2) {
        for (unsigned first = 0; first < count; first += 2 * distance) {
            for (unsigned i = first; i < first + distance; i++) {
                order_vectors(&vectors[i], &vectors[i + distance]);
            }
        }
    }
    for (unsigned first = 0; first < count; first += NETWORK_VECTORS) {
        merge_few_vectors(vectors + first);
    }
}

/* Merges the two sorted halves of each `span` of lanes. */
static INLINE void merge_lanes(short_lanes *vectors, unsigned count, unsigned span) {
    for (unsigned i = 0; i < count / 2; i++) {
        const short_lanes a = vectors[i], b = lanes_across(vectors[count - 1 - i], span - 1);
        const short_lanes least = lesser_lanes(a, b), greatest = greater_lanes(a, b);
        vectors[i] = lanes_by_bit(least, greatest, span / 2);
        vectors[count - 1 - i] = lanes_across(lanes_by_bit(greatest, least, span / 2), span - 1);
    }
    for (unsigned distance = span / 4; distance > 0; distance /= 2) {
        for (unsigned i = 0; i < count; i++) {
            const short_lanes other = lanes_across(vectors[i], distance);
            vectors[i] =
                lanes_by_bit(lesser_lanes(vectors[i], other), greater_lanes(vectors[i], other), distance);
        }
    }
    merge_vectors(vectors, count);
}

/* A constant number of vectors. */
static INLINE void sort_lanes(short_lanes *vectors, unsigned count) {
    for (unsigned i = 0; i < count; i += NETWORK_VECTORS) {
        sort_vectors(vectors + i);
    }
    for (unsigned sorted = NETWORK_VECTORS; sorted < count; sorted *= 2) {
        for (unsigned first = 0; first < count; first += 2 * sorted) {
            for (unsigned i = 0; i < sorted; i++) {
                order_vectors(&vectors[first + i], &vectors[first + 2 * sorted - 1 - i]);
            }
            merge_vectors(vectors + first, sorted);
            merge_vectors(vectors + first + sorted, sorted);
        }
    }
    for (unsigned span = 2; span <= SHORT_LANES; span *= 2) {
        merge_lanes(vectors, count, span);
    }
}

void SORT_NETWORK(uint32_t *integers, size_t n) {
    short_lanes vectors[NETWORK_VECTORS_MAX];
    uint32_t sorted[NETWORK_MAX];
    unsigned count = NETWORK_VECTORS;
    while (count * SHORT_LANES < n) {
        count *= 2;
    }
    memset((char *)vectors + n * sizeof *sorted, 0xff, (count * SHORT_LANES - n) * sizeof *sorted);
    memcpy(vectors, integers, n * sizeof *sorted);
    if (count == NETWORK_VECTORS) {
        sort_lanes(vectors, NETWORK_VECTORS);
    } else if (count == 2 * NETWORK_VECTORS) {
        sort_lanes(vectors, 2 * NETWORK_VECTORS);
    } else if (count == 4 * NETWORK_VECTORS) {
        sort_lanes(vectors, 4 * NETWORK_VECTORS);
    } else if (count == 8 * NETWORK_VECTORS) {
        sort_lanes(vectors, 8 * NETWORK_VECTORS);
    } else {
        sort_lanes(vectors, 16 * NETWORK_VECTORS);
    }
    for (unsigned i = 0; i < count; i += SHORT_LANES) {
        store_columns(vectors + i, sorted + i, count);
    }
    memcpy(integers, sorted, n * sizeof *sorted);
}
