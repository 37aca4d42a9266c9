/* SPDX-License-Identifier: Apache-2.0
 * What a backend does for topk_transfer.h. All has been validated, and there is something to do. */
#ifndef TOPK_SRC_TRANSFER_H
#define TOPK_SRC_TRANSFER_H

#include "problem.h"
#include "topk_transfer.h"

/* Rows of numbers, and which of them are to become -2: topk_break_rows(). */
struct breaking {
    int64_t rows, from_pitch, to_pitch;
    topk_index_type from_type, to_type;
    const void *from;
    void *to;
};

/* Streams, and what they wait for. */
struct stream_calls {
    topk_status (*create_stream)(const topk_context *context, topk_stream *stream);
    topk_status (*destroy_stream)(const topk_context *context, topk_stream stream);
    topk_status (*create_event)(const topk_context *context, topk_event *event);
    topk_status (*destroy_event)(const topk_context *context, topk_event event);
    topk_status (*record)(const topk_context *context, topk_event event, topk_stream stream);
    topk_status (*await)(const topk_context *context, topk_event event, topk_stream stream);
    topk_status (*wait_event)(const topk_context *context, topk_event event);
};

/* At least one row, of at least one byte. */
struct copied_rows {
    void *to;
    const void *from;
    size_t to_pitch, from_pitch, row_bytes;
    int64_t rows;
};

struct transfers {
    topk_status (*copy)(const topk_context *context, void *to, const void *from, size_t bytes,
                        topk_stream stream);
    topk_status (*fill)(const topk_context *context, void *to, int byte, size_t bytes, topk_stream stream);
    topk_status (*wait)(const topk_context *context, topk_stream stream);
    /* Memory of the host. The backend itself allocates the device's memory (method.h). */
    topk_status (*allocate_host)(const topk_context *context, size_t bytes, void **memory);
    topk_status (*release_host)(const topk_context *context, void *memory);
    topk_status (*renumber)(const topk_context *context, const topk_renumbering *renumbering,
                            const void *from, void *to, topk_stream stream);
    topk_status (*copy_rows)(const topk_context *context, const struct copied_rows *rows, topk_stream stream);
    topk_status (*add)(const topk_context *context, int64_t count, const int64_t *from, int64_t *to,
                       topk_stream stream);
    /* NULL where calls return when their work is done. */
    const struct stream_calls *streams;
    topk_status (*find_descents)(const topk_context *context, const struct plan *plan,
                                 const topk_input *input, int64_t *places, topk_stream stream);
    topk_status (*break_rows)(const topk_context *context, const struct breaking *breaking,
                              topk_stream stream);
};

#endif
