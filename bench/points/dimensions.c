/* SPDX-License-Identifier: Apache-2.0 */
#include "points/suites.h"

#include "data/data.h"

#include <errno.h>
#include <math.h>
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
    int64_t base, exponent = 1;
    if (!parse_digits(text, &base)) {
        return false;
    }
    if (**text == '^') {
        ++*text;
        if (!parse_digits(text, &exponent) || exponent > 62) {
            return false;
        }
    }
    *count = 1;
    for (int64_t i = 0; i < exponent; ++i) {
        if (__builtin_mul_overflow(*count, base, count)) {
            return false;
        }
    }
    return true;
}

/* "1000", "2^26", "n" or "n/100", where n is the length of a row; or "2^24/n", which is -2^24. */
static bool read_count(const char *text, int64_t n, int64_t *count) {
    const bool part = *text == 'n';
    int64_t number = 1;
    text += part;
    if (!part || *text == '/') {
        text += part;
        if (!parse_power(&text, &number) || (part && number == 0)) {
            return false;
        }
    }
    const bool shared = !part && strcmp(text, "/n") == 0;
    *count = part ? n / number : shared ? -number : number;
    return *text == '\0' || shared;
}

bool bench_choose(const char *text, const char *const *names, unsigned *number) {
    for (*number = 0; names[*number] != NULL; ++*number) {
        if (strcmp(text, names[*number]) == 0) {
            return true;
        }
    }
    return false;
}

const char *const bench_operation_names[] = {"",      "select", "kth",   "where", "select_where",
                                             "count", "mask",   "route", NULL};
const char *const bench_predicate_names[] = {"greater", "at-most", "byte-mask", "bit-mask", NULL};
const char *const bench_wanted_names[] = {"indices", "values", "both", "count", NULL};
const char *const bench_lengths_names[] = {"even", "odd", "powers", "uneven", NULL};
const char *const bench_routing_names[] = {
    "indices", "weights", "bias", "weights+bias", "groups", "weights+groups", "bias+groups", "all", NULL};
const char *const bench_direction_names[] = {"largest", "smallest", NULL};
const char *const bench_order_names[] = {"best", "any", "position", NULL};
const char *const bench_ties_names[] = {"lowest", "any", NULL};
const char *const bench_index_names[] = {"i32", "i64", NULL};

