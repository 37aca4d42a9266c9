/* SPDX-License-Identifier: Apache-2.0 */
#include "source.h"

enum { TEXT_PIECE_LINES = 1 << 18 };

void source_open(struct source *source, const struct options *options) {
    *source = (struct source){.is_text = options->format == FORMAT_TEXT};
    if (source->is_text) {
        text_open(&source->text, options);
        source->layout = (struct layout){.type = source->text.format.type, .rows = 1};
        source->bytes = source->text.size;
        source->rows_max = 1;
        source->length_max = TEXT_PIECE_LINES;
    } else {
        matrix_open(&source->matrix, options);
        source->layout = source->matrix.layout;
        source->bytes = source->matrix.size;
        source->end = source->layout.cols;
    }
}

/* Where part `part` of `length` elements begins. */
static int64_t part_begin(int64_t length, int part, int parts) {
    const int64_t rest = length % parts;
    return length / parts * part + (part < rest ? part : rest);
}

void source_take_part(struct source *source, int part, int parts) {
    const int64_t length = source->layout.cols;
    if (source->is_text) {
        text_take_part(&source->text, part, parts);
        source->bytes = source->text.size;
        return;
    }
    source->bytes /= (uint64_t)parts;
    source->first = part_begin(length, part, parts);
    source->end = part_begin(length, part + 1, parts);
}

void source_share(struct source *source, int threads) {
    if (source->is_text)
        text_share(&source->text, threads);
}

void source_limit(struct source *source, int64_t elements_max, int64_t rows_max) {
    if (source->is_text)
        return;
    pieces_begin(&source->pieces, &source->matrix, source->first, source->end, elements_max, rows_max);
    source->rows_max = source->pieces.rows_max;
    source->length_max = source->pieces.length_max;
}

bool source_divides_rows(const struct source *source) {
    const bool in_shards = source->matrix.shards.list != NULL && !source->layout.matrix;
    return source->is_text || in_shards || source->length_max < source->layout.cols;
}

int64_t source_span(const struct source *source) {
    return source->is_text ? source->length_max : pieces_span(&source->pieces);
}

/* The lines of the text's current chunk, or its values, that come next without a gap. */
static bool next_run(struct source *source) {
    struct text *text = &source->text;
    if (source->text_piece == TEXT_RUN)
        return text_run(text, &source->run);
    const bool first = source->run.end == 0 && text->count > 0;
    if (first)
        source->run.end = source->text_piece == TEXT_VALUES ? text_compact(text) : text->count;
    return first && source->run.end > 0;
}

/* The next number beyond float64 whose line is before `end`; false if there is none. */
static bool next_beyond(struct source *source, int64_t end, struct piece *piece) {
    const struct text *text = &source->text;
    if (source->text_piece == TEXT_CHUNK || source->beyond_done == text->beyond_count ||
        text->beyond[source->beyond_done].line >= end)
        return false;
    const struct text_beyond *next = &text->beyond[source->beyond_done++];
    *piece =
        (struct piece){.rows = 1, .begin = text->base + next->line, .text = text, .beyond = &next->number};
    return true;
}

/* The next piece of the text's current chunk; false if there is none. */
static bool next_of_chunk(struct source *source, struct piece *piece) {
    const struct text *text = &source->text;
    struct run *run = &source->run;
    if (source->run_done == run->end) {
        const bool more = next_run(source);
        source->run_done = more ? run->begin : run->end;
        if (!more)
            return next_beyond(source, text->count, piece);
    }
    if (source->text_piece == TEXT_RUN && next_beyond(source, run->begin, piece))
        return true;
    const int64_t begin = source->run_done, left = run->end - begin;
    source->run_done += left < source->length_max ? left : source->length_max;
    *piece = (struct piece){.values = text->values + begin,
                            .rows = 1,
                            .begin = text->base + begin,
                            .length = source->run_done - begin,
                            .text = text,
                            .met = text->met != NULL ? text->met + begin : NULL};
    return true;
}

bool source_next(struct source *source, struct piece *piece) {
    if (!source->is_text)
        return pieces_next(&source->pieces, piece);
    while (!next_of_chunk(source, piece)) {
        if (!text_next(&source->text))
            return false;
        source->run = (struct run){0};
        source->run_done = source->beyond_done = 0;
        source->layout.cols = source->text.base + source->text.count;
    }
    return true;
}

bool source_ends_rows(const struct source *source, const struct piece *piece) {
    return !source->is_text && piece->begin + piece->length == source->end;
}

uint64_t source_done(const struct source *source) {
    return source->is_text ? source->text.bytes.total : pieces_done(&source->pieces);
}

void source_close(struct source *source) {
    if (source->is_text) {
        text_say_skipped(&source->text);
        text_close(&source->text);
        return;
    }
    pieces_end(&source->pieces);
    matrix_close(&source->matrix);
}
