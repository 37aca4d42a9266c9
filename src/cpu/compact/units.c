/* SPDX-License-Identifier: Apache-2.0 */
#include "units.h"

int64_t topk_cpu_unit_elements(const struct plan *plan, int threads) {
    const size_t fair = words_of(plan->input_elements / (4 * (size_t)threads)) * WORD;
    return fair < UNIT_MIN ? UNIT_MIN : fair > UNIT ? UNIT : (int64_t)fair;
}

struct units topk_cpu_units_of(const struct call *call, int64_t unit_elements, bool joined, bool shared) {
    return (struct units){.call = call,
                          .joined = joined,
                          .shared = shared,
                          .rows = joined ? 1 : call->plan->problem.rows,
                          .unit_elements = unit_elements};
}

struct piece topk_cpu_walk_next(const struct units *units, struct walk *walk) {
    const struct call *call = units->call;
    const struct plan *plan = call->plan;
    const struct row_offset begin = walk->next;
    const struct row_extent extent = units->joined ? (struct row_extent){0, (int64_t)plan->input_elements}
                                                   : plan_row(plan, &call->input, begin.row);
    const int64_t rest = extent.length - begin.offset;
    const int64_t count = rest < walk->room ? rest : walk->room;
    const bool last = count == rest;
    walk->room -= count;
    walk->next =
        last ? (struct row_offset){begin.row + 1, 0} : (struct row_offset){begin.row, begin.offset + count};
    return (struct piece){begin.row, begin.offset, count, (size_t)(extent.begin + begin.offset), last};
}

static void draw(struct units *units, struct unit *unit) {
    struct walk walk = {units->next, units->unit_elements};
    unit->begin = units->next;
    unit->number = units->next_number;
    for (unit->pieces = 0; walk.next.row < units->rows && unit->pieces < PIECES_MAX && walk.room > 0;
         unit->pieces++) {
        (void)topk_cpu_walk_next(units, &walk);
    }
    units->next = walk.next;
    units->next_number += unit->pieces > 0;
}

bool topk_cpu_units_draw(struct units *units, struct unit *unit) {
    if (!units->shared) {
        draw(units, unit);
        return unit->pieces > 0;
    }
    while (atomic_exchange(&units->drawing.value, 1) != 0) {
        topk_cpu_await(&units->drawing, 1, AWAKE_FOR_TURN_NS);
    }
    draw(units, unit);
    atomic_store(&units->drawing.value, 0);
    topk_cpu_wake(&units->drawing, 1);
    return unit->pieces > 0;
}
