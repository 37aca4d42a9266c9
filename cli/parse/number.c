/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parse.h"

/* No more digits than this decide how a decimal rounds to a double: the longest exact midpoint of two
 * doubles, (2^54 - 1) * 2^-1075, has as many. Of all that follow only matters whether they are zero. */
enum { DIGITS_MAX = 768 };

/* Beyond this a decimal exponent is as good as infinite, with or without DIGITS_MAX digits. */
enum { EXPONENT_MAX = 5000 };

/* Different decimals of no more digits are different doubles, and no double needs more digits than the latter
 * to be told from all others. */
enum { DIGITS_SAFE = 15, DIGITS_LONGEST = 17 };

/* From here on not every integer is a double. */
#define INTEGERS_MAX 0x1p53

struct decimal {
    int64_t exponent; /* the value is digits * 10^exponent */
    size_t count;     /* of digits, without leading zeros */
    char digits[DIGITS_MAX + 1];
};

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static void add_digit(struct decimal *decimal, char digit, bool fraction) {
    if (decimal->count == 0 && digit == '0') {
        decimal->exponent -= fraction;
    } else if (decimal->count < DIGITS_MAX) {
        decimal->digits[decimal->count++] = digit;
        decimal->exponent -= fraction;
    } else {
        if (digit != '0')
            decimal->digits[DIGITS_MAX] = '1';
        decimal->exponent += !fraction;
    }
}

/* Adds an exponent to *exponent. Sums stop growing far above what digits in any memory can offset. */
static const char *scan_exponent(const char *text, const char *end, int64_t *exponent) {
    bool negative = text < end && *text == '-';
    if (text < end && (*text == '-' || *text == '+'))
        text++;
    if (text == end || !is_digit(*text))
        return NULL;
    int64_t sum = 0;
    for (; text < end && is_digit(*text); text++)
        if (sum < (int64_t)EXPONENT_MAX << 32)
            sum = sum * 10 + (*text - '0');
    *exponent += negative ? -sum : sum;
    return text;
}

static bool scan_decimal(const char *text, const char *end, char point, struct decimal *decimal) {
    decimal->exponent = 0;
    decimal->count = 0;
    decimal->digits[DIGITS_MAX] = '0';
    bool any = false;
    bool fraction = false;
    for (; text < end; text++) {
        if (is_digit(*text)) {
            add_digit(decimal, *text, fraction);
            any = true;
        } else if (*text == point && !fraction) {
            fraction = true;
        } else {
            break;
        }
    }
    if (any && text < end && (*text == 'e' || *text == 'E'))
        text = scan_exponent(text + 1, end, &decimal->exponent);
    return any && text == end;
}

/* Writes the decimal as digits and exponent alone, which strtod reads alike in every locale. */
static double decimal_to_double(const struct decimal *decimal) {
    char text[DIGITS_MAX + 1 + sizeof "e-5000"];
    size_t count = decimal->count;
    int64_t exponent = decimal->exponent;
    memcpy(text, decimal->digits, count);
    if (count == DIGITS_MAX) {
        text[count++] = decimal->digits[DIGITS_MAX];
        exponent--;
    }
    if (exponent > EXPONENT_MAX)
        exponent = EXPONENT_MAX;
    if (exponent < -EXPONENT_MAX)
        exponent = -EXPONENT_MAX;
    snprintf(text + count, sizeof text - count, "e%d", (int)exponent);
    int saved = errno;
    double value = strtod(text, NULL);
    errno = saved;
    return value;
}

size_t number_shortest(double value, char text[NUMBER_SHORTEST_BYTES]) {
    for (int count = DIGITS_SAFE;; count++) {
        char decimal[NUMBER_SHORTEST_BYTES], *end;
        snprintf(decimal, sizeof decimal, "%#.*e", count - 1, value);
        decimal[1] = decimal[0]; /* over the point */
        const uint64_t nearest = strtoull(decimal + 1, &end, 10);
        const int exponent = atoi(end + 1) - (count - 1);
        /* The number below a power of two is nearer to it than the one above, so that the next decimal may do
         * where the nearest one does not. */
        for (uint64_t digits = nearest; digits <= nearest + 1; digits++) {
            const int length = snprintf(decimal, sizeof decimal, "%" PRIu64 "e%d", digits, exponent);
            if (strtod(decimal, NULL) == value) {
                memcpy(text, decimal, (size_t)length + 1);
                return (size_t)length;
            }
        }
    }
}

