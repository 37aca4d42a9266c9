/* SPDX-License-Identifier: Apache-2.0 */
#include "../arrays/bits_file.h"
#include "../base/alloc.h"
#include "../engine/bounds.h"
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

/* Sets the bits of numbers beyond float64 that meet the predicate. */
static void set_beyond(const struct options *options, unsigned char *mask, const struct piece *piece) {
    const struct text *text = piece->text;
    const int64_t first = piece->begin - text->base;
    for (int64_t i = 0; i < text->beyond_count; i++) {
        const int64_t bit = text->beyond[i].line - first;
        if (bit >= 0 && bit < piece->length && bounds_met(options, &text->beyond[i].number))
            mask[bit / 8] |= (unsigned char)(1u << bit % 8);
    }
}

/* Lines that hold no number match nothing. */
static void clear_invalid(unsigned char *mask, const struct piece *piece) {
    const struct text *text = piece->text;
    const int64_t first = piece->begin - text->base;
    for (int64_t i = 0; i < text->invalid_count; i++) {
        const int64_t bit = text->invalid[i] - first;
        if (bit >= 0 && bit < piece->length)
            mask[bit / 8] &= (unsigned char)~(1u << bit % 8);
    }
}

static void take(struct task *task, const struct piece *piece) {
    struct masking *masking = (struct masking *)task;
    const unsigned char *mask = masking->mask;
    session_mask(&task->session, &task->problem, piece->values, task->predicate, masking->mask);
    if (piece->text != NULL) {
        clear_invalid(masking->mask, piece);
        set_beyond(task->options, masking->mask, piece);
    }
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
