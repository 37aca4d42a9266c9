/* SPDX-License-Identifier: Apache-2.0 */
#include "check_mpi.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An element as its row ranks it. */
typedef struct ranked {
    int64_t bits, position;
} ranked;

static int rank_of_this(void) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

static int count_of_ranks(void) {
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return ranks;
}

static int64_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Whether `a` ranks before `b`, or is `b`. */
static bool is_no_worse(ranked a, ranked b) {
    return a.bits != b.bits ? a.bits > b.bits : a.position <= b.position;
}

/* This rank's results in the row that it gets as its row number `row`. */
static int64_t count_of(const questions *q, const results *r, int64_t row) {
    return q->where == TOPK_DIST_IN_PLACE ? r->own_k[row] : q->k;
}

static ranked result_at(const questions *q, const results *r, int64_t row, int64_t slot) {
    const int64_t at = row * q->properties->pitch + slot;
    return (ranked){bits_of(r->values[at]), r->indices[at]};
}

/* ---- What a rank sees by itself ---- */

static bool tell(int64_t row, int64_t slot, const char *what) {
    (void)fprintf(stderr, "topk-bench-dist: rank %d, row %" PRId64 ", slot %" PRId64 ": %s\n", rank_of_this(),
                  row, slot, what);
    return false;
}

static bool check_slot(const questions *q, const results *r, int64_t row, int64_t slot) {
    const int64_t of_whole = q->properties->first_row + row;
    const bool is_placed = q->where == TOPK_DIST_IN_PLACE;
    const int64_t begin = is_placed ? run_begin(q->n, rank_of_this(), count_of_ranks()) : 0;
    const int64_t end = is_placed ? run_begin(q->n, rank_of_this() + 1, count_of_ranks()) : q->n;
    const ranked result = result_at(q, r, row, slot);
    if (result.position < begin || result.position >= end) {
        return tell(of_whole, slot, "no position of the row, or another rank's");
    }
    if (result.bits != bits_of(element_at(of_whole, result.position))) {
        return tell(of_whole, slot, "the value is not the element at its index");
    }
    if (slot == 0) {
        return true;
    }
    const ranked before = result_at(q, r, row, slot - 1);
    const bool in_order = is_placed ? before.position < result.position
                                    : before.position != result.position && is_no_worse(before, result);
    return in_order || tell(of_whole, slot, "out of order, or twice");
}

static bool check_padding(const questions *q, const results *r, int64_t row, int64_t slot) {
    const int64_t at = row * q->properties->pitch + slot;
    return (r->indices[at] == -1 && r->values[at] == -__builtin_inff()) ||
           tell(q->properties->first_row + row, slot, "no padding");
}

static bool check_row(const questions *q, const results *r, int64_t row) {
    const int64_t count = count_of(q, r, row);
    if (count < 0 || count > q->properties->pitch) {
        return tell(q->properties->first_row + row, count, "a wrong number of results");
    }
    for (int64_t slot = 0; slot < q->properties->pitch; slot++) {
        if (!(slot < count ? check_slot(q, r, row, slot) : check_padding(q, r, row, slot))) {
            return false;
        }
    }
    return true;
}

/* ---- What all ranks see together ---- */

