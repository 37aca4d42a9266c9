/* SPDX-License-Identifier: Apache-2.0
 *
 * The limits that CONTRACT.md states for the CUDA backend, each at the limit and one beyond: on a GPU, and
 * with the sizes of production on the emulated one. No kernel runs. A method whose least problem the GPU has
 * no room for is left out. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "device.h"
#include "topk_accumulator.h"

static topk_context *context;

static topk_problem least_problem(void) {
    topk_problem p = TOPK_PROBLEM_INIT;
    p.type = TOPK_F32;
    p.index_type = TOPK_INDEX_I64;
    p.rows = 1;
    p.length_max = 100;
    p.k_max = 3;
    return p;
}

static topk_status size_of(topk_operation operation, const topk_problem *p) {
    size_t bytes;
    return topk_workspace_size(context, operation, p, &bytes);
}

static void check_sentence(const char *part) {
    if (!CHECK(strstr(topk_last_error(), part) != NULL)) {
        fprintf(stderr, "    '%s' in '%s'\n", part, topk_last_error());
    }
}

/* Whether a problem at a limit is served. If not, the GPU is too small for it. */
static bool serves(topk_status status) {
    const bool is_small = status != TOPK_OK && (strstr(topk_last_error(), "shared memory") != NULL ||
                                                strstr(topk_last_error(), "no room for clusters") != NULL);
    if (is_small) {
        printf("left out: %s\n", topk_last_error());
        return false;
    }
    return CHECK_STATUS(TOPK_OK, status);
}

/* ---- Methods (docs/cuda.md) ---- */

enum { ROWS, LENGTH, RESULTS };

static const struct {
    topk_operation operation;
    const char *method, *tuning;
    topk_type type;
    topk_order order;
    int64_t length, k; /* but for the limit */
    int limits;
    int64_t most;
    const char *sentence;
} limits[] = {
    {TOPK_OPERATION_SELECT, "rtopk", NULL, TOPK_F32, TOPK_ORDER_BEST_FIRST, 0, 3, LENGTH, 2048, "are longer"},
    {TOPK_OPERATION_KTH, "rtopk", NULL, TOPK_F64, TOPK_ORDER_BEST_FIRST, 0, 2000, LENGTH, 2048, "are longer"},
    {TOPK_OPERATION_SELECT_WHERE, "rtopk", NULL, TOPK_U8, TOPK_ORDER_ANY, 0, 3, LENGTH, 1024, "are longer"},
    {TOPK_OPERATION_SELECT, "rtopk", NULL, TOPK_F32, TOPK_ORDER_ANY, 2048, 0, RESULTS, 1024, "more results"},
    {TOPK_OPERATION_SELECT, "resident", NULL, TOPK_F32, TOPK_ORDER_ANY, 0, 3, LENGTH, 262144, "are longer"},
    {TOPK_OPERATION_SELECT, "resident", NULL, TOPK_U8, TOPK_ORDER_ANY, 0, 3, LENGTH, 262144, "are longer"},
    {TOPK_OPERATION_KTH, "resident", NULL, TOPK_F16, TOPK_ORDER_ANY, 0, 3, LENGTH, 262144, "are longer"},
    {TOPK_OPERATION_KTH, "resident", NULL, TOPK_I64, TOPK_ORDER_ANY, 0, 3, LENGTH, 131072, "are longer"},
    {TOPK_OPERATION_SELECT_WHERE, "resident", NULL, TOPK_F32, TOPK_ORDER_ANY, 0, 3, LENGTH, 262144, "longer"},
    {TOPK_OPERATION_SELECT_WHERE, "resident", NULL, TOPK_F64, TOPK_ORDER_ANY, 0, 3, LENGTH, 131072, "longer"},
    {TOPK_OPERATION_SELECT, "resident", NULL, TOPK_F32, TOPK_ORDER_BEST_FIRST, 131072, 0, RESULTS, 81920,
     "sorted"},
    {TOPK_OPERATION_SELECT, "gridselect", NULL, TOPK_F32, TOPK_ORDER_ANY, 5000, 0, RESULTS, 2048,
     "more results"},
    {TOPK_OPERATION_SELECT_WHERE, "gridselect", NULL, TOPK_F64, TOPK_ORDER_BEST_FIRST, 5000, 0, RESULTS, 2048,
     "more results"},
    {TOPK_OPERATION_SELECT, "bitonic", NULL, TOPK_F32, TOPK_ORDER_ANY, 5000, 0, RESULTS, 2048,
     "more results"},
    {TOPK_OPERATION_SELECT, "bitonic", NULL, TOPK_U64, TOPK_ORDER_ANY, 5000, 0, RESULTS, 2048,
     "more results"},
    {TOPK_OPERATION_SELECT, "bitonic", NULL, TOPK_F32, TOPK_ORDER_ANY, 0, 3, LENGTH, INT32_MAX,
     "2^31 elements"},
    {TOPK_OPERATION_SELECT, "bracket", NULL, TOPK_F32, TOPK_ORDER_ANY, 0, 3, LENGTH, INT64_C(1) << 31,
     "2^31"},
    {TOPK_OPERATION_KTH, "bracket", NULL, TOPK_U8, TOPK_ORDER_ANY, 0, 3, LENGTH, INT64_C(1) << 31, "2^31"},
    {TOPK_OPERATION_SELECT_WHERE, "bracket", NULL, TOPK_F64, TOPK_ORDER_ANY, 0, 3, LENGTH, INT64_C(1) << 31,
     "2^31"},
    {TOPK_OPERATION_SELECT, "bracket", NULL, TOPK_F32, TOPK_ORDER_BEST_FIRST, 1 << 20, 0, RESULTS, 81920,
     "sorted"},
    {TOPK_OPERATION_SELECT, "radik", "rescheduling=0", TOPK_F32, TOPK_ORDER_ANY, 100, 3, ROWS, 1024,
     "1024 rows"},
};

