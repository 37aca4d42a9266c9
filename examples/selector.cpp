// SPDX-License-Identifier: Apache-2.0
// The interface for C++17: for each of two points the nearest of four others, and those within reach.
#include <cstdint>
#include <cstdio>
#include <vector>

#include <topk.hpp>

int main() {
    try {
        const std::vector<double> matrix = {2.5, 0.5, 7.0, 0.5, 1.0, 3.0, 0.25, 9.0};
        std::vector<double> nearest(4);
        std::vector<std::int64_t> points(4), within(2);
        topk::selector selector; // on the CPU
        topk::rows distances(matrix, 2);
        distances.problem.direction = TOPK_SMALLEST;
        selector.select(distances, 2, nearest, points);
        selector.count(distances, topk::compare(TOPK_LE, 2.5), within);

        for (std::size_t i = 0; i < points.size(); i++) {
            std::printf("point %d: %d at %g\n", static_cast<int>(i / 2), static_cast<int>(points[i]),
                        nearest[i]);
        }
        std::printf("within 2.5: %d and %d\n", static_cast<int>(within[0]), static_cast<int>(within[1]));
        return points == std::vector<std::int64_t>{1, 3, 2, 0} && within == std::vector<std::int64_t>{3, 2}
                   ? 0
                   : 1;
    } catch (const topk::error &error) {
        std::fprintf(stderr, "selector: %s\n", error.what());
        return 1;
    }
}
