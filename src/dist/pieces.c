/* SPDX-License-Identifier: Apache-2.0
 *
 * Pieces of parts are looked at where they lie. Pieces that are read lie in two buffers: a thread fills one
 * while the other is visited. A pass starts its thread and ends it, so that none is left between calls.
 *
 * On a device pieces of parts and pieces that are read are copied there first (load.h). */
#include "pieces.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>

#include "error.h"
#include "load.h"

static int64_t lesser(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* How many elements of a row lie within [first, first + length). */
static int64_t row_length(const struct run *r, int64_t row, int64_t first, int64_t length) {
    int64_t all = r->source.length;
    if (r->lengths != NULL) {
        all = lesser(all, topk_dist_read_integer(r->plan->problem.extent_type, r->lengths, row));
    }
    return all <= first ? 0 : lesser(all - first, length);
}

/* On a device: what is below 0 or above the piece's length the core clamps. */
static topk_status enqueue_lengths(const struct run *r, const struct piece *piece) {
    const struct topk_dist_plan *p = r->plan;
    const topk_index_type type = p->problem.extent_type;
    topk_renumbering how = TOPK_RENUMBERING_INIT;
    if (type == TOPK_INDEX_I32 && piece->first > INT32_MAX) { /* no row is so long */
        const size_t bytes = (size_t)p->problem.rows * topk_dist_integer_bytes(type);
        return topk_dist_of_core(topk_fill(p->context, r->b.piece_lengths, 0, bytes, r->stream));
    }
    how.from_type = how.to_type = type;
    how.count = p->problem.rows;
    how.addend = -piece->first;
    return topk_dist_of_core(
        topk_renumber(p->context, &how, r->input.lengths, r->b.piece_lengths, r->stream));
}

static topk_status write_lengths(const struct run *r, const struct piece *piece) {
    if (r->plan->on_device) {
        return enqueue_lengths(r, piece);
    }
    for (int64_t row = 0; row < r->plan->problem.rows; row++) {
        topk_dist_write_integer(r->plan->problem.extent_type, r->b.piece_lengths, row,
                                row_length(r, row, piece->first, piece->length));
    }
    return TOPK_OK;
}

static topk_status show(const struct run *r, struct piece *piece, topk_dist_visit *visit, void *what) {
    topk_status status = TOPK_OK;
    piece->input.size = sizeof piece->input;
    piece->input.predicate = r->input.predicate;
    if (r->input.lengths != NULL) {
        piece->input.lengths = r->b.piece_lengths;
        status = write_lengths(r, piece);
    }
    return status == TOPK_OK ? visit(r, piece, what) : status;
}

/* The same of a piece that is copied to the device first: from piece->input.values. */
static topk_status load_and_show(const struct run *r, struct piece *piece, topk_dist_visit *visit,
                                 void *what) {
    if (r->plan->load == NULL) {
        return show(r, piece, visit, what);
    }
    topk_status status =
        topk_dist_load_copy(r, piece->number, piece->input.values, piece->row_stride, piece->length);
    piece->input.values = r->b.pieces[piece->number % 2];
    piece->row_stride = piece->length;
    status = status == TOPK_OK ? show(r, piece, visit, what) : status;
    return status == TOPK_OK ? topk_dist_load_used(r, piece->number) : status;
}

/* ---- Parts ---- */

static topk_status visit_parts(const struct run *r, topk_dist_visit *visit, void *what) {
    const size_t width = topk_type_size(r->plan->problem.type);
    struct piece piece = {.number = 0};
    topk_status status = TOPK_OK;
    for (int64_t n = 0; n < r->source.parts_count && status == TOPK_OK; n++) {
        const topk_dist_part *const part = &r->source.parts[n];
        const int64_t most = r->plan->options.piece > 0 ? r->plan->options.piece : part->length;
        for (int64_t at = 0; at < part->length && status == TOPK_OK; at += piece.length) {
            piece.length = lesser(most, part->length - at);
            piece.row_stride = part->row_stride > 0 ? part->row_stride : part->length;
            piece.input.values =
                part->values != NULL ? (const char *)part->values + (size_t)at * width : NULL;
            status = load_and_show(r, &piece, visit, what);
            piece.first += piece.length;
            piece.number++;
        }
    }
    return status;
}

/* ---- Pieces that are read ---- */

/* The mutex guards what is below it. */
struct reading {
    const struct run *r;
    int64_t pieces;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int64_t filled, used; /* pieces: filled - 2 <= used <= filled */
    topk_status status;   /* of the piece `filled`, if it could not be read */
    int64_t failed_row;
    bool ends; /* no more pieces are wanted */
};

static int64_t first_of(const struct run *r, int64_t number) {
    return number * r->plan->options.piece;
}

static int64_t length_of(const struct run *r, int64_t number) {
    return lesser(r->plan->options.piece, r->source.length - first_of(r, number));
}

/* Where a piece is read to: on a device the host's part of the way there. */
static void *buffer_of(const struct run *r, int64_t number) {
    return r->plan->load != NULL ? r->plan->load->read[number % 2] : r->b.pieces[number % 2];
}

/* Reads a piece into its buffer, row by row. *row: the one that could not be read. */
static topk_status fill(const struct run *r, int64_t number, int64_t *row) {
    const struct topk_dist_plan *p = r->plan;
    const int64_t first = first_of(r, number), length = length_of(r, number);
    const size_t row_bytes = (size_t)length * topk_type_size(p->problem.type);
    for (*row = 0; *row < p->problem.rows; (*row)++) {
        const int64_t wanted = row_length(r, *row, first, length);
        const topk_status status =
            wanted == 0 ? TOPK_OK
                        : r->source.read(r->source.user, *row, first, wanted,
                                         (char *)buffer_of(r, number) + (size_t)*row * row_bytes);
        if (status != TOPK_OK) {
            return status;
        }
    }
    return TOPK_OK;
}

static void *read_ahead(void *state) {
    struct reading *const reading = state;
    for (int64_t number = 0; number < reading->pieces; number++) {
        int64_t row;
        pthread_mutex_lock(&reading->mutex);
        while (number - reading->used >= 2 && !reading->ends) {
            pthread_cond_wait(&reading->changed, &reading->mutex);
        }
        const bool ends = reading->ends;
        pthread_mutex_unlock(&reading->mutex);
        if (ends) {
            break;
        }
        const topk_status status = fill(reading->r, number, &row);
        pthread_mutex_lock(&reading->mutex);
        reading->filled += status == TOPK_OK;
        reading->status = status;
        reading->failed_row = row;
        pthread_cond_broadcast(&reading->changed);
        pthread_mutex_unlock(&reading->mutex);
        if (status != TOPK_OK) {
            break;
        }
    }
    return NULL;
}

static topk_status tell(const struct run *r, topk_status status, int64_t number, int64_t row) {
    r->failure->is_of_read = true;
    return topk_dist_fail(
        status, "source->read returned %s for elements [%" PRId64 ", %" PRId64 ") of row %" PRId64,
        topk_status_string(status), first_of(r, number),
        first_of(r, number) + row_length(r, row, first_of(r, number), length_of(r, number)), row);
}

/* Waits for the thread, or reads the piece itself. */
static topk_status get(struct reading *reading, bool has_thread, int64_t number) {
    topk_status status = TOPK_OK;
    int64_t row = 0;
    if (!has_thread) {
        status = fill(reading->r, number, &row);
    } else {
        pthread_mutex_lock(&reading->mutex);
        while (reading->filled <= number && reading->status == TOPK_OK) {
            pthread_cond_wait(&reading->changed, &reading->mutex);
        }
        if (reading->filled <= number) {
            status = reading->status;
            row = reading->failed_row;
        }
        pthread_mutex_unlock(&reading->mutex);
    }
    return status == TOPK_OK ? TOPK_OK : tell(reading->r, status, number, row);
}

static void pass(struct reading *reading, int64_t used, bool ends) {
    pthread_mutex_lock(&reading->mutex);
    reading->used = used;
    reading->ends = ends;
    pthread_cond_broadcast(&reading->changed);
    pthread_mutex_unlock(&reading->mutex);
}

/* The thread takes no signals: they are for the caller's threads. */
static bool start(struct reading *reading, pthread_t *thread) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool has_thread = reading->pieces > 1 && pthread_create(thread, NULL, read_ahead, reading) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return has_thread;
}

