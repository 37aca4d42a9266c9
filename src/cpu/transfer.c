/* SPDX-License-Identifier: Apache-2.0
 * Moving data where the device is the host. */
#include "../transfer.h"

#include <stdlib.h>
#include <string.h>

#include "../status.h"
#include "methods.h"
#include "team.h"

static topk_status copy(const topk_context *context, void *to, const void *from, size_t bytes,
                        topk_stream stream) {
    (void)context, (void)stream;
    memcpy(to, from, bytes);
    return TOPK_OK;
}

static topk_status copy_rows(const topk_context *context, const struct copied_rows *c, topk_stream stream) {
    (void)context, (void)stream;
    for (int64_t row = 0; row < c->rows; row++) {
        memcpy((char *)c->to + (size_t)row * c->to_pitch, (const char *)c->from + (size_t)row * c->from_pitch,
               c->row_bytes);
    }
    return TOPK_OK;
}

static topk_status fill(const topk_context *context, void *to, int byte, size_t bytes, topk_stream stream) {
    (void)context, (void)stream;
    memset(to, byte, bytes);
    return TOPK_OK;
}

static topk_status wait_for(const topk_context *context, topk_stream stream) {
    (void)context, (void)stream;
    return TOPK_OK;
}

static topk_status allocate_host(const topk_context *context, size_t bytes, void **memory) {
    (void)context;
    *memory = malloc(bytes);
    return *memory != NULL ? TOPK_OK
                           : topk_fail(TOPK_ERROR_OUT_OF_MEMORY, "cannot allocate %zu bytes", bytes);
}

static topk_status release_host(const topk_context *context, void *memory) {
    (void)context;
    free(memory);
    return TOPK_OK;
}

/* By unsigned arithmetic: what does not fit is the caller's. */
static int64_t renumbered(const topk_renumbering *r, int64_t number) {
    return number < 0 ? number : (int64_t)((uint64_t)number * (uint64_t)r->factor + (uint64_t)r->addend);
}

static topk_status renumber(const topk_context *context, const topk_renumbering *r, const void *from,
                            void *to, topk_stream stream) {
    (void)context, (void)stream;
    for (int64_t i = 0; i < r->count; i++) {
        const int64_t number =
            r->from_type == TOPK_INDEX_I32 ? ((const int32_t *)from)[i] : ((const int64_t *)from)[i];
        if (r->to_type == TOPK_INDEX_I32) {
            ((int32_t *)to)[i] = (int32_t)renumbered(r, number);
        } else {
            ((int64_t *)to)[i] = renumbered(r, number);
        }
    }
    return TOPK_OK;
}

static topk_status add(const topk_context *context, int64_t count, const int64_t *from, int64_t *to,
                       topk_stream stream) {
    (void)context, (void)stream;
    for (int64_t i = 0; i < count; i++) {
        to[i] = (int64_t)((uint64_t)to[i] + (uint64_t)from[i]);
    }
    return TOPK_OK;
}

/* ---- Rows whose positions do not ascend ---- */

/* Numbers that a thread looks at before it looks for the place, at least: more where rows have more chunks
 * than threads could need. A row's own length is not known before. */
enum { DESCENT_CHUNK = 1 << 13, DESCENT_CHUNKS = 1 << 14 };

struct descents {
    const struct plan *plan;
    const topk_input *input;
    int64_t *places;
    int64_t chunk, chunks; /* numbers of one; and how many the longest row has */
};

/* Whether a number is negative or not above the one before: then the sign bit is set, whichever number it is.
 * A number behind a negative one is not looked at. No branch within, so that the loops are vectorised. */
static bool descends_narrow(const uint32_t *numbers, int64_t first, int64_t end) {
    uint32_t signs = numbers[first];
    for (int64_t i = first > 0 ? first : 1; i < end; i++) {
        signs |= numbers[i] | (numbers[i] - numbers[i - 1] - 1);
    }
    return signs >> 31 != 0;
}

