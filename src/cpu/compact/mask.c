/* SPDX-License-Identifier: Apache-2.0
 * topk_mask: the masks of a unit, shifted to where their elements lie.
 *
 * Rows may begin anywhere and share elements, so that several units may write one byte. All writes are
 * relaxed atomics. A byte whose elements all lie in the piece is stored, since no row knows more of
 * them, unless rows have thresholds of their own; the bits of others are joined with what is there. */
#include <string.h>

#include "../team.h"
#include "job.h"

/* A word of the caller's mask, which is bytes. */
typedef uint64_t aligned_word __attribute__((may_alias));

/* Writes one byte of bits, all of them the piece's or only some. */
static void put_byte(unsigned char *to, unsigned char bits, bool whole) {
    if (whole) {
        __atomic_store_n(to, bits, __ATOMIC_RELAXED);
    } else {
        (void)__atomic_fetch_or(to, bits, __ATOMIC_RELAXED);
    }
}

/* Writes the mask of n elements to bits first, first + 1, ... of `out`: in words where memory is aligned to
 * them, and in bytes at both ends, where others may own a part. `joins`: all of it in bytes, each joined
 * with what is there. Bits are numbered from the aligned word that holds the first. */
static void put_bits(unsigned char *out, size_t first, size_t n, const uint64_t *mask, bool joins) {
    unsigned char *begin = out + first / 8;
    const size_t misplaced = (uintptr_t)begin % sizeof(aligned_word);
    const size_t shift = misplaced * 8 + first % 8, end = shift + n, words = words_of(n);
    for (size_t w = 0; w * WORD < end; w++) {
        const uint64_t begun = w < words ? mask[w] << shift : 0;
        const uint64_t carried = w > 0 && shift > 0 ? mask[w - 1] >> (WORD - shift) : 0;
        const uint64_t bits = begun | carried;
        if (!joins && w * WORD >= shift && (w + 1) * WORD <= end) {
            __atomic_store_n((aligned_word *)(void *)(begin + w * 8 - misplaced), bits, __ATOMIC_RELAXED);
            continue;
        }
        for (size_t at = w * WORD; at < (w + 1) * WORD && at < end; at += 8) {
            if (at + 8 > shift) {
                put_byte(begin + at / 8 - misplaced, (unsigned char)(bits >> at % WORD),
                         !joins && at >= shift && at + 8 <= end);
            }
        }
    }
}

static void run_part(void *argument, int part, int parts) {
    struct job *job = argument;
    uint64_t *mask = job->masks[part].mask;
    struct unit unit;
    (void)parts;
    while (topk_cpu_units_draw(&job->units, &unit)) {
        struct walk walk = walk_begin(&job->units, &unit);
        for (int i = 0; i < unit.pieces; i++) {
            const struct piece piece = topk_cpu_walk_next(&job->units, &walk);
            if (piece.count > 0) {
                (void)mask_piece(job, &piece, mask);
                put_bits(job->call->mask, piece.element, (size_t)piece.count, mask, job->matcher.by_row);
            }
        }
    }
}

static void clear_share(void *argument, int part, int parts) {
    const struct job *job = argument;
    const size_t bytes = bit_mask_bytes(job->call->plan->input_elements);
    const size_t begin = share(bytes, part, parts), end = share(bytes, part + 1, parts);
    memset(job->call->mask + begin, 0, end - begin);
}

void topk_cpu_compact_mask(struct job *job) {
    if (job->units.joined) { /* only the last byte may be joined with what is there */
        job->call->mask[bit_mask_bytes(job->call->plan->input_elements) - 1] = 0;
    } else {
        topk_cpu_team_run(job->call->context, job->threads, clear_share, job);
    }
    topk_cpu_team_run(job->call->context, job->threads, run_part, job);
}
