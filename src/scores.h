/* SPDX-License-Identifier: Apache-2.0
 * Numbers of routing (CONTRACT.md, 11), for the host and for kernels: logits as float32, the sigmoid, keys of
 * scores. Each operation rounds by itself: a compiler must not fuse them. */
#ifndef TOPK_SRC_SCORES_H
#define TOPK_SRC_SCORES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "topk_route.h"

/* What kernels define to compile these functions for the device. */
#ifndef TOPK_SCORE_FUNCTION
#define TOPK_SCORE_FUNCTION static inline

TOPK_SCORE_FUNCTION float score_add(float a, float b) {
    return a + b;
}

TOPK_SCORE_FUNCTION float score_multiply(float a, float b) {
    return a * b;
}

TOPK_SCORE_FUNCTION float score_divide(float a, float b) {
    return a / b;
}

TOPK_SCORE_FUNCTION float score_of_bits(uint32_t bits) {
    float score;
    memcpy(&score, &bits, sizeof score);
    return score;
}

TOPK_SCORE_FUNCTION uint32_t score_bits(float score) {
    uint32_t bits;
    memcpy(&bits, &score, sizeof bits);
    return bits;
}

/* By masks: compilers make a branch of a choice, move the computation of `b` into it, and then keep the
 * branch in a loop that could be made of vectors. */
TOPK_SCORE_FUNCTION uint32_t score_choose(bool first, uint32_t a, uint32_t b) {
    const uint32_t mask = 0u - (uint32_t)first;
    return (a & mask) | (b & ~mask);
}
#endif

TOPK_SCORE_FUNCTION float score_subtract(float a, float b) {
    return score_add(a, -b);
}

/* How logits of a type with at most 32 bits become float32. Their exponent and fraction, put in a float32's
 * places, are a number that is smaller by `scale`. */
struct logit_format {
    uint32_t sign, sign_shift; /* its bit, and how far that is from a float32's */
    uint32_t shift;
    uint32_t largest;  /* finite */
    uint32_t infinity; /* 0: there is none */
    float scale;
};

TOPK_SCORE_FUNCTION float logit_of(uint32_t bits, const struct logit_format *format) {
    const uint32_t sign = bits & format->sign, magnitude = bits ^ sign, nan = 0x7fc00000,
                   infinity = 0x7f800000;
    const float number = score_multiply(score_of_bits(magnitude << format->shift), format->scale);
    const uint32_t special = magnitude == format->infinity ? infinity : nan;
    return score_of_bits(score_choose(magnitude > format->largest, special, score_bits(number)) |
                         sign << format->sign_shift);
}

/* exp(-a) for a >= 0, and NaN for NaN. */
TOPK_SCORE_FUNCTION float score_exp(float a) {
    const float most = 87.0f, inside = a <= most ? a : most;
    const float q = score_add(score_multiply(inside, 0x1.715476p+0f), 0x1.8p+23f);
    const float n = score_subtract(q, 0x1.8p+23f);
    const float y = score_subtract(score_subtract(score_multiply(n, 0x1.63p-1f), inside),
                                   score_multiply(n, 0x1.bd0106p-13f));
    const uint32_t power = 0x3f800000u - (score_bits(q) << 23); /* 2^-n: the low bits of q are n */
    float p = 0x1.a0d2cep-13f;
    p = score_add(score_multiply(p, y), 0x1.6e879cp-10f);
    p = score_add(score_multiply(p, y), 0x1.11121p-7f);
    p = score_add(score_multiply(p, y), 0x1.555382p-5f);
    p = score_add(score_multiply(p, y), 0x1.555554p-3f);
    p = score_add(score_multiply(p, y), 0x1p-1f);
    p = score_add(score_add(score_multiply(p, score_multiply(y, y)), y), 1.0f);
    p = score_multiply(p, score_of_bits(power));
    return a <= most ? p : a > most ? 0.0f : a;
}

TOPK_SCORE_FUNCTION float score_sigmoid(float x) {
    const float e = score_exp(x < 0.0f ? -x : x), d = score_add(1.0f, e);
    float r = score_subtract(0x1.69696ap+0f, score_multiply(d, 0x1.e1e1e2p-2f));
    r = score_add(r, score_multiply(r, score_subtract(1.0f, score_multiply(d, r))));
    r = score_add(r, score_multiply(r, score_subtract(1.0f, score_multiply(d, r))));
    r = score_add(r, score_multiply(r, score_subtract(1.0f, score_multiply(d, r))));
    return x < 0.0f ? score_multiply(e, r) : r;
}

/* The key of a score: the greater the better, and equal for ties; never 0. */
enum { SCORE_KEY_ABSENT = 0, SCORE_KEY_LEAST = 1 };

TOPK_SCORE_FUNCTION uint32_t score_key(float score, uint32_t nan_key) {
    const uint32_t sign = 0x80000000u, bits = score_bits(score);
    if (score != score) {
        return nan_key;
    }
    if ((bits & ~sign) == 0) {
        return sign;
    }
    return (bits & sign) != 0 ? ~bits : bits | sign;
}

#endif
