/* SPDX-License-Identifier: Apache-2.0
 *
 * libtopk for C++17 and later: a header over topk_simple.h, with nothing to link but the library.
 *
 *   std::vector<float> scores = ...;
 *   std::vector<std::int64_t> best(10);
 *   topk::selector selector; // on the CPU
 *   selector.select(topk::rows(scores), 10, nullptr, best);
 *
 * Results and options are those of topk.h. Outputs have the size that the caller gave them: one that is too
 * small is an error, and nullptr says that it is not wanted. Nothing is allocated but the selector, its
 * workspace (CONTRACT.md, 13) and the text of an error.
 *
 * Errors throw topk::error. Without exceptions (-fno-exceptions) they write their message to stderr and call
 * std::abort(); a program that must go on calls the functions of topk_simple.h, which return a status.
 */
#ifndef TOPK_HPP
#define TOPK_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "topk_advanced.h"
#include "topk_groups.h"
#include "topk_merge.h"
#include "topk_route.h"
#include "topk_simple.h"

namespace topk {

/* ---- Errors ---------------------------------------------------------------------------------- */

/* what() is topk_last_error(), or names the output that is too small. */
class TOPK_API error : public std::runtime_error {
  public:
    error(topk_status status, const std::string &message) : std::runtime_error(message), status_(status) {
    }
    topk_status status() const noexcept {
        return status_;
    }