/* Whether a decimal has no other digits than the shortest one that reads as the same double does. */
static bool is_shortest(const struct decimal *decimal, double value) {
    char shortest[NUMBER_SHORTEST_BYTES];
    size_t count = decimal->count;
    if (count == DIGITS_MAX && decimal->digits[DIGITS_MAX] != '0')
        return false;
    while (count > 0 && decimal->digits[count - 1] == '0')
        count--;
    if (count <= DIGITS_SAFE)
        return true;
    if (count > DIGITS_LONGEST)
        return false;
    number_shortest(value, shortest);
    return memcmp(shortest, decimal->digits, count) == 0 && shortest[count] == 'e';
}

static enum number_status round_decimal(const struct decimal *decimal, double *value) {
    *value = decimal->count == 0 ? 0.0 : decimal_to_double(decimal);
    if (isinf(*value) || (*value == 0 && decimal->count > 0))
        return NUMBER_RANGE;
    return *value >= INTEGERS_MAX && !is_shortest(decimal, *value) ? NUMBER_INEXACT : NUMBER_OK;
}

static bool is_word(const char *text, const char *end, const char *word) {
    for (; text < end && *word != '\0'; text++, word++)
        if ((*text | 0x20) != *word)
            return false;
    return text == end && *word == '\0';
}

static enum number_status parse_f64(bool negative, char point, const char *text, const char *end,
                                    double *value) {
    double sign = negative ? -1.0 : 1.0;
    if (is_word(text, end, "inf") || is_word(text, end, "infinity")) {
        *value = sign * (double)INFINITY;
        return NUMBER_OK;
    }
    if (is_word(text, end, "nan")) {
        *value = copysign((double)NAN, sign);
        return NUMBER_OK;
    }
    struct decimal decimal;
    if (!scan_decimal(text, end, point, &decimal))
        return NUMBER_SYNTAX;
    enum number_status status = round_decimal(&decimal, value);
    *value *= sign;
    return status;
}

static enum number_status parse_magnitude(const char *text, const char *end, uint64_t *magnitude) {
    if (text == end)
        return NUMBER_SYNTAX;
    uint64_t sum = 0;
    bool overflow = false;
    for (; text < end; text++) {
        if (!is_digit(*text))
            return NUMBER_SYNTAX;
        overflow |= __builtin_mul_overflow(sum, 10u, &sum);
        overflow |= __builtin_add_overflow(sum, (uint64_t)(*text - '0'), &sum);
    }
    *magnitude = sum;
    return overflow ? NUMBER_RANGE : NUMBER_OK;
}

/* Whether text is no number because of its commas, or of its points where the comma is the point: digits,
 * points and commas, and perhaps an exponent. */
static enum number_status refuse_syntax(char point, const char *text, const char *end) {
    const char *at = text;
    bool digits = false, others = false;
    for (; at < end && (is_digit(*at) || *at == '.' || *at == ','); at++) {
        digits |= is_digit(*at);
        others |= *at == (point == ',' ? '.' : ',');
    }
    int64_t exponent = 0;
    const bool whole =
        at == end || ((*at == 'e' || *at == 'E') && scan_exponent(at + 1, end, &exponent) == end);
    return digits && others && whole ? NUMBER_COMMA : NUMBER_SYNTAX;
}

enum number_status number_parse_point(topk_type type, char point, const char *text, size_t length,
                                      union number *value) {
    const char *end = text + length;
    bool negative = length > 0 && *text == '-';
    if (length > 0 && (*text == '-' || *text == '+'))
        text++;
    uint64_t magnitude;
    enum number_status status;
    if (type == TOPK_F64) {
        status = parse_f64(negative, point, text, end, &value->f64);
        return status == NUMBER_SYNTAX ? refuse_syntax(point, text, end) : status;
    }
    status = parse_magnitude(text, end, &magnitude);
    if (status != NUMBER_OK)
        return status == NUMBER_SYNTAX ? refuse_syntax(point, text, end) : status;
    uint64_t most = type == TOPK_I64 ? (uint64_t)INT64_MAX + negative : negative ? 0 : UINT64_MAX;
    if (magnitude > most)
        return NUMBER_RANGE;
    value->u64 = negative ? 0 - magnitude : magnitude;
    return NUMBER_OK;
}

