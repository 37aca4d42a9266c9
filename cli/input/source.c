/* SPDX-License-Identifier: Apache-2.0 */
#include "source.h"

void source_open(struct source *source, const struct options *options, int64_t lines_wanted) {
    *source = (struct source){.is_text = options->format == FORMAT_TEXT};
    if (source->is_text) {
        text_open(&source->text, options, lines_wanted);
        source->layout = (struct layout){.type = source->text.format.type, .rows = 1};
        source->bytes = source->text.size;
        source->rows_max = 1;
        source->length_max = source->text.count_max;
    } else {
        matrix_open(&source->matrix, options);
        source->layout = source->matrix.layout;
        source->bytes = source->matrix.size;
    }
}

void source_limit(struct source *source, int64_t elements_max, int64_t rows_max) {
    if (source->is_text)
        return;
    pieces_begin(&source->pieces, &source->matrix, elements_max, rows_max);
    source->rows_max = source->pieces.rows_max;
    source->length_max = source->pieces.length_max;
}

int64_t source_span(const struct source *source) {
    return source->is_text ? source->length_max : pieces_span(&source->pieces);
}

/* The next piece of the text's current chunk; false if there is none. */
static bool next_of_chunk(struct source *source, struct piece *piece) {
    struct text *text = &source->text;
    int64_t begin = 0, end = text->count;
    if (source->text_piece == TEXT_RUN) {
        if (!text_run(text, &source->run))
            return false;
        begin = source->run.begin;
        end = source->run.end;
    } else if (source->run.end == text->count) {
        return false;
    } else {
        source->run.end = text->count;
        end = source->text_piece == TEXT_VALUES ? text_compact(text) : end;
    }
    *piece = (struct piece){.values = text->values + begin,
                            .rows = 1,
                            .begin = text->base + begin,
                            .length = end - begin,
                            .text = text};
    struct run following = source->run;
    piece->ends_chunk = !text_run(text, &following);
    return true;
}

bool source_next(struct source *source, struct piece *piece) {
    if (!source->is_text)
        return pieces_next(&source->pieces, piece);
    while (!next_of_chunk(source, piece)) {
        if (!text_next(&source->text))
            return false;
        source->run = (struct run){0};
        source->layout.cols = source->text.base + source->text.count;
    }
    return true;
}

bool source_ends_rows(const struct source *source, const struct piece *piece) {
    return !source->is_text && piece->begin + piece->length == source->layout.cols;
}

uint64_t source_done(const struct source *source) {
    return source->is_text ? source->text.bytes : pieces_done(&source->pieces);
}

void source_close(struct source *source) {
    if (source->is_text) {
        text_close(&source->text);
        return;
    }
    pieces_end(&source->pieces);
    matrix_close(&source->matrix);
}
