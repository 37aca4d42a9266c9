/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/data_cuda.h"

#include "data/distributions.h"
#include "data/elements.h"
#include "data/random.h"
#include "gpu/launch_cuda.cuh"
#include "gpu/number_cuda.cuh"

#include <cstring>

namespace {

enum kind {
    kind_uniform,
    kind_normal,
    kind_normal_1e8,
    kind_cluster,
    kind_narrow,
    kind_zipf,
    kind_softmax,
    kind_quantised,
    kind_relu_quantised,
    kind_tie_heavy,
    kind_pivot_tie,
    kind_all_equal,
    kind_runs,
    kind_random_bits,
    kind_prefix10,
    kind_prefix20,
    kind_cd
};

const struct {
    const char *name;
    kind numbers, bits; /* by which of the two is the distribution's to say */
} kinds[] = {
    {"uniform", kind_uniform, kind_random_bits},
    {"normal", kind_normal, kind_normal},
    {"normal-1e8", kind_normal_1e8, kind_normal_1e8},
    {"cd", kind_cd, kind_cd},
    {"prefix10", kind_prefix10, kind_prefix10},
    {"prefix20", kind_prefix20, kind_prefix20},
    {"cluster", kind_cluster, kind_cluster},
    {"narrow", kind_narrow, kind_narrow},
    {"zipf", kind_zipf, kind_zipf},
    {"softmax", kind_softmax, kind_softmax},
    {"quantised", kind_quantised, kind_quantised},
    {"relu-quantised", kind_relu_quantised, kind_relu_quantised},
    {"tie-heavy", kind_tie_heavy, kind_tie_heavy},
    {"pivot-tie", kind_pivot_tie, kind_pivot_tie},
    {"all-equal", kind_all_equal, kind_all_equal},
    {"runs", kind_runs, kind_runs},
};

/* All that an element follows from, besides its position. */
struct recipe {
    kind what;
    topk_type type;
    std::uint64_t seed;
    std::int64_t n, k;
    double scale; /* of numbers; 1 for floats */

    __device__ double unit(std::int64_t i) const {
        return bench_unit(bench_random(seed, i));
    }
    __device__ double other_unit(std::int64_t i) const {
        return bench_unit(bench_random(~seed, i));
    }
    __device__ double normal(std::int64_t i) const {
        const double radius = sqrt(-2.0 * log(unit(i & ~std::int64_t(1))));
        const float angle = static_cast<float>(6.283185307179586 * unit(i | 1));
        return radius * static_cast<double>(i & 1 ? sinf(angle) : cosf(angle));
    }
    __device__ double softmax(std::int64_t i) const {
        const std::int64_t row = i / n, column = i % n;
        const std::uint64_t of_row = bench_random(~seed, row);
        const double peaks = 0.8 + 0.1 * bench_unit(of_row);
        const std::int64_t first = static_cast<std::int64_t>(of_row % static_cast<std::uint64_t>(n));
        const bool two = row % 2 != 0;
        if (column == first || (two && column == (first + n / 2) % n)) {
            return two ? peaks / 2 : peaks;
        }
        return (1.0 - peaks) / static_cast<double>(n) * (1.0 + 1e-3 * (unit(i) - 0.5));
    }
    __device__ double pivot_tie(std::int64_t i) const {
        const double winners = 0.5 * static_cast<double>(k) / static_cast<double>(n);
        const double u = unit(i), v = other_unit(i);
        return u < winners ? 0.5 + 0.5 * v : u < 0.5 ? 0.5 : 0.5 * v;
    }

    __device__ double number(std::int64_t i) const {
        switch (what) {
        case kind_uniform:
            return unit(i);
        case kind_normal:
            return normal(i);
        case kind_normal_1e8:
            return 1e8 + rint(10.0 * normal(i));
        case kind_cluster:
            return 0.6 + 0.1 * unit(i);
        case kind_narrow:
            return 1.0 + 1e-4 * unit(i);
        case kind_zipf:
            return static_cast<double>(floorf(powf(1.0F - 0.75F * static_cast<float>(unit(i)), -10.0F)));
        case kind_softmax:
            return softmax(i);
        case kind_quantised:
            return rint(16.0 * normal(i)) / 16.0 + 8.0;
        case kind_relu_quantised:
            return normal(i) > 0.0 ? rint(16.0 * normal(i)) / 16.0 : 0.0;
        case kind_tie_heavy:
            return static_cast<double>(bench_random(seed, i) >> 60) / 16.0;
        case kind_pivot_tie:
            return pivot_tie(i);
        case kind_runs:
            return other_unit(i / BENCH_RUN);
        default:
            return 1.0;
        }
    }

