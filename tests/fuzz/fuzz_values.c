/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of options: bounds, integers and type names. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "fuzz.h"
#include "parse/parse.h"

static void check_bound(const char *text) {
    topk_bound bound;
    if (bound_parse('.', text, &bound) != NUMBER_OK)
        return;
    double expected = strtod(text, NULL);
    switch (bound.type) {
    case TOPK_BOUND_I64:
        demand(bound.value.i64 == strtoll(text, NULL, 10));
        break;
    case TOPK_BOUND_U64:
        demand(bound.value.u64 > INT64_MAX && bound.value.u64 == strtoull(text, NULL, 10));
        break;
    default:
        demand(isnan(expected) ? isnan(bound.value.f64) : bound.value.f64 == expected);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    demand(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    check_bound(text);
    int64_t value;
    if (integer_parse(text, -5, 1000, &value))
        demand(value >= -5 && value <= 1000 && value == strtoll(text, NULL, 10));
    topk_type type = type_parse(text);
    demand(type == TOPK_TYPE_UNDEFINED || type_npy_descr(type) != NULL);
    free(text);
    return 0;
}
