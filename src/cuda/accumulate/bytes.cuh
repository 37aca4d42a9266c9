/* SPDX-License-Identifier: Apache-2.0
 * A state as bytes (exported.h), and a state from bytes. A thread for each slot of the rows. Bytes that come
 * in may say anything: each thread looks at all that it uses, and where anything is wrong the state is broken
 * in the end, so that no call uses what was put into it. Offsets follow from the problem, never from bytes.
 */
#ifndef TOPK_SRC_CUDA_ACCUMULATE_BYTES_CUH
#define TOPK_SRC_CUDA_ACCUMULATE_BYTES_CUH

#include "list.cuh"
#include "open.cuh"
#include "write.cuh"

/* A number in bytes, little endian, at any address. */
template <typename Number> TOPK_DEVICE Number number_at(const char *bytes, size_t at) {
    const char *from = bytes + at;
    uint64_t bits = 0;
    if ((uintptr_t)from % sizeof(Number) == 0)
        return *(const Number *)from;
    for (uint32_t b = 0; b < sizeof(Number); b++)
        bits |= (uint64_t)(unsigned char)from[b] << 8 * b;
    return (Number)bits;
}

template <typename Number> TOPK_DEVICE void put_number_at(char *bytes, size_t at, Number number) {
    char *to = bytes + at;
    if ((uintptr_t)to % sizeof(Number) == 0) {
        *(Number *)to = number;
        return;
    }
    for (uint32_t b = 0; b < sizeof(Number); b++)
        to[b] = (char)((uint64_t)number >> 8 * b);
}

/* Where a problem's numbers lie in bytes. */
template <typename Element> struct byte_slots {
    const struct exported &e;
    char *bytes;
    int64_t k_max;
    bool wide;

    static TOPK_MEMBER byte_slots of(const struct accumulate_bytes_args &b) {
        return byte_slots{b.exported, (char *)b.bytes, b.of_rows.rows.k_max, b.of_rows.rows.wide_indices};
    }
    TOPK_MEMBER size_t row(int64_t row) const {
        return e.rows + (size_t)row * EXPORTED_ROW_BYTES;
    }
    TOPK_MEMBER size_t position(int64_t at) const {
        return e.positions + (size_t)at * 8;
    }
    TOPK_MEMBER size_t value(int64_t at) const {
        return e.values + (size_t)at * sizeof(Element);
    }
    TOPK_MEMBER int64_t payload_at(int64_t at) const {
        return wide ? (int64_t)number_at<uint64_t>(bytes, e.payload + (size_t)at * 8)
                    : (int64_t)(int32_t)number_at<uint32_t>(bytes, e.payload + (size_t)at * 4);
    }
    TOPK_MEMBER void put_payload(int64_t at, int64_t payload) const {
        if (wide)
            put_number_at<uint64_t>(bytes, e.payload + (size_t)at * 8, (uint64_t)payload);
        else
            put_number_at<uint32_t>(bytes, e.payload + (size_t)at * 4, (uint32_t)payload);
    }
    TOPK_MEMBER void put(int64_t at, int64_t position_, int64_t payload, Element bits) const {
        put_number_at<uint64_t>(bytes, position(at), (uint64_t)position_);
        put_payload(at, payload);
        put_number_at<Element>(bytes, value(at), bits);
    }
};

