/* SPDX-License-Identifier: Apache-2.0
 * The k best elements of each group (topk_groups.h): in one pass with a list for each group, or from rows
 * that the elements of each group become. */
#include "groups.h"

#include "../sizes.h"

struct own {
    struct group_lists_plan lists;
    struct group_rows_plan rows;
};

static int run_lists(const struct call *call) {
    const struct own *own = call->decision->own;
    topk_cpu_group_lists_run(call, &own->lists);
    return 0;
}

static int run_rows(const struct call *call) {
    const struct own *own = call->decision->own;
    return topk_cpu_group_rows_run(call, &own->rows);
}

/* ln(a / b), 0 < b <= a. */
static double log_ratio(double a, double b) {
    double doublings = 0;
    for (; a >= 2 * b; b *= 2) {
        doublings++;
    }
    return 0.69 * (doublings + (a > b ? a / b - 1 : 0));
}

/* Fitted to calls on two cores of a Xeon, of 2 x 10^7 elements in 10 to 10^6 groups. Of m elements of a
 * group, in any order, the k (1 + ln(m / k)) that are better than most before them become candidates. */
static double lists_us(const struct plan *plan, const struct group_lists_plan *lists) {
    const double n = (double)plan->input_elements, groups = (double)plan->problem.rows;
    const double members = groups > 0 ? n / groups / lists->threads : 0, k = (double)lists->k;
    const double taken = k == 0 ? 0 : members > k ? k * (1 + log_ratio(members, k)) : members;
    const bool in_cache = lists->part_bytes <= LISTS_IN_CACHE_BYTES;
    return 1.0 + 0.0026 * n / lists->threads + (in_cache ? 0.06 : 0.17) * groups * taken + 0.02 * groups;
}

/* Fitted likewise: the more groups, the more places that elements go to. */
static double rows_us(const struct plan *plan, const struct group_rows_plan *rows) {
    double each_us = 0.0085;
    for (double groups = 10; groups < (double)plan->problem.rows; groups *= 10) {
        each_us *= 1.6;
    }
    return 5.0 + each_us * (double)plan->input_elements / rows->threads + 0.04 * (double)plan->problem.rows;
}

/* Lists may take what rows take, for no other method serves; a limit of the caller's holds for both. */
static void plan_groups(const topk_context *context, const struct plan *plan, struct room *room,
                        struct decision *decision) {
    const size_t given = plan->problem.workspace_limit, bound = plan_workspace_bound(plan);
    const size_t most = given != 0 ? given : SIZE_MAX;
    struct own *own = topk_room_take(room, sizeof *own);
    const bool has_rows = topk_cpu_group_rows_plan(context, plan, most, room, &own->rows) == TOPK_OK;
    const size_t rows_bytes = has_rows ? own->rows.bytes : SIZE_MAX,
                 larger = bound > rows_bytes ? bound : rows_bytes;
    const size_t lists_most = larger < most ? larger : most;
    topk_cpu_group_lists_plan(context, plan, lists_most, &own->lists);
    const double by_lists_us = lists_us(plan, &own->lists);
    const double by_rows_us = has_rows ? rows_us(plan, &own->rows) : 0;
    const bool lists_fit = own->lists.bytes <= lists_most, rows_fit = has_rows && rows_bytes <= most;
    const bool by_lists =
        lists_fit && rows_fit ? by_lists_us <= by_rows_us : lists_fit || own->lists.bytes < rows_bytes;
    decision->own = own;
    decision->run = by_lists ? run_lists : run_rows;
    decision->variant = by_lists ? "lists" : "rows";
    decision->workspace_bytes = by_lists ? own->lists.bytes : rows_bytes;
    decision->cost_us = by_lists ? by_lists_us : by_rows_us;
}

const struct method topk_cpu_groups = {.name = "groups",
                                       .operations = OPERATION_BIT(TOPK_OPERATION_SELECT_BY),
                                       .plan = plan_groups,
                                       .run = run_lists};