bool bench_settings_read(const char *text, int64_t n, char settings[BENCH_SETTINGS_BYTES]) {
    int length = 0;
    settings[0] = '\0';
    while (*text != '\0') {
        char name[32], value[32];
        int taken = 0;
        int64_t number;
        if (sscanf(text, "%31[^=+]=%31[^+]%n", name, value, &taken) != 2 || !read_count(value, n, &number) ||
            number < 0) {
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

static void *field_of(const bench_dimension *self, bench_point *point) {
    return (char *)point + self->field;
}

static bool set_type(const bench_dimension *self, bench_point *point, const char *text) {
    (void)self;
    point->type = TOPK_F16;
    while (point->type <= TOPK_U64 && strcmp(topk_type_name(point->type), text) != 0) {
        ++point->type;
    }
    return point->type <= TOPK_U64;
}

static bool set_distribution(const bench_dimension *self, bench_point *point, const char *text) {
    (void)self;
    point->distribution = bench_distribution_find(text);
    return point->distribution != NULL;
}

static bool set_count(const bench_dimension *self, bench_point *point, const char *text) {
    int64_t *count = field_of(self, point);
    return read_count(text, point->n, count) && (*count >= 0 || self->field == offsetof(bench_point, rows));
}

static bool set_real(const bench_dimension *self, bench_point *point, const char *text) {
    char *end;
    double *number = field_of(self, point);
    *number = strtod(text, &end);
    return end != text && *end == '\0' && *number >= 0 && *number < HUGE_VAL;
}

/* A whole number, no less than the least and a multiple of it. */
static bool set_number(const bench_dimension *self, bench_point *point, const char *text) {
    int64_t number = 0;
    const bool ok = parse_digits(&text, &number) && *text == '\0' && number <= self->most;
    *(int *)field_of(self, point) = (int)number;
    return ok && number >= self->least && (self->least == 0 || number % self->least == 0);
}

static bool set_name(const bench_dimension *self, bench_point *point, const char *text) {
    return bench_choose(text, self->names, field_of(self, point));
}

static bool set_text(const bench_dimension *self, bench_point *point, const char *text) {
    char settings[BENCH_SETTINGS_BYTES];
    const bool fits = strlen(text) < (size_t)self->most;
    if (fits && strcmp(text, self->usual) != 0) {
        strcpy(field_of(self, point), text);
    }
    return fits && bench_settings_read(point->tuning, point->n, settings);
}

#define FIELD(name) offsetof(bench_point, name)

const bench_dimension bench_dimensions[BENCH_DIMENSIONS] = {
    {"type", "f32", set_type, FIELD(type), NULL, 0, 0,
     "f8_e4m3, f8_e5m2, f16, bf16, f32, f64, i8 to i64, u8 to u64"},
    {"dist", "uniform", set_distribution, 0, NULL, 0, 0, "distributions of the data, see below"},
    {"rows", "1", set_count, FIELD(rows), NULL, 0, 0, "rows, e.g. 65536, 2^16, 2^24/n"},
    {"n", "2^26", set_count, FIELD(n), NULL, 0, 0, "elements of a row"},
    {"lengths", "even", set_name, FIELD(lengths), bench_lengths_names, 0, 0,
     "select, kth: even, odd, powers, uneven; n is the usual, the greatest or the mean length"},
    {"k", "1000", set_count, FIELD(k), NULL, 0, 0, "e.g. 10, 10^5, n/100, n"},
    {"keep", "10", set_number, FIELD(keep_percent), NULL, 0, 100, "predicates: percent that match"},
    {"predicate", "greater", set_name, FIELD(predicate), bench_predicate_names, 0, 0,
     "CUDA: greater, at-most, byte-mask, bit-mask"},
    {"outputs", "indices", set_name, FIELD(wanted), bench_wanted_names, 0, 0,
     "CUDA, where: indices, values, both, count"},
    {"routing", "indices", set_name, FIELD(routing), bench_routing_names, 0, 0,
     "route: indices, weights, bias, weights+bias, groups, ..., all"},
    {"direction", "largest", set_name, FIELD(direction), bench_direction_names, 0, 0, "largest, smallest"},
    {"order", "best", set_name, FIELD(order), bench_order_names, 0, 0, "best, any, position"},
    {"ties", "lowest", set_name, FIELD(ties), bench_ties_names, 0, 0, "lowest, any"},
    {"index", "i32", set_name, FIELD(index_type), bench_index_names, 0, 0, "i32, i64"},
    {"chunk", "0", set_count, FIELD(chunk), NULL, 0, 0,
     "select: elements of a row that an accumulator gets at a time; 0: one call"},
    {"max-iterations", "0", set_number, FIELD(max_iterations), NULL, 0, 1000000, "of rtopk; 0: exact"},
    {"epsilon", "0", set_real, FIELD(epsilon), NULL, 0, 0, "of rtopk, e.g. 1e-4; 0: exact"},
    {"epsilon-relative", "0", set_real, FIELD(epsilon_relative), NULL, 0, 0, "likewise"},
    {"method", "auto", set_text, FIELD(method), NULL, 0, sizeof((bench_point *)0)->method,
     "methods of the library, or auto"},
    {"tuning", "none", set_text, FIELD(tuning), NULL, 0, sizeof((bench_point *)0)->tuning,
     "knobs of the method (topk explain lists them), e.g. none,alpha=n/4+early_stop=0"},
    /* 128 threads are what the paper of compact found best. */
    {"block", "128", set_number, FIELD(block), NULL, 32, 1024,
     "CUDA: threads of a block of the baselines, 32 to 1024"},
};
