/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "reader.h"

#include <sys/random.h>

#include "../base/alloc.h"
#include "../base/fail.h"

enum {
    CHUNK_BYTES = 1 << 20, /* stays in the cache between the passes over it */
    PARTS_PER_THREAD = 2,
};

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

void reader_begin(struct reader *reader, struct session *session, const struct options *options,
                  const struct matrix *matrix, const topk_predicate *predicate, struct progress *progress) {
    const topk_type type = matrix->layout.type;
    const size_t element = topk_type_size(type);
    const int64_t chunk = least(options->piece_bytes, CHUNK_BYTES) / (int64_t)element;
    *reader = (struct reader){.host = session->host,
                              .matrix = matrix,
                              .predicate = predicate,
                              .progress = progress,
                              .length = matrix->layout.cols,
                              .chunk = chunk > SAMPLE_RUN ? chunk : SAMPLE_RUN};
    reader->problem = session_problem(options, type, 1, reader->chunk, 0);
    session_choose_freely(&reader->problem);
    reader->elements = allocate((uint64_t)reader->chunk, element);
    if (predicate != NULL) {
        reader->values = allocate((uint64_t)reader->chunk, element);
        reader->indices = allocate((uint64_t)reader->chunk, sizeof *reader->indices);
    }
    team_begin(&reader->team, session_threads(session));
}

void reader_end(struct reader *reader) {
    team_end(&reader->team);
    release(reader->elements);
    release(reader->values);
    release(reader->indices);
}

void reader_go(struct reader *reader, int64_t row) {
    matrix_check_rows(reader->matrix, row, 1);
    reader->row = row;
}

/* ---- Copies, by several threads -------------------------------------------------------------- */

/* `count` elements of the row from `begin` on. */
struct copy {
    const struct reader *reader;
    int64_t begin, count;
    int64_t per_part; /* elements that one thread copies at a time */
};

static bool copy_part(const void *work, int64_t part) {
    const struct copy *copy = work;
    const struct reader *reader = copy->reader;
    const int64_t at = part * copy->per_part;
    return matrix_elements(reader->matrix, reader->row, copy->begin + at,
                           least(copy->per_part, copy->count - at),
                           (char *)reader->elements + (size_t)at * topk_type_size(reader->problem.type));
}

static void share(struct reader *reader, team_function *function, const void *work, int64_t parts) {
    struct job job;
    team_start(&reader->team, &job, function, work, parts);
    if (!team_wait(&reader->team, &job))
        fail("the input file has shrunk, or cannot be read");
}

static void show(struct reader *reader, int64_t base, int64_t count, reader_visit *visit, void *state) {
    struct shown shown = {reader->elements, NULL, base, count};
    if (reader->predicate != NULL) {
        int64_t offsets[2];
        reader->problem.length_max = count;
        reader->problem.index_base = base;
        session_where(reader->host, &reader->problem, reader->elements, reader->predicate, reader->values,
                      reader->indices, reader->chunk, offsets);
        shown = (struct shown){reader->values, reader->indices, base, offsets[1]};
    }
    if (shown.count > 0)
        visit(state, &shown);
}

void reader_pass(struct reader *reader, reader_visit *visit, void *state) {
    const int64_t parts = (int64_t)(reader->team.count + 1) * PARTS_PER_THREAD;
    const size_t element = topk_type_size(reader->problem.type);
    for (int64_t begin = 0; begin < reader->length; begin += reader->chunk) {
        const int64_t count = least(reader->length - begin, reader->chunk);
        const struct copy copy = {reader, begin, count, (count + parts - 1) / parts};
        share(reader, copy_part, &copy, (count + copy.per_part - 1) / copy.per_part);
        show(reader, begin, count, visit, state);
        progress_add(reader->progress, (uint64_t)count * element);
    }
}

/* ---- Samples --------------------------------------------------------------------------------- */

struct sampling {
    const struct reader *reader;
    int64_t first, runs; /* of this chunk, and of all */
    int64_t count;       /* of this chunk */
    int64_t per_part;    /* runs that one thread copies at a time */
    uint64_t seed;
};

/* A number that looks random. */
static uint64_t scramble(uint64_t x) {
    x = (x ^ x >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ x >> 32;
}

static int64_t part_begin(int64_t length, int64_t part, int64_t parts) {
    return length / parts * part + length % parts * part / parts;
}

static bool sample_part(const void *work, int64_t part) {
    const struct sampling *sampling = work;
    const struct reader *reader = sampling->reader;
    const int64_t end = least(sampling->count, (part + 1) * sampling->per_part);
    for (int64_t i = part * sampling->per_part; i < end; i++) {
        const int64_t run = sampling->first + i;
        const int64_t low = part_begin(reader->length, run, sampling->runs);
        const int64_t places = part_begin(reader->length, run + 1, sampling->runs) - low - SAMPLE_RUN + 1;
        const int64_t at = low + (int64_t)(scramble(sampling->seed + (uint64_t)run) % (uint64_t)places);
        if (!matrix_elements(reader->matrix, reader->row, at, SAMPLE_RUN,
                             (char *)reader->elements +
                                 (size_t)i * SAMPLE_RUN * topk_type_size(reader->problem.type)))
            return false;
    }
    return true;
}

void reader_sample(struct reader *reader, int64_t runs, reader_visit *visit, void *state) {
    const int64_t parts = (int64_t)(reader->team.count + 1) * PARTS_PER_THREAD;
    struct sampling sampling = {.reader = reader, .runs = runs};
    if (getrandom(&sampling.seed, sizeof sampling.seed, 0) != sizeof sampling.seed)
        sampling.seed = (uintptr_t)reader; /* answers are the same; only time depends on it */
    for (; sampling.first < runs; sampling.first += sampling.count) {
        sampling.count = least(runs - sampling.first, reader->chunk / SAMPLE_RUN);
        sampling.per_part = (sampling.count + parts - 1) / parts;
        share(reader, sample_part, &sampling, (sampling.count + sampling.per_part - 1) / sampling.per_part);
        show(reader, 0, sampling.count * SAMPLE_RUN, visit, state);
    }
}
