/* SPDX-License-Identifier: Apache-2.0 */
#include "drive.h"

#include <stdlib.h>
#include <string.h>

#include "../base/alloc.h"
#include "../base/fail.h"
#include "../engine/bounds.h"
#include "../output/output.h"

/* A piece that is not mapped is a copy. It should fit where a mapping does not. */
enum { UNMAPPED_PIECE_BYTES = 16 << 20 };

void limit_pieces(struct task *task, size_t element_bytes, size_t row_bytes) {
    const int64_t bytes = session_piece_bytes(&task->session, task->options, task->source.layout.type);
    source_limit(&task->source, bytes / (int64_t)element_bytes, bytes / (int64_t)row_bytes);
}

/* What a rank says of the lines that it passed over. */
struct skipped {
    int64_t lines, first, file;
    char reason[sizeof((struct text *)NULL)->reason];
};

/* Has the root say what all ranks passed over. */
static void share_skipped(struct task *task, const struct ranks_lines *before) {
    struct text *text = &task->source.text;
    struct ranks_bytes bytes = {NULL, text->invalid_total > 0 ? sizeof(struct skipped) : 0};
    struct skipped *all = allocate(1, sizeof *all);
    *all = (struct skipped){.lines = text->invalid_total};
    if (text->invalid_total > 0) {
        all->first = text->first_invalid + (text->first_invalid_range == 0 ? before->in_file : 0);
        all->file = text->ranges[text->first_invalid_range].file;
        memcpy(all->reason, text->reason, sizeof all->reason);
    }
    bytes.bytes = (char *)all;
    task->ranks->gather(&bytes);
    all = (struct skipped *)(void *)bytes.bytes;
    text->invalid_total = 0;
    for (uint64_t i = 0; i < bytes.size / sizeof *all; i++)
        text->invalid_total += all[i].lines;
    if (bytes.size > 0) {
        text->first_invalid = all->first;
        text->first_invalid_name =
            task->options->shards != NULL ? task->options->shards[all->file].path : NULL;
        memcpy(text->reason, all->reason, sizeof all->reason);
    }
    release(all);
}

/* This rank has read all its lines. */
static void end_lines(struct task *task) {
    const struct text *text = &task->source.text;
    task->ranks->end_lines(text->ranges[text->range].file, text->base + text->count - text->range_base);
}

/* The others may not have. */
static void place_lines(struct task *task) {
    struct source *source = &task->source;
    const struct text *text = &source->text;
    const struct ranks_lines before =
        task->ranks->place_lines(text->ranges[0].file, text->base + text->count);
    task->lines_before = before.before;
    source->layout.cols = before.all;
    share_skipped(task, &before);
}

/* The header comes before the whole lines that are printed. */
static void print_header(struct task *task, const struct operation *operation) {
    const struct text *text = &task->source.text;
    const bool prints_lines = operation->operation == TOPK_OPERATION_WHERE ||
                              operation->operation == TOPK_OPERATION_SELECT ||
                              operation->operation == TOPK_OPERATION_SELECT_WHERE;
    if (task->prints && prints_lines && text->header_length > 0 && !task->options->json)
        output_bytes(text->header, text->header_length);
}

static void take_pieces(struct task *task, const struct operation *operation) {
    const struct source *source = &task->source;
    bool begun = false;
    for (struct piece piece; source_next(&task->source, &piece);
         progress_update(&task->progress, source_done(source))) {
        if (!begun)
            print_header(task, operation);
        begun = true;
        task->problem.rows = piece.rows;
        task->problem.length_max = piece.length;
        task->problem.index_base = piece.begin;
        if (task->session.filter != NULL && piece.beyond == NULL)
            filter_apply(&task->filter, &task->session, &task->problem, piece.values, piece.met);
        operation->take(task, &piece);
        if (operation->end_rows != NULL && source_ends_rows(source, &piece))
            operation->end_rows(task, piece.row, piece.rows);
    }
    if (!begun)
        print_header(task, operation);
    if (task->ranks != NULL && source->is_text)
        end_lines(task);
    if (task->ranks != NULL && operation->end_part != NULL)
        operation->end_part(task);
    if (task->ranks != NULL && source->is_text)
        place_lines(task);
    if (operation->end_rows != NULL && source->is_text)
        operation->end_rows(task, 0, 1);
}

/* A rank has a part of the input, its share of the processors and, unless it is the root, nothing to say. */
static void take_rank(struct task *task, struct options *own) {
    struct source *source = &task->source;
    task->ranks = own->ranks;
    if (task->ranks == NULL)
        return;
    if (source->layout.matrix)
        fail_usage("--mpi shares out a vector, and '%s' is a matrix: --flat makes one row of an npy array",
                   own->name);
    source_take_part(source, task->ranks->rank, task->ranks->count);
    own->context.backend = TOPK_BACKEND_CPU;
    if (own->context.threads == 0 && getenv("OMP_NUM_THREADS") == NULL)
        own->context.threads = task->ranks->threads;
    if (task->ranks->rank > 0) {
        own->quiet = true;
        own->values_path = own->indices_path = NULL;
    }
    task->ranks->meet();
}

/* What elements of this input must meet. */
static void resolve(struct task *task) {
    const struct options *options = task->options;
    if (!options_filters(options))
        return;
    task->filter.count = bounds_predicates(options, task->source.layout.type, task->filter.predicates);
    task->as_resolved = task->filter.predicates[0];
    task->predicate = &task->as_resolved;
    if (!options_masks(options))
        return;
    filter_begin(&task->filter, &task->as_resolved);
    task->session.filter = &task->filter;
}

void drive(struct task *task, const struct options *given, const struct operation *operation) {
    struct source *source = &task->source;
    struct options own = *given;
    const struct options *options = &own;
    task->options = options;
    source_open(source, options);
    task->prints = !operation->silent && !options_writes_arrays(options);
    take_rank(task, &own);
    if (!source->is_text && matrix_is_unmapped(&source->matrix) && own.piece_bytes > UNMAPPED_PIECE_BYTES)
        own.piece_bytes = UNMAPPED_PIECE_BYTES;
    const topk_type type = source->layout.type;
    /* kth copies rows to a GPU through slots only where they are longer than a piece. */
    const bool long_rows =
        (uint64_t)source->layout.cols * topk_type_size(type) > (uint64_t)options->piece_bytes;
    const bool streams = options->k >= 0 && operation->operation != TOPK_OPERATION_KTH_WHERE &&
                         (operation->operation != TOPK_OPERATION_KTH || long_rows);
    session_begin(&task->session, options, operation->operation, type,
                  streams && !source->is_text ? source->bytes : 0);
    source_share(source, session_threads(&task->session));
    if (!source->is_text && source->matrix.shards.list == NULL)
        task->session.input = &source->matrix;
    resolve(task);
    task->problem = session_problem(options, type, 0, 0, 0);
    task->problem.row_stride = source->layout.stride;
    if (task->prints)
        report_begin(&task->report, options, operation->command, type, source->layout.matrix);
    if (task->prints && options->flat)
        report_positions(&task->report, &source->layout);
    progress_begin(&task->progress, options->quiet, source->bytes);
    operation->begin(task);
    if (operation->take_all == NULL || !operation->take_all(task))
        take_pieces(task, operation);
    progress_end(&task->progress);
    operation->end(task);
    if (task->prints)
        report_end(&task->report, source->layout.rows, source->layout.cols);
    session_end(&task->session);
    filter_end(&task->filter);
    source_close(source);
    if (task->ranks != NULL)
        task->ranks->meet();
}
