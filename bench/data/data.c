/* SPDX-License-Identifier: Apache-2.0 */
#include "data/data.h"

#include "elements.h"

#include <stdlib.h>

static bool make_offsets(bench_buffer *offsets, const bench_memory *memory, const bench_point *point) {
    const size_t bytes = ((size_t)point->rows + 1) * sizeof(int64_t);
    if (point->lengths == BENCH_EVEN) {
        bench_buffer_free(offsets);
        return true;
    }
    int64_t *made = malloc(bytes);
    const bool ok = made != NULL && bench_buffer_make(memory, offsets, bytes);
    if (ok) {
        bench_row_offsets(point, made);
    }
    const bool copied = ok && memory->copy(offsets->data, made, bytes);
    free(made);
    return copied;
}

bool bench_data_room(bench_data *data, const bench_memory *memory, const bench_point *point, size_t bytes,
                     size_t cold_bytes) {
    data->point = *point;
    data->bytes = bytes;
    data->pitch = (bytes / 256 + 1) * 256;
    data->copies = (int64_t)(cold_bytes / data->pitch) + 1;
    return bench_buffer_make(memory, &data->buffer, (size_t)data->copies * data->pitch) &&
           make_offsets(&data->offsets, memory, point);
}

void bench_data_free(bench_data *data) {
    bench_buffer_free(&data->buffer);
    bench_buffer_free(&data->offsets);
    memset(data, 0, sizeof *data);
}

/* Only one law looks at k. */
bool bench_data_fits(const bench_data *data, const bench_point *point) {
    const bench_point *own = &data->point;
    return data->copies > 0 && own->type == point->type && own->distribution == point->distribution &&
           own->rows == point->rows && own->n == point->n && own->lengths == point->lengths &&
           (own->k == point->k || own->distribution->numbers != LAW_PIVOT_TIE);
}

bool bench_data_make(bench_data *data, const bench_point *point, const bench_source *source,
                     size_t cold_bytes, int threads) {
    const bench_filling filling = bench_filling_of(point, source);
    const int64_t elements = point->elements;
    if (!bench_data_room(data, &bench_host_memory, point, bench_point_bytes(point), cold_bytes)) {
        bench_data_free(data);
        return false;
    }
    unsigned char *first = data->buffer.data;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < elements; ++i) {
        element_put_bits(point->type, first, i, bench_element(&filling, i));
    }
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t copy = 1; copy < data->copies; ++copy) {
        memcpy(first + (size_t)copy * data->pitch, first, data->bytes);
    }
    return true;
}
