/* SPDX-License-Identifier: Apache-2.0
 *
 * What the scalar models of the tests give, which share nothing with the library. */
#include "check/keys.hpp"
#include "measure/device.h"

#include <algorithm>
#include <functional>
#include <vector>

extern "C" {
#include "rtopk.h"
}

namespace {

/* Where an input can be read. Null: out of memory or a device error. */
const unsigned char *on_host(bench_session *session) {
    const bench_data &data = session->data;
    bench_data *host = &session->host;
    if (session->device->memory == &bench_host_memory) {
        return static_cast<const unsigned char *>(data.buffer.data);
    }
    if (!bench_data_fits(host, &data.point) &&
        !(bench_data_room(host, &bench_host_memory, &data.point, data.bytes, 0) &&
          session->device->memory->copy(host->buffer.data, data.buffer.data, data.bytes))) {
        bench_data_free(host);
        return nullptr;
    }
    return static_cast<const unsigned char *>(host->buffer.data);
}

/* Sets the bits of the elements that a row's results are, and says how many belong to the exact ones. */
template <typename W>
std::int64_t choose(const bench_point &point, const topk_problem &problem, const W *row, std::int64_t first,
                    unsigned char *chosen) {
    std::vector<oracle_entry> entries, taken(static_cast<std::size_t>(point.k));
    std::vector<W> keys;
    for (std::int64_t i = 0; i < point.n; ++i) {
        entries.push_back({oracle_decode(point.type, &row[i]), i});
        keys.push_back(bench::key_of(point, row[i]));
    }
    /* It looks for the finite elements of a ranking, and then goes by position. All elements are finite. */
    const std::int64_t count =
        oracle_approximate(&problem, entries.data(), point.n, point.k, taken.data(), nullptr);
    if (count == 0) {
        return 0;
    }
    std::nth_element(keys.begin(), keys.begin() + count - 1, keys.end(), std::greater<W>());
    const W kth = keys[static_cast<std::size_t>(count - 1)];
    std::int64_t hits = 0, ties = std::count(keys.begin(), keys.begin() + count, kth);
    for (std::int64_t j = 0; j < count; ++j) {
        const std::int64_t i = taken[static_cast<std::size_t>(j)].position, e = first + i;
        const W key = bench::key_of(point, row[i]);
        hits += key > kth || (key == kth && ties-- > 0);
        __atomic_fetch_or(&chosen[e / 8], static_cast<unsigned char>(1 << e % 8), __ATOMIC_RELAXED);
    }
    return hits;
}

} // namespace

const char *bench_model_choose(bench_session *session, const topk_problem *problem, bench_result *result) {
    const bench_point &point = *result->point;
    const bench_memory *memory = session->device->memory;
    const std::size_t bytes = bench_mask_bytes(&point);
    std::vector<unsigned char> chosen(bytes);
    topk_problem by_position = *problem;
    by_position.order = TOPK_ORDER_ANY;
    std::int64_t hits = 0;
    const unsigned char *const input = on_host(session);
    if (input == nullptr) {
        return "the input does not fit on the host";
    }
    bench::with_width(point.type, [&](auto width) {
        using W = decltype(width);
        const W *const elements = reinterpret_cast<const W *>(input);
#pragma omp parallel for schedule(dynamic, 64) reduction(+ : hits)
        for (std::int64_t r = 0; r < point.rows; ++r) {
            hits += choose(point, by_position, elements + r * point.n, r * point.n, chosen.data());
        }
    });
    const std::int64_t results = point.rows * std::min(point.k, point.n);
    result->hit_percent =
        results > 0 ? 100.0 * static_cast<double>(hits) / static_cast<double>(results) : 100;
    if (!bench_buffer_make(memory, &session->chosen, bytes) ||
        !memory->copy(session->chosen.data, chosen.data(), bytes)) {
        return "the model's results do not fit";
    }
    session->truth.chosen = static_cast<const unsigned char *>(session->chosen.data);
    return nullptr;
}
