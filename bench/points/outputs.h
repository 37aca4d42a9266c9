/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of the host or of a GPU, and where a call and its rivals write their results in it. */
#ifndef BENCH_OUTPUTS_H
#define BENCH_OUTPUTS_H

#include "points/point.h"

BENCH_C_BEGIN

/* Memory of the host or of a GPU. Both wait for all streams before they fill or copy, and after. */
typedef struct bench_memory {
    size_t page_bytes;               /* buffers of at least this size are aligned to it */
    void *(*allocate)(size_t bytes); /* NULL: out of memory */
    void (*release)(void *memory);
    bool (*fill)(void *to, int byte, size_t bytes);
    bool (*copy)(void *to, const void *from, size_t bytes); /* between the host and the device too */
} bench_memory;

extern const bench_memory bench_host_memory, bench_device_memory;

/* Lies between two guards, whose bytes nobody may change. Begin with a zeroed struct. */
typedef struct bench_buffer {
    const bench_memory *memory;
    void *data; /* on a GPU aligned to 256 bytes */
    size_t bytes;
    unsigned char *base; /* of the allocation, which may be larger than what is in use */
    size_t room;
} bench_buffer;

/* Makes room for `bytes`, kept from an earlier use if there is enough; the contents are garbage. False:
 * out of memory, and the buffer is empty, or a device error. */
bool bench_buffer_make(const bench_memory *memory, bench_buffer *buffer, size_t bytes);
void bench_buffer_free(bench_buffer *buffer);

/* Overwrites the contents, so that no result of an earlier run can pass for one of the next. */
bool bench_buffer_poison(const bench_buffer *buffer);

/* Whether nothing was written in front of or behind it, as far as the guards can tell. */
bool bench_buffer_intact(const bench_buffer *buffer);

/* For the self-test: whether that tells when a byte in front of or behind a buffer changes. */
bool bench_guards_notice(const bench_memory *memory);

enum { BENCH_PARTS = 3 };

/* What an operation does not write, and what a rival cannot give, is NULL. Begin with a zeroed struct. */
typedef struct bench_outputs {
    float *weights;      /* route: rows x k numbers */
    void *values;        /* select, select_where: rows x pitch elements; where: capacity elements */
    void *indices;       /* as many integers of index_type; route: rows x k */
    void *kth;           /* kth: rows elements */
    int64_t *better;     /* kth: rows counts */
    int64_t *equal;      /* kth: rows counts */
    int64_t *offsets;    /* where: rows + 1 counts */
    int64_t *counts;     /* count: rows counts */
    unsigned char *mask; /* mask: a bit for each element */
    int64_t capacity;    /* where: how many results there is room for */
    size_t value_bytes, index_bytes; /* of values, kth or mask, and of indices */
    int64_t pitch; /* select: slots from one row of results to the next; k, but for some rivals */
    /* where, of some rivals: */
    bool any_order;            /* the results are promised in no order */
    bool count_alone;          /* of the offsets only the last is given */
    const int64_t *host_count; /* NULL, or where on the host it is given */

    const bench_memory *memory;
    bench_buffer parts[BENCH_PARTS];
    int parts_used;
    bool complete; /* there was memory for all parts */
} bench_outputs;

/* Makes room for the results of a point in that memory; of where there are `pitch` matches. False: out of
 * memory or a device error. */
bool bench_outputs_make(bench_outputs *outputs, const bench_memory *memory, const bench_point *point,
                        int64_t pitch);
void bench_outputs_free(bench_outputs *outputs);

/* Whether it holds of each of their buffers: bench_buffer_poison or bench_buffer_intact. */
bool bench_outputs_all(const bench_outputs *outputs, bool (*holds)(const bench_buffer *part));

/* Makes others on the host with the same contents. */
bool bench_outputs_mirror(bench_outputs *mirror, const bench_outputs *outputs, const bench_point *point);

/* Changes right outputs; they are on the host. */
typedef void bench_spoil(const bench_point *point, bench_outputs *outputs);

/* Has outputs spoilt, wherever they are: a test of the checks. */
bool bench_outputs_spoil(bench_outputs *outputs, const bench_point *point, bench_spoil *spoil);

BENCH_C_END

#endif /* BENCH_OUTPUTS_H */
