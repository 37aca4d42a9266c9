/* SPDX-License-Identifier: Apache-2.0 */
#include "points/dimensions.h"

#include "data/data.h"

#include <errno.h>
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

static bool set_distribution(bench_point *point, const char *text) {
    point->distribution = bench_distribution_find(text);
    return point->distribution != NULL;
}

static bool set_rows(bench_point *point, const char *text) {
    return bench_count_read(text, 0, &point->rows);
}

static bool set_n(bench_point *point, const char *text) {
    return bench_count_read(text, 0, &point->n);
}

static bool set_k(bench_point *point, const char *text) {
    int64_t k;
    const bool ok = bench_count_read(text, point->n, &k);
    point->k = ok && bench_has_k(point) ? k : 0;
    return ok;
}

static bool set_keep(bench_point *point, const char *text) {
    int64_t percent;
    const bool ok = parse_digits(&text, &percent) && *text == '\0' && percent <= 100;
    point->keep_percent = ok && bench_has_predicate(point) ? (int)percent : 0;
    return ok;
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

static bool set_predicate(bench_point *point, const char *text) {
    unsigned number;
    const bool ok = bench_choose(text, bench_predicate_names, &number);
    point->predicate = ok && bench_has_predicate(point) ? (bench_predicate)number : BENCH_GREATER;
    return ok;
}

static bool set_wanted(bench_point *point, const char *text) {
    unsigned number;
    const bool ok = bench_choose(text, bench_wanted_names, &number);
    point->wanted = ok && point->operation == TOPK_OPERATION_WHERE ? (bench_wanted)number : BENCH_INDICES;
    return ok;
}

static bool set_direction(bench_point *point, const char *text) {
    return bench_choose(text, bench_direction_names, (unsigned *)&point->direction);
}

static bool set_order(bench_point *point, const char *text) {
    return bench_choose(text, bench_order_names, (unsigned *)&point->order);
}

static bool set_ties(bench_point *point, const char *text) {
    return bench_choose(text, bench_ties_names, (unsigned *)&point->ties);
}

static bool set_index(bench_point *point, const char *text) {
    return bench_choose(text, bench_index_names, (unsigned *)&point->index_type);
}

/* Copies the text unless it is the word for nothing. */
static bool copy(char *field, size_t room, const char *text, const char *nothing) {
    const bool fits = strlen(text) < room;
    if (fits && strcmp(text, nothing) != 0) {
        strcpy(field, text);
    }
    return fits;
}

static bool set_method(bench_point *point, const char *text) {
    return copy(point->method, sizeof point->method, text, "auto");
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
    return copy(point->tuning, sizeof point->tuning, text, "none") &&
           bench_settings_read(point->tuning, point->n, settings);
}

static bool set_block(bench_point *point, const char *text) {
    int64_t threads;
    const bool ok = parse_digits(&text, &threads) && *text == '\0' && threads >= 32 && threads <= 1024;
    point->block = ok ? (int)threads : 0;
    return ok && threads % 32 == 0;
}

const bench_dimension bench_dimensions[BENCH_DIMENSIONS] = {
    {"type", "f32", set_type, false, "f8_e4m3, f8_e5m2, f16, bf16, f32, f64, i8 to i64, u8 to u64"},
    {"dist", "uniform", set_distribution, false, "distributions of the data, see below"},
    {"rows", "1", set_rows, false, "rows, e.g. 65536 or 2^16"},
    {"n", "2^26", set_n, false, "elements of a row"},
    {"k", "1000", set_k, false, "e.g. 10, 10^5, n/100, n"},
    {"keep", "10", set_keep, false, "predicates: percent of the elements that match"},
    {"predicate", "greater", set_predicate, true, "CUDA: greater, at-most, byte-mask, bit-mask"},
    {"outputs", "indices", set_wanted, true, "CUDA, where: indices, values, both, count"},
    {"direction", "largest", set_direction, false, "largest, smallest"},
    {"order", "best", set_order, false, "best, any"},
    {"ties", "lowest", set_ties, false, "lowest, any"},
    {"index", "i32", set_index, false, "i32, i64"},
    {"method", "auto", set_method, false, "methods of the library, or auto"},
    {"tuning", "none", set_tuning, false,
     "knobs of the method (topk explain lists them), e.g. none,alpha=n/4+early_stop=0"},
    /* 128 threads are what the paper of compact found best. */
    {"block", "128", set_block, true, "CUDA: threads of a block of the baselines, 32 to 1024"},
};
