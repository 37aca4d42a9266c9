/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <topk_simple.h>

int main(void) {
    const float scores[5] = {0.1f, 0.9f, 0.4f, 0.9f, 0.2f};
    int64_t best[3];
    topk_simple *topk;
    if (topk_simple_create(NULL, &topk) != TOPK_OK ||
        topk_simple_select(topk, TOPK_LARGEST, TOPK_F32, scores, 1, 5, 3, NULL, best) != TOPK_OK) {
        return 1; /* topk_last_error() says why */
    }
    (void)printf("%d, %d, %d\n", (int)best[0], (int)best[1], (int)best[2]); /* 1, 3, 2: ties by position */
    topk_simple_destroy(topk);
    return 0;
}