enum number_status number_parse(topk_type type, const char *text, size_t length, union number *value) {
    return number_parse_point(type, '.', text, length, value);
}

/* The power that the unit at `text` stands for, of 1000 if `decimal`, else of 1024; -1: it is no unit. */
static int scan_unit(const char *text, const char *end, bool *decimal) {
    static const char letters[] = "KMGTPE";
    const char letter = text == end ? 'B' : *text == 'k' ? 'K' : *text;
    const char *place = memchr(letters, letter, sizeof letters - 1);
    const int power = place != NULL ? (int)(place - letters) + 1 : 0;
    text += place != NULL;
    *decimal = power > 0 && end - text == 1 && *text == 'B';
    if (power > 0 && text < end && *text == 'i')
        text++;
    if (text < end && *text == 'B')
        text++;
    return text == end ? power : -1;
}

enum number_status size_parse(const char *text, size_t length, double *value) {
    const char *end = text + length;
    const char *unit = text;
    while (unit < end && (is_digit(*unit) || *unit == '.' || *unit == ','))
        unit++;
    bool decimal_unit;
    const int power = scan_unit(unit, end, &decimal_unit);
    struct decimal decimal;
    /* Three digits behind a comma may be thousands. */
    const char *comma = memchr(text, ',', (size_t)(unit - text));
    const bool is_point = comma != NULL && unit - comma > 1 && unit - comma <= 3;
    if (power < 0 || !scan_decimal(text, unit, is_point ? ',' : '.', &decimal))
        return power < 0 ? NUMBER_SYNTAX : refuse_syntax('.', text, unit);
    if (decimal_unit)
        decimal.exponent += 3 * power;
    enum number_status status = round_decimal(&decimal, value);
    if (status == NUMBER_INEXACT)
        status = NUMBER_OK;
    if (status == NUMBER_OK && !decimal_unit)
        *value *= (double)((uint64_t)1 << 10 * power);
    return status == NUMBER_OK && isinf(*value) ? NUMBER_RANGE : status;
}

/* ---- The fast case --------------------------------------------------------------------------- */

/* As scale(), for more digits and higher powers. It is slow: its operands go through memory. */
static bool scale_long(uint64_t digits, int exponent, double *value) {
#if LDBL_MANT_DIG == 64
    /* Any 64-bit integer and powers up to 10^27 = 2^27 * 5^27 are exact here. The quotient or product is
     * rounded twice, to 64 and then to 53 bits; this differs from rounding once only when the first
     * result ends in the midpoint of two doubles. */
    static const long double powers[] = {1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,  1e7L,  1e8L,  1e9L,
                                         1e10L, 1e11L, 1e12L, 1e13L, 1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L,
                                         1e20L, 1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L};
    if (exponent < -27 || exponent > 27)
        return false;
    long double scaled = digits;
    scaled = exponent < 0 ? scaled / powers[-exponent] : scaled * powers[exponent];
    uint64_t mantissa;
    memcpy(&mantissa, &scaled, sizeof mantissa);
    *value = (double)scaled;
    return (mantissa & 0x7ff) != 0x400;
#else
    (void)digits, (void)exponent, (void)value;
    return false;
#endif
}

/* Sets *value to digits * 10^exponent, correctly rounded, if one operation on exact operands gives it. */
static bool scale(uint64_t digits, int exponent, double *value) {
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (digits <= (uint64_t)1 << 53 && exponent >= -22 && exponent <= 22) {
        const double exact = (double)(int64_t)digits; /* signed, which takes one instruction */
        *value = exponent < 0 ? exact / powers[-exponent] : exact * powers[exponent];
        return true;
    }
    return scale_long(digits, exponent, value);
}

