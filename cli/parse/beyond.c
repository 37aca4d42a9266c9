/* SPDX-License-Identifier: Apache-2.0
 *
 * Decimals beyond float64: they are compared as they are written. */
#include <math.h>
#include <string.h>

#include "parse.h"

/* 0.DIGITS * 10^place: the digits begin with the first one that is not 0, and may have the point among them.
 */
struct scientific {
    const char *digits;
    const char *end;
    int64_t place;
};

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_point(char c) {
    return c == '.' || c == ',';
}

/* The number in digits; very many digits stand for a very large one. */
static int64_t read_exponent(const char *text, const char *end) {
    static const int64_t most = INT64_C(1000000000000000);
    const bool negative = text < end && *text == '-';
    text += text < end && (*text == '-' || *text == '+');
    int64_t sum = 0;
    for (; text < end; text++)
        sum = sum < most ? sum * 10 + (*text - '0') : most * 10;
    return negative ? -sum : sum;
}

static struct scientific read_decimal(const char *text, size_t length) {
    const char *end = text + length;
    text += *text == '-' || *text == '+';
    const char *mantissa_end = text;
    while (mantissa_end < end && (is_digit(*mantissa_end) || is_point(*mantissa_end)))
        mantissa_end++;
    const char *point = text;
    while (point < mantissa_end && !is_point(*point))
        point++;
    while (text < mantissa_end && (*text == '0' || is_point(*text)))
        text++;
    struct scientific read = {text, mantissa_end, text < point ? point - text : point - text + 1};
    if (mantissa_end < end)
        read.place += read_exponent(mantissa_end + 1, end);
    return read;
}

/* The next digit; 0 behind the last one. */
static int next_digit(struct scientific *decimal) {
    if (decimal->digits < decimal->end && is_point(*decimal->digits))
        decimal->digits++;
    return decimal->digits < decimal->end ? *decimal->digits++ - '0' : 0;
}

static int compare_magnitudes(const struct beyond *a, const struct beyond *b) {
    struct scientific x = read_decimal(a->text, a->length), y = read_decimal(b->text, b->length);
    if (x.place != y.place)
        return x.place < y.place ? -1 : 1;
    while (x.digits < x.end || y.digits < y.end) {
        const int difference = next_digit(&x) - next_digit(&y);
        if (difference != 0)
            return difference;
    }
    return 0;
}

/* The magnitude beside a float64 without sign. */
static int compare_with_double(const struct beyond *number, double x) {
    char text[NUMBER_SHORTEST_BYTES];
    if (number->nearest != x)
        return number->nearest < x ? -1 : 1;
    if (x == 0)
        return 1;
    if (isinf(x))
        return -1;
    const struct beyond shortest = {.text = text, .length = number_shortest(x, text)};
    return compare_magnitudes(number, &shortest);
}

struct beyond beyond_of(const char *text, size_t length, double nearest) {
    return (struct beyond){text, length, *text == '-', fabs(nearest)};
}

double beyond_nearest(const struct beyond *number) {
    return number->negative ? -number->nearest : number->nearest;
}

int beyond_compare(const struct beyond *a, const struct beyond *b, bool magnitude) {
    const bool a_negative = a->negative && !magnitude, b_negative = b->negative && !magnitude;
    if (a_negative != b_negative)
        return a_negative ? -1 : 1;
    const int outward =
        a->nearest != b->nearest ? (a->nearest < b->nearest ? -1 : 1) : compare_magnitudes(a, b);
    return a_negative ? -outward : outward;
}

int beyond_compare_double(const struct beyond *number, double x, bool magnitude) {
    const bool negative = number->negative && !magnitude;
    x = magnitude ? fabs(x) : x;
    x = negative ? -x : x;
    const int outward = x < 0 ? 1 : compare_with_double(number, x);
    return negative ? -outward : outward;
}
