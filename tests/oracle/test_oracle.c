/* SPDX-License-Identifier: Apache-2.0
 *
 * The oracle against the compiler's own arithmetic, and against answers worked out by hand. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "check.h"
#include "oracle.h"
#include "random.h"

static int sign_of(double x) {
    return (x > 0) - (x < 0);
}

/* Any two of these compare as the compiler says. */
static void check_against_compiler(void) {
    random_state random = {1};
    for (int i = 0; i < 100000; i++) {
        uint64_t a = random_bits(&random),
                 b = i % 3 == 0 ? a ^ (UINT64_C(1) << i % 64) : random_bits(&random);
        double x, y;
        float u, v;
        memcpy(&x, &a, sizeof x);
        memcpy(&y, &b, sizeof y);
        memcpy(&u, &a, sizeof u);
        memcpy(&v, &b, sizeof v);
        oracle_number m = oracle_decode(TOPK_F64, &x), n = oracle_decode(TOPK_F64, &y);
        CHECK(m.nan == !!isnan(x));
        CHECK(m.nan || n.nan || oracle_compare(&m, &n) == (x > y) - (x < y));
        CHECK(m.nan || n.nan ||
              oracle_compare_magnitudes(&m, &n) == (fabs(x) > fabs(y)) - (fabs(x) < fabs(y)));
        m = oracle_decode(TOPK_F32, &u);
        n = oracle_decode(TOPK_F64, &y);
        CHECK(m.nan == !!isnan(u));
        CHECK(m.nan || n.nan || oracle_compare(&m, &n) == (u > y) - (u < y));
        m = oracle_decode(TOPK_I64, &a);
        n = oracle_decode(TOPK_I64, &b);
        CHECK(oracle_compare(&m, &n) == ((int64_t)a > (int64_t)b) - ((int64_t)a < (int64_t)b));
        m = oracle_decode(TOPK_U32, &a);
        n = oracle_decode(TOPK_I16, &b);
        CHECK(oracle_compare(&m, &n) == sign_of((double)(uint32_t)a - (double)(int16_t)b));
    }
}

static void check_number(topk_type type, uint64_t bits, double wanted) {
    topk_bound bound = {TOPK_BOUND_F64, {wanted}};
    oracle_number got = oracle_decode(type, &bits), expected = oracle_decode_bound(&bound);
    CHECK(got.nan == expected.nan && (got.nan || oracle_compare(&got, &expected) == 0));
}

static void check_small_floats(void) {
    check_number(TOPK_F8_E4M3, 0x7e, 448);
    check_number(TOPK_F8_E4M3, 0x78, 256);
    check_number(TOPK_F8_E4M3, 0x7f, (double)NAN);
    check_number(TOPK_F8_E4M3, 0xff, (double)NAN);
    check_number(TOPK_F8_E4M3, 0x01, 0x1p-9);
    check_number(TOPK_F8_E4M3, 0x08, 0x1p-6);
    check_number(TOPK_F8_E4M3, 0xb8, -1);
    check_number(TOPK_F8_E5M2, 0x7b, 57344);
    check_number(TOPK_F8_E5M2, 0x7c, (double)INFINITY);
    check_number(TOPK_F8_E5M2, 0xfc, -(double)INFINITY);
    check_number(TOPK_F8_E5M2, 0x7d, (double)NAN);
    check_number(TOPK_F8_E5M2, 0x01, 0x1p-16);
    check_number(TOPK_F16, 0x7bff, 65504);
    check_number(TOPK_F16, 0x0001, 0x1p-24);
    check_number(TOPK_F16, 0x3c00, 1);
    check_number(TOPK_F16, 0x8000, 0);
    check_number(TOPK_BF16, 0x3f80, 1);
    check_number(TOPK_BF16, 0x0001, 0x1p-133);
    check_number(TOPK_BF16, 0xff80, -(double)INFINITY);
}

static void check_ranking(topk_problem problem, const float *values, int64_t length, const int64_t *wanted) {
    oracle_entry ranking[16];
    oracle_rank(&problem, values, length, ranking);
    for (int64_t i = 0; i < length; i++) {
        CHECK(ranking[i].position == wanted[i]);
    }
}

static void check_rankings(void) {
    const float values[] = {-0.0F, 3, NAN, 0, -5, -NAN, INFINITY, 3, -INFINITY, 1e-44F};
    topk_problem problem = TOPK_PROBLEM_INIT;
    problem.type = TOPK_F32;
    check_ranking(problem, values, 10, (const int64_t[]){2, 5, 6, 1, 7, 9, 0, 3, 4, 8});
    problem.nan = TOPK_NAN_LAST;
    check_ranking(problem, values, 10, (const int64_t[]){6, 1, 7, 9, 0, 3, 4, 8, 2, 5});
    problem.rank = TOPK_BY_MAGNITUDE;
    check_ranking(problem, values, 10, (const int64_t[]){6, 8, 4, 1, 7, 9, 0, 3, 2, 5});
    problem.direction = TOPK_SMALLEST;
    check_ranking(problem, values, 10, (const int64_t[]){0, 3, 9, 1, 7, 4, 6, 8, 2, 5});
    problem.nan = TOPK_NAN_AS_LARGEST;
    problem.rank = TOPK_BY_VALUE;
    check_ranking(problem, values, 10, (const int64_t[]){8, 4, 0, 3, 9, 1, 7, 6, 2, 5});
}

