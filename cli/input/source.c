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

bool source_next(struct source *source, struct piece *piece) {
    if (!source->is_text)
        return pieces_next(&source->pieces, piece);
    const struct text *text = &source->text;
    if (!text_next(&source->text))
        return false;
    *piece = (struct piece){.values = text->values,
                            .rows = 1,
                            .begin = text->base,
                            .length = text->count,
                            .text = text,
                            .ends_chunk = true};
    source->layout.cols = text->base + text->count;
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
