/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "reader.h"

#include <sys/random.h>

#include "../base/alloc.h"
#include "../base/fail.h"

enum {
    CHUNK_BYTES = 2 << 20,  /* for each thread */
    CHUNK_DIVISOR = 1 << 3, /* no more than this part of a piece: 32 MiB by default */
};

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

void reader_begin(struct reader *reader, struct session *session, const struct options *options,
                  const struct matrix *matrix, const topk_predicate *predicate, struct progress *progress) {
    const topk_type type = matrix->layout.type;
    const int64_t element = (int64_t)topk_type_size(type);
    const int64_t bytes =
        least(options->piece_bytes / CHUNK_DIVISOR, (int64_t)session_threads(session) * CHUNK_BYTES);
    *reader = (struct reader){.host = session->host,
                              .matrix = matrix,
                              .predicate = predicate,
                              .progress = progress,
                              .row = -1,
                              .passes_of_others = 1,
                              .length = matrix->layout.cols,
                              .chunk = bytes / element > SAMPLE_RUN ? bytes / element : SAMPLE_RUN};
    reader->problem = session_problem(options, type, 1, reader->chunk, 0);
    session_choose_freely(&reader->problem);
    pieces_begin(&reader->pieces, matrix, 0, matrix->layout.cols, reader->chunk, 1);
    if (predicate != NULL) {
        reader->values = allocate((uint64_t)reader->chunk, (size_t)element);
        reader->indices = allocate((uint64_t)reader->chunk, sizeof *reader->indices);
    }
}

void reader_end(struct reader *reader) {
    pieces_end(&reader->pieces);
    release(reader->values);
    release(reader->indices);
}

/* ---- What is likely left to do --------------------------------------------------------------- */

static uint64_t bytes_left(const struct reader *reader) {
    const int64_t others = reader->matrix->layout.rows - 1 - reader->row;
    const int64_t passes = reader->passes_left + others * reader->passes_of_others;
    return (uint64_t)(passes * reader->length) * topk_type_size(reader->problem.type);
}

void reader_expect(struct reader *reader, int passes) {
    const uint64_t before = bytes_left(reader);
    reader->passes_left = passes;
    if (reader->row == 0)
        reader->passes_of_others = reader->passes_made + passes;
    progress_revise(reader->progress, before, bytes_left(reader));
}

void reader_go(struct reader *reader, int64_t row) {
    const uint64_t before = bytes_left(reader);
    if (reader->passes_made > 0)
        reader->passes_of_others = reader->passes_made;
    reader->row = row;
    reader->passes_left = 1;
    reader->passes_made = 0;
    progress_revise(reader->progress, before, bytes_left(reader));
}

/* ---- Passes ---------------------------------------------------------------------------------- */

static void show(struct reader *reader, const void *elements, int64_t base, int64_t count,
                 reader_visit *visit, void *state) {
    struct shown shown = {elements, NULL, base, count};
    if (reader->predicate != NULL) {
        int64_t offsets[2];
        reader->problem.length_max = count;
        reader->problem.index_base = base;
        if (reader->host->filter != NULL)
            filter_apply(reader->host->filter, reader->host, &reader->problem, elements, NULL);
        session_where(reader->host, &reader->problem, elements, reader->predicate, reader->values,
                      reader->indices, reader->chunk, offsets);
        shown = (struct shown){reader->values, reader->indices, base, offsets[1]};
    }
    if (shown.count > 0)
        visit(state, &shown);
}

void reader_pass(struct reader *reader, reader_visit *visit, void *state) {
    const size_t element = topk_type_size(reader->problem.type);
    struct piece piece = {.length = 0};
    pieces_go(&reader->pieces, reader->row);
    reader->passes_left--;
    reader->passes_made++;
    while (piece.begin + piece.length < reader->length && pieces_next(&reader->pieces, &piece)) {
        show(reader, piece.values, piece.begin, piece.length, visit, state);
        progress_add(reader->progress, (uint64_t)piece.length * element);
    }
    matrix_check_end(reader->matrix);
}

/* ---- Samples --------------------------------------------------------------------------------- */

/* A number that looks random. */
static uint64_t scramble(uint64_t x) {
    x = (x ^ x >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ x >> 32;
}

static int64_t part_begin(int64_t length, int64_t part, int64_t parts) {
    return length / parts * part + length % parts * part / parts;
}

/* Copies one run from the part of the row that it belongs to. */
static void copy_run(const struct reader *reader, int64_t run, int64_t runs, uint64_t seed, void *to) {
    const int64_t low = part_begin(reader->length, run, runs);
    const int64_t places = part_begin(reader->length, run + 1, runs) - low - SAMPLE_RUN + 1;
    const int64_t at = low + (int64_t)(scramble(seed + (uint64_t)run) % (uint64_t)places);
    if (!matrix_elements(reader->matrix, reader->row, at, SAMPLE_RUN, to))
        fail("the input file has shrunk, or cannot be read");
}

void reader_sample(struct reader *reader, int64_t runs, reader_visit *visit, void *state) {
    enum { BATCH = 256 };
    int64_t elements[BATCH * SAMPLE_RUN]; /* of any type */
    const size_t run_bytes = SAMPLE_RUN * topk_type_size(reader->problem.type);
    const int64_t batch = least(BATCH, reader->chunk / SAMPLE_RUN);
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
        seed = (uintptr_t)reader; /* answers are the same; only time depends on it */
    for (int64_t first = 0; first < runs; first += batch) {
        const int64_t count = least(batch, runs - first);
        for (int64_t i = 0; i < count; i++)
            copy_run(reader, first + i, runs, seed, (char *)elements + (size_t)i * run_bytes);
        show(reader, elements, 0, count * SAMPLE_RUN, visit, state);
    }
}
