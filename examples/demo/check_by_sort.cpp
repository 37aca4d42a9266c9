// SPDX-License-Identifier: Apache-2.0
// check_by_sort FILE RESULTS: verifies "index<TAB>value" lines, as `topk select FILE.npy` prints them,
// against a full sort of the 1-D float32 .npy file, and prints how long the sort took. Shares nothing with
// the library; knows only the .npy files of make_npy.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace {

struct Pair {
    float value;
    std::uint32_t index;
};

std::vector<Pair> read_pairs(const char *path) {
    constexpr std::size_t header = 128;
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    const auto size = static_cast<std::streamoff>(file.tellg());
    if (!file || size < static_cast<std::streamoff>(header)) {
        return {};
    }
    std::vector<float> values((static_cast<std::size_t>(size) - header) / sizeof(float));
    file.seekg(header);
    file.read(reinterpret_cast<char *>(values.data()),
              static_cast<std::streamsize>(values.size() * sizeof(float)));
    std::vector<Pair> pairs(values.size());
    for (std::size_t i = 0; i < values.size(); i++) {
        pairs[i] = {values[i], static_cast<std::uint32_t>(i)};
    }
    return pairs;
}

// Number of results if all are right, else -1.
long verify(const std::vector<Pair> &sorted, const char *path) {
    std::ifstream file(path);
    std::uint32_t index;
    std::string value;
    std::size_t count = 0;
    for (; file >> index >> value; count++) {
        if (count >= sorted.size() || sorted[count].index != index ||
            sorted[count].value != std::stof(value)) {
            std::fprintf(stderr, "result %zu is wrong: %u %s\n", count, static_cast<unsigned>(index),
                         value.c_str());
            return -1;
        }
    }
    return file.eof() ? static_cast<long>(count) : -1;
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: check_by_sort FILE.npy RESULTS\n");
        return 2;
    }
    const auto begin = std::chrono::steady_clock::now();
    std::vector<Pair> pairs = read_pairs(argv[1]);
    std::sort(pairs.begin(), pairs.end(), [](const Pair &a, const Pair &b) {
        return a.value != b.value ? a.value > b.value : a.index < b.index;
    });
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
    const long results = verify(pairs, argv[2]);
    if (results <= 0) {
        std::fprintf(stderr, "check_by_sort: %s does not hold the best of %s\n", argv[2], argv[1]);
        return 1;
    }
    std::printf("%.0f ms  read and std::sort all %zu (value, index) pairs\n", time.count(), pairs.size());
    std::printf("%ld results are those of the full sort, one by one\n", results);
    return 0;
}