  private:
    topk_status status_;
};

namespace detail {

[[noreturn]] inline void fail(topk_status status, const std::string &message) {
#ifdef __cpp_exceptions
    throw error(status, message);
#else
    (void)std::fprintf(stderr, "libtopk: %s: %s\n", topk_status_string(status), message.c_str());
    std::abort();
#endif
}

inline void check(topk_status status) {
    if (status != TOPK_OK) {
        fail(status, topk_last_error());
    }
}

} // namespace detail

/* ---- Elements -------------------------------------------------------------------------------- */

/* The formats that C++17 has no type for: their bits. */
struct half {
    std::uint16_t bits;
};
struct bfloat16 {
    std::uint16_t bits;
};
struct float8_e4m3 {
    std::uint8_t bits;
};
struct float8_e5m2 {
    std::uint8_t bits;
};

template <topk_type Type> struct element_of { static constexpr topk_type type = Type; };

/* element<T>::type is the topk_type of T: float, double, integers but bool, and the four above. A type of
 * one's own that has the bits of one of them is an element once it says so:
 *
 *   template <> struct topk::element<__half> : topk::element_of<TOPK_F16> {};
 */
template <class T, class = void> struct element;
template <> struct element<float> : element_of<TOPK_F32> {};
template <> struct element<double> : element_of<TOPK_F64> {};
template <> struct element<half> : element_of<TOPK_F16> {};
template <> struct element<bfloat16> : element_of<TOPK_BF16> {};
template <> struct element<float8_e4m3> : element_of<TOPK_F8_E4M3> {};
template <> struct element<float8_e5m2> : element_of<TOPK_F8_E5M2> {};

namespace detail {

constexpr topk_type integer_type(std::size_t bytes, bool is_signed) {
    return bytes == 1   ? (is_signed ? TOPK_I8 : TOPK_U8)
           : bytes == 2 ? (is_signed ? TOPK_I16 : TOPK_U16)
           : bytes == 4 ? (is_signed ? TOPK_I32 : TOPK_U32)
                        : (is_signed ? TOPK_I64 : TOPK_U64);
}

template <class T>
constexpr bool is_integer =
    std::is_integral_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= sizeof(std::int64_t);

} // namespace detail

template <class T>
struct element<T, std::enable_if_t<detail::is_integer<T>>>
    : element_of<detail::integer_type(sizeof(T), std::is_signed_v<T>)> {};

/* ---- Data ------------------------------------------------------------------------------------ */

/* Elements that somebody else owns, of the host or of a GPU: made of whatever has std::data() and
 * std::size(), such as std::vector, std::array, an array or std::span. */
template <class T> class span {
    template <class Container>
    using convertible = std::enable_if_t<std::is_convertible_v<
        std::remove_pointer_t<decltype(std::data(std::declval<Container &>()))> (*)[], T (*)[]>>;

  public:
    constexpr span() noexcept = default;
    constexpr span(T *data, std::size_t size) noexcept : data_(data), size_(size) {
    }
    template <class Container, class = convertible<Container>,
              class = decltype(std::size(std::declval<Container &>()))>
    constexpr span(Container &&container) : data_(std::data(container)), size_(std::size(container)) {
    }
    constexpr T *data() const noexcept {
        return data_;
    }
    constexpr std::size_t size() const noexcept {
        return size_;
    }

  private:
    T *data_ = nullptr;
    std::size_t size_ = 0;
};

/* What a call selects from, and how. The constructor takes rows of one length, one after the other, and
 * throws (OUT_OF_RANGE) if they do not fill `values`. All other options and shapes are fields to be set
 * afterwards:
 *
 *   topk::rows distances(matrix, 64);
 *   distances.problem.direction = TOPK_SMALLEST;
 *
 * The values stay the caller's, and must stay until the work is done. */
template <class T> struct rows {
    topk_problem problem = TOPK_PROBLEM_INIT;
    topk_input input = TOPK_INPUT_INIT;

    explicit rows(span<const T> values, std::int64_t count = 1) {
        const auto size = static_cast<std::int64_t>(values.size());
        if (count < 0 || (count == 0 ? size : size % count) != 0) {
            detail::fail(TOPK_ERROR_OUT_OF_RANGE,
                         std::to_string(size) + " values do not make " + std::to_string(count) + " rows");
        }
        problem.type = element<T>::type;
        problem.rows = count;
        problem.length_max = count == 0 ? 0 : size / count;
        input.values = values.data();
    }
};
template <class Container>
rows(const Container &, std::int64_t = 1)
    -> rows<std::remove_cv_t<std::remove_pointer_t<decltype(std::data(std::declval<const Container &>()))>>>;

/* The elements of `count` groups for selector::select_by(), with the group of each: std::int32_t or
 * std::int64_t, as many as there are values. */
template <class Values, class Groups>
auto grouped(const Values &values, const Groups &groups, std::int64_t count) {
    using group = std::remove_cv_t<std::remove_pointer_t<decltype(std::data(groups))>>;
    static_assert(std::is_same_v<group, std::int32_t> || std::is_same_v<group, std::int64_t>,
                  "groups are std::int32_t or std::int64_t");
    rows made(values);
    if (std::size(groups) != std::size(values)) {
        detail::fail(TOPK_ERROR_OUT_OF_RANGE, std::to_string(std::size(groups)) + " groups of " +
                                                  std::to_string(std::size(values)) + " values");
    }
    made.problem.rows = count;
    made.problem.extent_type = sizeof(group) == 4 ? TOPK_INDEX_I32 : TOPK_INDEX_I64;
    made.input.groups = std::data(groups);
    return made;
}

/* Where a call writes: whatever makes a span, or nullptr for what is not wanted. */
template <class T> class output {
  public:
    output(std::nullptr_t) noexcept {
    }
    template <class Container, class = std::enable_if_t<std::is_convertible_v<Container, span<T>>>>
    output(Container &&container) : span_(std::forward<Container>(container)), is_wanted_(true) {
    }
    T *data() const noexcept {
        return span_.data();
    }
    /* How many elements it has room for. */
    std::uint64_t room() const noexcept {
        return is_wanted_ ? span_.size() : UINT64_MAX;
    }

  private:
    span<T> span_;
    bool is_wanted_ = false;
};

/* Likewise for positions, which are std::int32_t or std::int64_t. topk_input.indices must have the same type.
 */
class index_output {
    template <class Container, class Index>
    static constexpr bool makes = std::is_convertible_v<Container, span<Index>>;

