/* SPDX-License-Identifier: Apache-2.0
 *
 * Which methods are chosen on GPUs of other sizes and speeds than the one that they were measured on, and
 * what they are expected to take there. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "emulated_device.h"
#include "topk_advanced.h"

typedef struct gpu {
    const char *name;
    int capability; /* 10 x major + minor */
    int sms, shared_kib;
    double sm_speed, memory_speed; /* beside an H200 */
    bool is_faster;                /* than an H200, in some respect */
    const char *long_row;          /* what is chosen for a row of 2^28 elements */
    const char *long_rows;         /* and for 7 of 3,000,000 */
} gpu;

/* Clocks and buses as their makers state them; the last two are an eighth of an H200, and one that refuses
 * cooperative launches. */
static const gpu gpus[] = {
    {"H200", 90, 132, 227, 1, 1, false, "bracket", "bracket"},
    {"T4", 75, 40, 64, 0.80, 0.065, false, "gridselect", "bracket"},
    {"A100", 80, 108, 163, 0.71, 0.32, false, "bracket", "bracket"},
    {"RTX 4090", 89, 128, 99, 1.27, 0.21, true, "gridselect", "bracket"},
    {"B200", 100, 148, 227, 0.99, 1.63, true, "bracket", "bracket"},
    {"an eighth", 90, 16, 227, 1, 0.13, false, "bracket", "bracket"},
    {"a GPU that refuses", 90, 132, 227, 1, 1, false, "sort", "air"},
};

enum { H200 = 0, REFUSES = sizeof gpus / sizeof gpus[0] - 1, CLUSTER = 8 };

typedef struct shape {
    int64_t rows, length, k;
} shape;

static const shape shapes[] = {
    {1, INT64_C(1) << 28, 100}, {1 << 20, 256, 8},  {1, 1000, 10},         {4096, 4096, 32},
    {100, 65536, 50},           {7, 3000000, 1000}, {1, 1 << 25, 1 << 23}, {65536, 100, 5},
};

enum { LONG_ROW = 0, SHORT_ROWS = 1, LONG_ROWS = 5 };

static topk_context *context_on(const gpu *g) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_context *context = NULL;
    const int sms = g == &gpus[REFUSES] ? 0 : g->sms;
    emulated_devices(&g->capability, 1);
    emulated_size(g->sms, g->shared_kib, g->sm_speed, g->memory_speed);
    emulated_room((uint32_t)sms, g->capability >= 90 ? CLUSTER : 1);
    options.backend = TOPK_BACKEND_CUDA;
    CHECK_STATUS(TOPK_OK, topk_context_create(&options, &context));
    return context;
}

/* The method that is chosen, and what it is expected to take. */
typedef struct choice {
    char method[32];
    double us;
} choice;

static choice chosen_for(const topk_context *context, const shape *s) {
    topk_problem problem = TOPK_PROBLEM_INIT;
    choice c = {"", 0};
    char text[16384];
    problem.type = TOPK_F32;
    problem.rows = s->rows;
    problem.length_max = problem.row_stride = s->length;
    problem.k_max = s->k;
    problem.order = TOPK_ORDER_ANY;
    problem.ties = TOPK_TIES_ANY;
    CHECK_STATUS(TOPK_OK, topk_explain(context, TOPK_OPERATION_SELECT, &problem, text, sizeof text, NULL));
    const char *line = strstr(text, "\n* ");
    CHECK(line != NULL && sscanf(line, "\n* %31s %lf us predicted", c.method, &c.us) == 2);
    return c;
}

static void check_gpu(const gpu *g, const choice *of_h200) {
    const double bytes_per_us = 4.92e6 * g->memory_speed; /* no more than the bus carries */
    topk_context *context = context_on(g);
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const shape *s = &shapes[i];
        const choice c = chosen_for(context, s);
        printf("%s, %lld rows of %lld, k = %lld: %s, %.1f us\n", g->name, (long long)s->rows,
               (long long)s->length, (long long)s->k, c.method, c.us);
        CHECK(c.us >= 4.0 * (double)s->rows * (double)s->length / bytes_per_us);
        CHECK(g->is_faster || c.us >= of_h200[i].us * 0.999);
        CHECK(i != LONG_ROW || strcmp(c.method, g->long_row) == 0);
        CHECK(i != SHORT_ROWS || strcmp(c.method, "rtopk") == 0);
        CHECK(i != LONG_ROWS || strcmp(c.method, g->long_rows) == 0);
        CHECK(i == LONG_ROW || i == LONG_ROWS || strcmp(c.method, "sort") != 0);
    }
    topk_context_destroy(context);
}

/* A million results of a row in order. All methods but sort list them by position first, which takes several
 * times as long as to find them. */
static void check_many_sorted(void) {
    static const topk_type types[] = {TOPK_U8, TOPK_BF16, TOPK_F32, TOPK_I64};
    topk_context *context = context_on(&gpus[H200]);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        topk_problem problem = TOPK_PROBLEM_INIT;
        char text[16384];
        problem.type = types[i];
        problem.length_max = INT64_C(1) << 28;
        problem.k_max = 1000000;
        CHECK_STATUS(TOPK_OK,
                     topk_explain(context, TOPK_OPERATION_SELECT, &problem, text, sizeof text, NULL));
        CHECK(strstr(text, "\n* sort ") != NULL);
    }
    topk_context_destroy(context);
}

