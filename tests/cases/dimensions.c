/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "dimensions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generators.h"
#include "random.h"
#include "row_sizes.h"

static const char *const type_names[] = {"f16", "bf16", "f32", "f64", "f8_e4m3", "f8_e5m2", "i8",
                                         "i16", "i32",  "i64", "u8",  "u16",     "u32",     "u64"};
static const char *const k_names[] = {"10",  "0",   "1",      "2",    "31",   "32",    "33",
                                      "64",  "100", "128",    "1000", "2048", "n/100", "n/3",
                                      "n/2", "n-1", "random", "n",    "n+1",  "2n+3"};
static const char *const direction_names[] = {"largest", "smallest"};
static const char *const rank_names[] = {"value", "magnitude"};
static const char *const ties_names[] = {"lowest", "any"};
static const char *const order_names[] = {"best", "any", "position"};
static const char *const nan_names[] = {"largest", "last"};
static const char *const width_names[] = {"i32", "i64"};
static const char *const shape_names[] = {"dense", "gaps", "overlapping", "spans", "csr"};
static const char *const lengths_names[] = {"full", "ragged", "hostile", "loose"};
static const char *const row_k_names[] = {"none", "hostile"};
static const char *const payload_names[] = {"no", "yes"};
static const char *const base_names[] = {"0", "1", "greatest"};
static const char *const placement_names[] = {"page", "page+1", "page+7", "end"};
static const char *const workspace_names[] = {"zeros", "ones+1", "a5+3", "garbage"};
static const char *const limit_names[] = {"none", "half"};
static const char *const outputs_names[] = {"both", "values", "indices"};
static const char *const predicate_names[] = {"gt", "ge",      "lt",    "le",   "eq",
                                              "ne", "between", "bytes", "bits", "at-least"};
static const char *const capacity_names[] = {"all", "exact", "one-less", "one", "zero"};
/* max_iterations, epsilon, epsilon_relative: the least ones of both leave nothing but exact results. */
static const char *const approximation_names[] = {
    "4", "1", "2", "3", "8", "16", "64", "e64", "e0.01", "e1e-30", "r0.5", "r0.1", "r1e-4", "r1e-30"};

/* How many, and whether all rows share them. */
static const char *const ranks_names[] = {"2", "1", "3", "8", "40", "1s", "2s", "7s", "19s", "3+2"};

static const int64_t rows[] = {1, 2, 3, 7, 33, 300};

#define NAMED(name, names)                                                                                   \
    { name, (int)(sizeof names / sizeof names[0]), names, NULL }

enum { MOST_GENERATORS = 64 };
static const char *data_names[MOST_GENERATORS];

dimension_levels dimensions[DIMENSIONS] = {
    [DIM_TYPE] = NAMED("type", type_names),
    [DIM_DATA] = {"data", 0, data_names, NULL},
    [DIM_SIZE] = {"size", 0, NULL, NULL},
    [DIM_K] = NAMED("k", k_names),
    [DIM_ROWS] = {"rows", sizeof rows / sizeof rows[0], NULL, rows},
    [DIM_DIRECTION] = NAMED("direction", direction_names),
    [DIM_RANK] = NAMED("rank", rank_names),
    [DIM_TIES] = NAMED("ties", ties_names),
    [DIM_ORDER] = NAMED("order", order_names),
    [DIM_NAN] = NAMED("nan", nan_names),
    [DIM_INDEX] = NAMED("index", width_names),
    [DIM_EXTENT] = NAMED("extent", width_names),
    [DIM_SHAPE] = NAMED("shape", shape_names),
    [DIM_LENGTHS] = NAMED("lengths", lengths_names),
    [DIM_ROW_K] = NAMED("row-k", row_k_names),
    [DIM_PAYLOAD] = NAMED("payload", payload_names),
    [DIM_BASE] = NAMED("base", base_names),
    [DIM_PLACEMENT] = NAMED("placement", placement_names),
    [DIM_WORKSPACE] = NAMED("workspace", workspace_names),
    [DIM_LIMIT] = NAMED("limit", limit_names),
    [DIM_OUTPUTS] = NAMED("outputs", outputs_names),
    [DIM_PREDICATE] = NAMED("predicate", predicate_names),
    [DIM_CAPACITY] = NAMED("capacity", capacity_names),
    [DIM_APPROXIMATION] = NAMED("approximation", approximation_names),
    [DIM_RANKS] = NAMED("ranks", ranks_names),
};

void dimensions_init(int64_t smallest, int64_t largest) {
    dimensions[DIM_DATA].count = generator_count;
    for (int i = 0; i < generator_count && i < MOST_GENERATORS; i++) {
        data_names[i] = generators[i].name;
    }
    dimensions[DIM_SIZE].count = sizes_between(smallest, largest, &dimensions[DIM_SIZE].numbers);
}

