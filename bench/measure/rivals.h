/* SPDX-License-Identifier: Apache-2.0
 *
 * What others would do at a point, run beside the library. */
#ifndef BENCH_RIVALS_H
#define BENCH_RIVALS_H

#include "measure/device.h"

BENCH_C_BEGIN

enum {
    BENCH_RIVAL_SORTS = 1,     /* select: writes whole rows */
    BENCH_RIVAL_FLAGS = 2,     /* where: reads flags, a byte for each element, 1 where it matches */
    BENCH_RIVAL_ANY_ORDER = 4, /* where: results lie in any order */
    BENCH_RIVAL_WAITS = 8,     /* for the device; where: and tells the host how many matches there are */
    BENCH_RIVAL_BLOCKS = 16,   /* has blocks of the size that the point says */
    BENCH_RIVAL_VALUES = 32,   /* select: gives no indices */
    BENCH_RIVAL_NUMBERS = 64   /* select: numbers the elements itself, and is given no positions */
};

typedef struct bench_rival {
    const struct bench_rival_kind *kind;
    const bench_point *point;
    const bench_data *data; /* what it reads: the input or flags */
    const void *input;      /* the copy of it whose turn it is */
    double bound;           /* where: the elements above it match */
    bench_outputs outputs;
    int threads; /* CPU: of the session, until a run without scratch says how many it takes */
    size_t scratch_bytes;
    bench_buffer scratch; /* may hold garbage */
    /* On a GPU: */
    topk_stream stream;
    bench_buffer positions,
        offsets; /* select: of the elements in their rows, int32; where rows begin, int64 */
    bench_data flags;
    int64_t host_count; /* of the matches */
} bench_rival;

/* A sort always gives the best first, ties by lowest index; a top-k gives any order and any ties, and can do
 * a point that asks for no more. */
typedef struct bench_rival_kind {
    const char *name; /* NULL: past the last of a table */
    bool (*can)(const bench_point *point);
    /* One run. Without scratch it only says how many bytes it needs, so that it allocates nothing while it is
     * timed. False: a device error. */
    bool (*run)(bench_rival *rival);
    int traits;
} bench_rival_kind;

extern const bench_rival_kind bench_baselines[], bench_toolkit_rivals[], bench_device_baselines[],
    bench_device_selections[], bench_host_selections[];

/* All that is not timed. False: out of memory or a device error. Free it in any case. */
bool bench_rival_make(bench_session *session, const bench_rival_kind *kind, bench_rival *rival,
                      bench_result *result);
void bench_rival_free(bench_rival *rival);

/* For a bench_work; the state is a bench_rival. */
bool bench_rival_enqueue(void *state, int64_t turn);

BENCH_C_END

#endif /* BENCH_RIVALS_H */