/* Rows of all lengths up to a few runs of the sort, with many ties: neighbours are in order, so that all are,
 * and the counts of each k are those of the elements themselves. */
static void check_all_lengths(void) {
    enum { LENGTHS = 150 };
    topk_problem problem = TOPK_PROBLEM_INIT;
    int16_t values[LENGTHS];
    oracle_entry ranking[LENGTHS];
    uint32_t random = 1;
    problem.type = TOPK_I16;
    for (int64_t length = 1; length < LENGTHS; length++) {
        for (int64_t i = 0; i < length; i++) {
            random = random * 1664525 + 1013904223;
            values[i] = (int16_t)((random >> 16) % (unsigned)(length / 4 + 2));
        }
        oracle_rank(&problem, values, length, ranking);
        for (int64_t k = 1; k <= length; k++) {
            const int16_t kth = values[ranking[k - 1].position];
            oracle_kth wanted = {0, 0};
            for (int64_t i = 0; i < length; i++) {
                wanted.better += values[i] > kth;
                wanted.equal += values[i] == kth;
            }
            const oracle_kth counts = oracle_kth_counts(&problem, ranking, length, k);
            CHECK(counts.better == wanted.better && counts.equal == wanted.equal);
            const int64_t next = k < length ? ranking[k].position : -1;
            CHECK(next < 0 || values[next] < kth || (values[next] == kth && next > ranking[k - 1].position));
        }
    }
}

static void check_integer_magnitudes(void) {
    const int8_t values[] = {127, -128, 5, -127};
    const int64_t wanted[] = {1, 0, 3, 2};
    topk_problem problem = TOPK_PROBLEM_INIT;
    oracle_entry ranking[4];
    problem.type = TOPK_I8;
    problem.rank = TOPK_BY_MAGNITUDE;
    oracle_rank(&problem, values, 4, ranking);
    for (int i = 0; i < 4; i++) {
        CHECK(ranking[i].position == wanted[i]);
    }
    oracle_kth counts = oracle_kth_counts(&problem, ranking, 4, 2);
    CHECK(counts.better == 1 && counts.equal == 2);
}

static void check_keep(void) {
    const oracle_entry ranking[] = {{.position = 2}, {.position = 0}, {.position = 3}, {.position = 1}};
    const bool matches[] = {true, false, false, true};
    oracle_entry kept[4];
    CHECK(oracle_keep(ranking, 4, matches, kept) == 2);
    CHECK(kept[0].position == 0 && kept[1].position == 3);
    CHECK(oracle_keep(ranking, 0, matches, kept) == 0);
}

static void check_class(topk_type type, topk_rank rank, uint64_t bits, uint64_t wanted) {
    uint64_t got = 0;
    oracle_write_class(type, rank, &bits, &got);
    CHECK(got == wanted);
}

static void check_classes(void) {
    uint64_t padding = 0;
    check_class(TOPK_F32, TOPK_BY_VALUE, 0x80000000, 0);
    check_class(TOPK_F32, TOPK_BY_VALUE, 0xff800001, 0x7fc00000);
    check_class(TOPK_F32, TOPK_BY_VALUE, 0xbf800000, 0xbf800000);
    check_class(TOPK_F32, TOPK_BY_MAGNITUDE, 0xbf800000, 0x3f800000);
    check_class(TOPK_F8_E4M3, TOPK_BY_VALUE, 0xff, 0x7f);
    check_class(TOPK_F8_E5M2, TOPK_BY_VALUE, 0xfd, 0x7e);
    check_class(TOPK_BF16, TOPK_BY_VALUE, 0xffff, 0x7fc0);
    check_class(TOPK_I8, TOPK_BY_MAGNITUDE, 0x80, 0x80);
    check_class(TOPK_I8, TOPK_BY_MAGNITUDE, 0xff, 0x01);
    oracle_write_padding(TOPK_F8_E4M3, TOPK_LARGEST, &padding);
    CHECK(padding == 0xfe);
    oracle_write_padding(TOPK_I16, TOPK_SMALLEST, &padding);
    CHECK(padding == 0x7fff);
}

int main(void) {
    check_against_compiler();
    check_small_floats();
    check_rankings();
    check_all_lengths();
    check_integer_magnitudes();
    check_classes();
    check_keep();
    return check_report();
}
