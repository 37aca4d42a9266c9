/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers as elements, against the oracle's decoding, which shares no code with it: each element, the middle
 * between it and the next, and what lies beside the middle. */
#include "check.h"
#include "elements.h"
#include "oracle.h"

static double number_of(topk_type type, uint64_t bits) {
    const oracle_number number = oracle_decode(type, &bits);
    return number.sign == 0 ? 0 : number.sign * ldexp((double)number.mantissa, number.exponent - 63);
}

static void check_encoded(topk_type type, double x, uint64_t wanted) {
    const uint64_t got = element_encode(type, x);
    if (!CHECK(got == wanted)) {
        printf("%s: %a is %#llx, not %#llx\n", topk_type_name(type), x, (unsigned long long)got,
               (unsigned long long)wanted);
    }
}

/* A positive float, its negative, and what lies between it and the next. */
static void check_float(topk_type type, uint64_t bits) {
    const uint64_t sign = UINT64_C(1) << (element_bits(type) - 1);
    const double x = number_of(type, bits);
    check_encoded(type, x, bits);
    check_encoded(type, -x, bits | sign);
    if (bits < element_largest(type, false)) {
        const double next = number_of(type, bits + 1), middle = x + (next - x) / 2;
        const double step =
            (next - x) * 0x1p-12; /* bfloat16 is rounded to a float32 first, which keeps this much */
        check_encoded(type, middle, bits % 2 == 0 ? bits : bits + 1);
        check_encoded(type, middle - step, bits);
        check_encoded(type, -(middle + step), (bits + 1) | sign);
    }
}

static void check_floats(topk_type type) {
    random_state random = {1};
    const uint64_t largest = element_largest(type, false);
    const bool all = element_bits(type) <= 16;
    for (int64_t i = 0; i <= (all ? (int64_t)largest : 100000); i++) {
        check_float(type, all ? (uint64_t)i : random_bits(&random) % (largest + 1));
    }
    check_float(type, largest);
    check_encoded(type, 2 * number_of(type, largest), largest);
    check_encoded(type, -1e300, element_largest(type, true));
}

static void check_integers(topk_type type) {
    const int bits = element_bits(type);
    const uint64_t mask = UINT64_MAX >> (64 - bits);
    const bool is_signed = element_largest(type, true) != 0;
    for (int i = -300; i <= 300; i++) {
        const int least = !is_signed ? 0 : bits == 8 ? INT8_MIN : -300;
        const int most = bits > 8 ? 300 : is_signed ? INT8_MAX : UINT8_MAX;
        const uint64_t wanted = (uint64_t)(int64_t)(i < least ? least : i > most ? most : i);
        check_encoded(type, i, is_signed && i < 0 ? wanted : wanted & mask);
        check_encoded(type, i + 0.25, is_signed && i < 0 ? wanted : wanted & mask);
    }
    check_encoded(type, 1e300, element_largest(type, false));
}

int main(void) {
    static const topk_type floats[] = {TOPK_F16, TOPK_BF16, TOPK_F32, TOPK_F8_E4M3, TOPK_F8_E5M2};
    for (size_t t = 0; t < sizeof floats / sizeof *floats; t++) {
        check_floats(floats[t]);
    }
    for (topk_type type = TOPK_I8; type <= TOPK_U64; type++) {
        check_integers(type);
    }
    return check_report();
}