static topk_status size_with(size_t limit, int64_t value) {
    topk_problem p = least_problem();
    p.type = limits[limit].type;
    p.order = limits[limit].order;
    p.method = limits[limit].method;
    p.tuning = limits[limit].tuning;
    p.rows = limits[limit].limits == ROWS ? value : 1;
    p.length_max = limits[limit].limits == LENGTH ? value : limits[limit].length;
    p.k_max = limits[limit].limits == RESULTS ? value : limits[limit].k;
    return size_of(limits[limit].operation, &p);
}

/* Rows of `resident`, and many sorted results, take clusters: of 16 blocks where the GPU has room for them,
 * of 8 on the emulated GPU, and so on; without any an eighth of the longest row, and 8192 results. */
static int64_t most_of(size_t limit) {
    const bool are_rows = strcmp(limits[limit].method, "resident") == 0 && limits[limit].limits == LENGTH;
    const bool are_results = limits[limit].order == TOPK_ORDER_BEST_FIRST && limits[limit].most == 81920;
    int64_t most = limits[limit].most;
    while ((are_rows || are_results) && most > limits[limit].most / 8 && size_with(limit, most) != TOPK_OK) {
        most /= 2;
    }
    return are_results && size_with(limit, most) != TOPK_OK ? 8192 : most;
}

static void check_methods(void) {
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        if (serves(size_with(i, most_of(i)))) {
            CHECK_STATUS(TOPK_ERROR_METHOD_CANNOT, size_with(i, most_of(i) + 1));
            check_sentence(limits[i].sentence);
        }
    }
}

/* ---- Knobs (docs/cuda.md) ---- */

static const struct {
    topk_operation operation;
    const char *method, *knob;
    int64_t low, high;
} knobs[] = {
    {TOPK_OPERATION_SELECT, "air", "digit_bits", 1, 11},
    {TOPK_OPERATION_SELECT, "air", "alpha", 4, INT64_MAX},
    {TOPK_OPERATION_KTH, "air", "adaptive_buffering", 0, 1},
    {TOPK_OPERATION_SELECT_WHERE, "air", "early_stop", 0, 1},
    {TOPK_OPERATION_SELECT, "air", "fused_filter", 0, 1},
    {TOPK_OPERATION_SELECT, "radik", "digit_bits", 1, 12},
    {TOPK_OPERATION_KTH, "radik", "write_buffer", 0, 1},
    {TOPK_OPERATION_SELECT, "radik", "rescheduling", 0, 1},
    {TOPK_OPERATION_SELECT_WHERE, "radik", "padding", 0, 1},
    {TOPK_OPERATION_SELECT, "radik", "scaling", 0, 1},
    {TOPK_OPERATION_SELECT, "radix", "digit_bits", 1, 11},
    {TOPK_OPERATION_KTH, "bucket", "bucket_bits", 1, 11},
    {TOPK_OPERATION_WHERE, "compact", "one_pass", 0, 1},
    {TOPK_OPERATION_SELECT, "rtopk", "network", 0, 4},
    {TOPK_OPERATION_SELECT, "resident", "threads", 32, 1024},
    {TOPK_OPERATION_KTH, "resident", "cluster", 1, 16},
    {TOPK_OPERATION_SELECT, "resident", "stream", 0, 1},
    {TOPK_OPERATION_SELECT, "gridselect", "queue", 0, 1},
    {TOPK_OPERATION_SELECT_WHERE, "gridselect", "elements", 1, INT64_MAX},
    {TOPK_OPERATION_SELECT, "gridselect", "hashed", 0, 1},
    {TOPK_OPERATION_SELECT, "drtopk", "base", 0, 6},
    {TOPK_OPERATION_SELECT, "drtopk", "beta", 1, 4},
    {TOPK_OPERATION_KTH, "drtopk", "exponent", 4, 15},
    {TOPK_OPERATION_SELECT, "drtopk", "filter", 0, 1},
    {TOPK_OPERATION_SELECT, "drtopk", "coalesced", 0, 1},
    {TOPK_OPERATION_SELECT, "drtopk", "skip", 0, 1},
};

