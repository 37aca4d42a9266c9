/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "build.h"
#include "elements.h"

/* The real number of a random element, in a bound's type that can hold it. */
static topk_bound draw_bound(const instance *i, random_state *random) {
    topk_bound bound = {TOPK_BOUND_F64, {0.0}};
    if (i->elements == 0) {
        return bound;
    }
    int64_t e = random_below(random, i->elements);
    topk_type type = i->problem.type;
    oracle_number x = oracle_decode(type, (const char *)i->buffers[BUFFER_VALUES].data +
                                              (size_t)e * oracle_type_size(type));
    if (element_is_float(type)) {
        bound.value.f64 = x.nan             ? (double)NAN
                          : x.sign == 0     ? 0.0
                          : x.mantissa == 0 ? (double)INFINITY * x.sign
                                            : x.sign * ldexp((double)x.mantissa, x.exponent - 63);
    } else {
        uint64_t magnitude = x.sign == 0 ? 0 : x.mantissa >> (63 - x.exponent);
        bound.type = x.sign < 0 ? TOPK_BOUND_I64 : TOPK_BOUND_U64;
        bound.value.u64 = x.sign < 0 ? 0 - magnitude : magnitude;
    }
    return bound;
}

/* Where the values of this case lie, which a vector unit or a warp likes best, or anywhere. */
static guarded mask_buffer(const instance *i, int64_t bytes, random_state *random) {
    const long offset = (long)random_below(random, 32);
    return i->source->value[DIM_PLACEMENT] == PLACEMENT_AT_END || offset >= 16
               ? build_buffer(i->source, bytes, 1)
               : guarded_allocate((size_t)bytes, offset);
}

/* One byte in `one_in` is a match; rows of all or none come up too. */
static void build_mask(instance *out, random_state *random) {
    bool bits = out->predicate.kind == TOPK_BIT_MASK;
    int64_t bytes = bits ? (out->elements + 7) / 8 : out->elements;
    int64_t one_in = 1 + random_below(random, 9);
    out->buffers[BUFFER_MASK] = mask_buffer(out, bytes, random);
    unsigned char *mask = out->buffers[BUFFER_MASK].data;
    for (int64_t b = 0; b < bytes; b++) {
        bool some = random_below(random, one_in) == 0;
        mask[b] = some ? (unsigned char)(bits ? random_bits(random) : 1 + random_bits(random) % 255) : 0;
    }
    out->predicate.mask = mask;
}

/* Elements of the data, for each row or one for all, and now and then a zero. */
static void build_threshold(instance *out, random_state *random) {
    topk_predicate *predicate = &out->predicate;
    const size_t size = oracle_type_size(out->problem.type);
    predicate->threshold_stride = random_below(random, 3) == 0 ? 1 + random_below(random, 2) : 0;
    const int64_t rows = out->problem.rows;
    const int64_t count = rows == 0 ? 0 : (rows - 1) * predicate->threshold_stride + 1;
    out->buffers[BUFFER_THRESHOLD] = build_buffer(out->source, count, size);
    char *to = out->buffers[BUFFER_THRESHOLD].data;
    for (int64_t i = 0; i < count; i++) {
        if (out->elements == 0 || random_below(random, 8) == 0) {
            memset(to + (size_t)i * size, 0, size);
        } else {
            const int64_t e = random_below(random, out->elements);
            memcpy(to + (size_t)i * size, (const char *)out->input.values + (size_t)e * size, size);
        }
    }
    predicate->threshold = to;
}

void build_predicate(instance *out, random_state *random) {
    topk_predicate *predicate = &out->predicate;
    /* Whatever the predicate does not use must not be looked at. */
    const topk_bound unused = {(topk_bound_type)17, {0.0}};
    predicate->kind = (topk_predicate_kind)(out->source->value[DIM_PREDICATE] + 1);
    predicate->low = predicate->high = unused;
    if (predicate->kind == TOPK_AT_LEAST) {
        build_threshold(out, random);
        return;
    }
    if (predicate->kind >= TOPK_BYTE_MASK) {
        build_mask(out, random);
        return;
    }
    out->bounds[0] = draw_bound(out, random);
    out->bounds[1] = draw_bound(out, random);
    if (random_below(random, 2) == 0) {
        predicate->bounds = out->bounds;
    } else {
        predicate->low = out->bounds[0];
        predicate->high = predicate->kind == TOPK_BETWEEN ? out->bounds[1] : unused;
    }
}