static bool descends_wide(const uint64_t *numbers, int64_t first, int64_t end) {
    uint64_t signs = numbers[first];
    for (int64_t i = first > 0 ? first : 1; i < end; i++) {
        signs |= numbers[i] | (numbers[i] - numbers[i - 1] - 1);
    }
    return signs >> 63 != 0;
}

static int64_t find_descent(topk_index_type type, const void *row, int64_t first, int64_t end) {
    for (int64_t i = first; i < end; i++) {
        const int64_t number = read_extent(row, i, type);
        if (number < 0 || (i > 0 && number <= read_extent(row, i - 1, type))) {
            return i;
        }
    }
    return -1;
}

/* The first place of a row is the least one of its chunks: -1, as an unsigned number, is the greatest. */
static void tell_place(int64_t *place, int64_t found) {
    int64_t known = __atomic_load_n(place, __ATOMIC_RELAXED);
    while ((uint64_t)found < (uint64_t)known &&
           !__atomic_compare_exchange_n(place, &known, found, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

static void look_at_share(void *of, int part, int parts) {
    const struct descents *const d = of;
    const topk_index_type type = d->plan->problem.index_type;
    const size_t units = (size_t)(d->plan->problem.rows * d->chunks), end = share(units, part + 1, parts);
    for (size_t unit = share(units, part, parts); unit < end; unit++) {
        const int64_t row = (int64_t)unit / d->chunks, first = (int64_t)unit % d->chunks * d->chunk;
        const struct row_extent extent = plan_row(d->plan, d->input, row);
        const int64_t last = extent.length < first + d->chunk ? extent.length : first + d->chunk;
        const char *const numbers =
            (const char *)d->input->indices + (size_t)extent.begin * d->plan->index_bytes;
        const bool descends =
            first < last &&
            (type == TOPK_INDEX_I32 ? descends_narrow((const uint32_t *)(const void *)numbers, first, last)
                                    : descends_wide((const uint64_t *)(const void *)numbers, first, last));
        if (descends) {
            tell_place(&d->places[row], find_descent(type, numbers, first, last));
        }
    }
}

static topk_status find_descents(const topk_context *context, const struct plan *plan,
                                 const topk_input *input, int64_t *places, topk_stream stream) {
    const int64_t length = plan->problem.length_max, rows = plan->problem.rows;
    const int64_t most = DESCENT_CHUNKS / rows + 1, wanted = length / DESCENT_CHUNK + 1;
    const int64_t chunks = wanted < most ? wanted : most;
    struct descents d = {plan, input, places, length / chunks + (length % chunks != 0), chunks};
    (void)stream;
    memset(places, 0xff, (size_t)plan->problem.rows * sizeof *places);
    topk_cpu_team_run(context, team_size(topk_context_threads(context), plan->input_elements), look_at_share,
                      &d);
    return TOPK_OK;
}

static topk_status break_rows(const topk_context *context, const struct breaking *b, topk_stream stream) {
    (void)context, (void)stream;
    for (int64_t row = 0; row < b->rows; row++) {
        const bool is_broken = read_extent(b->from, row * b->from_pitch, b->from_type) < -1;
        for (int64_t i = row * b->to_pitch; i < (row + 1) * b->to_pitch && is_broken; i++) {
            if (b->to_type == TOPK_INDEX_I32) {
                ((int32_t *)b->to)[i] = -2;
            } else {
                ((int64_t *)b->to)[i] = -2;
            }
        }
    }
    return TOPK_OK;
}

const struct transfers topk_cpu_transfers = {.copy = copy,
                                             .fill = fill,
                                             .wait = wait_for,
                                             .allocate_host = allocate_host,
                                             .release_host = release_host,
                                             .renumber = renumber,
                                             .copy_rows = copy_rows,
                                             .add = add,
                                             .find_descents = find_descents,
                                             .break_rows = break_rows};
