// SPDX-License-Identifier: Apache-2.0
#include "order.h"

#include "device.h"
#include "system.h"

namespace simt_runtime {

static publication publish() {
    publication made = std::make_shared<token>(new_token());
    release_token(*made);
    return made;
}

static void acquire_found(const found &what) {
    for (size_t i = 0; i < what.count; i++)
        acquire_token(*(*what.at)[i]);
}

/* Leaves what the running thread's latest fence published. */
static void leave_fenced(publications &at) {
    const publication &one = running->order.fenced;
    for (size_t i = at.size(), looked_at = 0; i-- > 0 && looked_at < 64; looked_at++)
        if (at[i] == one)
            return;
    if (one)
        at.push_back(one);
}

static void find(const void *address) {
    auto entry = now->order.find(address);
    if (entry == now->order.end() || entry->second->empty())
        return;
    found what = {entry->second, entry->second->size()};
    std::vector<found> &list = running->order.unacquired;
    if (list.empty() || list.back().at != what.at)
        list.push_back(what);
    else
        list.back() = what;
}

/* Notes a sight of the value; an old one is no progress, and a thread that sees nothing else spins. */
static void look(const void *address, uint64_t value) {
    sighting &last = running->seen[(uintptr_t)address / 4 % 64];
    if (last.address != address || last.value != value)
        now->progress();
    last = {address, value};
}

void after_load(const void *address, uint64_t value) {
    quiet hush;
    look(address, value);
    if (races_are_watched)
        find(address);
}

void after_store(const void *address) {
    quiet hush;
    now->progress();
    if (races_are_watched) {
        auto list = std::make_shared<publications>();
        leave_fenced(*list);
        now->order[address] = list;
    }
}

void after_read_modify_write(const void *address, uint64_t value, bool changed) {
    quiet hush;
    if (changed)
        now->progress();
    else
        look(address, value);
    if (races_are_watched) {
        find(address);
        std::shared_ptr<publications> &list = now->order[address];
        if (!list)
            list = std::make_shared<publications>();
        leave_fenced(*list);
    }
}

void fence() {
    quiet hush;
    if (races_are_watched) {
        order_of_thread &mine = running->order;
        for (const found &what : mine.unacquired)
            acquire_found(what);
        mine.unacquired.clear();
        mine.fenced = publish();
    }
}

void acquire(const void *address) {
    quiet hush;
    if (races_are_watched) {
        auto entry = now->order.find(address);
        if (entry != now->order.end())
            acquire_found(found{entry->second, entry->second->size()});
    }
}

void release(const void *address) {
    quiet hush;
    now->progress();
    if (races_are_watched) {
        auto list = std::make_shared<publications>();
        list->push_back(publish());
        now->order[address] = list;
    }
}

void acquire_system(const void *address) {
    acquire_address(address);
}

void release_system(const void *address) {
    quiet hush;
    now->progress();
    release_address(address);
}

#ifdef SIMT_TSAN

static void *cache; // ThreadSanitizer's state of a thread

void open_read_only_cache(bool in_chain) {
    if (cache == nullptr) {
        cache = __tsan_create_fiber(0);
        __tsan_set_fiber_name(cache, "read-only cache");
    }
    if (!in_chain)
        as_another(cache, [] { acquire_token(now->began); });
}

void close_read_only_cache() {
    as_another(cache, [] { release_token(now->ended); });
}

void read_through_cache(const void *address, size_t bytes, simt_site at) {
    void *caller = __builtin_return_address(0);
    running->acts = {"a load through the read-only cache", at};
    as_another(cache, [=] {
        __tsan_func_entry(caller);
        __tsan_read_range((void *)(uintptr_t)address, bytes);
        __tsan_func_exit();
    });
    running->acts = {};
}

#else

void open_read_only_cache(bool) {
}

void close_read_only_cache() {
}

void read_through_cache(const void *, size_t, simt_site) {
}

#endif

} // namespace simt_runtime
