// SPDX-License-Identifier: Apache-2.0
// check_by_sort FILE RESULTS [LO HI]: verifies the lines that `topk select FILE.npy` printed, or with
// --between LO HI, against a full sort of each row, and prints how long the standard library took for what
// the tool does: reading the file, choosing what lies between the bounds, and sorting. Shares nothing with
// the library; knows only the .npy files of make_npy.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

namespace {

struct Pair {
    float value;
    std::uint32_t index;
};

bool is_better(const Pair &a, const Pair &b) {
    return a.value != b.value ? a.value > b.value : a.index < b.index;
}

struct Matrix {
    bool has_rows; // else a vector, which is one row
    std::size_t rows, columns;
    std::vector<float> values;
};

struct Result {
    std::size_t row;
    Pair pair;
};

// Without values if the file cannot be read.
Matrix read_matrix(const char *path) {
    std::string header(128, '\0');
    std::ifstream file(path, std::ios::binary);
    file.read(header.data(), static_cast<std::streamsize>(header.size()));
    Matrix matrix{};
    const std::size_t shape = std::min(header.find("(") + 1, header.size());
    matrix.has_rows = std::sscanf(header.c_str() + shape, "%zu, %zu", &matrix.rows, &matrix.columns) == 2;
    if (!matrix.has_rows) {
        matrix.columns = matrix.rows;
        matrix.rows = 1;
    }
    matrix.values.resize(file ? matrix.rows * matrix.columns : 0);
    file.read(reinterpret_cast<char *>(matrix.values.data()),
              static_cast<std::streamsize>(matrix.values.size() * sizeof(float)));
    if (!file) {
        matrix.values.clear();
    }
    return matrix;
}

std::vector<Result> read_results(const char *path, bool has_rows) {
    std::ifstream file(path);
    std::vector<Result> results;
    Result result{};
    while ((!has_rows || file >> result.row) && file >> result.pair.index >> result.pair.value) {
        results.push_back(result);
    }
    if (!file.eof()) {
        results.clear();
    }
    return results;
}

double milliseconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

struct Totals {
    std::size_t sorted, equal; // elements that were sorted, and those of them that equal the one before
    double gather_ms, partial_ms, full_ms; // gathering pairs from rows comes before either sort
};

// Sorts the elements of one row from lo to hi and compares its k results.
bool check_row(const Matrix &matrix, std::size_t row, const float bounds[2], const Result *results,
               std::size_t k, Totals &totals) {
    auto begin = std::chrono::steady_clock::now();
    std::vector<Pair> pairs;
    const float *values = &matrix.values[row * matrix.columns];
    for (std::size_t i = 0; i < matrix.columns; i++) {
        if (values[i] >= bounds[0] && values[i] <= bounds[1]) {
            pairs.push_back({values[i], static_cast<std::uint32_t>(i)});
        }
    }
    totals.gather_ms += milliseconds_since(begin);
    if (pairs.size() < k) {
        return false;
    }
    begin = std::chrono::steady_clock::now();
    std::partial_sort(pairs.begin(), pairs.begin() + static_cast<std::ptrdiff_t>(k), pairs.end(), is_better);
    totals.partial_ms += milliseconds_since(begin);
    begin = std::chrono::steady_clock::now();
    std::sort(pairs.begin(), pairs.end(), is_better);
    totals.full_ms += milliseconds_since(begin);
    totals.sorted += pairs.size();
    for (std::size_t i = 1; i < pairs.size(); i++) {
        totals.equal += pairs[i].value == pairs[i - 1].value;
    }
    return std::equal(results, results + k, pairs.begin(), [row](const Result &result, const Pair &pair) {
        return result.row == row && result.pair.index == pair.index && result.pair.value == pair.value;
    });
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 3 && argc != 5) {
        std::fprintf(stderr, "usage: check_by_sort FILE.npy RESULTS [LO HI]\n");
        return 2;
    }
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const float bounds[2] = {argc == 5 ? std::stof(argv[3]) : -infinity,
                             argc == 5 ? std::stof(argv[4]) : infinity};
    const auto begin = std::chrono::steady_clock::now();
    const Matrix matrix = read_matrix(argv[1]);
    const double read_ms = milliseconds_since(begin);
    const std::vector<Result> results = read_results(argv[2], matrix.has_rows);
    const std::size_t k = matrix.values.empty() ? 0 : results.size() / matrix.rows;
    bool is_right = k > 0 && results.size() == k * matrix.rows;
    Totals totals{};
    for (std::size_t row = 0; is_right && row < matrix.rows; row++) {
        is_right = check_row(matrix, row, bounds, &results[row * k], k, totals);
    }
    if (!is_right) {
        std::fprintf(stderr, "check_by_sort: %s does not hold the best of %s\n", argv[2], argv[1]);
        return 1;
    }
    const double before_ms = read_ms + totals.gather_ms;
    std::printf("%6.0f ms  C++: read the file, make (value, index) pairs, std::partial_sort\n",
                before_ms + totals.partial_ms);
    std::printf("%6.0f ms  C++: the same with a std::sort of all %zu pairs\n", before_ms + totals.full_ms,
                totals.sorted);
    std::printf("checked: %zu results are those of the full sort, one by one%s\n", results.size(),
                totals.equal == 0 ? "; all numbers differ" : "");
    return 0;
}