static topk_status size_tuned(size_t knob, int64_t value) {
    topk_problem p = least_problem();
    char tuning[64];
    (void)snprintf(tuning, sizeof tuning, "%s=%lld", knobs[knob].knob, (long long)value);
    p.method = knobs[knob].method;
    p.tuning = tuning;
    return size_of(knobs[knob].operation, &p);
}

static void check_knob_refuses(size_t knob, int64_t value) {
    char sentence[64];
    (void)snprintf(sentence, sizeof sentence, "takes %s %lld", knobs[knob].knob, (long long)knobs[knob].low);
    CHECK_STATUS(TOPK_ERROR_METHOD_CANNOT, size_tuned(knob, value));
    check_sentence(sentence);
}

static void check_knobs(void) {
    for (size_t i = 0; i < sizeof knobs / sizeof knobs[0]; i++) {
        CHECK_STATUS(TOPK_OK, size_tuned(i, knobs[i].low));
        check_knob_refuses(i, knobs[i].low - 1);
        (void)serves(size_tuned(i, knobs[i].high));
        if (knobs[i].high < INT64_MAX) {
            check_knob_refuses(i, knobs[i].high + 1);
        }
    }
}

/* ---- What no method serves (CONTRACT.md, 9) ---- */

static void check_approximations(void) {
    topk_problem p = least_problem();
    p.max_iterations = 4;
    p.length_max = 8192;
    CHECK_STATUS(TOPK_OK, size_of(TOPK_OPERATION_SELECT, &p));
    CHECK_STATUS(TOPK_OK, size_of(TOPK_OPERATION_SELECT_WHERE, &p));
    p.length_max++;
    CHECK(size_of(TOPK_OPERATION_SELECT, &p) != TOPK_OK);
    check_sentence("longer than 8192");
    CHECK(size_of(TOPK_OPERATION_SELECT_WHERE, &p) != TOPK_OK);
    check_sentence("longer than 8192");
}

static void check_routing(void) {
    topk_problem p = least_problem();
    p.method = "route";
    p.length_max = 1024;
    p.k_max = 32;
    CHECK_STATUS(TOPK_OK, size_of(TOPK_OPERATION_ROUTE, &p));
    p.k_max++;
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, size_of(TOPK_OPERATION_ROUTE, &p));
    p.k_max--;
    p.length_max++;
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, size_of(TOPK_OPERATION_ROUTE, &p));
}

static void check_accumulators(void) {
    static const topk_type types[] = {TOPK_U8, TOPK_F16, TOPK_F32, TOPK_F64};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        topk_problem p = least_problem();
        size_t bytes;
        p.type = types[i];
        p.length_max = INT64_C(1) << 32;
        p.k_max = INT64_C(1) << 29;
        CHECK_STATUS(TOPK_OK, topk_accumulator_size(context, &p, &bytes));
        p.k_max++;
        CHECK_STATUS(TOPK_ERROR_UNSUPPORTED, topk_accumulator_size(context, &p, &bytes));
        check_sentence("keeps up to 2^29");
    }
}

int main(void) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    unsetenv("TOPK_METHOD");
    device_open();
    options.backend = TOPK_BACKEND_CUDA;
    CHECK_STATUS(TOPK_OK, topk_context_create(&options, &context));
    check_methods();
    check_knobs();
    check_approximations();
    check_routing();
    check_accumulators();
    topk_context_destroy(context);
    device_close();
    return check_report();
}
