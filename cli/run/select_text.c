/* SPDX-License-Identifier: Apache-2.0 */
#include "../arrays/arrays.h"
#include "../base/alloc.h"
#include "../engine/keep.h"
#include "../engine/stream.h"
#include "../input/text.h"
#include "../output/progress.h"
#include "../output/report.h"
#include "run.h"

/* Results so far. */
struct best {
    int64_t count;
    int64_t room;
    union number *values;
    int64_t *indices;
};

static void take(struct best *best, struct stream *stream,
                 void (*write)(struct stream *stream, void *values, int64_t *indices)) {
    const int64_t slots = stream_slots(stream);
    if (slots > best->room) {
        best->room = slots > 2 * best->room ? slots : 2 * best->room;
        best->values = reallocate(best->values, (uint64_t)best->room, sizeof *best->values);
        best->indices = reallocate(best->indices, (uint64_t)best->room, sizeof *best->indices);
    }
    write(stream, best->values, best->indices);
    best->count = results_found(best->indices, slots);
}

/* Reads all lines; `keep` is NULL when their text is not wanted. It must know which lines are still among the
 * best after each chunk, whose text goes with the next one. */
static void read_lines(struct text *text, struct stream *stream, struct best *best, struct keep *keep,
                       bool quiet) {
    struct progress progress;
    progress_begin(&progress, quiet, text->size);
    while (text_next(text)) {
        for (struct run run = {0}; text_run(text, &run);)
            stream_push(stream, text->values + run.begin, run.end - run.begin, text->base + run.begin);
        if (keep != NULL) {
            take(best, stream, stream_peek);
            keep_update(keep, text, best->indices, best->count);
        }
        progress_update(&progress, text->bytes);
    }
    progress_end(&progress);
    if (keep == NULL)
        take(best, stream, stream_finish);
}

static void print_lines(const struct best *best, const struct keep *keep, const struct options *options,
                        const struct text *text) {
    struct report report;
    report_begin(&report, options, "select", text->format.type, false);
    for (int64_t i = 0; i < best->count; i++) {
        size_t length;
        const char *line = keep_find(keep, best->indices[i], &length);
        report_line(&report, best->indices[i], &best->values[i], line, length);
    }
    report_end(&report, 1, text->base);
}

/* Fills the slots behind the results, block by block. */
static void append_padding(struct arrays *arrays, struct session *session, const struct options *options,
                           topk_type type, int64_t slots) {
    enum { BLOCK = 4096 };
    union number values[BLOCK];
    int64_t indices[BLOCK];
    session_pad(session, options, type, BLOCK, values, indices);
    for (; slots > 0; slots -= BLOCK) {
        int64_t count = slots < BLOCK ? slots : BLOCK;
        npy_file_append(&arrays->values, values, count);
        npy_file_append(&arrays->indices, indices, count);
    }
}

static void select_arrays(struct text *text, struct stream *stream, struct best *best,
                          const struct options *options) {
    struct arrays arrays;
    arrays_begin(&arrays, options, text->format.type, -1, options->k);
    read_lines(text, stream, best, NULL, options->quiet);
    npy_file_append(&arrays.values, best->values, best->count);
    npy_file_append(&arrays.indices, best->indices, best->count);
    append_padding(&arrays, stream->session, options, text->format.type, options->k - best->count);
    arrays_end(&arrays);
}

static void select_lines(struct text *text, struct stream *stream, struct best *best,
                         const struct options *options) {
    struct keep keep = {0};
    read_lines(text, stream, best, &keep, options->quiet);
    print_lines(best, &keep, options, text);
    keep_end(&keep);
}

void run_select_text(const struct options *options) {
    struct text text;
    struct session session;
    struct stream stream;
    text_open(&text, options, options->k);
    session_begin(&session, options, options_selection(options), text.format.type, 0);
    struct best best = {0};
    topk_problem problem = session_problem(options, text.format.type, 1, text.count_max, options->k);
    stream_begin(&stream, &session, &problem, options_predicate(options), STREAM_ENDLESS);
    if (options_writes_arrays(options))
        select_arrays(&text, &stream, &best, options);
    else
        select_lines(&text, &stream, &best, options);
    release(best.values);
    release(best.indices);
    stream_end(&stream);
    session_end(&session);
    text_close(&text);
}
