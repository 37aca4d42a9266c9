/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of a device. */
#ifndef BENCH_MEMORY_H
#define BENCH_MEMORY_H

#include "topk.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Begin with a zeroed struct. */
typedef struct bench_buffer {
    void *data;
    size_t bytes;
    unsigned char *base; /* of the allocation, which may be larger than what is in use */
    size_t room;
} bench_buffer;

typedef struct bench_memory {
    /* Makes room for so many bytes, kept from an earlier use if there is enough; the contents are garbage.
     * False: out of memory, and the buffer is empty. */
    bool (*make)(bench_buffer *buffer, size_t bytes);
    void (*free)(bench_buffer *buffer);
    /* Overwrites the contents, so that no result of an earlier run can pass for one of the next. */
    bool (*poison)(const bench_buffer *buffer, topk_stream stream);
    /* Whether nothing was written in front of or behind it, as far as the device can tell. Waits for the
     * stream. */
    bool (*intact)(const bench_buffer *buffer, topk_stream stream);
    /* Copies between the host and the device. Waits for all streams before and after. */
    bool (*copy)(void *to, const void *from, size_t bytes);
} bench_memory;

extern const bench_memory bench_host_memory, bench_device_memory;

#ifdef __cplusplus
}
#endif

#endif /* BENCH_MEMORY_H */