/* Adds the digits at `text` to *sum, which may wrap, and returns their end. */
static inline const char *sum_digits(const char *text, uint64_t *sum) {
    unsigned digit;
    while ((digit = (unsigned char)*text - (unsigned)'0') <= 9) {
        *sum = *sum * 10 + digit;
        text++;
    }
    return text;
}

static const char *short_exponent(const char *text, int *exponent) {
    bool negative = *text == '-';
    text += *text == '-' || *text == '+';
    uint64_t sum = 0;
    const char *end = sum_digits(text, &sum);
    if (end == text || end - text > 3)
        return NULL;
    *exponent += negative ? -(int)sum : (int)sum;
    return end;
}

const char *number_parse_short(topk_type type, char point, const char *text, union number *value) {
    enum { EXACT_DIGITS = 18 }; /* cannot overflow int64 */
    bool negative = *text == '-';
    text += *text == '-' || *text == '+';
    uint64_t digits = 0;
    const char *end = sum_digits(text, &digits);
    ptrdiff_t count = end - text;
    if (type != TOPK_F64) {
        if (count == 0 || count > EXACT_DIGITS || (negative && type == TOPK_U64))
            return NULL;
        value->u64 = negative ? 0 - digits : digits;
        return end;
    }
    int exponent = 0;
    if (*end == point) {
        const char *fraction = end + 1;
        end = sum_digits(fraction, &digits);
        count += end - fraction;
        if (count > EXACT_DIGITS)
            return NULL;
        exponent = (int)(fraction - end);
    }
    if (count == 0 || count > EXACT_DIGITS)
        return NULL;
    if ((*end == 'e' || *end == 'E') && (end = short_exponent(end + 1, &exponent)) == NULL)
        return NULL;
    if (exponent == 0)
        value->f64 = (double)digits;
    else if (!scale(digits, exponent, &value->f64))
        return NULL;
    if (count > DIGITS_SAFE && value->f64 >= INTEGERS_MAX) /* it may have more digits than float64 holds */
        return NULL;
    if (negative)
        value->f64 = -value->f64;
    return end;
}

const char *size_parse_short(const char *text, double *value) {
    static const char letters[] = "KMGTPE";
    union number number;
    const char *end =
        is_digit(*text) || *text == '.' ? number_parse_short(TOPK_F64, '.', text, &number) : NULL;
    if (end == NULL)
        return NULL;
    for (const char *at = text; at < end; at++) /* no size has an exponent */
        if (*at == 'e' || *at == 'E')
            return NULL;
    const char letter = *end == 'k' ? 'K' : *end;
    const char *unit = memchr(letters, letter, sizeof letters - 1);
    const int power = unit != NULL ? (int)(unit - letters) + 1 : 0;
    *value = number.f64 * (double)((uint64_t)1 << 10 * power);
    return end + (unit != NULL);
}

/* ---- Numbers on the command line ------------------------------------------------------------- */

enum number_status bound_parse(char point, const char *text, topk_bound *bound) {
    size_t length = strlen(text);
    union number number;
    if (number_parse(TOPK_I64, text, length, &number) == NUMBER_OK) {
        bound->type = TOPK_BOUND_I64;
        bound->value.i64 = number.i64;
        return NUMBER_OK;
    }
    if (number_parse(TOPK_U64, text, length, &number) == NUMBER_OK) {
        bound->type = TOPK_BOUND_U64;
        bound->value.u64 = number.u64;
        return NUMBER_OK;
    }
    const enum number_status status = number_parse_point(TOPK_F64, point, text, length, &number);
    if (status != NUMBER_SYNTAX && status != NUMBER_COMMA)
        *bound = (topk_bound){TOPK_BOUND_F64, {.f64 = number.f64}};
    return status;
}

bool integer_parse(const char *text, int64_t least, int64_t most, int64_t *value) {
    union number number = {.i64 = 0};
    if (number_parse(TOPK_I64, text, strlen(text), &number) != NUMBER_OK)
        return false;
    *value = number.i64;
    return number.i64 >= least && number.i64 <= most;
}
