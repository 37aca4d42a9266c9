/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements as text: every float of 8 and 16 bits, and many of the others, print as the shortest decimal that
 * reads back, the nearest one among those. The C library's exact conversions judge: a decimal with a digit
 * less must read as another number. As a bound that decimal means the float, and other decimals mean
 * themselves. One argument: random floats for each of float32 and float64. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "engine/bounds.h"
#include "output/element.h"
#include "parse/parse.h"
#include "random.h"

/* digits * 10^exponent. */
struct decimal {
    uint64_t digits;
    int exponent;
};

static int bits_of(topk_type type) {
    return 8 * (int)topk_type_size(type);
}

static double decode(topk_type type, uint64_t bits) {
    return element_decode(type, &bits).value.f64;
}

static uint64_t encode(topk_type type, double x) {
    const float narrow = (float)x;
    uint64_t bits = 0;
    memcpy(&bits, type == TOPK_F32 ? (const void *)&narrow : &x, topk_type_size(type));
    return bits;
}

/* Whether a decimal, rounded to nearest even, is the positive float of these bits. */
static bool reads_as(struct decimal decimal, topk_type type, uint64_t bits) {
    char text[40];
    snprintf(text, sizeof text, "%" PRIu64 "e%d", decimal.digits, decimal.exponent);
    const double wide = strtod(text, NULL); /* which has digits to spare for the small types */
    if (type == TOPK_F64)
        return encode(type, wide) == bits;
    if (type == TOPK_F32)
        return encode(type, (double)strtof(text, NULL)) == bits;
    const double x = decode(type, bits);
    const uint64_t next = bits + 1;
    const double below = (decode(type, bits - 1) + x) / 2;
    const double above = element_is_finite(type, &next) ? (x + decode(type, next)) / 2 : x + (x - below);
    return (below < wide && wide < above) || (bits % 2 == 0 && (wide == below || wide == above));
}

/* The decimal of `count` digits that is nearest to x. */
static struct decimal nearest(double x, int count) {
    char text[40];
    snprintf(text, sizeof text, "%.*e", count - 1, x);
    struct decimal decimal = {0, atoi(strchr(text, 'e') + 1) - (count - 1)};
    for (const char *at = text; *at != 'e'; at++)
        if (*at != '.')
            decimal.digits = 10 * decimal.digits + (uint64_t)(*at - '0');
    return decimal;
}

/* Reads a positive text; *count becomes the number of its digits without zeros at the ends. */
static struct decimal parse(const char *text, int *count) {
    struct decimal decimal = {0, 0};
    bool fraction = false;
    for (; *text != '\0' && *text != 'e'; text++) {
        fraction |= *text == '.';
        if (*text == '.')
            continue;
        decimal.digits = 10 * decimal.digits + (uint64_t)(*text - '0');
        decimal.exponent -= fraction;
    }
    if (*text == 'e')
        decimal.exponent += atoi(text + 1);
    for (; decimal.digits > 0 && decimal.digits % 10 == 0; decimal.digits /= 10)
        decimal.exponent++;
    *count = 0;
    for (uint64_t rest = decimal.digits; rest > 0; rest /= 10)
        ++*count;
    return decimal;
}

/* The text of an element, without its sign. */
static void format(topk_type type, uint64_t bits, char *text) {
    struct element_text formatted;
    element_format(type, &bits, &formatted);
    formatted.text[formatted.length] = '\0';
    const bool negative = bits >> (bits_of(type) - 1) & 1;
    CHECK((formatted.text[0] == '-') == negative);
    strcpy(text, formatted.text + negative);
}

/* The bound that a text becomes for elements of a type. */
static double bound_of(topk_type type, const char *text) {
    struct options options = {.comparison_count = 1};
    struct comparison *comparison = &options.comparisons[0];
    comparison->kind = TOPK_BETWEEN;
    topk_predicate predicate = TOPK_PREDICATE_INIT;
    const enum number_status status = bound_parse('.', text, &comparison->low);
    if (status == NUMBER_OK || status == NUMBER_INEXACT) {
        comparison->high = comparison->low;
        CHECK(bounds_predicates(&options, type, &predicate) == 1);
    }
    const double low =
        predicate.low.type == TOPK_BOUND_F64 ? predicate.low.value.f64 : (double)predicate.low.value.i64;
    const double high =
        predicate.high.type == TOPK_BOUND_F64 ? predicate.high.value.f64 : (double)predicate.high.value.i64;
    return low == high ? low : (double)NAN;
}

/* A float of the given magnitude, which is printed as `text` behind its sign. */
static void check_bound(topk_type type, uint64_t magnitude, bool negative, const char *text) {
    char bound[48];
    const double sign = negative ? -1 : 1;
    const double x = sign * decode(type, magnitude);
    const double beside = sign * nextafter(strtod(text, NULL), (double)INFINITY);
    snprintf(bound, sizeof bound, "%s%s", negative ? "-" : "", text);
    CHECK(bound_of(type, bound) == x);
    snprintf(bound, sizeof bound, "%.17e", x);
    CHECK(bound_of(type, bound) == x);
    snprintf(bound, sizeof bound, "%.17e", beside);
    CHECK(isinf(beside) || bound_of(type, bound) == beside);
}