static topk_status visit_read(const struct run *r, topk_dist_visit *visit, void *what) {
    const int64_t piece_max = r->plan->options.piece;
    struct reading reading = {.r = r,
                              .pieces = r->source.length / piece_max + (r->source.length % piece_max != 0)};
    pthread_t thread;
    topk_status status = TOPK_OK;
    pthread_mutex_init(&reading.mutex, NULL);
    pthread_cond_init(&reading.changed, NULL);
    const bool has_thread = start(&reading, &thread);
    for (int64_t number = 0; number < reading.pieces && status == TOPK_OK; number++) {
        struct piece piece = {.number = number, .first = first_of(r, number), .length = length_of(r, number)};
        piece.row_stride = piece.length;
        piece.input.values = buffer_of(r, number);
        status = get(&reading, has_thread, number);
        status = status == TOPK_OK ? load_and_show(r, &piece, visit, what) : status;
        if (status == TOPK_OK && r->plan->load != NULL) {
            status = topk_dist_load_wait(r, number);
        }
        pass(&reading, number + 1, status != TOPK_OK);
    }
    if (has_thread) {
        pthread_join(thread, NULL);
    }
    pthread_cond_destroy(&reading.changed);
    pthread_mutex_destroy(&reading.mutex);
    return status;
}

topk_status topk_dist_visit_pieces(const struct run *r, topk_dist_visit *visit, void *what) {
    if (r->source.length == 0 || r->plan->problem.rows == 0) {
        struct piece empty = {.number = 0};
        return show(r, &empty, visit, what);
    }
    topk_status status = r->plan->load != NULL ? topk_dist_load_begin(r) : TOPK_OK;
    if (status == TOPK_OK) {
        status = topk_dist_reads(r->plan) ? visit_read(r, visit, what) : visit_parts(r, visit, what);
    }
    const topk_status ended = r->plan->load != NULL ? topk_dist_load_end(r) : TOPK_OK;
    return status == TOPK_OK ? topk_dist_of_core(ended) : status;
}