/* Many results of a row in any order, with the lowest ties: radik and its like list them by position where
 * the k-th element ties, which takes longer than to put them in order. */
static void check_many_ties(void) {
    static const struct {
        topk_type type;
        int64_t k;
        const char *method;
    } many[] = {{TOPK_U8, 1 << 20, "\n* bracket "},
                {TOPK_U8, 1 << 24, "\n* sort "},
                {TOPK_BF16, 1 << 24, "\n* sort "},
                {TOPK_F32, 1 << 24, "\n* bracket "}};
    topk_context *context = context_on(&gpus[H200]);
    for (size_t i = 0; i < sizeof many / sizeof many[0]; i++) {
        topk_problem problem = TOPK_PROBLEM_INIT;
        char text[16384];
        problem.type = many[i].type;
        problem.length_max = INT64_C(1) << 28;
        problem.k_max = many[i].k;
        problem.order = TOPK_ORDER_ANY;
        CHECK_STATUS(TOPK_OK,
                     topk_explain(context, TOPK_OPERATION_SELECT, &problem, text, sizeof text, NULL));
        CHECK(strstr(text, many[i].method) != NULL);
    }
    topk_context_destroy(context);
}

/* The limits of resident with the sizes of production, as docs/cuda.md has them: at each, and one
 * above. The emulated device has room for clusters of 8 blocks of up to 512 threads, and of 4 of the
 * 1024 threads that put sorted results in order; gpu.limits tests clusters of 16. */
static void check_resident_limits(void) {
    static const struct {
        topk_type type;
        int64_t length, k;
        topk_order order;
        uint32_t cluster; /* blocks that the device has room for */
        bool serves;
    } limits[] = {{TOPK_F32, 131072, 20480, TOPK_ORDER_BEST_FIRST, 8, true},
                  {TOPK_F32, 131072, 20481, TOPK_ORDER_BEST_FIRST, 8, false},
                  {TOPK_F32, 131073, 10, TOPK_ORDER_ANY, 8, false},
                  {TOPK_F32, 131072, 131072, TOPK_ORDER_ANY, 8, true},
                  {TOPK_F64, 65536, 20480, TOPK_ORDER_BEST_FIRST, 8, true},
                  {TOPK_F64, 65536, 20481, TOPK_ORDER_BEST_FIRST, 8, false},
                  {TOPK_U8, 32768, 20480, TOPK_ORDER_BEST_FIRST, 8, true},
                  {TOPK_U8, 32768, 20481, TOPK_ORDER_BEST_FIRST, 8, false},
                  {TOPK_F64, 65537, 10, TOPK_ORDER_ANY, 8, false},
                  {TOPK_F32, 32768, 8192, TOPK_ORDER_BEST_FIRST, 1, true},
                  {TOPK_F32, 32768, 8193, TOPK_ORDER_BEST_FIRST, 1, false},
                  {TOPK_F64, 16384, 8192, TOPK_ORDER_BEST_FIRST, 1, true},
                  {TOPK_F64, 16384, 8193, TOPK_ORDER_BEST_FIRST, 1, false},
                  {TOPK_F32, 32769, 10, TOPK_ORDER_ANY, 1, false},
                  {TOPK_F64, 16384, 16384, TOPK_ORDER_ANY, 1, true},
                  {TOPK_F64, 16385, 10, TOPK_ORDER_ANY, 1, false}};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
        topk_problem problem = TOPK_PROBLEM_INIT;
        topk_context *context = NULL;
        size_t bytes;
        emulated_devices(&gpus[H200].capability, 1);
        emulated_size(gpus[H200].sms, gpus[H200].shared_kib, 1, 1);
        emulated_room((uint32_t)gpus[H200].sms, limits[i].cluster);
        options.backend = TOPK_BACKEND_CUDA;
        CHECK_STATUS(TOPK_OK, topk_context_create(&options, &context));
        problem.type = limits[i].type;
        problem.length_max = limits[i].length;
        problem.k_max = limits[i].k;
        problem.order = limits[i].order;
        problem.method = "resident";
        CHECK_STATUS(limits[i].serves ? TOPK_OK : TOPK_ERROR_METHOD_CANNOT,
                     topk_workspace_size(context, TOPK_OPERATION_SELECT, &problem, &bytes));
        CHECK_STATUS(limits[i].serves ? TOPK_OK : TOPK_ERROR_METHOD_CANNOT,
                     topk_workspace_size(context, TOPK_OPERATION_SELECT_WHERE, &problem, &bytes));
        topk_context_destroy(context);
    }
}

int main(void) {
    choice of_h200[sizeof shapes / sizeof shapes[0]];
    unsetenv("TOPK_METHOD");
    topk_context *context = context_on(&gpus[H200]);
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        of_h200[i] = chosen_for(context, &shapes[i]);
    }
    topk_context_destroy(context);
    for (size_t i = 0; i < sizeof gpus / sizeof gpus[0]; i++) {
        check_gpu(&gpus[i], of_h200);
    }
    check_many_sorted();
    check_many_ties();
    check_resident_limits();
    return check_report();
}
