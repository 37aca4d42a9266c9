/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/data_cuda.h"

#include "check/keys.hpp"
#include "data/data.h"
#include "gpu/launch_cuda.cuh"

#include <cstring>

namespace {

template <typename W> struct fill {
    recipe how;
    W *elements;

    __device__ void operator()(std::int64_t i) const {
        elements[i] = static_cast<W>(law_element(&how, i));
    }
};

} // namespace

bool bench_gpu_data_room(bench_gpu_data *data, const bench_point *point, std::size_t bytes,
                         std::size_t cold_bytes) {
    data->point = *point;
    data->bytes = bytes;
    data->pitch = (bytes / 256 + 1) * 256;
    data->copies = static_cast<std::int64_t>(cold_bytes / data->pitch) + 1;
    return bench_buffer_make(&data->buffer, static_cast<std::size_t>(data->copies) * data->pitch);
}

/* From one copy to all, doubling what there is. */
bool bench_gpu_data_copies(const bench_gpu_data *data, cudaStream_t stream) {
    unsigned char *base = static_cast<unsigned char *>(data->buffer.data);
    const std::size_t all = static_cast<std::size_t>(data->copies) * data->pitch;
    for (std::size_t done = data->pitch; done < all; done *= 2) {
        const std::size_t bytes = all - done < done ? all - done : done;
        if (!bench_device_ok(cudaMemcpyAsync(base + done, base, bytes, cudaMemcpyDeviceToDevice, stream),
                             "copies of the input")) {
            return false;
        }
    }
    return bench_device_ok(cudaStreamSynchronize(stream), "copies of the input");
}

bool bench_gpu_data_make(bench_gpu_data *data, const bench_point *point, std::uint64_t seed,
                         std::size_t cold_bytes, cudaStream_t stream, bool *made) {
    *made = data->copies == 0 || !bench_same_data(&data->point, point);
    if (!*made) {
        return true;
    }
    const recipe how = bench_recipe_of(point, seed);
    const bool ok = bench_gpu_data_room(data, point, bench_point_bytes(point), cold_bytes) &&
                    bench::with_width(point->type,
                                      [&](auto width) {
                                          using W = decltype(width);
                                          const fill<W> body = {how, static_cast<W *>(data->buffer.data)};
                                          return bench_for_each(point->rows * point->n, body, stream);
                                      }) &&
                    bench_gpu_data_copies(data, stream);
    if (!ok) {
        bench_gpu_data_free(data);
    }
    return ok;
}

void bench_gpu_data_free(bench_gpu_data *data) {
    bench_buffer_free(&data->buffer);
    std::memset(data, 0, sizeof *data);
}
