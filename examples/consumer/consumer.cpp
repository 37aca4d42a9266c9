// SPDX-License-Identifier: Apache-2.0
// The C interface from C++: the smallest elements of a vector.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <vector>

#include <topk.h>

namespace {

void check(topk_status status) {
    if (status != TOPK_OK) {
        throw std::runtime_error(topk_last_error());
    }
}

std::vector<std::int64_t> smallest(topk_context *context, const std::vector<double> &values, std::int64_t k) {
    topk_problem problem = TOPK_PROBLEM_INIT;
    problem.type = TOPK_F64;
    problem.index_type = TOPK_INDEX_I64;
    problem.direction = TOPK_SMALLEST;
    problem.length_max = static_cast<std::int64_t>(values.size());
    problem.k_max = k;
    topk_input input = TOPK_INPUT_INIT;
    input.values = values.data();

    std::size_t bytes;
    check(topk_workspace_size(context, TOPK_OPERATION_SELECT, &problem, &bytes));
    std::vector<char> workspace(bytes);
    std::vector<std::int64_t> indices(static_cast<std::size_t>(k));
    check(topk_select(context, &problem, &input, nullptr, indices.data(), workspace.data(), bytes, nullptr));
    return indices;
}

} // namespace

int main() {
    try {
        topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
        options.backend = TOPK_BACKEND_CPU;
        topk_context *created;
        check(topk_context_create(&options, &created));
        const std::unique_ptr<topk_context, void (*)(topk_context *)> context(created, topk_context_destroy);
        const auto indices = smallest(context.get(), {2.5, -1.0, 7.25, -1.0, 0.0}, 3);
        return indices == std::vector<std::int64_t>{1, 3, 4} ? 0 : 1;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "consumer: %s\n", error.what());
        return 1;
    }
}
