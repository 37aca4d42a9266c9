/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers, against strtod(), strtoll() and strtoull(). */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "fuzz.h"
#include "parse/parse.h"

/* What the C functions accept and the tool does not: leading space, hexadecimals, nan(...). */
static bool is_foreign(const char *text) {
    return text[0] == '\0' || isspace((unsigned char)text[0]) || strpbrk(text, "xX(") != NULL;
}

static bool same(double a, double b) {
    return isnan(a) ? isnan(b) : memcmp(&a, &b, sizeof a) == 0;
}

/* The digits of a decimal, without zeros at either end. Returns how many there are. */
static size_t digits_of(const char *text, char *digits) {
    size_t count = 0;
    for (; *text != '\0' && *text != 'e' && *text != 'E'; text++)
        if (*text >= '0' && *text <= '9' && (count > 0 || *text != '0'))
            digits[count++] = *text;
    while (count > 0 && digits[count - 1] == '0')
        count--;
    return count;
}

/* A float64 from 2^53 up stands for its shortest decimal. */
static void check_shortest(const char *text, size_t length, double number) {
    char shortest[NUMBER_SHORTEST_BYTES], expected[NUMBER_SHORTEST_BYTES];
    char *digits = malloc(length + 1);
    demand(digits != NULL);
    demand(number_shortest(number, shortest) == strlen(shortest) && same(strtod(shortest, NULL), number));
    const size_t count = digits_of(shortest, expected);
    demand(digits_of(text, digits) == count && memcmp(digits, expected, count) == 0);
    free(digits);
}

static void check_float(const char *text, size_t length) {
    union number value;
    enum number_status status = number_parse(TOPK_F64, text, length, &value);
    char *end;
    double expected = strtod(text, &end);
    bool accepted = end == text + length && !is_foreign(text);
    demand((status != NUMBER_SYNTAX && status != NUMBER_COMMA) == accepted);
    if (status == NUMBER_OK || status == NUMBER_INEXACT)
        demand(same(value.f64, expected));
    if (status == NUMBER_RANGE)
        demand(isinf(expected) || expected == 0);
    if (accepted && isinf(expected) && strpbrk(text, "iI") == NULL)
        demand(status == NUMBER_RANGE);
    if (status == NUMBER_INEXACT)
        demand(isfinite(expected) && fabs(expected) >= 0x1p53);
    if (status == NUMBER_OK && isfinite(expected) && fabs(expected) >= 0x1p53)
        check_shortest(text, length, fabs(expected));
    union number quick;
    const char *quick_end = number_parse_short(TOPK_F64, '.', text, &quick);
    if (quick_end == text + length)
        demand(status == NUMBER_OK && same(quick.f64, value.f64));
}

/* Where the comma is the point, both change places. */
static void check_comma(const char *text, size_t length) {
    union number value = {.u64 = 0}, other = {.u64 = 0};
    char *swapped = malloc(length + 1);
    demand(swapped != NULL);
    for (size_t i = 0; i <= length; i++)
        swapped[i] = (char)(text[i] == '.' ? ',' : text[i] == ',' ? '.' : text[i]);
    const enum number_status status = number_parse_point(TOPK_F64, ',', swapped, length, &other);
    demand(number_parse(TOPK_F64, text, length, &value) == status);
    demand(status == NUMBER_SYNTAX || status == NUMBER_COMMA || same(value.f64, other.f64));
    if (status == NUMBER_RANGE || status == NUMBER_INEXACT) {
        const struct beyond a = beyond_of(text, length, value.f64), b = beyond_of(swapped, length, value.f64);
        demand(beyond_compare(&a, &b, false) == 0);
    }
    if (number_parse_short(TOPK_F64, ',', swapped, &other) == swapped + length)
        demand(status == NUMBER_OK && same(value.f64, other.f64));
    free(swapped);
}

/* A size is a decimal that begins with a digit or a point, and a unit that only multiplies. A comma may be
 * the point. */
static void check_size(const char *text, size_t length) {
    double value, quick;
    const enum number_status status = size_parse(text, length, &value);
    if (size_parse_short(text, &quick) == text + length)
        demand(status == NUMBER_OK && same(quick, value));
    if (status != NUMBER_OK)
        return;
    char *pointed = malloc(length + 1);
    demand(pointed != NULL);
    memcpy(pointed, text, length + 1);
    char *comma = strchr(pointed, ',');
    if (comma != NULL)
        *comma = '.';
    size_t digits = strspn(pointed, "0123456789.");
    demand(digits > 0 && length - digits <= 3 && value >= 0 && isfinite(value));
    double expected = strtod(pointed, NULL);
    if (digits == length)
        demand(same(value, expected));
    if (length - digits == 1 && (text[digits] == 'K' || text[digits] == 'k'))
        demand(same(value, expected * 1024));
    free(pointed);
}

static void check_integer(const char *text, size_t length) {
    union number value;
    char *end;
    errno = 0;
    long long expected = strtoll(text, &end, 10);
    bool accepted = end == text + length && !is_foreign(text);
    enum number_status status = number_parse(TOPK_I64, text, length, &value);
    demand((status != NUMBER_SYNTAX && status != NUMBER_COMMA) == accepted);
    if (accepted)
        demand((status == NUMBER_RANGE) == (errno == ERANGE));
    if (status == NUMBER_OK)
        demand(value.i64 == expected);
    union number quick;
    if (number_parse_short(TOPK_I64, '.', text, &quick) == text + length)
        demand(status == NUMBER_OK && quick.i64 == value.i64);

    errno = 0;
    unsigned long long positive = strtoull(text, &end, 10);
    status = number_parse(TOPK_U64, text, length, &value);
    demand((status != NUMBER_SYNTAX && status != NUMBER_COMMA) == accepted);
    if (status == NUMBER_OK)
        demand(errno == 0 && value.u64 == positive);
    if (accepted && text[0] != '-')
        demand((status == NUMBER_RANGE) == (errno == ERANGE));
    if (number_parse_short(TOPK_U64, '.', text, &quick) == text + length)
        demand(status == NUMBER_OK && quick.u64 == value.u64);
}

/* What is taken lies among the elements, in order. */
static void check_place(const char *text, size_t length) {
    static const int64_t lengths[] = {1, 2, 1000, INT64_MAX};
    struct place_asked asked;
    for (int quantile = 0; quantile < 2; quantile++) {
        if (!place_parse(text, length, quantile, &asked))
            continue;
        demand((asked.kind == PLACE_QUANTILE) == quantile);
        for (int i = 0; i < 4; i++) {
            for (int how = BETWEEN_LINEAR; how <= BETWEEN_MIDPOINT; how++) {
                const struct place_pair pair = place_among(&asked, lengths[i], (enum place_between)how);
                demand(pair.high - pair.low == 0 || (pair.high - pair.low == 1 && quantile));
                demand(pair.rest >= 0 && pair.rest < pair.whole);
                demand((pair.rest > 0) == (pair.high > pair.low));
                demand(asked.kind == PLACE_NUMBER || (pair.low >= 1 && pair.high <= lengths[i]));
            }
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    demand(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    if (strlen(text) == size) {
        check_float(text, size);
        check_comma(text, size);
        check_integer(text, size);
        check_size(text, size);
        check_place(text, size);
    }
    free(text);
    return 0;
}