  public:
    index_output(std::nullptr_t) noexcept {
    }
    template <class Container,
              class = std::enable_if_t<makes<Container, std::int32_t> || makes<Container, std::int64_t>>>
    index_output(Container &&container) {
        using index = std::conditional_t<makes<Container, std::int32_t>, std::int32_t, std::int64_t>;
        const span<index> indices(container);
        data_ = indices.data();
        size_ = indices.size();
        type_ = sizeof(index) == 4 ? TOPK_INDEX_I32 : TOPK_INDEX_I64;
        is_wanted_ = true;
    }
    void *data() const noexcept {
        return data_;
    }
    std::uint64_t room() const noexcept {
        return size_;
    }
    /* What the problem says, or the type of the output that is wanted. */
    topk_index_type type(const topk_problem &problem) const noexcept {
        return is_wanted_ ? type_ : problem.index_type;
    }

  private:
    void *data_ = nullptr;
    std::uint64_t size_ = UINT64_MAX;
    topk_index_type type_ = TOPK_INDEX_I32;
    bool is_wanted_ = false;
};

/* ---- Predicates ------------------------------------------------------------------------------ */

/* What calls take: any topk_predicate, and with a mask of bit_mask() how many elements that has a bit for. */
struct predicate : topk_predicate {
    std::uint64_t elements_max = UINT64_MAX;

