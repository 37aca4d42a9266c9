/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/comparison.h"

#include <math.h>
#include <string.h>

enum { groups_max = sizeof((bench_comparison *)0)->groups / sizeof(bench_comparison_group) };
static const double air_tolerance = 1.1;

bench_ratios bench_ratios_of(const bench_gpu_result *result) {
    bench_ratios ratios = {NULL, 0, 0};
    if (result->outcome != BENCH_GPU_RIGHT || result->call_us.median <= 0 ||
        strcmp(result->name, "topk") != 0 || strcmp(result->launch, "eager") != 0) {
        return ratios;
    }
    ratios.peer = bench_peer_of(result->point);
    if (ratios.peer != NULL) {
        ratios.to_best = result->call_us.median / ratios.peer->best_us;
        ratios.to_air = ratios.peer->air_us > 0 ? result->call_us.median / ratios.peer->air_us : 0;
    }
    return ratios;
}

bool bench_ratios_pass(const bench_ratios *ratios) {
    return ratios->to_air <= air_tolerance;
}

static const char *method_of(const bench_point *point) {
    return point->method[0] != '\0' ? point->method : "auto";
}

static bench_comparison_group *find(bench_comparison *comparison, const char *method, const char *group) {
    for (int i = 0; i < comparison->count; ++i) {
        bench_comparison_group *each = &comparison->groups[i];
        if (strcmp(each->method, method) == 0 && strcmp(each->group, group) == 0) {
            return each;
        }
    }
    if (comparison->count == groups_max) {
        return NULL;
    }
    bench_comparison_group *made = &comparison->groups[comparison->count++];
    snprintf(made->method, sizeof made->method, "%s", method);
    made->group = group;
    return made;
}

static void add(bench_comparison_group *group, const bench_gpu_result *result, const bench_ratios *ratios) {
    ++group->points;
    if (result->invalid) {
        ++group->invalid;
        return;
    }
    group->best_within += ratios->to_best <= 1;
    group->best_log += log(ratios->to_best);
    if (ratios->to_air > 0) {
        ++group->air_points;
        group->air_within += bench_ratios_pass(ratios);
        group->air_log += log(ratios->to_air);
    }
}

void bench_comparison_add(bench_comparison *comparison, const bench_gpu_result *result) {
    const bench_ratios ratios = bench_ratios_of(result);
    if (ratios.peer == NULL) {
        return;
    }
    const char *method = method_of(result->point);
    bench_comparison_group *own = find(comparison, method, ratios.peer->group);
    bench_comparison_group *all = find(comparison, method, "all");
    if (own != NULL && all != NULL) {
        add(own, result, &ratios);
        add(all, result, &ratios);
    }
}

static void write_group(const bench_comparison_group *group, FILE *out) {
    const int valid = group->points - group->invalid;
    fprintf(out, "%-10s %-10s %3d points", group->method, group->group, group->points);
    if (group->invalid > 0) {
        fprintf(out, ", %d VOID", group->invalid);
    }
    if (group->air_points > 0) {
        fprintf(out, "; to AIR: %d of %d within %.1f, geometric mean %.3f", group->air_within,
                group->air_points, air_tolerance, exp(group->air_log / group->air_points));
    }
    if (valid > 0) {
        fprintf(out, "; to the best peer: %d of %d at most 1, geometric mean %.3f", group->best_within, valid,
                exp(group->best_log / valid));
    }
    fputc('\n', out);
}

void bench_comparison_write(const bench_comparison *comparison, FILE *out) {
    if (comparison->count == 0) {
        return;
    }
    fprintf(out, "time over that of published implementations (H200, driver 580.159.04, 2026-11-20; in any "
                 "order, ties free):\n");
    for (int totals = 0; totals < 2; ++totals) {
        for (int i = 0; i < comparison->count; ++i) {
            if ((strcmp(comparison->groups[i].group, "all") == 0) == (totals == 1)) {
                write_group(&comparison->groups[i], out);
            }
        }
    }
}
