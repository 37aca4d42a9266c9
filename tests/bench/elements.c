/* SPDX-License-Identifier: Apache-2.0
 *
 * The benchmark's floats of up to 16 bits are rounded as those of the tests' generators are, which share no
 * code with them: numbers from below the least denormal to beyond the largest finite element, and ties. */
#include "data/elements.h"

#include <math.h>
#include <stdio.h>

#include "check.h"

void element_put(topk_type type, void *values, int64_t i, double x); /* tests/data/elements.h */

static void check_number(topk_type type, double number) {
    uint16_t own = 0, expected = 0;
    bench_store_numbers(type, &number, 1, &own);
    element_put(type, &expected, 0, number);
    if (!CHECK(own == expected)) {
        printf("type %s number %a: %#x, not %#x\n", topk_type_name(type), number, own, expected);
    }
}

int main(void) {
    static const topk_type types[] = {TOPK_F8_E4M3, TOPK_F8_E5M2, TOPK_F16};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        check_number(types[t], 0.0);
        for (int exponent = -30; exponent < 20; exponent++) {
            for (int step = 0; step < 4096; step++) {
                const double number = ldexp(1.0 + step / 4096.0, exponent);
                check_number(types[t], number);
                check_number(types[t], -number);
            }
        }
    }
    return check_report();
}