template <typename Element>
TOPK_KERNEL TOPK_BOUNDS(ACCUMULATE_LIST_THREADS,
                        1) void accumulate_export(TOPK_CONSTANT_ARGS struct accumulate_bytes_args b) {
    const struct accumulate_args &a = b.of_rows;
    const byte_slots<Element> to = byte_slots<Element>::of(b);
    const bool is_open = !b.has_state || a.state.header->is_open != 0;
    const uint32_t given = b.has_state ? a.state.header->payload : (uint32_t)PAYLOAD_UNKNOWN;
    const uint32_t word = simt_thread();
    if (simt_block() == 0 && word < EXPORTED_WORDS)
        put_number_at<uint64_t>(to.bytes, word * 8,
                                !is_open                     ? 0
                                : word + 1 == EXPORTED_WORDS ? given
                                                             : b.words[word]);
    for_slots(a.rows, 1, [&](int64_t row, int64_t) TOPK_LAMBDA {
        const bool has_results = b.has_state && is_open;
        put_number_at<uint64_t>(to.bytes, to.row(row), has_results ? (uint64_t)a.state.ks[row] : 0);
        put_number_at<uint64_t>(to.bytes, to.row(row) + 8, has_results ? (uint64_t)a.state.lengths[row] : 0);
    });
    for_slots(a.rows, a.rows.k_max, [&](int64_t row, int64_t slot) TOPK_LAMBDA {
        const int64_t at = row * a.rows.k_max + slot;
        if (!is_open || slot >= a.state.lengths[row]) {
            to.put(at, 0, 0, 0);
            return;
        }
        const row_list<Element> list = row_list<Element>::of(a.state.candidates, row, to.wide);
        const int64_t place = a.places[at];
        to.put(at, b.positions[at], list.payload_of(place, given == PAYLOAD_GIVEN, to.wide),
               (Element)list.bits(place));
    });
}

/* Puts what a slot of the bytes says into the state. False: something is wrong. */
template <typename Element>
TOPK_DEVICE bool take_slot(const struct accumulate_bytes_args &b, uint64_t given, int64_t row, int64_t slot) {
    const struct accumulate_args &a = b.of_rows;
    const byte_slots<Element> from = byte_slots<Element>::of(b);
    const int64_t k_max = a.rows.k_max, at = row * k_max + slot;
    const int64_t k = (int64_t)number_at<uint64_t>(from.bytes, from.row(row));
    const int64_t count = (int64_t)number_at<uint64_t>(from.bytes, from.row(row) + 8);
    const int64_t position = (int64_t)number_at<uint64_t>(from.bytes, from.position(at));
    const int64_t payload = from.payload_at(at);
    const Element bits = number_at<Element>(from.bytes, from.value(at));
    if (k < 0 || k > k_max || count < 0 || count > k || (count > 0 && given == PAYLOAD_UNKNOWN))
        return false;
    if (slot == 0) {
        simt_store_relaxed(&a.state.rows[row].count, (uint64_t)count);
        simt_store_relaxed(&a.state.rows[row].k, (uint64_t)k);
    }
    if (slot >= count)
        return position == 0 && payload == 0 && bits == 0;
    const int64_t before = slot == 0 ? -1 : (int64_t)number_at<uint64_t>(from.bytes, from.position(at - 1));
    const row_list<Element> list = row_list<Element>::of(a.state.candidates, row, from.wide);
    list.put(slot, bits, position);
    if (given == PAYLOAD_GIVEN)
        list.put_payload(slot, payload, from.wide);
    return before < position && position < b.exported.position_end &&
           (given == PAYLOAD_GIVEN || payload == 0);
}

template <typename Element>
TOPK_KERNEL TOPK_BOUNDS(ACCUMULATE_LIST_THREADS,
                        1) void accumulate_import(TOPK_CONSTANT_ARGS struct accumulate_bytes_args b) {
    const struct accumulate_args &a = b.of_rows;
    const char *bytes = (const char *)b.bytes;
    const uint32_t word = simt_thread();
    const uint64_t given = number_at<uint64_t>(bytes, (EXPORTED_WORDS - 1) * 8);
    bool is_right = given <= PAYLOAD_GIVEN;
    if (simt_block() == 0 && word < EXPORTED_WORDS - 1)
        is_right = is_right && number_at<uint64_t>(bytes, word * 8) == b.words[word];
    if (simt_block() == 0 && word == 0)
        simt_store_relaxed(&a.state.header->payload, (uint32_t)given);
    for_slots(a.rows, a.rows.k_max, [&](int64_t row, int64_t slot) TOPK_LAMBDA {
        is_right = take_slot<Element>(b, given, row, slot) && is_right;
    });
    if (is_right)
        return;
    TOPK_REACHED(REACHED_ACCUMULATE_BROKEN);
    simt_store_relaxed(&a.state.header->magic, (uint64_t)ACCUMULATE_BROKEN);
}

#endif