    predicate(const topk_predicate &any) noexcept : topk_predicate(any) {
    }
};

/* Numbers of up to 64 bits, which compare as the real numbers that they are. */
template <class Number> topk_bound bound(Number number) {
    static_assert(std::is_arithmetic_v<Number> && sizeof(Number) <= sizeof(double),
                  "a bound is a number of up to 64 bits");
    topk_bound made = {TOPK_BOUND_F64, {0.0}};
    if constexpr (std::is_floating_point_v<Number>) {
        made.value.f64 = static_cast<double>(number);
    } else if constexpr (std::is_signed_v<Number>) {
        made.type = TOPK_BOUND_I64;
        made.value.i64 = number;
    } else {
        made.type = TOPK_BOUND_U64;
        made.value.u64 = number;
    }
    return made;
}

/* Elements x with x > number (TOPK_GT), and so on. */
template <class Number> topk_predicate compare(topk_predicate_kind kind, Number number) {
    topk_predicate predicate = TOPK_PREDICATE_INIT;
    predicate.kind = kind;
    predicate.low = bound(number);
    return predicate;
}

/* Elements from low to high, both included. */
template <class Number> topk_predicate between(Number low, Number high) {
    topk_predicate predicate = compare(TOPK_BETWEEN, low);
    predicate.high = bound(high);
    return predicate;
}

/* Elements that rank at or above a threshold: one for all rows, or one for each, `stride` elements apart.
 * What selector::kth() writes is one. */
template <class T> topk_predicate at_least(const T *thresholds, std::int64_t stride = 0) {
    topk_predicate predicate = TOPK_PREDICATE_INIT;
    predicate.kind = TOPK_AT_LEAST;
    predicate.threshold = thresholds;
    predicate.threshold_stride = stride;
    return predicate;
}

/* Elements whose bit is 1, as selector::mask() writes them: one bit for each element of values, from the
 * first row's first one to the last row's last one. Calls throw (OUT_OF_RANGE) if there are fewer. */
inline predicate bit_mask(span<const unsigned char> bits) {
    predicate made = topk_predicate TOPK_PREDICATE_INIT;
    made.kind = TOPK_BIT_MASK;
    made.mask = bits.data();
    made.elements_max = bits.size() < UINT64_MAX / 8 ? 8 * std::uint64_t(bits.size()) : UINT64_MAX;
    return made;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

namespace detail {

/* Counts that make no sense are left to the library, which names them. */
inline void require(const char *name, std::uint64_t size, std::int64_t count, std::int64_t each = 1) {
    if (count > 0 && each > 0 &&
        static_cast<std::uint64_t>(count) > size / static_cast<std::uint64_t>(each)) {
        fail(TOPK_ERROR_OUT_OF_RANGE, std::string(name) + " has room for " + std::to_string(size) +
                                          ", which is less than " + std::to_string(count) + " x " +
                                          std::to_string(each));
    }
}

/* How many elements the bounds of a problem let rows reach; 0 where they make no sense. */
inline std::uint64_t elements_of(const topk_problem &problem) {
    const std::int64_t stride = problem.row_stride != 0 ? problem.row_stride : problem.length_max;
    if (problem.rows <= 0 || problem.length_max <= 0 || stride <= 0 || problem.elements_max < 0) {
        return 0;
    }
    if (problem.shape != TOPK_SHAPE_STRIDED) {
        return static_cast<std::uint64_t>(problem.elements_max);
    }
    return problem.rows - 1 > (INT64_MAX - problem.length_max) / stride
               ? 0
               : static_cast<std::uint64_t>((problem.rows - 1) * stride + problem.length_max);
}

inline void require_bits(const topk_problem &problem, const predicate &of) {
    if (elements_of(problem) > of.elements_max) {
        fail(TOPK_ERROR_OUT_OF_RANGE, "bits holds less than a bit for each element of values");
    }
}

template <class T> struct same { using type = T; };

} // namespace detail

/* A context, and a workspace that grows: a topk_simple, which it owns. It can be moved. One thread at a time,
 * and on a GPU one stream. Its functions are those of topk.h, but for what the outputs say themselves; they
 * throw topk::error, and on a GPU return when the work is enqueued on `stream`. */
class selector {
    /* Outputs take no part in deducing T. */
    template <class T> using elements = output<typename detail::same<T>::type>;
    using counts = output<std::int64_t>;

  public:
    /* On the CPU. */
    selector() : simple_(create(nullptr)) {
    }
    explicit selector(const topk_context_options &options) : simple_(create(&options)) {
    }

    /* For topk_simple.h and topk.h; they end with the selector. */
    topk_simple *get() const noexcept {
        return simple_.get();
    }
    topk_context *context() const noexcept {
        return topk_simple_context(simple_.get());
    }

    /* The k best of each row; each output has room for rows x k. */
    template <class T>
    void select(const rows<T> &from, std::int64_t k, elements<T> values, index_output indices,
                topk_stream stream = nullptr) {
        const topk_problem problem = ranking(from.problem, k, "values", values.room(), indices);
        detail::check(
            topk_simple_run_select(get(), &problem, &from.input, values.data(), indices.data(), stream));
    }

    /* The k best of those elements of each row that meet a predicate. */
    template <class T>
    void select_where(const rows<T> &from, const predicate &which, std::int64_t k, elements<T> values,
                      index_output indices, topk_stream stream = nullptr) {
        const topk_problem problem = ranking(from.problem, k, "values", values.room(), indices);
        detail::require_bits(problem, which);
        detail::check(topk_simple_run_select_where(get(), &problem, &from.input, &which, values.data(),
                                                   indices.data(), stream));
    }

    /* The k-th best of each row, from k = 1 on; how many elements of the row are better, and how many equal.
     */
    template <class T>
    void kth(const rows<T> &from, std::int64_t k, elements<T> values, counts better = nullptr,
             counts equal = nullptr, topk_stream stream = nullptr) {
        const topk_problem problem = kth_problem(from.problem, k, values.room(), better, equal);
        detail::check(topk_simple_run_kth(get(), &problem, &from.input, values.data(), better.data(),
                                          equal.data(), stream));
    }

    /* The same for several k, which all rows share, in any order: one call, where long rows are read once on
     * the CPU. `ranks` lies where elements do. Outputs have room for rows x ranks, a row's side by side. */
    template <class T>
    void kth(const rows<T> &from, span<const std::int64_t> ranks, elements<T> values, counts better = nullptr,
             counts equal = nullptr, topk_stream stream = nullptr) {
        run_ranks(from, nullptr, ranks, values, better, equal, stream);
    }

    /* The k-th best of those elements of each row that meet a predicate, and their counts. */
    template <class T>
    void kth_where(const rows<T> &from, const predicate &which, std::int64_t k, elements<T> values,
                   counts better = nullptr, counts equal = nullptr, topk_stream stream = nullptr) {
        const topk_problem problem = kth_problem(from.problem, k, values.room(), better, equal);
        detail::require_bits(problem, which);
        detail::check(topk_simple_run_kth_where(get(), &problem, &from.input, &which, values.data(),
                                                better.data(), equal.data(), stream));
    }

    template <class T>
    void kth_where(const rows<T> &from, const predicate &which, span<const std::int64_t> ranks,
                   elements<T> values, counts better = nullptr, counts equal = nullptr,
                   topk_stream stream = nullptr) {
        detail::require_bits(from.problem, which);
        run_ranks(from, &which, ranks, values, better, equal, stream);
    }

    /* The elements that meet a predicate, in order. As many are written as the smaller output has room for,
     * and all are counted: those of row r are [offsets[r], offsets[r + 1]). */
    template <class T>
    void where(const rows<T> &from, const predicate &which, elements<T> values, index_output indices,
               counts offsets, topk_stream stream = nullptr) {
        topk_problem problem = from.problem;
        problem.index_type = indices.type(problem);
        const std::uint64_t least = values.room() < indices.room() ? values.room() : indices.room();
        const auto capacity = least == UINT64_MAX ? 0 : static_cast<std::int64_t>(least);
        detail::require_bits(problem, which);
        detail::require("offsets", offsets.room(), problem.rows < INT64_MAX ? problem.rows + 1 : 0);
        detail::check(topk_simple_run_where(get(), &problem, &from.input, &which, values.data(),
                                            indices.data(), capacity, offsets.data(), stream));
    }

    /* How many elements of each row meet a predicate. */
    template <class T>
    void count(const rows<T> &from, const predicate &which, counts of_rows, topk_stream stream = nullptr) {
        detail::require("counts", of_rows.room(), from.problem.rows);
        detail::require_bits(from.problem, which);
        detail::check(
            topk_simple_run_count(get(), &from.problem, &from.input, &which, of_rows.data(), stream));
    }

    /* Which elements meet a predicate: bits, (elements + 7) / 8 bytes. */
    template <class T>
    void mask(const rows<T> &from, const predicate &which, output<unsigned char> bits,
              topk_stream stream = nullptr) {
        const auto bytes = static_cast<std::int64_t>((detail::elements_of(from.problem) + 7) / 8);
        detail::require("bits", bits.room(), bytes);
        detail::require_bits(from.problem, which);
        detail::check(topk_simple_run_mask(get(), &from.problem, &from.input, &which, bits.data(), stream));
    }

    /* The k best experts of each row of logits, and their weights; each output has room for rows x k. */
    template <class T>
    void route(const rows<T> &logits, const topk_routing &routing, std::int64_t k, index_output experts,
               output<float> weights, topk_stream stream = nullptr) {
        const topk_problem problem = ranking(logits.problem, k, "weights", weights.room(), experts);
        detail::check(topk_simple_run_route(get(), &problem, &routing, logits.input.values, experts.data(),
                                            weights.data(), stream));
    }

    /* The k best of the lists of each row. `from` says where they lie as topk_merge.h does: problem.rows
     * counts rows, problem.length_max is of a list, and input.indices has the type of `indices`. Outputs have
     * room for rows x k, and of the payload lists.payload_bytes each. */
    template <class T>
    void merge(const rows<T> &from, const topk_lists &lists, std::int64_t k, elements<T> values,
               index_output indices, output<unsigned char> payload = nullptr, topk_stream stream = nullptr) {
        const topk_problem problem = ranking(from.problem, k, "values", values.room(), indices);
        const std::int64_t bytes =
            lists.payload_bytes > 0 && lists.payload_bytes <= 16 ? lists.payload_bytes : 0;
        detail::require("payload", payload.room(), problem.rows, k < INT64_MAX / 16 ? k * bytes : 0);
        detail::check(topk_simple_run_merge(get(), &problem, &from.input, &lists, values.data(),
                                            indices.data(), payload.data(), stream));
    }

    /* The k best elements of each group of grouped(), as topk_groups.h has it. `values` and `indices` have
     * room for groups x k, and `of_groups` for the number of elements of each. */
    template <class T>
    void select_by(const rows<T> &from, std::int64_t k, elements<T> values, index_output indices,
                   counts of_groups = nullptr, topk_stream stream = nullptr) {
        const topk_problem problem = ranking(from.problem, k, "values", values.room(), indices);
        detail::require("counts", of_groups.room(), problem.rows);
        detail::check(topk_simple_run_select_by(get(), &problem, &from.input, values.data(), indices.data(),
                                                of_groups.data(), stream));
    }

  private:
    struct destroy {
        void operator()(topk_simple *simple) const noexcept {
            topk_simple_destroy(simple);
        }
    };

    static topk_simple *create(const topk_context_options *options) {
        topk_simple *created;
        detail::check(topk_simple_create(options, &created));
        return created;
    }

    static topk_problem ranking(topk_problem problem, std::int64_t k, const char *name, std::uint64_t room,
                                const index_output &indices) {
        problem.k_max = k;
        problem.index_type = indices.type(problem);
        detail::require(name, room, problem.rows, k);
        detail::require("indices", indices.room(), problem.rows, k);
        return problem;
    }

    static topk_problem kth_problem(topk_problem problem, std::int64_t k, std::uint64_t room,
                                    const counts &better, const counts &equal, std::int64_t ranks = 1) {
        problem.k_max = k;
        detail::require("values", room, problem.rows, ranks);
        detail::require("better", better.room(), problem.rows, ranks);
        detail::require("equal", equal.room(), problem.rows, ranks);
        return problem;
    }

    /* Any k beyond a row's end is as good as another, so none needs to be read here. */
    template <class T>
    void run_ranks(const rows<T> &from, const predicate *which, span<const std::int64_t> ranks,
                   const elements<T> &values, const counts &better, const counts &equal, topk_stream stream) {
        const std::int64_t length = from.problem.length_max;
        const auto count = static_cast<std::int64_t>(ranks.size());
        if (count == 0) {
            return;
        }
        if (from.problem.extent_type != TOPK_INDEX_I64) {
            detail::fail(TOPK_ERROR_CONTRADICTION,
                         "ranks are int64, so extent_type must be, and with it all extents of rows");
        }
        topk_problem problem = kth_problem(from.problem, length < INT64_MAX ? length + 1 : length,
                                           values.room(), better, equal, count);
        topk_input input = from.input;
        problem.ranks = count;
        problem.k_stride = 0;
        input.k = ranks.data();
        detail::check(which == nullptr
                          ? topk_simple_run_kth(get(), &problem, &input, values.data(), better.data(),
                                                equal.data(), stream)
                          : topk_simple_run_kth_where(get(), &problem, &input, which, values.data(),
                                                      better.data(), equal.data(), stream));
    }

    std::unique_ptr<topk_simple, destroy> simple_;
};

/* A problem that is decided once and run many times: a topk_plan, which it owns. It can be moved. Threads may
 * run it at the same time, with workspaces and outputs of their own. The context must outlive it, such as
 * that of a selector. Arrays are those of topk.h, whose sizes nobody looks at here. */
class plan {
  public:
    plan(const topk_context *context, topk_operation operation, const topk_problem &problem,
         const topk_plan_what &what = topk_plan_what TOPK_PLAN_WHAT_INIT)
        : plan_(create(context, operation, problem, what)) {
    }

    /* For topk.h; it ends with the plan. */
    topk_plan *get() const noexcept {
        return plan_.get();
    }
    topk_plan_properties properties() const {
        topk_plan_properties found = TOPK_PLAN_PROPERTIES_INIT;
        detail::check(topk_plan_query(get(), &found));
        return found;
    }
    /* From 0 to properties().methods - 1. */
    topk_plan_method method(int index) const {
        topk_plan_method found = TOPK_PLAN_METHOD_INIT;
        detail::check(topk_plan_query_method(get(), index, &found));
        return found;
    }
    /* The workspace has properties().workspace_bytes at least. */
    void run(const topk_input &input, const topk_output &output, void *workspace, std::size_t workspace_bytes,
             topk_stream stream = nullptr) const {
        detail::check(topk_plan_run(get(), &input, &output, workspace, workspace_bytes, stream));
    }

  private:
    struct destroy {
        void operator()(topk_plan *plan) const noexcept {
            topk_plan_destroy(plan);
        }
    };

    static topk_plan *create(const topk_context *context, topk_operation operation,
                             const topk_problem &problem, const topk_plan_what &what) {
        topk_plan *created;
        detail::check(topk_plan_create(context, operation, &problem, &what, &created));
        return created;
    }

    std::unique_ptr<topk_plan, destroy> plan_;
};

} // namespace topk

#endif /* TOPK_HPP */