test_case case_at(const int levels[COVERED_DIMENSIONS], uint64_t seed) {
    test_case c = {{0}, seed};
    random_state apart = {~seed};
    for (int d = 0; d < COVERED_DIMENSIONS; d++) {
        c.value[d] = dimensions[d].numbers != NULL ? dimensions[d].numbers[levels[d]] : levels[d];
    }
    for (int d = COVERED_DIMENSIONS; d < DIMENSIONS; d++) {
        c.value[d] = random_below(&apart, dimensions[d].count);
    }
    return c;
}

static bool parse_level(int d, const char *text, int64_t *value) {
    const dimension_levels *levels = &dimensions[d];
    if (levels->numbers != NULL) {
        char *end;
        *value = strtoll(text, &end, 10);
        return end != text && *end == '\0' && *value >= 0;
    }
    for (int i = 0; i < levels->count; i++) {
        if (strcmp(text, levels->names[i]) == 0) {
            *value = i;
            return true;
        }
    }
    return false;
}

static bool parse_pair(const char *key, const char *level, test_case *out, uint32_t *named) {
    if (strcmp(key, "seed") == 0) {
        char *end;
        out->seed = strtoull(level, &end, 10);
        return end != level && *end == '\0';
    }
    for (int d = 0; d < DIMENSIONS; d++) {
        if (strcmp(key, dimensions[d].name) == 0) {
            *named |= UINT32_C(1) << d;
            return parse_level(d, level, &out->value[d]);
        }
    }
    return false;
}

bool case_parse(const char *text, test_case *out, uint32_t *named) {
    char copy[CASE_TEXT_BYTES], *next = copy;
    uint32_t bits = 0;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *pair = strsep(&next, ","); pair != NULL && *pair != '\0'; pair = strsep(&next, ",")) {
        char *level = strchr(pair, '=');
        if (level != NULL) {
            *level++ = '\0';
        }
        if (level == NULL || !parse_pair(pair, level, out, &bits)) {
            fprintf(stderr, "no such case: '%s=%s'\n", pair, level == NULL ? "" : level);
            return false;
        }
    }
    if (named != NULL) {
        *named = bits;
    }
    return true;
}

const char *case_format(const test_case *c, char text[CASE_TEXT_BYTES]) {
    size_t used = 0;
    for (int d = 0; d < DIMENSIONS; d++) {
        const dimension_levels *levels = &dimensions[d];
        if (levels->numbers != NULL) {
            used += (size_t)snprintf(text + used, CASE_TEXT_BYTES - used, "%s=%" PRId64 ",", levels->name,
                                     c->value[d]);
        } else if (c->value[d] != 0 || d <= DIM_K) {
            used += (size_t)snprintf(text + used, CASE_TEXT_BYTES - used, "%s=%s,", levels->name,
                                     levels->names[c->value[d]]);
        }
    }
    snprintf(text + used, CASE_TEXT_BYTES - used, "seed=%" PRIu64, c->seed);
    return text;
}

int64_t case_k(const test_case *c, int64_t n) {
    const char *name = k_names[c->value[DIM_K]];
    if (strcmp(name, "n/100") == 0) {
        return n / 100;
    }
    if (strcmp(name, "n/3") == 0) {
        return n / 3;
    }
    if (strcmp(name, "random") == 0) {
        random_state random = {c->seed};
        return random_below(&random, n + 1);
    }
    if (strcmp(name, "n/2") == 0) {
        return n / 2;
    }
    if (strcmp(name, "n-1") == 0) {
        return n > 0 ? n - 1 : 0;
    }
    if (strcmp(name, "n") == 0) {
        return n;
    }
    if (strcmp(name, "n+1") == 0) {
        return n + 1;
    }
    if (strcmp(name, "2n+3") == 0) {
        return 2 * n + 3;
    }
    return strtoll(name, NULL, 10);
}

case_approximation case_approximate(const test_case *c) {
    const char *name = approximation_names[c->value[DIM_APPROXIMATION]];
    switch (name[0]) {
    case 'e':
        return (case_approximation){0, strtod(name + 1, NULL), 0};
    case 'r':
        return (case_approximation){0, 0, strtod(name + 1, NULL)};
    default:
        return (case_approximation){strtoll(name, NULL, 10), 0, 0};
    }
}

case_ranks case_ranks_of(const test_case *c) {
    char *end;
    const int64_t ranks = strtoll(ranks_names[c->value[DIM_RANKS]], &end, 10);
    return (case_ranks){ranks, *end == 's' ? -1 : strtoll(end, NULL, 10)};
}
