// SPDX-License-Identifier: Apache-2.0
//
// topk.hpp: what its calls write, what they refuse, and what they take as elements and containers. Compiled
// as C++17 and as C++20, with std::span.
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#if __cplusplus >= 202002L
#include <span>
#endif

#include "check.h"
#include "topk.hpp"
#include "topk_route.h"

using std::int64_t;

// A type of one's own, as the header's comment says.
struct mine {
    std::uint16_t bits;
};
template <> struct topk::element<mine> : topk::element_of<TOPK_F16> {};

namespace {

template <class T, class = void> constexpr bool is_element = false;
template <class T> constexpr bool is_element<T, std::void_t<decltype(topk::element<T>::type)>> = true;

static_assert(topk::element<float>::type == TOPK_F32 && topk::element<double>::type == TOPK_F64);
static_assert(topk::element<topk::half>::type == TOPK_F16 && topk::element<mine>::type == TOPK_F16);
static_assert(topk::element<topk::bfloat16>::type == TOPK_BF16);
static_assert(topk::element<topk::float8_e4m3>::type == TOPK_F8_E4M3);
static_assert(topk::element<topk::float8_e5m2>::type == TOPK_F8_E5M2);
static_assert(topk::element<std::int8_t>::type == TOPK_I8 && topk::element<std::uint8_t>::type == TOPK_U8);
static_assert(topk::element<std::int16_t>::type == TOPK_I16 &&
              topk::element<std::uint16_t>::type == TOPK_U16);
static_assert(topk::element<std::int32_t>::type == TOPK_I32 &&
              topk::element<std::uint32_t>::type == TOPK_U32);
static_assert(topk::element<std::int64_t>::type == TOPK_I64 &&
              topk::element<std::uint64_t>::type == TOPK_U64);
static_assert(topk::element<long long>::type == TOPK_I64);
static_assert(!is_element<bool> && !is_element<char *> && !is_element<long double> && is_element<float>);

template <class From, class To> constexpr bool makes = std::is_convertible_v<From, To>;
static_assert(makes<std::vector<float> &, topk::span<float>> && makes<float (&)[3], topk::span<float>>);
static_assert(makes<const std::vector<float> &, topk::span<const float>>);
static_assert(!makes<const std::vector<float> &, topk::span<float>>); // no output is const
static_assert(!makes<std::vector<double> &, topk::span<float>>);
static_assert(!makes<const std::array<int64_t, 2> &, topk::index_output>);
static_assert(!makes<std::vector<float> &, topk::index_output>);
static_assert(!std::is_copy_constructible_v<topk::selector> && std::is_move_constructible_v<topk::selector>);

using positions = std::vector<int64_t>;

// ---- Results ----

const std::vector<float> scores = {3, 1, 4, 1, 5, 9, 2, 6};

void check_select(topk::selector &selector) {
    std::vector<float> values(4);
    positions indices(4);
    selector.select(topk::rows(scores), 4, values, indices);
    CHECK((values == std::vector<float>{9, 6, 5, 4} && indices == positions{5, 7, 4, 2}));
    selector.select(topk::rows(scores, 2), 2, nullptr, indices);
    CHECK((indices == positions{2, 0, 1, 3}));
    std::int32_t narrow[8];
    selector.select(topk::rows(scores), 8, nullptr, narrow);
    CHECK(narrow[0] == 5 && narrow[7] == 3);
    topk::output<float> not_wanted = nullptr;
    selector.select(topk::rows(scores), 4, not_wanted, nullptr);
}

// Options and shapes of the problem, and a payload.
void check_options(topk::selector &selector) {
    positions indices(4);
    topk::rows smallest(scores, 2);
    smallest.problem.direction = TOPK_SMALLEST;
    selector.select(smallest, 2, nullptr, indices);
    CHECK((indices == positions{1, 3, 2, 0}));
    const std::vector<std::int32_t> names = {70, 71, 72, 73, 74, 75, 76, 77};
    const std::array<int64_t, 3> offsets = {0, 1, 8};
    std::array<std::int32_t, 4> named = {};
    topk::rows ragged(scores);
    ragged.problem.shape = TOPK_SHAPE_CSR;
    ragged.problem.rows = 2;
    ragged.problem.elements_max = 8;
    ragged.input.offsets = offsets.data();
    ragged.input.indices = names.data();
    selector.select(ragged, 2, nullptr, named);
    CHECK((named == std::array<std::int32_t, 4>{70, -1, 75, 77}));
}

void check_kth(topk::selector &selector) {
    float third[1], of_rows[2];
    std::array<int64_t, 2> better = {}, equal = {};
    selector.kth(topk::rows(scores), 3, third);
    CHECK(third[0] == 5);
    selector.kth(topk::rows(scores, 2), 3, of_rows, better, equal);
    CHECK(of_rows[0] == 1 && of_rows[1] == 5 && better[0] == 2 && better[1] == 2);
    CHECK(equal[0] == 2 && equal[1] == 1);
    selector.kth(topk::rows(scores), 8, nullptr, nullptr, equal);
    CHECK(equal[0] == 2);
}

/* Each rank is what it is alone, in rows that the library reads once, too. */
void check_ranks(topk::selector &selector) {
    std::vector<float> long_rows(20000);
    for (std::size_t i = 0; i < long_rows.size(); i++) {
        long_rows[i] = static_cast<float>(i * 7919 % 5003);
    }
    const std::vector<int64_t> ranks = {10000, 1, 0, 6000, 1, 10001};
    const topk_predicate below = topk::compare(TOPK_LT, 4000);
    for (const std::vector<float> &elements : {scores, long_rows}) {
        const topk::rows rows(elements, 2);
        std::vector<float> values(12), filtered(12), alone(2);
        positions better(12), equal(12), better_alone(2), equal_alone(2), none;
        selector.kth(rows, ranks, values, better, equal);
        selector.kth_where(rows, below, ranks, filtered);
        for (std::size_t i = 0; i < ranks.size(); i++) {
            selector.kth(rows, ranks[i], alone, better_alone, equal_alone);
            for (std::size_t row = 0; row < 2; row++) {
                const std::size_t at = row * ranks.size() + i;
                CHECK(values[at] == alone[row] && better[at] == better_alone[row]);
                CHECK(equal[at] == equal_alone[row]);
            }
            selector.kth_where(rows, below, ranks[i], alone);
            CHECK(filtered[i] == alone[0] && filtered[ranks.size() + i] == alone[1]);
        }
        selector.kth(rows, none, nullptr, better);
    }
}

void check_predicates(topk::selector &selector) {
    const topk::rows rows(scores, 2);
    positions counts(2), offsets(3), indices(8, -5);
    std::vector<float> values(3, -5.0f);
    selector.count(rows, topk::compare(TOPK_GT, 2.5), counts);
    CHECK((counts == positions{2, 3}));
    selector.where(rows, topk::between(3, 5), values, indices, offsets);
    CHECK((offsets == positions{0, 2, 3} && indices == positions{0, 2, 0, -5, -5, -5, -5, -5}));
    CHECK((values == std::vector<float>{3, 4, 5}));
    selector.where(rows, topk::compare(TOPK_LE, 3u), nullptr, nullptr, offsets);
    CHECK((offsets == positions{0, 3, 4}));
    values.resize(1); // the smaller output bounds what is written
    indices.assign(8, -5);
    selector.where(rows, topk::compare(TOPK_GE, -1), values, indices, offsets);
    CHECK(values[0] == 3 && indices[0] == 0 && indices[1] == -5 && offsets[2] == 8);
}

void check_masks(topk::selector &selector) {
    unsigned char bits[1];
    positions best(2);
    selector.mask(topk::rows(scores), topk::compare(TOPK_LT, 5), bits);
    CHECK(bits[0] == 0x4f);
    selector.select_where(topk::rows(scores), topk::bit_mask(bits), 2, nullptr, best);
    CHECK((best == positions{2, 0}));
    std::vector<float> third(1);
    positions better(1), equal(1);
    selector.kth_where(topk::rows(scores), topk::bit_mask(bits), 2, third, better, equal);
    CHECK(third[0] == scores[0] && better[0] == 1 && equal[0] == 1);
    selector.kth_where(topk::rows(scores), topk::bit_mask(bits), 6, third, better);
    CHECK(better[0] == 5);
    const std::vector<float> thresholds = {4, 6};
    positions matches(2);
    selector.count(topk::rows(scores, 2), topk::at_least(thresholds.data(), 1), matches);
    CHECK((matches == positions{1, 2}));
    selector.count(topk::rows(scores, 2), topk::at_least(thresholds.data()), matches);
    CHECK((matches == positions{1, 3}));
}

void check_route(topk::selector &selector) {
    std::array<std::int32_t, 2> experts = {};
    std::array<float, 2> weights = {};
    selector.route(topk::rows(scores), TOPK_ROUTING_INIT, 2, experts, weights);
    CHECK(experts[0] == 5 && experts[1] == 7 && weights[0] > weights[1] && weights[1] > 0);
}

// Two lists of one row, with where each candidate came from as payload.
void check_merge(topk::selector &selector) {
    const positions indices = {0, 1, 2, 3, 10, 11, 12, 13};
    const std::vector<unsigned char> from = {0, 0, 0, 0, 1, 1, 1, 1};
    std::array<float, 4> values = {};
    positions best(4);
    std::vector<unsigned char> payload(4);
    topk_lists lists = TOPK_LISTS_INIT;
    topk::rows rows(scores, 2);
    rows.problem.rows = 1;
    rows.input.indices = indices.data();
    lists.lists = 2;
    lists.payload = from.data();
    lists.payload_bytes = 1;
    selector.merge(rows, lists, 4, values, best, payload);
    CHECK((best == positions{11, 13, 10, 2}) && (payload == std::vector<unsigned char>{1, 1, 1, 0}));
    CHECK((values == std::array<float, 4>{9, 6, 5, 4}));
}

// Two groups; an element of a third one is left out.
void check_groups(topk::selector &selector) {
    const std::vector<float> values = {1, 5, 3, 2, 9, 4, 7};
    const std::array<std::int32_t, 7> groups = {0, 1, 0, 1, 2, 0, 1};
    std::vector<float> best(4);
    positions indices(4), counts(2);
    selector.select_by(topk::grouped(values, groups, 2), 2, best, indices, counts);
    CHECK((best == std::vector<float>{4, 3, 7, 5}) && (indices == positions{5, 2, 6, 1}) &&
          (counts == positions{3, 3}));
    const positions wide(groups.begin(), groups.end());
    positions again(4);
    selector.select_by(topk::grouped(values, wide, 2), 2, nullptr, again);
    CHECK(again == indices);
}

// A bound is the number that was written, whatever its type.
void check_bounds() {
    CHECK(topk::bound(0.5f).type == TOPK_BOUND_F64 && topk::bound(0.5f).value.f64 == 0.5);
    CHECK(topk::bound(INT64_MIN).type == TOPK_BOUND_I64 && topk::bound(INT64_MIN).value.i64 == INT64_MIN);
    CHECK(topk::bound(UINT64_MAX).type == TOPK_BOUND_U64 && topk::bound(UINT64_MAX).value.u64 == UINT64_MAX);
}

template <class Container> void check_container(topk::selector &selector, const Container &container) {
    std::array<int64_t, 1> best = {-1};
    selector.select(topk::rows(container), 1, nullptr, best);
    CHECK(best[0] == 1);
}

void check_containers(topk::selector &selector) {
    const double array[] = {1, 2, 0};
    std::vector<topk::half> halves = {{0x3c00}, {0x4000}, {0}};
    check_container(selector, array);
    check_container(selector, halves);
    check_container(selector, std::vector<topk::bfloat16>{{0x3f80}, {0x4000}, {0}});
    check_container(selector, std::array<std::int8_t, 3>{-1, 2, 0});
    check_container(selector, topk::span(halves.data(), halves.size()));
#if __cplusplus >= 202002L
    check_container(selector, std::span(array));
#endif
}

// ---- Errors ----

// Calls, and checks that topk::error says this.
template <class Call> void expect(topk_status status, const char *text, Call call) {
    bool thrown = false;
    try {
        call();
    } catch (const topk::error &error) {
        thrown = true;
        if (!CHECK(error.status() == status && std::strstr(error.what(), text) != nullptr)) {
            std::fprintf(stderr, "    %d: %s\n", error.status(), error.what());
        }
    }
    CHECK(thrown);
}

void check_rows() {
    expect(TOPK_ERROR_OUT_OF_RANGE, "8 values do not make 3 rows", [] { topk::rows(scores, 3); });
    expect(TOPK_ERROR_OUT_OF_RANGE, "8 values do not make 0 rows", [] { topk::rows(scores, 0); });
    expect(TOPK_ERROR_OUT_OF_RANGE, "do not make -1 rows", [] { topk::rows(scores, -1); });
    const topk::rows none(std::vector<float>{}, 0);
    CHECK(none.problem.rows == 0 && none.problem.length_max == 0);
}

// A mask has a bit for each element of all rows: of one that several rows share it is known how short it is.
void check_short_masks(topk::selector &selector) {
    const auto low = TOPK_ERROR_OUT_OF_RANGE;
    const char *const text = "bits holds less than a bit for each element of values";
    const std::vector<float> many(24, 1.0f);
    const std::vector<unsigned char> of_a_row(1, 0xff), of_all(3, 0xff), none;
    std::vector<unsigned char> out(4);
    positions three(3), four(4);
    topk::rows rows(many, 3);
    const auto refuse = [&](const std::vector<unsigned char> &bits) {
        const topk::predicate mask = topk::bit_mask(bits);
        expect(low, text, [&] { selector.select_where(rows, mask, 1, nullptr, three); });
        expect(low, text, [&] { selector.where(rows, mask, nullptr, nullptr, four); });
        expect(low, text, [&] { selector.count(rows, mask, three); });
        expect(low, text, [&] { selector.mask(rows, mask, out); });
    };
    refuse(of_a_row);
    refuse(none);
    selector.count(rows, topk::bit_mask(of_all), three);
    CHECK((three == positions{8, 8, 8}));
    rows.problem.row_stride = 7; // 14 + 8 elements
    selector.count(rows, topk::bit_mask(of_all), three);
    rows.problem.row_stride = 9; // 18 + 8
    refuse(of_all);
    rows.problem.row_stride = INT64_MAX; // what makes no sense the library names
    expect(TOPK_ERROR_OVERFLOW, "2^63", [&] { selector.count(rows, topk::bit_mask(none), three); });
    const std::array<int64_t, 4> offsets = {0, 8, 16, 24};
    topk::rows ragged(many, 3);
    ragged.problem.shape = TOPK_SHAPE_CSR;
    ragged.problem.elements_max = 24;
    ragged.input.offsets = offsets.data();
    selector.count(ragged, topk::bit_mask(of_all), three);
    expect(low, text, [&] { selector.count(ragged, topk::bit_mask(of_a_row), three); });
}

// Bits of elements that fill no whole number of bytes, with room for them and for one byte less.
void check_room_for_bits(topk::selector &selector) {
    for (std::size_t size = 1; size <= 33; size++) {
        const std::vector<float> values(size, 1.0f);
        const topk::rows rows(values);
        const std::size_t bytes = (size + 7) / 8;
        std::vector<unsigned char> bits(bytes), fewer(bytes - 1);
        positions count(1);
        selector.mask(rows, topk::compare(TOPK_GT, 0), bits);
        CHECK(bits[bytes - 1] == (1u << (size - 8 * (bytes - 1))) - 1);
        selector.count(rows, topk::bit_mask(bits), count);
        CHECK(count[0] == static_cast<int64_t>(size));
        expect(TOPK_ERROR_OUT_OF_RANGE, "bits has room for",
               [&] { selector.mask(rows, topk::compare(TOPK_GT, 0), fewer); });
        expect(TOPK_ERROR_OUT_OF_RANGE, "bits holds less",
               [&] { selector.count(rows, topk::bit_mask(fewer), count); });
    }
}

void check_small_outputs(topk::selector &selector) {
    const auto low = TOPK_ERROR_OUT_OF_RANGE;
    const topk::rows rows(scores, 2);
    const topk_predicate predicate = topk::compare(TOPK_GT, 2);
    positions empty, one(1), two(2), three(3);
    std::vector<float> value(1);
    std::vector<unsigned char> no_bits;
    expect(low, "indices has room for 0", [&] { selector.select(rows, 2, nullptr, empty); });
    expect(low, "indices has room for 3", [&] { selector.select(rows, 2, nullptr, three); });
    expect(low, "values has room for 1", [&] { selector.select(rows, 2, value, nullptr); });
    expect(low, "values has room for 1", [&] { selector.kth(rows, 2, value); });
    expect(low, "better has room for 1", [&] { selector.kth(rows, 2, nullptr, one); });
    expect(low, "equal has room for 1", [&] { selector.kth(rows, 2, nullptr, two, one); });
    expect(low, "better has room for 3, which is less than 2 x 2",
           [&] { selector.kth(rows, two, nullptr, three); });
    topk::rows narrow = rows;
    narrow.problem.extent_type = TOPK_INDEX_I32;
    expect(TOPK_ERROR_CONTRADICTION, "ranks are int64", [&] { selector.kth(narrow, two, nullptr); });
    expect(low, "offsets has room for 2", [&] { selector.where(rows, predicate, nullptr, nullptr, two); });
    expect(low, "counts has room for 1", [&] { selector.count(rows, predicate, one); });
    expect(low, "bits has room for 0", [&] { selector.mask(rows, predicate, no_bits); });
    expect(low, "weights has room for 1",
           [&] { selector.route(rows, TOPK_ROUTING_INIT, 1, nullptr, value); });
    expect(low, "indices has room for 3", [&] { selector.select_where(rows, predicate, 2, nullptr, three); });
    topk_lists lists = TOPK_LISTS_INIT;
    lists.payload_bytes = 2;
    expect(low, "indices has room for 3", [&] { selector.merge(rows, lists, 2, nullptr, three); });
    expect(low, "values has room for 1", [&] { selector.merge(rows, lists, 1, value, nullptr); });
    expect(low, "payload has room for 0, which is less than 2 x 2",
           [&] { selector.merge(rows, lists, 1, nullptr, nullptr, no_bits); });
    const positions groups(8), fewer(7);
    expect(low, "7 groups of 8 values", [&] { (void)topk::grouped(scores, fewer, 2); });
    expect(low, "counts has room for 3, which is less than 4 x 1",
           [&] { selector.select_by(topk::grouped(scores, groups, 4), 1, nullptr, nullptr, three); });
}

void check_errors_of_the_library(topk::selector &selector) {
    positions indices(8);
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    options.threads = -1;
    expect(TOPK_ERROR_OUT_OF_RANGE, "threads", [&] { topk::selector none(options); });
    expect(TOPK_ERROR_OUT_OF_RANGE, "k_max",
           [&] { selector.select(topk::rows(scores), -1, nullptr, indices); });
    expect(TOPK_ERROR_NULL_POINTER, "counts",
           [&] { selector.count(topk::rows(scores), topk::compare(TOPK_GT, 0), nullptr); });
    topk::rows unknown(scores);
    unknown.problem.method = "nonesuch";
    expect(TOPK_ERROR_UNKNOWN_METHOD, "nonesuch", [&] { selector.select(unknown, 1, nullptr, indices); });
}

void check_plan(const topk::selector &selector) {
    topk::rows rows(scores);
    rows.problem.k_max = 2;
    rows.problem.index_type = TOPK_INDEX_I64;
    topk_plan_what what = TOPK_PLAN_WHAT_INIT;
    what.outputs = TOPK_OUTPUT_INDICES;
    topk::plan made(selector.context(), TOPK_OPERATION_SELECT, rows.problem, what);
    const topk::plan plan = std::move(made);
    CHECK(made.get() == nullptr && plan.get() != nullptr);
    const topk_plan_properties properties = plan.properties();
    std::vector<char> workspace(properties.workspace_bytes);
    positions best(2);
    topk_output output = TOPK_OUTPUT_INIT;
    output.indices = best.data();
    plan.run(rows.input, output, workspace.data(), workspace.size());
    CHECK((best == positions{5, 7}));
    CHECK(plan.method(properties.methods - 1).method == std::string("reference"));
    expect(TOPK_ERROR_OUT_OF_RANGE, "index", [&] { plan.method(-1); });
    std::array<float, 8> not_planned = {};
    output.values = not_planned.data();
    expect(TOPK_ERROR_CONTRADICTION, "values",
           [&] { plan.run(rows.input, output, workspace.data(), workspace.size()); });
    rows.problem.method = "nonesuch";
    expect(TOPK_ERROR_UNKNOWN_METHOD, "nonesuch",
           [&] { topk::plan none(selector.context(), TOPK_OPERATION_SELECT, rows.problem); });
}

void check_moves() {
    topk::selector first, second(std::move(first));
    positions best(1);
    CHECK(first.get() == nullptr && first.context() == nullptr);
    expect(TOPK_ERROR_NULL_POINTER, "simple", [&] { first.select(topk::rows(scores), 1, nullptr, best); });
    second.select(topk::rows(scores), 1, nullptr, best);
    CHECK(best[0] == 5 && second.context() == topk_simple_context(second.get()));
    first = std::move(second);
    first.select(topk::rows(scores), 1, nullptr, best);
}

} // namespace

int main() {
    topk::selector selector;
    check_select(selector);
    check_options(selector);
    check_kth(selector);
    check_ranks(selector);
    check_predicates(selector);
    check_masks(selector);
    check_route(selector);
    check_merge(selector);
    check_groups(selector);
    check_bounds();
    check_containers(selector);
    check_rows();
    check_small_outputs(selector);
    check_short_masks(selector);
    check_room_for_bits(selector);
    check_errors_of_the_library(selector);
    check_moves();
    check_plan(selector);
    return check_report();
}
