/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/pairs.h"

#include "measure/statistics.h"

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

static bool run_read(void *state, int64_t turn) {
    const bench_pairing *pairing = state;
    bench_read(pairing->reader, bench_data_copy(pairing->data, turn), pairing->data->bytes);
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

static bool run_copy(void *state, int64_t turn) {
    (void)turn;
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

/* Seconds of one run; negative if it failed. Each takes the next turn, so that with several copies of the
 * input none is still in a cache when its turn comes again. */
static double sample(bench_work work, int repeats, int64_t *turn) {
    const double begin = bench_seconds();
    for (int i = 0; i < repeats; ++i) {
        if (!work.enqueue(work.state, (*turn)++)) {
            return -1;
        }
    }
    return (bench_seconds() - begin) / repeats;
}

/* How often a run is to be repeated in a sample; -1 if it fails. */
static int repeats_for(bench_work work, int64_t *turn) {
    (void)sample(work, 1, turn);
    const double once = sample(work, 1, turn);
    return once < 0 ? -1 : (int)fmin(fmax(ceil(sample_seconds / once), 1), repeats_max);
}

typedef struct track {
    bench_work work; /* enqueue NULL: not in use, and all its samples are 0 */
    int repeats;
    double *samples;
} track;

enum { track_read, track_copy, track_subject, track_reference, tracks_count };

static bool run_rounds(track *tracks, int rounds) {
    int64_t turn = 0;
    for (int t = 0; t < tracks_count; ++t) {
        tracks[t].repeats = tracks[t].work.enqueue != NULL ? repeats_for(tracks[t].work, &turn) : 0;
        tracks[t].samples = calloc((size_t)rounds, sizeof(double));
        if (tracks[t].repeats < 0 || tracks[t].samples == NULL) {
            return false;
        }
    }
    for (int i = 0; i < rounds * tracks_count; ++i) {
        track *each = &tracks[i % tracks_count];
        double *seconds = &each->samples[i / tracks_count];
        *seconds = each->repeats > 0 ? sample(each->work, each->repeats, &turn) : 0;
        if (*seconds < 0) {
            return false;
        }
    }
    return true;
}

/* The median in microseconds. */
static double median_us(double *seconds, int count) {
    return 1e6 * bench_quartiles_of(seconds, count).median;
}

static bool summarise(const bench_pairing *pairing, const copier *copy, track *tracks, bench_result *result) {
    const int rounds = result->runs;
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
        to_reference[i] = pairing->reference != NULL
                              ? tracks[track_subject].samples[i] / tracks[track_reference].samples[i]
                              : 1;
    }
    result->read_us = median_us(tracks[track_read].samples, rounds);
    result->call_us = result->host_us = median_us(tracks[track_subject].samples, rounds);
    result->limit_us = median_us(limits, rounds);
    result->to_limit = bench_quartiles_of(to_limit, rounds);
    result->to_topk = bench_quartiles_of(to_reference, rounds).median;
    free(scratch);
    return true;
}

bool bench_pairs(const bench_pairing *pairing, bench_result *result) {
    copier copy = {0};
    bench_pairing self = *pairing;
    const bench_work none = {0};
    track tracks[tracks_count] = {{{run_read, &self, false}, 0, NULL},
                                  {none, 0, NULL},
                                  {pairing->subject, 0, NULL},
                                  {pairing->reference != NULL ? pairing->reference->work : none, 0, NULL}};
    bool ok = true;
    if (pairing->written_bytes > 0) {
        tracks[track_copy].work = (bench_work){run_copy, &copy, false};
        ok = copier_make(&copy, (pairing->data->bytes + pairing->written_bytes) / 2, pairing->threads);
    }
    ok = ok && run_rounds(tracks, result->runs) && summarise(pairing, &copy, tracks, result);
    for (int t = 0; t < tracks_count; ++t) {
        free(tracks[t].samples);
    }
    free(copy.from);
    free(copy.to);
    return ok;
}
