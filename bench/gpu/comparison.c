/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/comparison.h"

#include <math.h>
#include <string.h>

enum { groups_max = sizeof((bench_comparison *)0)->groups / sizeof(bench_comparison_group) };
static const double air_tolerance = 1.1, where_tolerance = 1.0;

static bench_ratios select_ratios(const bench_peer *peer, double us) {
    const double to_air = peer->air_us > 0 ? us / peer->air_us : 0;
    return (bench_ratios){peer->group, "AIR", to_air, air_tolerance, peer->best, us / peer->best_us};
}

static bench_ratios where_ratios(const bench_where_peer *peer, double us) {
    const bool thrust = peer->copy_if_us < peer->if_us;
    const double deciding_us = thrust ? peer->copy_if_us : peer->if_us;
    return (bench_ratios){"where",          thrust ? "thrust::copy_if" : "CUB If",
                          us / deciding_us, where_tolerance,
                          "CUB Flagged",    us / peer->flagged_us};
}

bench_ratios bench_ratios_of(const bench_gpu_result *result) {
    const bench_ratios none = {0};
    if (result->outcome != BENCH_GPU_RIGHT || result->call_us.median <= 0 ||
        strcmp(result->name, "topk") != 0 || strcmp(result->launch, "eager") != 0) {
        return none;
    }
    const bench_peer *peer = bench_peer_of(result->point);
    const bench_where_peer *where_peer = bench_where_peer_of(result->point);
    return peer != NULL         ? select_ratios(peer, result->call_us.median)
           : where_peer != NULL ? where_ratios(where_peer, result->call_us.median)
                                : none;
}

bool bench_ratios_pass(const bench_ratios *ratios) {
    return ratios->to_peer <= ratios->tolerance;
}

static const char *method_of(const bench_point *point) {
    return point->method[0] != '\0' ? point->method : "auto";
}

static bench_comparison_group *find(bench_comparison *comparison, const char *method, const char *group,
                                    const bench_ratios *ratios) {
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
    made->peer = strcmp(group, "where") == 0 ? "CUB If or Thrust" : ratios->peer;
    made->tolerance = ratios->tolerance;
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
    if (ratios->to_peer > 0) {
        ++group->peer_points;
        group->peer_within += bench_ratios_pass(ratios);
        group->peer_log += log(ratios->to_peer);
    }
}

void bench_comparison_add(bench_comparison *comparison, const bench_gpu_result *result) {
    const bench_ratios ratios = bench_ratios_of(result);
    if (ratios.group == NULL) {
        return;
    }
    const char *method = method_of(result->point);
    bench_comparison_group *own = find(comparison, method, ratios.group, &ratios);
    if (own != NULL) {
        add(own, result, &ratios);
    }
    /* Groups of one operation are summed up. */
    const bool select = result->point->operation == TOPK_OPERATION_SELECT;
    bench_comparison_group *all = select ? find(comparison, method, "all", &ratios) : NULL;
    if (all != NULL) {
        add(all, result, &ratios);
    }
}

static void write_group(const bench_comparison_group *group, FILE *out) {
    const int valid = group->points - group->invalid;
    fprintf(out, "%-10s %-10s %3d points", group->method, group->group, group->points);
    if (group->invalid > 0) {
        fprintf(out, ", %d VOID", group->invalid);
    }
    if (group->peer_points > 0) {
        fprintf(out, "; to %s: %d of %d within %.1f, geometric mean %.3f", group->peer, group->peer_within,
                group->peer_points, group->tolerance, exp(group->peer_log / group->peer_points));
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
    fprintf(out,
            "time over that of published implementations (H200, driver 580.159.04, 2026-11-20; of select in "
            "any order, ties free):\n");
    for (int totals = 0; totals < 2; ++totals) {
        for (int i = 0; i < comparison->count; ++i) {
            if ((strcmp(comparison->groups[i].group, "all") == 0) == (totals == 1)) {
                write_group(&comparison->groups[i], out);
            }
        }
    }
}
