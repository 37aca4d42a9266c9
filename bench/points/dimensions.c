/* SPDX-License-Identifier: Apache-2.0 */
#include "points/dimensions.h"

#include "data/data.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool parse_digits(const char **text, int64_t *number) {
    if (**text < '0' || **text > '9') {
        return false;
    }
    char *end;
    errno = 0;
    *number = strtoll(*text, &end, 10);
    *text = end;
    return errno == 0;
}

/* NUMBER or BASE^EXPONENT. */
static bool parse_power(const char **text, int64_t *count) {
    int64_t base;
    if (!parse_digits(text, &base)) {
        return false;
    }
    *count = base;
    if (**text == '^') {
        ++*text;
        int64_t exponent;
        if (!parse_digits(text, &exponent) || exponent > 62) {
            return false;
        }
        *count = 1;
        for (int64_t i = 0; i < exponent; ++i) {
            if (__builtin_mul_overflow(*count, base, count)) {
                return false;
            }
        }
    }
    return true;
}

bool bench_count_read(const char *text, int64_t n, int64_t *count) {
    if (*text == 'n') {
        ++text;
        *count = n;
        if (*text == '/') {
            ++text;
            int64_t divisor;
            if (!parse_power(&text, &divisor) || divisor == 0) {
                return false;
            }
            *count = n / divisor;
        }
    } else if (!parse_power(&text, count)) {
        return false;
    }
    return *text == '\0';
}

static bool set_type(bench_point *point, const char *text) {
    for (int type = TOPK_F16; type <= TOPK_U64; ++type) {
        if (strcmp(topk_type_name((topk_type)type), text) == 0) {
            point->type = (topk_type)type;
            return true;
        }
    }
    return false;
}

static bool set_k(bench_point *point, const char *text) {
    int64_t k;
    if (!bench_count_read(text, point->n, &k)) {
        return false;
    }
    point->k = bench_has_k(point) ? k : 0;
    return true;
}

static bool set_keep(bench_point *point, const char *text) {
    int64_t percent;
    if (!parse_digits(&text, &percent) || *text != '\0' || percent > 100) {
        return false;
    }
    point->keep_percent = bench_has_predicate(point) ? (int)percent : 0;
    return true;
}

/* The place of `text` among `count` names, or -1. */
static int among(const char *text, const char *const *names, int count) {
    int i = 0;
    while (i < count && strcmp(text, names[i]) != 0) {
        ++i;
    }
    return i < count ? i : -1;
}

const char *const bench_predicate_names[] = {"greater", "at-most", "byte-mask", "bit-mask"};
const char *const bench_wanted_names[] = {"indices", "values", "both", "count"};

static bool set_predicate(bench_point *point, const char *text) {
    const int choice = among(text, bench_predicate_names, BENCH_BIT_MASK + 1);
    const bool has = bench_has_predicate(point);
    point->predicate = has && choice >= 0 ? (bench_predicate)choice : BENCH_GREATER;
    return choice >= 0;
}

static bool set_wanted(bench_point *point, const char *text) {
    const int choice = among(text, bench_wanted_names, BENCH_COUNT + 1);
    const bool where = point->operation == TOPK_OPERATION_WHERE;
    point->wanted = where && choice >= 0 ? (bench_wanted)choice : BENCH_INDICES;
    return choice >= 0;
}

static bool set_method(bench_point *point, const char *text) {
    if (strlen(text) >= sizeof point->method) {
        return false;
    }
    strcpy(point->method, strcmp(text, "auto") == 0 ? "" : text);
    return true;
}

bool bench_settings_read(const char *text, int64_t n, char settings[BENCH_SETTINGS_BYTES]) {
    int length = 0;
    settings[0] = '\0';
    while (*text != '\0') {
        char name[32], value[32];
        int taken = 0;
        int64_t number;
        if (sscanf(text, "%31[^=+]=%31[^+]%n", name, value, &taken) != 2 ||
            !bench_count_read(value, n, &number)) {
            return false;
        }
        const size_t room = BENCH_SETTINGS_BYTES - (size_t)length;
        length +=
            snprintf(settings + length, room, "%s%s=%lld", length > 0 ? "," : "", name, (long long)number);
        if (length >= BENCH_SETTINGS_BYTES) {
            return false;
        }
        text += taken;
        text += *text == '+';
    }
    return true;
}

static bool set_tuning(bench_point *point, const char *text) {
    char settings[BENCH_SETTINGS_BYTES];
    const bool none = strcmp(text, "none") == 0;
    if (strlen(text) >= sizeof point->tuning || (!none && !bench_settings_read(text, point->n, settings))) {
        return false;
    }
    strcpy(point->tuning, none ? "" : text);
    return true;
}

static bool set_block(bench_point *point, const char *text) {
    int64_t threads;
    if (!parse_digits(&text, &threads) || *text != '\0' || threads < 32 || threads > 1024 || threads % 32) {
        return false;
    }
    point->block = (int)threads;
    return true;
}

static int one_of(const char *text, const char *first, const char *second) {
    const char *const names[] = {first, second};
    return among(text, names, 2);
}

bool bench_point_set(bench_point *point, bench_dimension dimension, const char *text) {
    int choice = 0;
    switch (dimension) {
    case BENCH_TYPE:
        return set_type(point, text);
    case BENCH_DIST:
        point->distribution = bench_distribution_find(text);
        return point->distribution != NULL;
    case BENCH_ROWS:
        return bench_count_read(text, 0, &point->rows);
    case BENCH_N:
        return bench_count_read(text, 0, &point->n);
    case BENCH_K:
        return set_k(point, text);
    case BENCH_KEEP:
        return set_keep(point, text);
    case BENCH_PREDICATE:
        return set_predicate(point, text);
    case BENCH_OUTPUTS:
        return set_wanted(point, text);
    case BENCH_METHOD:
        return set_method(point, text);
    case BENCH_TUNING:
        return set_tuning(point, text);
    case BENCH_BLOCK:
        return set_block(point, text);
    case BENCH_DIRECTION:
        choice = one_of(text, "largest", "smallest");
        point->direction = choice ? TOPK_SMALLEST : TOPK_LARGEST;
        break;
    case BENCH_ORDER:
        choice = one_of(text, "best", "any");
        point->order = choice ? TOPK_ORDER_ANY : TOPK_ORDER_BEST_FIRST;
        break;
    case BENCH_TIES:
        choice = one_of(text, "lowest", "any");
        point->ties = choice ? TOPK_TIES_ANY : TOPK_TIES_LOWEST_INDEX;
        break;
    case BENCH_INDEX:
        choice = one_of(text, "i32", "i64");
        point->index_type = choice ? TOPK_INDEX_I64 : TOPK_INDEX_I32;
        break;
    case BENCH_DIMENSIONS:
        return false;
    }
    return choice >= 0;
}
