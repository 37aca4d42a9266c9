/* SPDX-License-Identifier: Apache-2.0
 * Warp operations: the lanes hand in a value each, meet, and compute from what all handed in. Only
 * simt_warp_sync orders their accesses of memory. */
#ifndef TOPK_TESTS_SIMT_EMULATED_WARP_H
#define TOPK_TESTS_SIMT_EMULATED_WARP_H

template <typename T> uint64_t simt_pack(T value) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "the hardware shuffles words of 4 and 8 bytes");
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
}

template <typename T> T simt_unpack(uint64_t bits) {
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

template <typename T>
T simt_exchange_lanes(const char *operation, uint32_t mask, T value, uint32_t source, simt_site at) {
    const uint64_t *values = simt_runtime::meet_warp(operation, mask, simt_pack(value), at);
    if (source >= SIMT_WARP)
        return value;
    if ((mask >> source & 1) == 0)
        simt_runtime::report("%s reads lane %u, which is not in the mask 0x%08x (%s:%u)", operation, source,
                             mask, at.file, at.line);
    return simt_unpack<T>(values[source]);
}

inline void simt_warp_sync(uint32_t mask, simt_site at = simt_here()) {
    simt_runtime::sync_warp(mask, at);
}

template <typename T> T simt_shuffle(uint32_t mask, T value, uint32_t lane, simt_site at = simt_here()) {
    return simt_exchange_lanes("simt_shuffle", mask, value, lane % SIMT_WARP, at);
}

template <typename T>
T simt_shuffle_up(uint32_t mask, T value, uint32_t distance, simt_site at = simt_here()) {
    return simt_exchange_lanes("simt_shuffle_up", mask, value, simt_lane() - distance, at);
}

inline uint32_t simt_add_lane_before(uint32_t value, uint32_t distance, uint32_t part = SIMT_WARP,
                                     simt_site at = simt_here()) {
    uint32_t lane = simt_lane() % part, before = simt_shuffle_up(SIMT_ALL_LANES, value, distance, at);
    return value + (lane >= distance ? before : 0);
}

template <typename T>
T simt_shuffle_down(uint32_t mask, T value, uint32_t distance, simt_site at = simt_here()) {
    return simt_exchange_lanes("simt_shuffle_down", mask, value, simt_lane() + distance, at);
}

template <typename T> T simt_shuffle_xor(uint32_t mask, T value, uint32_t lanes, simt_site at = simt_here()) {
    return simt_exchange_lanes("simt_shuffle_xor", mask, value, simt_lane() ^ lanes, at);
}

/* The lanes of the mask that handed in `value`. */
inline uint32_t simt_lanes_with(const char *operation, uint32_t mask, uint64_t mine, uint64_t value,
                                simt_site at) {
    const uint64_t *values = simt_runtime::meet_warp(operation, mask, mine, at);
    uint32_t lanes = 0;
    for (uint32_t lane = 0; lane < SIMT_WARP; lane++)
        lanes |= (uint32_t)((mask >> lane & 1) != 0 && values[lane] == value) << lane;
    return lanes;
}

inline uint32_t simt_ballot(uint32_t mask, bool predicate, simt_site at = simt_here()) {
    return simt_lanes_with("simt_ballot", mask, predicate, 1, at);
}
inline uint32_t simt_ballot_alike(uint32_t bits, simt_site at = simt_here()) {
    const uint32_t set = simt_ballot(SIMT_ALL_LANES, bits != 0, at);
    return bits != 0 ? set : ~set;
}

inline bool simt_any(uint32_t mask, bool predicate, simt_site at = simt_here()) {
    return simt_lanes_with("simt_any", mask, predicate, 1, at) != 0;
}

inline bool simt_all(uint32_t mask, bool predicate, simt_site at = simt_here()) {
    return simt_lanes_with("simt_all", mask, predicate, 1, at) == mask;
}

inline uint32_t simt_match_any(uint32_t mask, uint32_t value, simt_site at = simt_here()) {
    return simt_lanes_with("simt_match_any", mask, value, value, at);
}

inline uint32_t simt_match_any(uint32_t mask, uint64_t value, simt_site at = simt_here()) {
    return simt_lanes_with("simt_match_any", mask, value, value, at);
}

/* What `combine` makes of the values of the mask's lanes. */
template <typename T, typename Combine>
T simt_combine_lanes(const char *operation, uint32_t mask, T value, simt_site at, Combine combine) {
    const uint64_t *values = simt_runtime::meet_warp(operation, mask, simt_pack(value), at);
    for (uint32_t lane = 0; lane < SIMT_WARP; lane++)
        if ((mask >> lane & 1) != 0 && lane != simt_lane())
            value = combine(value, simt_unpack<T>(values[lane]));
    return value;
}

/* The type in which T is reduced. */
template <typename T> struct simt_reduced {
    static_assert(std::is_integral<T>::value, "reductions are of integers");
    typedef typename std::conditional<sizeof(T) == 8, uint64_t, uint32_t>::type type;
};

template <typename T>
typename simt_reduced<T>::type simt_reduce_add(uint32_t mask, T value, simt_site at = simt_here()) {
    typedef typename simt_reduced<T>::type word;
    return simt_combine_lanes("simt_reduce_add", mask, (word)value, at, [](word a, word b) { return a + b; });
}

template <typename T>
typename simt_reduced<T>::type simt_reduce_min(uint32_t mask, T value, simt_site at = simt_here()) {
    typedef typename simt_reduced<T>::type word;
    return simt_combine_lanes("simt_reduce_min", mask, (word)value, at,
                              [](word a, word b) { return b < a ? b : a; });
}

template <typename T>
typename simt_reduced<T>::type simt_reduce_max(uint32_t mask, T value, simt_site at = simt_here()) {
    typedef typename simt_reduced<T>::type word;
    return simt_combine_lanes("simt_reduce_max", mask, (word)value, at,
                              [](word a, word b) { return b > a ? b : a; });
}

inline uint32_t simt_reduce_or(uint32_t mask, uint32_t value, simt_site at = simt_here()) {
    return simt_combine_lanes("simt_reduce_or", mask, value, at,
                              [](uint32_t a, uint32_t b) { return a | b; });
}

#endif