    __device__ std::uint64_t prefix(std::int64_t i, int fixed, int width) const {
        const std::uint64_t free_bits = (std::uint64_t(1) << (width - fixed)) - 1;
        const std::uint64_t top = std::uint64_t(0x3F8) << (width - 12);
        return (bench_random(seed, i) & free_bits) | (top & ~free_bits);
    }
    __device__ std::uint64_t cd(std::int64_t i) const {
        const std::uint64_t highest = type == TOPK_F32 ? 0xBF : 0xFF;
        const std::uint64_t r = bench_random(seed, i);
        std::uint64_t key = highest << 24 | 0xFFFF00 | (r & 0xFF);
        if ((r >> 32 & 0xFF) == 0) {
            const int level = static_cast<int>(r >> 40) % 3;
            const int shift = 24 - 8 * level;
            const std::uint64_t digit = 1 + (r >> 48) % ((level == 0 ? highest : 0xFF) - 1);
            const std::uint64_t lower = (std::uint64_t(1) << shift) - 1;
            key = (key & ~(lower | std::uint64_t(0xFF) << shift)) | digit << shift | (r & lower);
        }
        const bool upper_half = key >> 31 != 0;
        return type == TOPK_U32 ? key : type == TOPK_F32 && !upper_half ? ~key : key ^ 0x80000000;
    }

    /* The element, in the low bits. */
    __device__ std::uint64_t element(std::int64_t i, int width) const {
        switch (what) {
        case kind_random_bits:
            return bench_random(seed, i);
        case kind_prefix10:
            return prefix(i, 10, width);
        case kind_prefix20:
            return prefix(i, 20, width);
        case kind_cd:
            return cd(i);
        default:
            return bench_bits_of_number(type, width, scale * number(i));
        }
    }
};

template <typename W> struct fill {
    recipe how;
    W *elements;

    __device__ void operator()(std::int64_t i) const {
        elements[i] = static_cast<W>(how.element(i, 8 * static_cast<int>(sizeof(W))));
    }
};

bool recipe_of(const bench_point *point, std::uint64_t seed, recipe *how) {
    const bench_distribution *distribution = point->distribution;
    for (const auto &each : kinds) {
        if (std::strcmp(each.name, distribution->name) == 0) {
            *how = {bench_distribution_in_bits(distribution, point->type) ? each.bits : each.numbers,
                    point->type,
                    seed,
                    point->n,
                    point->k,
                    bench_type_is_float(point->type) ? 1.0 : distribution->integer_scale};
            return true;
        }
    }
    return bench_device_ok(cudaErrorNotSupported, "a distribution that the device cannot make");
}

bool fill_all(const recipe &how, void *elements, std::int64_t count, cudaStream_t stream) {
    switch (topk_type_size(how.type)) {
    case 1:
        return bench_for_each(count, fill<std::uint8_t>{how, static_cast<std::uint8_t *>(elements)}, stream);
    case 2:
        return bench_for_each(count, fill<std::uint16_t>{how, static_cast<std::uint16_t *>(elements)},
                              stream);
    case 4:
        return bench_for_each(count, fill<std::uint32_t>{how, static_cast<std::uint32_t *>(elements)},
                              stream);
    default:
        return bench_for_each(count, fill<std::uint64_t>{how, static_cast<std::uint64_t *>(elements)},
                              stream);
    }
}

/* Whether the data of two points is the same. Only one distribution looks at k. */
bool same_input(const bench_point *a, const bench_point *b) {
    return a->type == b->type && a->distribution == b->distribution && a->rows == b->rows && a->n == b->n &&
           (a->k == b->k || std::strcmp(a->distribution->name, "pivot-tie") != 0);
}

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
    *made = data->copies == 0 || !same_input(&data->point, point);
    if (!*made) {
        return true;
    }
    recipe how;
    const bool ok = bench_gpu_data_room(data, point, bench_point_bytes(point), cold_bytes) &&
                    recipe_of(point, seed, &how) &&
                    fill_all(how, data->buffer.data, point->rows * point->n, stream) &&
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
