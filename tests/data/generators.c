/* SPDX-License-Identifier: Apache-2.0 */
#include "generators.h"

#include "fill.h"

const generator generators[] = {
    {"bits", fill_bits},
    {"uniform", fill_uniform},
    {"normal", fill_normal},
    {"zipf", fill_zipf},
    {"peaked", fill_peaked},
    {"quantised", fill_quantised},
    {"relu", fill_relu},
    {"relu-quantised", fill_relu_quantised},
    {"best-plateau", fill_best_plateau},
    {"narrow", fill_narrow},
    {"same-10-bits", fill_same_10_bits},
    {"same-20-bits", fill_same_20_bits},
    {"outlier", fill_outlier},
    {"ascending", fill_ascending},
    {"descending", fill_descending},
    {"sawtooth", fill_sawtooth},
    {"alternating", fill_alternating},
    {"one-block", fill_one_block},
    {"all-equal", fill_all_equal},
    {"infinities", fill_infinities},
    {"all-lowest", fill_all_lowest},
    {"some-nan", fill_some_nan},
    {"mostly-nan", fill_mostly_nan},
    {"all-nan", fill_all_nan},
    {"zeros", fill_zeros},
    {"denormals", fill_denormals},
    {"gap", fill_gap},
    {"extremes", fill_extremes},
};

const int generator_count = sizeof generators / sizeof generators[0];
