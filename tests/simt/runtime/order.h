/* SPDX-License-Identifier: Apache-2.0
 * What fences and atomics order, for ThreadSanitizer, after the memory model of C++: a fence makes a
 * publication of all that happened before it; an atomic store or read-modify-write after the fence leaves
 * that publication at its address; a fence after an atomic that found publications at its address acquires
 * them. */
#ifndef TOPK_TESTS_SIMT_ORDER_H
#define TOPK_TESTS_SIMT_ORDER_H

#include <memory>
#include <unordered_map>
#include <vector>

#include "runtime.h"
#include "sanitizers.h"

namespace simt_runtime {

typedef std::shared_ptr<token> publication; /* NULL: none */

/* The publications that come with the value at an address. A store begins a new list, a read-modify-write
 * continues it, so that a reader who found the first n may go on holding them. */
typedef std::vector<publication> publications;

struct found {
    std::shared_ptr<const publications> at;
    size_t count;
};

struct order_of_thread {
    publication fenced; /* by its latest fence */
    std::vector<found> unacquired;
};

typedef std::unordered_map<const void *, std::shared_ptr<publications>> order_of_memory;

/* The read-only cache reads for all threads of a launch, when it likes: under ThreadSanitizer as a thread
 * that knows what the host did before the launch, and nothing of the launch. The first of a chain of
 * dependent launches stands for them all. */
void open_read_only_cache(bool in_chain);
void close_read_only_cache();

} // namespace simt_runtime

#endif
