/* SPDX-License-Identifier: Apache-2.0
 *
 * Inputs made on the device: the same distributions from the same random numbers as data/ makes on the
 * host, equal to it but for the last bits of a logarithm. */
#ifndef BENCH_DATA_CUDA_H
#define BENCH_DATA_CUDA_H

#include "gpu/device_cuda.h"
#include "points/point.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An input with copies of it that are read in turn when the cache is to be cold. Begin with a zeroed
 * struct. */
typedef struct bench_gpu_data {
    bench_point point; /* what it was made for */
    size_t bytes;      /* of one copy */
    size_t pitch;      /* bytes from one copy to the next, a multiple of 256 */
    int64_t copies;
    bench_buffer buffer;
} bench_gpu_data;

/* Makes the input of a point, with copies until they fill cold_bytes. Data that already fits is kept, and
 * then *made is false. False: out of memory or a device error. */
bool bench_gpu_data_make(bench_gpu_data *data, const bench_point *point, uint64_t seed, size_t cold_bytes,
                         cudaStream_t stream, bool *made);
/* The two steps around making it: room for so many bytes and their copies, and the copies of what has been
 * put there. Waits for the stream. False: as above. */
bool bench_gpu_data_room(bench_gpu_data *data, const bench_point *point, size_t bytes, size_t cold_bytes);
bool bench_gpu_data_copies(const bench_gpu_data *data, cudaStream_t stream);

void bench_gpu_data_free(bench_gpu_data *data);

static inline const void *bench_gpu_data_copy(const bench_gpu_data *data, int64_t turn) {
    return (const unsigned char *)data->buffer.data + (size_t)(turn % data->copies) * data->pitch;
}

#ifdef __cplusplus
}
#endif

#endif /* BENCH_DATA_CUDA_H */
