/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "parse.h"

__extension__ typedef unsigned __int128 wide;

/* Parses text[0, length), a decimal from 0 to `most` with up to 15 decimals, into *numerator / *denominator.
 */
static bool fraction_parse(const char *text, size_t length, int64_t most, int64_t *numerator,
                           int64_t *denominator) {
    enum { DECIMALS_MAX = 15 };
    const char *point = memchr(text, '.', length);
    const size_t decimals = point != NULL ? (size_t)(text + length - point - 1) : 0;
    const bool has_digits = length > (point != NULL);
    int64_t number = 0;
    *denominator = 1;
    for (size_t i = 0; i < decimals && decimals <= DECIMALS_MAX; i++)
        *denominator *= 10;
    for (const char *at = text; at < text + length; at++) {
        if (at == point)
            continue;
        if (*at < '0' || *at > '9' || number > most * *denominator)
            return false;
        number = 10 * number + (*at - '0');
    }
    *numerator = number;
    return has_digits && decimals <= DECIMALS_MAX && number <= most * *denominator;
}

bool place_parse(const char *text, size_t length, bool quantile, struct place_asked *place) {
    *place = (struct place_asked){.text = text, .length = length};
    if (quantile) {
        place->kind = PLACE_QUANTILE;
        return fraction_parse(text, length, 1, &place->numerator, &place->denominator);
    }
    if (length > 0 && text[length - 1] == '%') {
        place->kind = PLACE_PERCENT;
        const bool is_number = fraction_parse(text, length - 1, 100, &place->numerator, &place->denominator);
        place->denominator *= 100;
        return is_number && place->numerator > 0;
    }
    union number number;
    place->kind = PLACE_NUMBER;
    if (number_parse(TOPK_I64, text, length, &number) != NUMBER_OK || number.i64 < 0)
        return false;
    place->number = number.i64;
    return true;
}

/* Between places low and low + 1. */
static struct place_pair place_between(int64_t low, int64_t rest, int64_t whole, enum place_between how) {
    const bool odd = low % 2 == 0; /* the position from 0 */
    switch (how) {
    case BETWEEN_LOWER:
        return (struct place_pair){low, low, 0, 1};
    case BETWEEN_HIGHER:
        return (struct place_pair){low + 1, low + 1, 0, 1};
    case BETWEEN_NEAREST:
        low += rest > whole - rest || (rest == whole - rest && odd);
        return (struct place_pair){low, low, 0, 1};
    case BETWEEN_MIDPOINT:
        return (struct place_pair){low, low + 1, 5, 10};
    default:
        return (struct place_pair){low, low + 1, rest, whole};
    }
}

struct place_pair place_among(const struct place_asked *asked, int64_t length, enum place_between how) {
    const wide whole = (wide)(uint64_t)asked->denominator;
    if (asked->kind == PLACE_NUMBER)
        return (struct place_pair){asked->number, asked->number, 0, 1};
    if (length == 0)
        return (struct place_pair){1, 1, 0, 1};
    const int64_t steps = asked->kind == PLACE_QUANTILE ? length - 1 : length;
    const wide product = (wide)(uint64_t)steps * (uint64_t)asked->numerator;
    const int64_t passed = (int64_t)(product / whole), rest = (int64_t)(product % whole);
    const int64_t low = passed + (asked->kind == PLACE_QUANTILE || rest > 0);
    if (asked->kind == PLACE_PERCENT || rest == 0)
        return (struct place_pair){low, low, 0, 1};
    return place_between(low, rest, asked->denominator, how);
}
