/* SPDX-License-Identifier: Apache-2.0
 *
 * The caller's floating-point mode changes no result, and no exception is raised but "inexact"
 * (CONTRACT.md, 1.5). */
#define _GNU_SOURCE
#include <fenv.h>

#include "check.h"
#include "run.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
enum { FLUSH_AND_ZERO = 0x8040 }; /* FTZ and DAZ of MXCSR */

static void flush_denormals(bool on) {
    _mm_setcsr(on ? _mm_getcsr() | FLUSH_AND_ZERO : _mm_getcsr() & ~(unsigned)FLUSH_AND_ZERO);
}

static unsigned flushing(void) {
    return _mm_getcsr() & FLUSH_AND_ZERO;
}
#elif defined(__aarch64__)
enum { FLUSH = 1 << 24 | 1 << 19 }; /* FZ and FZ16 of FPCR */

static unsigned flushing(void) {
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return (unsigned)control & FLUSH;
}

static void flush_denormals(bool on) {
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    control = on ? control | FLUSH : control & ~(uint64_t)FLUSH;
    __asm__ volatile("msr fpcr, %0" : : "r"(control));
}
#else
static void flush_denormals(bool on) {
    (void)on;
}

static unsigned flushing(void) {
    return 0;
}
#endif

enum { EXCEPTIONS = FE_ALL_EXCEPT & ~FE_INEXACT };

static const run_operation *const operations[] = {&run_select,       &run_kth,   &run_where,
                                                  &run_select_where, &run_count, &run_mask};
enum { OPERATIONS = sizeof operations / sizeof operations[0] };
static const run_method by_choice = {"default", NULL, NULL}, by_reference = {"reference", "reference", NULL};

/* An approximate selection or a routing in the present mode; it is judged in the ordinary one, which the
 * model needs. */
typedef struct approximate_run {
    run run;
    run_result begun;
    bool mode_kept;
} approximate_run;

static approximate_run begin_approximate(topk_context *context, const run_operation *operation,
                                         const instance *i) {
    approximate_run a = {.mode_kept = true};
    const int rounding = fegetround(), trapped = fegetexcept();
    const unsigned flush = flushing();
    const int flag = trapped == 0 ? FE_OVERFLOW : 0; /* of the caller's */
    feraiseexcept(flag);
    a.begun = run_begin(context, operation, i, &by_choice, &a.run);
    a.mode_kept = fegetround() == rounding && fegetexcept() == trapped && flushing() == flush &&
                  fetestexcept(FE_OVERFLOW) == flag;
    feclearexcept(FE_OVERFLOW);
    return a;
}

static bool passes(approximate_run *a) {
    return CHECK(a->mode_kept) &
           CHECK(a->begun == RUN_PASSED && device_fetch() && run_end(&a->run) == RUN_PASSED);
}

/* All operations on an instance in a hostile mode; between the calls there is integer code only. */
static void run_in_mode(topk_context *context, const instance *i, bool flush, int trapped, int rounding) {
    fenv_t ordinary;
    fegetenv(&ordinary);
    feclearexcept(FE_ALL_EXCEPT);
    fesetround(rounding);
    feenableexcept(trapped);
    flush_denormals(flush);
    run_result results[OPERATIONS], reference = run_alone(context, &run_select, i, &by_reference);
    for (int o = 0; o < OPERATIONS; o++) {
        results[o] = run_alone(context, operations[o], i, &by_choice);
    }
    approximate_run approximate = begin_approximate(context, &run_approximate, i);
    approximate_run route = begin_approximate(context, &run_route, i);
    approximate_run approximate_where = begin_approximate(context, &run_approximate_where, i);
    int raised = fetestexcept(EXCEPTIONS);
    fesetenv(&ordinary);
    bool right = CHECK(reference == RUN_PASSED);
    right &= CHECK(raised == 0);
    right &= passes(&route);
    if (i->problem.length_max <= 8192) { /* else there is no approximation */
        right &= passes(&approximate);
        right &= passes(&approximate_where);
    }
    for (int o = 0; o < OPERATIONS; o++) {
        right &= CHECK(results[o] == RUN_PASSED);
    }
    if (!right) {
        char text[CASE_TEXT_BYTES];
        fprintf(stderr, "    in: %s, exceptions %#x\n", case_format(i->source, text), (unsigned)raised);
    }
}

int main(void) {
    static const char *const data[] = {"denormals", "zeros", "some-nan", "infinities", "bits", "extremes"};
    static const char *const shapes[] = {"size=300,rows=7,k=33", "size=20000,rows=1,k=100",
                                         "size=20000,rows=1,k=n/2", "size=70000,rows=1,k=10"};
    static const char *const approximations[] = {"3", "16", "e1e-30", "r1e-4"};
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_context *context;
    dimensions_init(0, INT64_MAX);
    options.backend = TOPK_BACKEND_CPU;
    options.threads = 1; /* modes are per thread */
    CHECK_STATUS(TOPK_OK, topk_context_create(&options, &context));
    for (int c = 0; c < 6 * 6 * 4; c++) {
        char text[CASE_TEXT_BYTES];
        test_case source = {{0}, (uint64_t)c};
        instance i;
        snprintf(text, sizeof text, "data=%s,%s,predicate=%s,approximation=%s", data[c / 24], shapes[c % 4],
                 c % 3 == 0   ? "ge"
                 : c % 3 == 1 ? "between"
                              : "eq",
                 approximations[c / 4 % 4]);
        CHECK(case_parse(text, &source, NULL));
        source.value[DIM_TYPE] = c / 4 % 6; /* the floating-point types */
        source.value[DIM_RANK] = c / 4 % 2;
        instance_build(&source, &i);
        run_in_mode(context, &i, true, 0, FE_TONEAREST);
        run_in_mode(context, &i, false, EXCEPTIONS, FE_TONEAREST);
        run_in_mode(context, &i, true, EXCEPTIONS, FE_UPWARD);
        instance_free(&i);
    }
    topk_context_destroy(context);
    return check_report();
}