/* own_k and before add up. */
static bool check_numbers(const questions *q, const results *r) {
    const int rank = rank_of_this(), ranks = count_of_ranks();
    bool right = true;
    for (int64_t row = 0; row < q->rows; row++) {
        int64_t until = 0, all = 0;
        MPI_Scan(&r->own_k[row], &until, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
        all = until;
        MPI_Bcast(&all, 1, MPI_INT64_T, ranks - 1, MPI_COMM_WORLD);
        if (all != q->k || r->before[row] != until - r->own_k[row]) {
            (void)fprintf(stderr, "topk-bench-dist: rank %d, row %" PRId64 ": own_k or before is wrong\n",
                          rank, row);
            right = false;
        }
    }
    return right;
}

/* The worst result of the whole row that any rank has. */
static ranked worst_of(const questions *q, const results *r, int64_t of_whole) {
    const int64_t row = of_whole - q->properties->first_row;
    ranked own = {INT64_MAX, -1}, worst;
    const bool gets = row >= 0 && row < q->properties->rows;
    for (int64_t slot = 0; gets && slot < count_of(q, r, row); slot++) {
        const ranked result = result_at(q, r, row, slot);
        own = slot == 0 || is_no_worse(own, result) ? result : own;
    }
    MPI_Allreduce(&own.bits, &worst.bits, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
    own.position = own.bits == worst.bits ? own.position : -1;
    MPI_Allreduce(&own.position, &worst.position, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    return worst;
}

/* Ranks share the elements; each makes its own run. */
static bool check_whole(const questions *q, const results *r) {
    const int rank = rank_of_this(), ranks = count_of_ranks();
    bool right = true;
    for (int64_t row = 0; row < q->rows; row++) {
        const ranked worst = worst_of(q, r, row);
        int64_t own = 0, all = 0;
        for (int64_t p = run_begin(q->n, rank, ranks); p < run_begin(q->n, rank + 1, ranks); p++) {
            own += is_no_worse((ranked){bits_of(element_at(row, p)), p}, worst);
        }
        MPI_Allreduce(&own, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
        if (all != q->k) {
            if (rank == 0) {
                (void)fprintf(stderr,
                              "topk-bench-dist: row %" PRId64 ": %" PRId64 " elements are no worse than "
                              "the worst of %" PRId64 " results\n",
                              row, all, q->k);
            }
            right = false;
        }
    }
    return right;
}

/* ---- Wrong results ---- */

spoil spoil_of(const char *name) {
    static const char *const names[] = {"", "value", "index", "order", "twice", "missing", "number"};
    for (int s = SPOIL_VALUE; s <= SPOIL_NUMBER; s++) {
        if (strcmp(name, names[s]) == 0) {
            return (spoil)s;
        }
    }
    return SPOIL_NOTHING;
}

/* A worse element, behind the result before it, in place of the last result. */
static void put_worse(const questions *q, results *r, int64_t row, int64_t last) {
    const int64_t at = row * q->properties->pitch + last;
    const ranked old = result_at(q, r, row, last);
    int64_t p = old.position;
    do {
        p = p + 1 < q->n ? p + 1 : 0;
    } while (is_no_worse((ranked){bits_of(element_at(q->properties->first_row + row, p)), p}, old));
    r->indices[at] = p;
    r->values[at] = element_at(q->properties->first_row + row, p);
}

static void spoil_row(const questions *q, results *r, int64_t row) {
    const int64_t first = row * q->properties->pitch, last = first + count_of(q, r, row) - 1;
    const float value = r->values[first];
    const int64_t index = r->indices[first];
    switch (q->spoil) {
    case SPOIL_VALUE:
        r->values[first] = value / 2;
        break;
    case SPOIL_INDEX:
        r->indices[last]++;
        break;
    case SPOIL_ORDER:
        r->values[first] = r->values[first + 1];
        r->indices[first] = r->indices[first + 1];
        r->values[first + 1] = value;
        r->indices[first + 1] = index;
        break;
    case SPOIL_MISSING:
        put_worse(q, r, row, last - first);
        break;
    case SPOIL_NUMBER:
        if (r->own_k != NULL) {
            r->own_k[row]--;
            r->values[last] = -__builtin_inff(); /* padding, as far as the rank can see */
            r->indices[last] = -1;
            break;
        }
        /* fall through */
    default:
        r->values[first + 1] = value;
        r->indices[first + 1] = index;
        break;
    }
}

static void spoil_results(const questions *q, results *r) {
    const int64_t row = q->properties->rows - 1;
    int has = row >= 0 && count_of(q, r, row) >= 2 ? rank_of_this() : -1, last;
    MPI_Allreduce(&has, &last, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (has >= 0 && has == last) {
        spoil_row(q, r, row);
    }
}

bool check_results(const questions *q, results *r) {
    bool right = true;
    if (q->spoil != SPOIL_NOTHING) {
        spoil_results(q, r);
    }
    for (int64_t row = 0; row < q->properties->rows && right; row++) {
        right = check_row(q, r, row);
    }
    /* What follows reads as many slots as own_k says: it must be in range on all ranks. */
    int own = right, all;
    MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!all) {
        return false;
    }
    right = q->where != TOPK_DIST_IN_PLACE || check_numbers(q, r);
    return check_whole(q, r) && right;
}
