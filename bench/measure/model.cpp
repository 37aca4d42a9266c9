/* SPDX-License-Identifier: Apache-2.0
 *
 * What the scalar models of the tests give, which share nothing with the library. */
#include "check/keys.hpp"
#include "measure/device.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

extern "C" {
#include "route.h"
#include "rtopk.h"
}

namespace {

/* Where the input can be read; null: out of memory or a device error. */
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
    }
    return static_cast<const unsigned char *>(host->buffer.data);
}

/* Sets the bits of the elements that a row's results are, and says how many belong to the exact ones. */
template <typename W>
std::int64_t choose(const bench_point &point, const topk_problem &problem, const W *row, std::int64_t first,
                    unsigned char *chosen) {
    const std::size_t n = static_cast<std::size_t>(point.n);
    std::vector<oracle_entry> entries(n), taken(static_cast<std::size_t>(point.k));
    std::vector<W> keys(n);
    for (std::size_t i = 0; i < n; ++i) {
        entries[i] = {oracle_decode(point.type, &row[i]), static_cast<std::int64_t>(i)};
        keys[i] = bench::key_of(point, row[i]);
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

std::vector<float> bias_of(const bench_point &point) {
    std::vector<float> bias;
    for (std::int64_t expert = 0; point.routing & BENCH_BIAS && expert < point.n; ++expert) {
        bias.push_back(static_cast<float>(random_unit_at(0x62696173, expert) - 0.5));
    }
    return bias;
}

/* Puts into the device's memory what a call or a check reads. */
template <typename T> const T *hand_over(bench_session *session, const std::vector<T> &all) {
    const bench_memory *memory = session->device->memory;
    bench_buffer *to = &session->of_model;
    const bool ok = bench_buffer_make(memory, to, all.size() * sizeof(T)) &&
                    memory->copy(to->data, all.data(), all.size() * sizeof(T));
    return ok ? static_cast<const T *>(to->data) : nullptr;
}

/* To within 4 units in the last place. */
bool is_near(float weight, float wanted) {
    const float unit = std::ldexp(1.0F, std::ilogb(std::max(std::fabs(wanted), 0x1p-126F)) - 23);
    return std::fabs(weight - wanted) <= 4 * unit;
}

/* Has the model choose, which the check then compares with. */
bool prepare_choice(bench_session *session, topk_problem problem, bench_result *result) {
    const bench_point &point = *result->point;
    std::vector<unsigned char> chosen(bench_mask_bytes(&point));
    const unsigned char *const input = on_host(session);
    const std::int64_t results = point.rows * std::min(point.k, point.n);
    std::int64_t hits = 0;
    problem.order = TOPK_ORDER_ANY;
    if (input == nullptr) {
        return false;
    }
    bench::with_width(point.type, [&](auto width) {
        const auto *const elements = reinterpret_cast<const decltype(width) *>(input);
#pragma omp parallel for schedule(dynamic, 64) reduction(+ : hits)
        for (std::int64_t r = 0; r < point.rows; ++r) {
            hits += choose(point, problem, elements + r * point.n, r * point.n, chosen.data());
        }
    });
    result->hit_percent =
        results > 0 ? 100.0 * static_cast<double>(hits) / static_cast<double>(results) : 100;
    session->truth.chosen = hand_over(session, chosen);
    return session->truth.chosen != nullptr;
}

} // namespace

bool bench_model_prepare(bench_session *session, const topk_problem *problem, bench_result *result) {
    const bench_point *point = result->point;
    topk_routing *routing = &session->routing;
    *routing = TOPK_ROUTING_INIT;
    routing->groups = point->routing & BENCH_GROUPED ? 8 : 0;
    routing->groups_kept = routing->groups / 2;
    if (point->routing & BENCH_BIAS) {
        routing->score = TOPK_SCORE_SIGMOID;
        routing->weighing = TOPK_WEIGH_SIGMOID;
        routing->bias = hand_over(session, bias_of(*point));
        return routing->bias != nullptr;
    }
    return !bench_is_approximate(point) || prepare_choice(session, *problem, result);
}

bool bench_model_routes(bench_session *session, const bench_point *point, const bench_outputs *outputs) {
    const std::size_t row_bytes = static_cast<std::size_t>(point->n) * topk_type_size(point->type);
    const std::vector<float> bias = bias_of(*point);
    const unsigned char *const input = on_host(session);
    bench_outputs mirror = {};
    topk_problem problem = TOPK_PROBLEM_INIT;
    problem.type = point->type;
    problem.length_max = point->n;
    problem.k_max = point->k;
    bool right = input != nullptr && bench_outputs_mirror(&mirror, outputs, point);
    const std::int64_t rows = right ? point->rows : 0;
#pragma omp parallel for schedule(dynamic, 64) reduction(&& : right)
    for (std::int64_t r = 0; r < rows; ++r) {
        oracle_expert wanted[ORACLE_CHOSEN_MAX];
        oracle_route(&problem, &session->routing, input + static_cast<std::size_t>(r) * row_bytes,
                     bias.empty() ? nullptr : bias.data(), wanted);
        for (std::int64_t j = 0; j < point->k; ++j) {
            const std::int64_t slot = r * point->k + j;
            right = right && static_cast<const std::int32_t *>(mirror.indices)[slot] == wanted[j].position &&
                    (mirror.weights == nullptr || is_near(mirror.weights[slot], wanted[j].weight));
        }
    }
    bench_outputs_free(&mirror);
    return right;
}
