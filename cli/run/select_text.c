/* SPDX-License-Identifier: Apache-2.0 */
#include "../arrays/arrays.h"
#include "../base/alloc.h"
#include "../engine/keep.h"
#include "../engine/stream.h"
#include "../input/text.h"
#include "../output/progress.h"
#include "../output/report.h"
#include "run.h"

/* Results so far: of k slots the first ones, as many as there were lines, or lines that meet the predicate.
 */
struct best {
    int64_t k;
    int64_t seen;
    union number *values;
    int64_t *indices;
};

static int64_t filled(const struct best *best) {
    return results_found(best->indices, best->seen < best->k ? best->seen : best->k);
}

/* Reads all lines; `keep` is NULL when their text is not wanted. */
static void read_lines(struct text *text, struct stream *stream, struct best *best, struct keep *keep,
                       bool quiet) {
    struct progress progress;
    progress_begin(&progress, quiet, text->size);
    while (text_next(text)) {
        stream_push(stream, text->values, text->count, text->base);
        best->seen = text->base + text->count;
        if (keep != NULL) {
            stream_peek(stream, best->values, best->indices);
            keep_update(keep, text, best->indices, filled(best));
        }
        progress_update(&progress, text->bytes);
    }
    progress_end(&progress);
    stream_peek(stream, best->values, best->indices);
}

static void print_lines(const struct best *best, const struct keep *keep, const struct options *options,
                        topk_type type) {
    struct report report;
    report_begin(&report, options, "select", type, false);
    for (int64_t i = 0; i < filled(best); i++) {
        size_t length;
        const char *line = keep_find(keep, best->indices[i], &length);
        report_line(&report, best->indices[i], &best->values[i], line, length);
    }
    report_end(&report, 1, best->seen);
}

static void select_arrays(struct text *text, struct stream *stream, struct best *best,
                          const struct options *options) {
    struct arrays arrays;
    arrays_begin(&arrays, options, text->format.type, -1, best->k);
    read_lines(text, stream, best, NULL, options->quiet);
    npy_file_append(&arrays.values, best->values, best->k);
    npy_file_append(&arrays.indices, best->indices, best->k);
    arrays_end(&arrays);
}

static void select_lines(struct text *text, struct stream *stream, struct best *best,
                         const struct options *options) {
    struct keep keep;
    keep_begin(&keep, best->k);
    read_lines(text, stream, best, &keep, options->quiet);
    print_lines(best, &keep, options, text->format.type);
    keep_end(&keep);
}

void run_select_text(const struct options *options) {
    struct text text;
    struct session session;
    struct stream stream;
    text_open(&text, options, options->k);
    session_begin(&session, options, options_selection(options), text.format.type);
    bool arrays = options->values_path != NULL || options->indices_path != NULL;
    struct best best = {.k = options->k};
    if (!arrays && best.k > text_lines_most(&text)) /* only arrays have padding */
        best.k = text_lines_most(&text);
    topk_problem problem = session_problem(options, text.format.type, 1, text.count_max, best.k);
    stream_begin(&stream, &session, &problem, options_predicate(options));
    best.values = allocate((uint64_t)best.k, sizeof *best.values);
    best.indices = allocate((uint64_t)best.k, sizeof *best.indices);
    if (arrays)
        select_arrays(&text, &stream, &best, options);
    else
        select_lines(&text, &stream, &best, options);
    release(best.values);
    release(best.indices);
    stream_end(&stream);
    session_end(&session);
    text_close(&text);
}
