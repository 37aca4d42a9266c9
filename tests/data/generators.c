/* SPDX-License-Identifier: Apache-2.0 */
#include "generators.h"

#include "fill.h"

const generator generators[] = {
    {"bits", LAW_BITS, NULL, 0},
    {"uniform", LAW_UNIFORM, NULL, 0},
    {"normal", LAW_NORMAL, NULL, 0},
    {"zipf", LAW_ZIPF, NULL, 0},
    {"peaked", LAW_SOFTMAX, NULL, 0},
    {"quantised", LAW_SIXTEEN, NULL, 0},
    {"relu", LAW_NONE, fill_relu, 0},
    {"relu-quantised", LAW_RELU, NULL, 0},
    {"best-plateau", LAW_NONE, fill_best_plateau, 0},
    {"narrow", LAW_CLUSTER, NULL, 0},
    {"same-10-bits", LAW_FIRST_BITS, NULL, 10},
    {"same-20-bits", LAW_FIRST_BITS, NULL, 20},
    {"outlier", LAW_NONE, fill_outlier, 0},
    {"ascending", LAW_NONE, fill_ascending, 0},
    {"descending", LAW_NONE, fill_descending, 0},
    {"sawtooth", LAW_NONE, fill_sawtooth, 0},
    {"alternating", LAW_NONE, fill_alternating, 0},
    {"one-block", LAW_NONE, fill_one_block, 0},
    {"all-equal", LAW_NONE, fill_all_equal, 0},
    {"infinities", LAW_NONE, fill_infinities, 0},
    {"all-lowest", LAW_NONE, fill_all_lowest, 0},
    {"some-nan", LAW_NONE, fill_some_nan, 0},
    {"mostly-nan", LAW_NONE, fill_mostly_nan, 0},
    {"all-nan", LAW_NONE, fill_all_nan, 0},
    {"zeros", LAW_NONE, fill_zeros, 0},
    {"denormals", LAW_NONE, fill_denormals, 0},
    {"gap", LAW_NONE, fill_gap, 0},
    {"extremes", LAW_NONE, fill_extremes, 0},
};

const int generator_count = sizeof generators / sizeof generators[0];

void generate(const generator *from, topk_type type, void *values, int64_t n, random_state *random) {
    if (from->law != LAW_NONE) {
        fill_law(from->law, type, values, n, random, from->same_of_32);
    } else {
        from->fill(type, values, n, random);
    }
}
