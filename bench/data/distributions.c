/* SPDX-License-Identifier: Apache-2.0 */
#include "data/data.h"

const bench_distribution bench_distributions[] = {
    {"uniform", "floats in (0, 1], integers over their whole range", LAW_UNIFORM, 0, 0, LAW_BITS, 8, 64, 0},
    {"normal", "mean 0, deviation 1", LAW_NORMAL, 0, 0, LAW_NONE, 0, 0, 0},
    {"normal-1e8", "integers of mean 1e8, deviation 10", LAW_NORMAL_1E8, 1, 32, LAW_NONE, 0, 0, 0},
    {"cd", "most elements share the bucket of the k-th at each digit", LAW_NONE, 0, 0, LAW_DIGITS, 32, 32, 0},
    {"prefix10", "the first 10 bits are equal", LAW_NONE, 0, 0, LAW_FIRST_BITS, 16, 64, 10},
    {"prefix20", "the first 20 bits are equal", LAW_NONE, 0, 0, LAW_FIRST_BITS, 32, 64, 20},
    {"cluster", "uniform in [0.6, 0.7]", LAW_CLUSTER, 0, 0, LAW_NONE, 0, 0, 0},
    {"cluster128", "uniform in [128.6, 128.7]", LAW_CLUSTER_128, 0, 16, LAW_NONE, 0, 0, 0},
    {"outlier", "normal, but for 1e30 in each row", LAW_OUTLIER, 0, 0, LAW_NONE, 0, 0, 0},
    {"sorted", "ascending in each row, up to 1", LAW_SORTED, 1e9, 32, LAW_NONE, 0, 0, 0},
    {"narrow", "uniform in [1, 1.0001]", LAW_NARROW, 1e6, 32, LAW_NONE, 0, 0, 0},
    {"zipf", "1 to 2^20 with exponent 1.1", LAW_ZIPF, 1, 32, LAW_NONE, 0, 0, 0},
    {"zipf-n", "1 to n with exponent 1.1", LAW_ZIPF_N, 1, 32, LAW_NONE, 0, 0, 0},
    {"softmax", "one or two entries of a row hold 0.8 to 0.9", LAW_SOFTMAX, 0, 0, LAW_NONE, 0, 0, 0},
    {"quantised", "normal in steps of 1/16", LAW_QUANTISED, 16, 8, LAW_NONE, 0, 0, 0},
    {"relu-quantised", "the same, negatives at 0", LAW_RELU, 16, 8, LAW_NONE, 0, 0, 0},
    {"tie-heavy", "16 values", LAW_SIXTEEN, 16, 8, LAW_NONE, 0, 0, 0},
    {"pivot-tie", "k/2 winners, a plateau of half the elements", LAW_PIVOT_TIE, 100, 8, LAW_NONE, 0, 0, 0},
    {"all-equal", "one value", LAW_ONE, 1, 8, LAW_NONE, 0, 0, 0},
    {"distances", "of floats: squared, from --queries to --vectors", LAW_NONE, 0, 0, LAW_NONE, 0, 0, 0},
    {"runs", "runs of 4096 equal elements, uniform in (0, 1]", LAW_RUNS, 0, 0, LAW_NONE, 0, 0, 0},
    {"degrees", "stand-in for a web graph's: at least d by d^-1.4", LAW_DEGREES, 1, 32, LAW_NONE, 0, 0, 0},
    {"scores", "stand-in for sentiments: thousandths near 0.45", LAW_SCORES, 1000, 16, LAW_NONE, 0, 0, 0},
    {"file", "the elements of --data, again from the first on", LAW_NONE, 1, 0, LAW_NONE, 0, 0, 0},
};
const int bench_distribution_count = (int)(sizeof bench_distributions / sizeof *bench_distributions);

const bench_distribution *bench_distribution_find(const char *name) {
    for (int i = 0; i < bench_distribution_count; ++i) {
        if (strcmp(bench_distributions[i].name, name) == 0) {
            return &bench_distributions[i];
        }
    }
    return NULL;
}

static law law_of(const bench_distribution *distribution, topk_type type) {
    const bool numbers =
        distribution->bits == LAW_NONE || (distribution->numbers != LAW_NONE && element_is_float(type));
    return numbers ? distribution->numbers : distribution->bits;
}

bool bench_distribution_serves(const bench_distribution *distribution, topk_type type) {
    const int bits = 8 * (int)topk_type_size(type);
    if (law_of(distribution, type) >= LAW_BITS) {
        return bits >= distribution->bits_least && bits <= distribution->bits_most;
    }
    return bits >= distribution->numbers_least && (element_is_float(type) || distribution->integer_scale > 0);
}

static bool has_law(const bench_distribution *distribution) {
    return distribution->numbers != LAW_NONE || distribution->bits != LAW_NONE;
}

bool bench_has_distances(const bench_point *point) {
    return !has_law(point->distribution) && point->distribution->integer_scale == 0;
}

bool bench_has_file(const bench_point *point) {
    return !has_law(point->distribution) && !bench_has_distances(point);
}

bool bench_source_serves(const bench_source *source, const bench_point *point) {
    return !bench_has_distances(point) ||
           (point->rows <= source->queries.count && point->n <= source->base.count);
}

bench_filling bench_filling_of(const bench_point *point, const bench_source *source) {
    const bench_distribution *distribution = point->distribution;
    const bool distances = bench_has_distances(point);
    return (bench_filling){.how = {.law = law_of(distribution, point->type),
                                   .type = point->type,
                                   .seed = source->seed,
                                   .n = point->n,
                                   .k = point->k,
                                   .scale = element_is_float(point->type) ? 1 : distribution->integer_scale,
                                   .first_bits = distribution->first_bits},
                           .queries = distances ? source->queries.elements : NULL,
                           .base = distances ? source->base.elements : NULL,
                           .dimensions = source->base.dimensions,
                           .file = bench_has_file(point) ? source->file.values : NULL,
                           .file_count = source->file.count};
}
