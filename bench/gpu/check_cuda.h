/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a result on the device is right, found out on the device, by code that shares nothing with the
 * library. The results name a threshold, the worst key among them; the input is then counted. The results of
 * a row are right if and only if there are k of them, no element comes twice, each is what its index says,
 * they hold as many elements above the threshold as the row does, and the row has at least k at or above it.
 * With ties by lowest index, also: the row has no more elements equal to the threshold up to the last tie
 * taken than were taken. With a predicate all this is about the elements that match, and no result may be
 * another.
 *
 * Of where, all matches are found once more, and each result is looked at: the i-th must be the i-th match.
 * Where no order is promised, there must be as many distinct matches as there are. Likewise each count, and
 * each bit of a mask. */
#ifndef BENCH_CHECK_CUDA_H
#define BENCH_CHECK_CUDA_H

#include "gpu/outputs_cuda.h"
#include "gpu/truth_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The checker's memory, kept from one check to the next. Begin with a zeroed struct. */
typedef struct bench_gpu_checker {
    bench_buffer rows, seen, places, verdict;
    bench_gpu_truth truth; /* of a point with a predicate; to be set before a check */
    const void *mask;      /* NULL, or the mask that the call read; likewise */
} bench_gpu_checker;

/* True if the outputs are right; else `reason` gets a sentence. *checksum gets one of the
 * input's elements and their places, from the same pass. Waits for the stream. */
bool bench_gpu_check(bench_gpu_checker *checker, const bench_point *point, const void *input,
                     const bench_gpu_outputs *outputs, cudaStream_t stream, uint64_t *checksum, char *reason,
                     size_t reason_bytes);

/* The same for where, count and mask alone. */
bool bench_gpu_check_where(bench_gpu_checker *checker, const bench_point *point, const void *input,
                           const bench_gpu_outputs *outputs, cudaStream_t stream, uint64_t *checksum,
                           char *reason, size_t reason_bytes);

void bench_gpu_checker_free(bench_gpu_checker *checker);

#ifdef __cplusplus
}
#endif

#endif /* BENCH_CHECK_CUDA_H */
