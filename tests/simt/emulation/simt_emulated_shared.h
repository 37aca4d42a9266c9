/* SPDX-License-Identifier: Apache-2.0
 * Shared memory. An array knows its block and its length, and its elements are proxies, so that each access
 * is checked: inside the array, of a block that runs, written before it is read. */
#ifndef TOPK_TESTS_SIMT_EMULATED_SHARED_H
#define TOPK_TESTS_SIMT_EMULATED_SHARED_H

/* The address of an element, good for atomics. */
template <typename T> struct simt_shared_pointer {
    simt_runtime::block *home;
    uint32_t at;

    T *access(bool reads, bool writes) const {
        simt_runtime::check_shared(home, at, sizeof(T), reads, writes);
        return (T *)(simt_runtime::shared_base(home) + at);
    }
};

template <typename T> struct simt_shared_element {
    simt_shared_pointer<T> address;

    operator T() const {
        return *address.access(true, false);
    }
    T operator=(T value) const {
        return *address.access(false, true) = value;
    }
    T operator=(const simt_shared_element &other) const {
        return *this = (T)other;
    }
    T operator+=(T value) const {
        return *this = (T)(*this + value);
    }
    T operator++(int) const {
        T old = *this;
        *this = (T)(old + 1);
        return old;
    }
    simt_shared_pointer<T> operator&() const {
        return address;
    }
    simt_shared_element(simt_shared_pointer<T> where) : address(where) {
    }
    simt_shared_element(const simt_shared_element &) = default;
};

template <typename T> struct simt_shared {
    simt_runtime::block *home;
    uint32_t start, count;

    simt_shared_element<T> operator[](uint32_t index) const {
        if (index >= count)
            simt_runtime::report("shared memory out of bounds: element %u of an array of %u", index, count);
        return simt_shared_element<T>(simt_shared_pointer<T>{home, start + index * (uint32_t)sizeof(T)});
    }
};

template <typename T> simt_shared<T> simt_shared_part(simt_shared<T> array, uint32_t first, uint32_t count) {
    if (first > array.count || count > array.count - first)
        simt_runtime::report("shared memory out of bounds: %u elements from %u of an array of %u", count,
                             first, array.count);
    return simt_shared<T>{array.home, array.start + first * (uint32_t)sizeof(T), count};
}

template <typename U, typename T> simt_shared<U> simt_shared_as(simt_shared<T> array) {
    static_assert(alignof(U) <= alignof(T), "the array may begin between two elements");
    return simt_shared<U>{array.home, array.start, (uint32_t)(array.count * sizeof(T) / sizeof(U))};
}

struct simt_appender {
    simt_shared<uint16_t> array;
    uint32_t index;

    void append_if(uint32_t wanted, uint16_t word) {
        if (wanted != 0)
            array[index++] = word;
    }
    void prepend(uint16_t word) {
        array[--index] = word;
    }
    void prepend_if(uint32_t wanted, uint16_t word) {
        if (wanted != 0)
            prepend(word);
    }
};

inline simt_appender simt_append_at(simt_shared<uint16_t> array, uint32_t index) {
    return simt_appender{array, index};
}

inline uint32_t simt_spread_group(uint32_t group) {
    return group / 8 * 8 + (group % 8 ^ group / 4 % 8);
}

inline uint32_t simt_spread_slot(uint32_t slot) {
    return 4 * simt_spread_group(slot / 4) + slot % 4;
}

struct simt_pair_appender {
    simt_shared<uint32_t> first, second;
    uint32_t slot;

    void append_if(uint32_t wanted, uint32_t to_first, uint32_t to_second) {
        if (wanted == 0)
            return;
        first[simt_spread_slot(slot)] = to_first;
        second[simt_spread_slot(slot++)] = to_second;
    }
    void append_below(uint32_t limit, uint32_t wanted, uint32_t to_first, uint32_t to_second) {
        append_if(slot < limit ? wanted : 0, to_first, to_second);
    }
    void go_to(uint32_t other) {
        slot = other;
    }
};

inline simt_pair_appender simt_append_pairs_at(simt_shared<uint32_t> first, simt_shared<uint32_t> second,
                                               uint32_t slot) {
    return simt_pair_appender{first, second, slot};
}

struct simt_arena {
    simt_runtime::block *home; /* NULL while measuring */
    uint32_t used_bytes;
};

inline simt_arena simt_shared_arena() {
    return simt_arena{simt_runtime::home(), 0};
}

inline simt_arena simt_measuring_arena() {
    return simt_arena{nullptr, 0};
}

template <typename T>
simt_shared<T> simt_carve(simt_arena &arena, uint32_t count, uint32_t alignment = (uint32_t)alignof(T)) {
    if (alignment % alignof(T) != 0 || alignment > simt_runtime::shared_alignment)
        simt_runtime::report("an array of shared memory is to be aligned to %u bytes", alignment);
    uint32_t start = (arena.used_bytes + alignment - 1) / alignment * alignment;
    arena.used_bytes = start + count * (uint32_t)sizeof(T);
    if (arena.home != nullptr && arena.used_bytes > simt_runtime::shared_bytes())
        simt_runtime::report("shared memory out of bounds: %u bytes are carved, the launch gave %u",
                             arena.used_bytes, simt_runtime::shared_bytes());
    return simt_shared<T>{arena.home, start, count};
}

template <typename T> T simt_atomic_add(simt_shared_pointer<T> word, typename simt_same<T>::type value) {
    return simt_atomic_add(word.access(true, true), value);
}

template <typename T> T simt_atomic_min(simt_shared_pointer<T> word, typename simt_same<T>::type value) {
    return simt_atomic_min(word.access(true, true), value);
}

template <typename T> T simt_atomic_max(simt_shared_pointer<T> word, typename simt_same<T>::type value) {
    return simt_atomic_max(word.access(true, true), value);
}

template <typename T> T simt_atomic_or(simt_shared_pointer<T> word, typename simt_same<T>::type value) {
    return simt_atomic_or(word.access(true, true), value);
}

template <typename T> T simt_load_relaxed(simt_shared_pointer<T> word) {
    return simt_load_relaxed((const T *)word.access(true, false));
}

template <typename T>
void simt_store_relaxed(simt_shared_pointer<T> word, typename simt_same<T>::type value) {
    simt_store_relaxed(word.access(false, true), value);
}

#endif