/* A positive finite float, with a sign in the element or not. */
static void check_float(topk_type type, uint64_t bits, bool negative) {
    char text[40];
    format(type, bits | (uint64_t)negative << (bits_of(type) - 1), text);
    const double x = decode(type, bits);
    int count;
    struct decimal printed = parse(text, &count);
    bool right = reads_as(printed, type, bits);
    const double read = strtod(text, NULL);
    right &= (strchr(text, 'e') != NULL) == (read >= 1e16 || read < 1e-4);
    union number number;
    right &= type != TOPK_F64 || number_parse(TOPK_F64, text, strlen(text), &number) == NUMBER_OK;
    const struct decimal best = nearest(x, count);
    if (printed.digits != best.digits || printed.exponent != best.exponent)
        right &= !reads_as(best, type, bits);
    if (count > 1) {
        struct decimal shorter = nearest(x, count - 1);
        shorter.digits--;
        for (int i = 0; i < 3; i++, shorter.digits++)
            right &= !reads_as(shorter, type, bits);
    }
    if (type != TOPK_F32 || bits % 16 == 0)
        check_bound(type, bits, negative, text);
    if (!CHECK(right))
        fprintf(stderr, "%s %#" PRIx64 ": %s\n", topk_type_name(type), bits, text);
}

static void check_if_finite(topk_type type, uint64_t bits) {
    const uint64_t sign = UINT64_C(1) << (bits_of(type) - 1);
    const uint64_t magnitude = bits & (sign - 1);
    if (magnitude != 0 && element_is_finite(type, &magnitude))
        check_float(type, magnitude, (bits & sign) != 0);
}

/* The floats around a number. */
static void check_around(topk_type type, double x) {
    for (int i = -3; i <= 3; i++)
        check_if_finite(type, encode(type, x) + (uint64_t)i);
}

static void check_special(topk_type type) {
    for (int exponent = -1074; exponent < 1024; exponent++)
        check_around(type, ldexp(1.0, exponent));
    static const char *const factors[] = {"1",   "5",    "9.5",       "1.5",
                                          "2.5", "99.5", "1.0000005", "9007199254740992.5"};
    for (int exponent = -324; exponent < 309; exponent++) {
        for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
            char text[40];
            snprintf(text, sizeof text, "%se%d", factors[i], exponent);
            check_around(type, strtod(text, NULL));
        }
    }
    for (int bit = 0; bit < bits_of(type) - 1; bit++)
        for (int i = -3; i <= 3; i++)
            check_if_finite(type, (UINT64_C(1) << bit) + (uint64_t)i);
}

/* Bits of all exponents, numbers in (0, 1], and short decimals. */
static void check_random(topk_type type, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        check_if_finite(type, random_at(1, i));
        check_if_finite(type, encode(type, random_unit_at(2, i)));
        check_if_finite(type, encode(type, (double)(random_at(3, i) % 1000000) / 1024));
    }
}

static void check_integer(topk_type type, uint64_t bits) {
    struct element_text got;
    char expected[32];
    element_format(type, &bits, &got);
    const int unused = 64 - bits_of(type);
    if (type <= TOPK_I64)
        snprintf(expected, sizeof expected, "%" PRId64, (int64_t)(bits << unused) >> unused);
    else
        snprintf(expected, sizeof expected, "%" PRIu64, bits << unused >> unused);
    CHECK(got.length == strlen(expected) && memcmp(got.text, expected, got.length) == 0);
}

static void check_integers(topk_type type) {
    check_integer(type, 0);
    for (uint64_t power = 1; power <= UINT64_MAX / 10; power *= 10)
        for (uint64_t i = 0; i < 4; i++)
            for (int sign = -1; sign <= 1; sign += 2)
                check_integer(type, (uint64_t)sign * (power * 10 - 2 + i));
    for (int64_t i = 0; i < 70000; i++)
        check_integer(type, random_at(4, i) >> i % 64);
    for (uint64_t i = 0; i < 4; i++)
        check_integer(type, (UINT64_C(1) << (bits_of(type) - 1)) - 2 + i);
}

static void check_word(topk_type type, double x, const char *expected) {
    char text[40];
    format(type, encode(type, x), text);
    CHECK(strcmp(text, expected) == 0);
    format(type, encode(type, -x), text);
    CHECK(strcmp(text, expected) == 0);
}

/* Processor time of a number of floats as text: the least of a few rounds, which a busy machine disturbs
 * least. */
static clock_t ticks(bool by_library) {
    clock_t least = 0;
    for (int round = 0; round < 7; round++) {
        const clock_t begin = clock();
        for (int64_t i = 0; i < 30000; i++) {
            struct element_text text;
            const float value = (float)random_unit_at(5, i);
            if (by_library)
                snprintf(text.text, sizeof text.text, "%.8e", (double)value);
            else
                element_format(TOPK_F32, &value, &text);
        }
        const clock_t taken = clock() - begin;
        least = round == 0 || taken < least ? taken : least;
    }
    return least;
}

int main(int argc, char **argv) {
    const int64_t count = argc > 1 ? atoll(argv[1]) : 100000;
    for (topk_type type = TOPK_I8; type <= TOPK_U64; type++)
        check_integers(type);
    for (topk_type type = TOPK_F16; type <= TOPK_F8_E5M2; type++) {
        if (bits_of(type) > 16)
            continue;
        for (uint64_t bits = 0; bits < UINT64_C(1) << bits_of(type); bits++)
            check_if_finite(type, bits);
    }
    for (topk_type type = TOPK_F32; type <= TOPK_F64; type++) {
        check_word(type, 0, "0");
        check_word(type, (double)INFINITY, "inf");
        check_special(type);
        check_random(type, count);
    }
    const clock_t own = ticks(false), library = ticks(true);
    printf("%ld ticks; snprintf() takes %ld\n", (long)own, (long)library);
    CHECK(own < 2 * library); /* a trial of one length takes as long, and most floats take several */
    return check_report();
}
