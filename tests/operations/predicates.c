/* SPDX-License-Identifier: Apache-2.0
 *
 * Predicates with every comparison against bounds that the element type can and cannot hold, in every
 * operation that takes one. The shared list of cases takes its bounds from the data; here they come from all
 * over the number line. The arguments are the backend, cpu (the default) or cuda, and N: of the predicates
 * one in N is tried, all by default. */
#include <math.h>
#include <stdlib.h>

#include "backends.h"
#include "check.h"
#include "random.h"

static const double f64_bounds[] = {0.0,
                                    -0.0,
                                    0.1,
                                    -0.1,
                                    0.5,
                                    1.0,
                                    -1.0,
                                    2.5,
                                    -2.5,
                                    127.5,
                                    -128.5,
                                    255.5,
                                    300,
                                    448,
                                    449,
                                    464,
                                    65504,
                                    65505,
                                    -65520,
                                    16777217,
                                    4294967295.5,
                                    2147483648.0,
                                    -2147483649.0,
                                    9007199254740993.0,
                                    0x1p63,
                                    -0x1p63,
                                    0x1p64,
                                    0x1.fffffffffffffp63,
                                    3.4028234663852886e38,
                                    3.4028234663852887e38,
                                    1e300,
                                    -1e300,
                                    0x1p-9,
                                    0x1p-10,
                                    0x1p-24,
                                    0x1p-25,
                                    0x1p-133,
                                    0x1p-149,
                                    0x1p-150,
                                    0x1p-1074,
                                    (double)INFINITY,
                                    -(double)INFINITY,
                                    (double)NAN,
                                    -(double)NAN};
static const int64_t i64_bounds[] = {0,
                                     1,
                                     -1,
                                     127,
                                     128,
                                     -128,
                                     -129,
                                     255,
                                     256,
                                     32767,
                                     32768,
                                     -32769,
                                     65535,
                                     65536,
                                     16777217,
                                     INT32_MAX,
                                     INT32_MIN,
                                     INT64_C(4294967296),
                                     INT64_MAX,
                                     INT64_MIN,
                                     -16777217,
                                     INT64_C(9007199254740993),
                                     INT64_MAX - 1};
static const uint64_t u64_bounds[] = {0,
                                      1,
                                      255,
                                      256,
                                      65535,
                                      UINT32_MAX,
                                      UINT64_C(1) << 63,
                                      UINT64_MAX,
                                      UINT64_MAX - 1,
                                      (UINT64_C(1) << 63) + 1,
                                      UINT64_C(18446744073709549568)};

enum {
    F64_BOUNDS = sizeof f64_bounds / sizeof f64_bounds[0],
    I64_BOUNDS = sizeof i64_bounds / sizeof i64_bounds[0],
    U64_BOUNDS = sizeof u64_bounds / sizeof u64_bounds[0],
    BOUNDS = F64_BOUNDS + I64_BOUNDS + U64_BOUNDS
};

/* The last one has to look at the elements even with a mask. */
static const run_operation *const operations[] = {&run_where, &run_count, &run_mask, &run_select_where};
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

static const backend *tested;
static topk_context *context;
static int64_t one_in = 1;

static topk_bound bound_at(int b) {
    topk_bound bound = {TOPK_BOUND_F64, {0.0}};
    if (b < F64_BOUNDS) {
        bound.value.f64 = f64_bounds[b];
    } else if (b < F64_BOUNDS + I64_BOUNDS) {
        bound.type = TOPK_BOUND_I64;
        bound.value.i64 = i64_bounds[b - F64_BOUNDS];
    } else {
        bound.type = TOPK_BOUND_U64;
        bound.value.u64 = u64_bounds[b - F64_BOUNDS - I64_BOUNDS];
    }
    return bound;
}

/* False if the method cannot serve. */
static bool check_method(const instance *i, const run_operation *operation, const run_method *method) {
    const run_result result = run_alone(context, operation, i, method);
    if (result == RUN_CANNOT) {
        return false;
    }
    if (!CHECK(result == RUN_PASSED) && check_failures < CHECK_SHOWN_MAX) {
        char text[CASE_TEXT_BYTES];
        const topk_predicate *p = &i->predicate;
        fprintf(stderr,
                "    %s by %s: kind %d, low type %d %.17g (%#llx), high type %d %.17g (%#llx), in: %s\n",
                operation->name, method->label, (int)p->kind, (int)p->low.type, p->low.value.f64,
                (unsigned long long)p->low.value.u64, (int)p->high.type, p->high.value.f64,
                (unsigned long long)p->high.value.u64, case_format(i->source, text));
    }
    return true;
}

