/* SPDX-License-Identifier: Apache-2.0 */
#include "points/suites.h"

#include "data/data.h"

#include <errno.h>
#include <stddef.h>
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

/* "1000", "2^26", "n" or "n/100", where n is the length of a row. */
static bool read_count(const char *text, int64_t n, int64_t *count) {
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

bool bench_choose(const char *text, const char *const *names, unsigned *number) {
    for (*number = 0; names[*number] != NULL; ++*number) {
        if (strcmp(text, names[*number]) == 0) {
            return true;
        }
    }
    return false;
}

const char *const bench_operation_names[] = {"",      "select", "kth", "where", "select_where",
                                             "count", "mask",   NULL};
const char *const bench_predicate_names[] = {"greater", "at-most", "byte-mask", "bit-mask", NULL};
const char *const bench_wanted_names[] = {"indices", "values", "both", "count", NULL};
const char *const bench_direction_names[] = {"largest", "smallest", NULL};
const char *const bench_order_names[] = {"best", "any", NULL};
const char *const bench_ties_names[] = {"lowest", "any", NULL};
const char *const bench_index_names[] = {"i32", "i64", NULL};

bool bench_settings_read(const char *text, int64_t n, char settings[BENCH_SETTINGS_BYTES]) {
    int length = 0;
    settings[0] = '\0';
    while (*text != '\0') {
        char name[32], value[32];
        int taken = 0;
        int64_t number;
        if (sscanf(text, "%31[^=+]=%31[^+]%n", name, value, &taken) != 2 || !read_count(value, n, &number)) {
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

static bool set_type(topk_type *type, const char *text) {
    for (int each = TOPK_F16; each <= TOPK_U64; ++each) {
        if (strcmp(topk_type_name((topk_type)each), text) == 0) {
            *type = (topk_type)each;
            return true;
        }
    }
    return false;
}

/* A whole number, no less than `least` and a multiple of it. */
static bool set_number(int *field, const char *text, int least, int most) {
    int64_t number = 0;
    const bool ok = parse_digits(&text, &number) && *text == '\0' && number <= most;
    *field = (int)number;
    return ok && number >= least && (least == 0 || number % least == 0);
}

static bool set_text(char *field, size_t room, const char *text, const char *usual) {
    const bool fits = strlen(text) < room;
    if (fits && strcmp(text, usual) != 0) {
        strcpy(field, text);
    }
    return fits;
}

bool bench_dimension_set(bench_point *point, const bench_dimension *dimension, const char *text) {
    void *field = (char *)point + dimension->field;
    char settings[BENCH_SETTINGS_BYTES];
    switch (dimension->kind) {
    case BENCH_OF_TYPES:
        return set_type(field, text);
    case BENCH_OF_DISTRIBUTIONS:
        point->distribution = bench_distribution_find(text);
        return point->distribution != NULL;
    case BENCH_OF_COUNTS:
        return read_count(text, point->n, field);
    case BENCH_OF_NUMBERS:
        return set_number(field, text, dimension->least, dimension->most);
    case BENCH_OF_NAMES:
        return bench_choose(text, dimension->names, field);
    case BENCH_OF_TEXTS:
        return set_text(field, (size_t)dimension->most, text, dimension->usual) &&
               bench_settings_read(point->tuning, point->n, settings);
    }
    return false;
}

#define FIELD(name) offsetof(bench_point, name)

const bench_dimension bench_dimensions[BENCH_DIMENSIONS] = {
    {"type", "f32", BENCH_OF_TYPES, FIELD(type), NULL, 0, 0,
     "f8_e4m3, f8_e5m2, f16, bf16, f32, f64, i8 to i64, u8 to u64"},
    {"dist", "uniform", BENCH_OF_DISTRIBUTIONS, 0, NULL, 0, 0, "distributions of the data, see below"},
    {"rows", "1", BENCH_OF_COUNTS, FIELD(rows), NULL, 0, 0, "rows, e.g. 65536 or 2^16"},
    {"n", "2^26", BENCH_OF_COUNTS, FIELD(n), NULL, 0, 0, "elements of a row"},
    {"k", "1000", BENCH_OF_COUNTS, FIELD(k), NULL, 0, 0, "e.g. 10, 10^5, n/100, n"},
    {"keep", "10", BENCH_OF_NUMBERS, FIELD(keep_percent), NULL, 0, 100,
     "predicates: percent of the elements that match"},
    {"predicate", "greater", BENCH_OF_NAMES, FIELD(predicate), bench_predicate_names, 0, 0,
     "CUDA: greater, at-most, byte-mask, bit-mask"},
    {"outputs", "indices", BENCH_OF_NAMES, FIELD(wanted), bench_wanted_names, 0, 0,
     "CUDA, where: indices, values, both, count"},
    {"direction", "largest", BENCH_OF_NAMES, FIELD(direction), bench_direction_names, 0, 0,
     "largest, smallest"},
    {"order", "best", BENCH_OF_NAMES, FIELD(order), bench_order_names, 0, 0, "best, any"},
    {"ties", "lowest", BENCH_OF_NAMES, FIELD(ties), bench_ties_names, 0, 0, "lowest, any"},
    {"index", "i32", BENCH_OF_NAMES, FIELD(index_type), bench_index_names, 0, 0, "i32, i64"},
    {"method", "auto", BENCH_OF_TEXTS, FIELD(method), NULL, 0, sizeof((bench_point *)0)->method,
     "methods of the library, or auto"},
    {"tuning", "none", BENCH_OF_TEXTS, FIELD(tuning), NULL, 0, sizeof((bench_point *)0)->tuning,
     "knobs of the method (topk explain lists them), e.g. none,alpha=n/4+early_stop=0"},
    /* 128 threads are what the paper of compact found best. */
    {"block", "128", BENCH_OF_NUMBERS, FIELD(block), NULL, 32, 1024,
     "CUDA: threads of a block of the baselines, 32 to 1024"},
};
