/* SPDX-License-Identifier: Apache-2.0 */
#include "../arrays/bits_file.h"
#include "../base/alloc.h"
#include "drive.h"
#include "run.h"

struct masking {
    struct task task;
    unsigned char *mask; /* of a piece */
    struct bits_file bits;
};

static void begin(struct task *task) {
    struct masking *masking = (struct masking *)task;
    const size_t element = topk_type_size(task->source.layout.type);
    task->source.text_piece = TEXT_CHUNK;
    limit_pieces(task, element, element);
    masking->mask = allocate(((uint64_t)source_span(&task->source) + 7) / 8, 1);
    bits_file_create(&masking->bits, task->options->bits_path);
}

static void take(struct task *task, const struct piece *piece) {
    struct masking *masking = (struct masking *)task;
    const unsigned char *mask = masking->mask;
    session_mask(&task->session, &task->problem, piece->values, task->predicate, masking->mask);
    for (int64_t i = 0; piece->text != NULL && i < piece->text->invalid_count; i++)
        masking->mask[piece->text->invalid[i] / 8] &= (unsigned char)~(1u << piece->text->invalid[i] % 8);
    for (int64_t r = 0; r < piece->rows; r++) {
        const int64_t first = r * task->problem.row_stride;
        if (!task->prints)
            bits_file_append(&masking->bits, mask, first, piece->length);
        for (int64_t i = first; task->prints && i < first + piece->length; i++)
            report_integer(&task->report, piece->row + r, "match", mask[i / 8] >> i % 8 & 1);
    }
}

static void end(struct task *task) {
    struct masking *masking = (struct masking *)task;
    if (!task->prints)
        bits_file_end(&masking->bits);
    release(masking->mask);
}

void run_mask(const struct options *options) {
    static const struct operation mask = {
        .command = "mask", .operation = TOPK_OPERATION_MASK, .begin = begin, .take = take, .end = end};
    struct masking masking = {.mask = NULL};
    drive(&masking.task, options, &mask);
}
