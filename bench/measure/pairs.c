/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/pairs.h"

#include "measure/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A sample lasts at least this long, so that the clock's own time does not show; what is shorter is
 * repeated within it. */
static const double sample_seconds = 5e-5;
enum { repeats_max = 10000 };

/* Together the two buffers of the copy are as large as the input and what is written, within reason:
 * then the copy is served by the same level of memory. */
enum { copy_bytes_min = 1 << 20, copy_bytes_max = 1 << 28 };

typedef struct copier {
    unsigned char *from, *to;
    size_t bytes;
    int threads;
} copier;

typedef struct read_state {
    const bench_reader *reader;
    size_t bytes;
} read_state;

static bool run_read(void *state, const void *input) {
    const read_state *read = state;
    bench_read(read->reader, input, read->bytes);
    return true;
}

static bool copier_make(copier *copy, size_t bytes, int threads) {
    copy->bytes = bytes < copy_bytes_min ? copy_bytes_min : bytes > copy_bytes_max ? copy_bytes_max : bytes;
    copy->threads = threads;
    copy->from = bench_allocate(copy->bytes);
    copy->to = bench_allocate(copy->bytes);
    if (copy->from == NULL || copy->to == NULL) {
        return false;
    }
    memset(copy->from, 1, copy->bytes);
    memset(copy->to, 2, copy->bytes);
    return true;
}

static bool run_copy(void *state, const void *input) {
    (void)input;
    const copier *copy = state;
    const size_t share = copy->bytes / (size_t)copy->threads;
#pragma omp parallel for schedule(static, 1) num_threads(copy->threads)
    for (int part = 0; part < copy->threads; ++part) {
        const size_t first = share * (size_t)part;
        const size_t bytes = part == copy->threads - 1 ? copy->bytes - first : share;
        memcpy(copy->to + first, copy->from + first, bytes);
    }
    return true;
}

/* Walks through the copies of the input, so that with several of them none is still in a cache when
 * its turn comes again. */
typedef struct cursor {
    const bench_data *data;
    int64_t next;
} cursor;

/* Seconds of one run; negative if it failed. */
static double sample(bench_timed timed, int repeats, cursor *at) {
    const double begin = bench_seconds();
    for (int i = 0; i < repeats; ++i) {
        if (!timed.run(timed.state, bench_data_copy(at->data, at->next++))) {
            return -1;
        }
    }
    return (bench_seconds() - begin) / repeats;
}

/* How often a run is to be repeated in a sample; -1 if it fails. */
static int repeats_for(bench_timed timed, cursor *at) {
    (void)sample(timed, 1, at);
    const double once = sample(timed, 1, at);
    return once < 0 ? -1 : (int)fmin(fmax(ceil(sample_seconds / once), 1), repeats_max);
}

typedef struct track {
    bench_timed timed; /* run NULL: not in use, and all its samples are 0 */
    int repeats;
    double *samples;
} track;

enum { track_read, track_copy, track_subject, track_reference, tracks_count };

static bool run_rounds(const bench_pairing *pairing, track *tracks) {
    cursor at = {pairing->data, 0};
    for (int t = 0; t < tracks_count; ++t) {
        tracks[t].repeats = tracks[t].timed.run != NULL ? repeats_for(tracks[t].timed, &at) : 0;
        tracks[t].samples = calloc((size_t)pairing->rounds, sizeof(double));
        if (tracks[t].repeats < 0 || tracks[t].samples == NULL) {
            return false;
        }
    }
    for (int round = 0; round < pairing->rounds; ++round) {
        for (int t = 0; t < tracks_count; ++t) {
            if (tracks[t].repeats == 0) {
                continue;
            }
            tracks[t].samples[round] = sample(tracks[t].timed, tracks[t].repeats, &at);
            if (tracks[t].samples[round] < 0) {
                return false;
            }
        }
    }
    return true;
}

static bool summarise(const bench_pairing *pairing, const copier *copy, track *tracks, bench_times *times) {
    const int rounds = pairing->rounds;
    double *scratch = calloc(3 * (size_t)rounds, sizeof *scratch);
    if (scratch == NULL) {
        return false;
    }
    double *limits = scratch, *to_limit = scratch + rounds, *to_reference = scratch + 2 * rounds;
    for (int i = 0; i < rounds; ++i) {
        /* A copy moves each of its bytes twice. */
        const double per_byte =
            copy->bytes > 0 ? tracks[track_copy].samples[i] / (2.0 * (double)copy->bytes) : 0;
        limits[i] = tracks[track_read].samples[i] + (double)pairing->written_bytes * per_byte;
        to_limit[i] = tracks[track_subject].samples[i] / limits[i];
        if (pairing->reference.run != NULL) {
            to_reference[i] = tracks[track_subject].samples[i] / tracks[track_reference].samples[i];
        }
    }
    times->read_s = bench_quartiles_of(tracks[track_read].samples, rounds).median;
    times->subject_s = bench_quartiles_of(tracks[track_subject].samples, rounds).median;
    times->limit_s = bench_quartiles_of(limits, rounds).median;
    times->to_limit = bench_quartiles_of(to_limit, rounds);
    times->to_reference = bench_quartiles_of(to_reference, rounds).median;
    free(scratch);
    return true;
}

bool bench_pairs(const bench_pairing *pairing, bench_times *times) {
    copier copy = {0};
    read_state read = {pairing->reader, pairing->data->bytes};
    track tracks[tracks_count] = {{{run_read, &read}, 0, NULL},
                                  {{NULL, &copy}, 0, NULL},
                                  {pairing->subject, 0, NULL},
                                  {pairing->reference, 0, NULL}};
    bool ok = true;
    if (pairing->written_bytes > 0) {
        tracks[track_copy].timed.run = run_copy;
        ok = copier_make(&copy, (read.bytes + pairing->written_bytes) / 2, pairing->threads);
    }
    ok = ok && run_rounds(pairing, tracks) && summarise(pairing, &copy, tracks, times);
    for (int t = 0; t < tracks_count; ++t) {
        free(tracks[t].samples);
    }
    free(copy.from);
    free(copy.to);
    return ok;
}
