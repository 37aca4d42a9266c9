/* SPDX-License-Identifier: Apache-2.0
 * The three best of some scores, and how many of them are good, by calls that find their own workspace. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <topk_simple.h>

enum { SCORES = 6, BEST = 3 };

int main(void) {
    const float scores[SCORES] = {0.25f, 0.5f, 0.125f, 1.0f, 0.5f, 0.75f};
    int64_t best[BEST], good = 0;
    topk_simple *simple;
    topk_predicate above_half = TOPK_PREDICATE_INIT;
    above_half.kind = TOPK_GT;
    above_half.low = topk_bound_f64(0.5);

    if (topk_simple_create(NULL, &simple) != TOPK_OK ||
        topk_simple_select(simple, TOPK_LARGEST, TOPK_F32, scores, 1, SCORES, BEST, NULL, best) != TOPK_OK ||
        topk_simple_count(simple, TOPK_F32, scores, 1, SCORES, &above_half, &good) != TOPK_OK) {
        (void)fprintf(stderr, "simple: %s\n", topk_last_error());
        return EXIT_FAILURE;
    }
    topk_simple_destroy(simple);

    for (int i = 0; i < BEST; i++) {
        (void)printf("%g at %" PRId64 "\n", (double)scores[best[i]], best[i]);
    }
    (void)printf("%" PRId64 " above 0.5\n", good);
    return best[0] == 3 && best[1] == 5 && best[2] == 1 && good == 2 ? EXIT_SUCCESS : EXIT_FAILURE;
}
