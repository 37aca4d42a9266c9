/* SPDX-License-Identifier: Apache-2.0
 *
 * Laws whose numbers must come as often as they say. */
#include "check.h"
#include "laws.h"

enum { DRAWS = 1000000, SUPPORT = 1000 };

/* Each of the first numbers, and all behind them, within five deviations of its share. */
static void check_zipf(uint64_t seed) {
    enum { FIRST = 30 };
    const recipe how = {.law = LAW_ZIPF_N, .type = TOPK_F64, .seed = seed, .n = SUPPORT, .scale = 1};
    int64_t seen[SUPPORT + 1] = {0}, rest = DRAWS;
    double all = 0, rest_share = 1;
    for (int x = 1; x <= SUPPORT; x++) {
        all += pow(x, -1.1);
    }
    for (int64_t i = 0; i < DRAWS; i++) {
        const double x = law_number(&how, i);
        if (CHECK(x >= 1 && x <= SUPPORT && x == floor(x))) {
            seen[(int)x]++;
        }
    }
    for (int x = 1; x <= FIRST + 1; x++) {
        const double share = x <= FIRST ? pow(x, -1.1) / all : rest_share;
        const int64_t count = x <= FIRST ? seen[x] : rest;
        CHECK(fabs((double)count - DRAWS * share) <= 5 * sqrt(DRAWS * share * (1 - share)));
        rest -= count;
        rest_share -= share;
    }
    CHECK(seen[SUPPORT] > 0);
}

/* At least d comes with probability d^-1.4, within five deviations; scores are thousandths around 450. */
static void check_stand_ins(void) {
    const recipe degrees = {.law = LAW_DEGREES, .type = TOPK_F64, .seed = 1, .n = DRAWS, .scale = 1};
    const recipe scores = {.law = LAW_SCORES, .type = TOPK_U32, .seed = 1, .n = DRAWS, .scale = 1000};
    int64_t at_least[31] = {0};
    double sum = 0, most = 0;
    for (int64_t i = 0; i < DRAWS; i++) {
        const double degree = law_number(&degrees, i);
        CHECK(degree >= 1 && degree == floor(degree));
        for (int d = 1; d <= 30; d++) {
            at_least[d] += degree >= d;
        }
        const double score = (double)law_element(&scores, i);
        CHECK(score <= 1000 && fabs(1000 * law_number(&scores, i) - score) < 1e-9);
        sum += score;
        most = fmax(most, score);
    }
    for (int d = 1; d <= 30; d++) {
        const double share = pow(d, -1.4);
        CHECK(fabs((double)at_least[d] - DRAWS * share) <= 5 * sqrt(DRAWS * share * (1 - share)));
    }
    CHECK(fabs(sum / DRAWS - 450) < 1 && most > 950);
}

/* Numbers of a long row reach to its end, and not beyond. */
static void check_long_zipf(int64_t n) {
    const recipe how = {.law = LAW_ZIPF_N, .type = TOPK_F64, .seed = 1, .n = n, .scale = 1};
    int64_t late = 0;
    bool inside = true;
    for (int64_t i = 0; i < DRAWS; i++) {
        const double x = law_number(&how, i);
        inside = inside && x >= 1 && x <= (double)n;
        late += x > 0.5 * (double)n;
    }
    CHECK(inside);
    CHECK(n == 1 || late > 0);
}

int main(void) {
    check_zipf(1);
    check_zipf(2);
    check_long_zipf(1);
    check_long_zipf(2);
    check_long_zipf(INT64_C(1) << 29);
    check_stand_ins();
    return check_report();
}