/* The first `count` operations, by all methods. */
static void check_all(const instance *i, int count) {
    for (int o = 0; o < count; o++) {
        for (const run_method *method = tested->methods; method->label != NULL; method++) {
            (void)check_method(i, operations[o], method);
        }
    }
}

/* By a method that serves, as the library's own choice always does. */
static void check_some_method(const instance *i, const run_operation *operation, random_state *random) {
    int count = 0;
    while (tested->methods[count].label != NULL) {
        count++;
    }
    while (!check_method(i, operation, &tested->methods[random_below(random, count)])) {
    }
}

/* With another predicate instead of the last one. */
static void change_predicate(instance *i) {
    device_reset();
    instance_match(i);
}

static void end_instance(instance *i) {
    instance_free(i);
    device_reset();
}

/* topk_where(), and one of the others. */
static void check_two(const instance *i, random_state *random) {
    check_some_method(i, operations[0], random);
    check_some_method(i, operations[1 + random_below(random, OPERATIONS - 1)], random);
}

/* All kinds with one bound, BETWEEN with another; every third time through a pointer. */
static void check_bounds(instance *i, random_state *random) {
    for (int b = 0; b < BOUNDS; b++) {
        for (int kind = TOPK_GT; kind <= TOPK_BETWEEN; kind++) {
            if (random_below(random, one_in) != 0) {
                continue;
            }
            i->predicate = (topk_predicate)TOPK_PREDICATE_INIT;
            i->predicate.kind = (topk_predicate_kind)kind;
            i->predicate.low = i->bounds[0] = bound_at(b);
            i->predicate.high = i->bounds[1] = bound_at((int)random_below(random, BOUNDS));
            if (random_below(random, 3) == 0) {
                i->predicate.bounds = i->bounds;
            }
            change_predicate(i);
            check_two(i, random);
        }
    }
}

static void check_types(void) {
    static const char *const data[] = {"bits", "extremes", "zeros", "denormals", "normal", "some-nan"};
    random_state random = {1};
    for (int type = 0; type < 14; type++) {
        for (int d = 0; d < 6; d++) {
            test_case source = {{0}, (uint64_t)(type * 6 + d)};
            instance i;
            char text[CASE_TEXT_BYTES];
            snprintf(text, sizeof text, "data=%s,size=70,rows=2,shape=gaps", data[d]);
            CHECK(case_parse(text, &source, NULL));
            source.value[DIM_TYPE] = type;
            instance_build(&source, &i);
            check_bounds(&i, &random);
            end_instance(&i);
        }
    }
}

/* An unknown type in a bound that is read when the work runs is taken for F64. */
static void check_unknown_bound_type(void) {
    test_case source = {{0}, 1};
    instance i;
    CHECK(case_parse("data=normal,type=f32,size=1000,rows=1", &source, NULL));
    instance_build(&source, &i);
    i.predicate = (topk_predicate)TOPK_PREDICATE_INIT;
    i.predicate.kind = TOPK_BETWEEN;
    i.bounds[0] = (topk_bound){(topk_bound_type)17, {-0.5}};
    i.bounds[1] = (topk_bound){(topk_bound_type)-1, {0.5}};
    i.predicate.bounds = i.bounds;
    change_predicate(&i);
    check_all(&i, OPERATIONS);
    end_instance(&i);
}

/* With a mask and no values wanted, the elements are never looked at: they need not exist. */
static void check_mask_without_values(void) {
    for (int kind = TOPK_BYTE_MASK; kind <= TOPK_BIT_MASK; kind++) {
        test_case source = {{0}, 3};
        instance i;
        CHECK(case_parse("type=f64,data=normal,size=1025,rows=7,shape=gaps,lengths=hostile,outputs=indices",
                         &source, NULL));
        source.value[DIM_PREDICATE] = kind - 1;
        instance_build(&source, &i);
        i.input.values = NULL;
        check_all(&i, OPERATIONS - 1);
        end_instance(&i);
    }
}

int main(int argc, char **argv) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    tested = backend_named(argc > 1 ? argv[1] : "cpu");
    one_in = argc > 2 ? atoi(argv[2]) : 1;
    if (!CHECK(tested != NULL && one_in > 0)) {
        return check_report();
    }
    dimensions_init(0, INT64_MAX);
    device_open();
    options.backend = tested->kind;
    options.threads = 1;
    CHECK_STATUS(TOPK_OK, topk_context_create(&options, &context));
    check_types();
    check_unknown_bound_type();
    check_mask_without_values();
    topk_context_destroy(context);
    device_close();
    return check_report();
}
