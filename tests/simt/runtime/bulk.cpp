// SPDX-License-Identifier: Apache-2.0
// Mbarriers and bulk copies. A copy lands at some later moment of the schedule, and bytes that are to come
// may not be touched before somebody has waited for them.
//
// The thread that starts a copy overwrites the slot: for ThreadSanitizer, a reader of what it held races with
// that. When the copy lands, an agent of its mbarrier writes the slot: a reader that has not waited races
// with that.
#include <algorithm>
#include <cstring>

#include "device.h"

namespace simt_runtime {

static mbarrier &mbarrier_at(uint32_t at) {
    auto found = running->home->mbarriers.find(at);
    if (found == running->home->mbarriers.end())
        report("byte %u of shared memory is no mbarrier", at);
    return found->second;
}

void make_mbarrier(uint32_t at, uint32_t arrivals) {
    quiet hush;
    if (arrivals == 0)
        report("an mbarrier of no arrivals");
    if (!running->home->mbarriers.emplace(at, mbarrier{arrivals, now->mbarriers_made++}).second)
        report("the mbarrier at byte %u of shared memory is made twice", at);
}

/* Goes on to the next phase if nothing is missing in this one. */
static void complete(mbarrier &barrier) {
    if (barrier.arrived < barrier.arrivals || barrier.bytes_to_come != 0)
        return;
    now->progress();
    barrier.arrived = 0;
    barrier.phase++;
    barrier.completed = std::move(barrier.open);
    barrier.open = new_token();
    for (thread *each : barrier.waiting)
        wake(each);
    barrier.waiting.clear();
}

static void arrive(mbarrier &barrier) {
    if (barrier.arrived == barrier.arrivals)
        report("more than %u arrivals in a phase of an mbarrier", barrier.arrivals);
    barrier.arrived++;
    now->progress();
    release_token(barrier.open);
}

void arrive_mbarrier(uint32_t at) {
    quiet hush;
    yield();
    mbarrier &barrier = mbarrier_at(at);
    arrive(barrier);
    complete(barrier);
}

void wait_mbarrier(uint32_t at, uint32_t parity, simt_site site) {
    quiet hush;
    yield();
    block &home = *running->home;
    mbarrier &barrier = mbarrier_at(at);
    while (barrier.phase % 2 == parity) {
        running->waits = std::make_shared<meeting>();
        running->waits->operation = "simt_mbarrier_wait";
        running->waits->at = site;
        running->waits->of = &barrier;
        barrier.waiting.push_back(running);
        sleep();
    }
    acquire_token(barrier.completed);
    auto is_over = [&](const std::shared_ptr<bulk_copy> &copy) {
        return copy->barrier == &barrier && copy->landed && copy->phase < barrier.phase;
    };
    auto &copies = home.copies;
    copies.erase(std::remove_if(copies.begin(), copies.end(), is_over), copies.end());
}

void fence_bulk() {
    quiet hush;
    for (unsigned char &each : running->home->shared_state)
        each &= (unsigned char)~unfenced;
}

void before_copy(uint32_t to, const void *from, uint32_t bytes) {
    quiet hush;
    block &home = *running->home;
    if (bytes == 0)
        report("a bulk copy of no bytes");
    before_access(from, sizeof(simt_u32x4));
    check_shared(&home, to, bytes, false, false);
    for (uint32_t i = to; i < to + bytes; i++) {
        if ((home.shared_state[i] & unfenced) != 0)
            report("a bulk copy to bytes that threads wrote, without simt_fence_bulk: byte %u", i);
        home.shared_state[i] = written;
    }
}

void overwrite(uint32_t to, uint32_t bytes) {
    unsigned char *slot = running->home->shared.get() + to;
#ifdef SIMT_TSAN
    __tsan_write_range(slot, bytes);
#endif
    quiet hush;
    memset(slot, 0xa5, bytes);
}

void copy_bulk(uint32_t to, const void *from, uint32_t bytes, uint32_t at, simt_site site) {
    quiet hush;
    block &home = *running->home;
    mbarrier &barrier = mbarrier_at(at);
    auto copy = std::make_shared<bulk_copy>();
    copy->by = running;
    copy->site = site;
    copy->at = to;
    copy->bytes = bytes;
    copy->barrier = &barrier;
    copy->data.reset(new unsigned char[bytes]);
    memcpy(copy->data.get(), from, bytes); // here, where AddressSanitizer names the kernel's line
    release_token(copy->started);
    barrier.bytes_to_come += bytes;
    arrive(barrier);
    home.copies.push_back(copy);
    now->copies.push_back(copy);
}

#ifdef SIMT_TSAN

/* More mbarriers than these share them: a wait that is missing may then go unseen. */
constexpr size_t most_agents = 64;
static std::vector<void *> agents;

static void *agent_of(const mbarrier &barrier) {
    const size_t which = barrier.number % most_agents;
    while (agents.size() <= which) {
        agents.push_back(__tsan_create_fiber(0));
        __tsan_set_fiber_name(agents.back(), "bulk copy");
    }
    return agents[which];
}

static void write_as_agent(const bulk_copy &copy, void *to) {
    running = copy.by;
    running->acts = {"the landing of a bulk copy", copy.site};
    as_another(agent_of(*copy.barrier), [&] {
        acquire_token(copy.started);
        __tsan_func_entry((void *)now->body);
        __tsan_write_range(to, copy.bytes);
        __tsan_func_exit();
        release_token(copy.barrier->open);
    });
    running->acts = {};
    running = nullptr;
}

#else

static void write_as_agent(const bulk_copy &, void *) {
}

#endif

void land_copy(uint64_t which) {
    std::swap(now->copies[which], now->copies.back());
    const std::shared_ptr<bulk_copy> copy = now->copies.back();
    now->copies.pop_back();
    unsigned char *to = copy->by->home->shared.get() + copy->at;
    mbarrier &barrier = *copy->barrier;
    write_as_agent(*copy, to);
    memcpy(to, copy->data.get(), copy->bytes);
    copy->landed = true;
    copy->phase = barrier.phase;
    barrier.bytes_to_come -= copy->bytes;
    complete(barrier);
    now->progress();
}

} // namespace simt_runtime
