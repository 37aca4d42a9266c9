/* SPDX-License-Identifier: Apache-2.0
 * The rows of a call, laid end to end and cut into units of elements, which threads draw one by one. */
#ifndef TOPK_SRC_CPU_UNITS_H
#define TOPK_SRC_CPU_UNITS_H

#include "../../method.h"
#include "../kernels/kernels.h"
#include "../waiting.h"

/* Pieces of a unit at most, each the part of one row; each has masks of whole words. */
enum { PIECES_MAX = UNIT / WORD, UNIT_WORDS = PIECES_MAX + UNIT / WORD };

/* An element of the rows laid end to end. */
struct row_offset {
    int64_t row, offset;
};

struct units {
    const struct call *call;
    bool joined; /* the rows are taken for a single one: all elements of the input */
    bool shared; /* by several threads */
    int64_t rows;
    int64_t unit_elements;
    struct awaited drawing; /* 1 while a thread draws: guards the next two */
    struct row_offset next;
    int64_t next_number;
};

struct unit {
    struct row_offset begin;
    int64_t number; /* of the unit, from 0 */
    int pieces;
};

/* One row's part in a unit. */
struct piece {
    int64_t row, offset, count;
    size_t element; /* its first, in values */
    bool last;      /* of its row */
};

/* A way along the pieces of a unit. */
struct walk {
    struct row_offset next;
    int64_t room; /* elements up to the end of the unit */
};

/* That give each of the threads a few units. */
int64_t topk_cpu_unit_elements(const struct plan *plan, int threads);

struct units topk_cpu_units_of(const struct call *call, int64_t unit_elements, bool joined, bool shared);

/* Draws the next unit; false if there is none. */
bool topk_cpu_units_draw(struct units *units, struct unit *unit);

static inline struct walk walk_begin(const struct units *units, const struct unit *unit) {
    return (struct walk){unit->begin, units->unit_elements};
}

struct piece topk_cpu_walk_next(const struct units *units, struct walk *walk);

#endif
