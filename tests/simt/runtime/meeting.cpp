// SPDX-License-Identifier: Apache-2.0
// Barriers and warp operations.
#include <algorithm>
#include <cstring>

#include "device.h"

namespace simt_runtime {

static bool same(const char *a, const char *b) {
    return a == b || strcmp(a, b) == 0;
}

static bool same(simt_site a, simt_site b) {
    return a.line == b.line && same(a.file, b.file);
}

static warp &own_warp() {
    return running->home->warps[running->where.thread / SIMT_WARP];
}

static std::shared_ptr<meeting> new_meeting(const char *operation, simt_site at, uint32_t mask,
                                            size_t expected) {
    auto made = std::make_shared<meeting>();
    made->operation = operation;
    made->at = at;
    made->mask = mask;
    made->expected = expected;
    made->arrived.reserve(expected);
    return made;
}

/* The running thread arrives; true for the last one, and others who wait go on. Orders nothing. Each arrival
 * is one point of interruption: the last one yields, and all others sleep. */
static bool arrive(const std::shared_ptr<meeting> &here) {
    here->arrived.push_back(running);
    running->waits = here;
    if (here->arrived.size() < here->expected)
        return false;
    now->progress();
    for (thread *other : here->arrived)
        if (other->state == state::waiting && other->waits == here)
            wake(other);
    return true;
}

/* Arrives at a barrier: nobody of those expected has returned, and all come to the same line. */
static std::shared_ptr<meeting> arrive_at(std::shared_ptr<meeting> &barrier, const char *operation,
                                          simt_site at, size_t expected, size_t ended, bool vote,
                                          bool publishes) {
    if (ended > 0)
        report("divergent %s: this thread is at %s:%u, but %zu threads have returned", operation, at.file,
               at.line, ended);
    if (!barrier)
        barrier = new_meeting(operation, at, 0, expected);
    std::shared_ptr<meeting> here = barrier;
    if (!same(here->at, at))
        report("divergent %s: this thread is at %s:%u, but thread %u waits at %s:%u", operation, at.file,
               at.line, here->arrived[0]->where.thread, here->at.file, here->at.line);
    here->votes += vote;
    if (publishes)
        release_token(here->passed);
    if (arrive(here))
        barrier.reset();
    return here;
}

/* Waits for all those that are expected there. */
static void wait_at(const std::shared_ptr<meeting> &here) {
    running->waits = here;
    if (here->arrived.size() < here->expected)
        sleep();
    else
        yield();
    acquire_token(here->passed);
}

uint32_t meet_block(bool predicate, simt_site at) {
    quiet hush;
    block &home = *running->home;
    std::shared_ptr<meeting> here = arrive_at(home.barrier, "block barrier", at, home.threads.size(),
                                              home.ended_threads, predicate, true);
    wait_at(here);
    return here->votes;
}

void arrive_cluster(bool publishes, simt_site at) {
    quiet hush;
    yield();
    cluster &within = *running->home->within;
    if (running->arrived_at)
        report("simt_cluster_arrive (%s:%u) follows another without simt_cluster_wait", at.file, at.line);
    running->arrived_at = arrive_at(within.barrier, "cluster barrier", at, within.threads,
                                    within.ended_threads, false, publishes);
    running->cluster_arrivals++;
}

void wait_cluster(simt_site at) {
    quiet hush;
    if (!running->arrived_at)
        report("simt_cluster_wait (%s:%u) without simt_cluster_arrive", at.file, at.line);
    wait_at(running->arrived_at);
    running->arrived_at.reset();
    running->cluster_waits++;
}

static void check_mask(const char *operation, uint32_t mask, simt_site at) {
    uint32_t lane = running->where.thread % SIMT_WARP;
    if ((mask >> lane & 1) == 0)
        report("wrong warp mask: lane %u calls %s with the mask 0x%08x, which does not name it (%s:%u)", lane,
               operation, mask, at.file, at.line);
    const uint32_t returned = mask & own_warp().ended;
    if (returned != 0)
        report("wrong warp mask: %s with the mask 0x%08x names lane %u, which has returned (%s:%u)",
               operation, mask, (unsigned)__builtin_ctz(returned), at.file, at.line);
}

/* The meeting of this warp that the running thread's call belongs to: an open one, or a new one. */
static std::shared_ptr<meeting> &open_meeting(const char *operation, uint32_t mask, simt_site at) {
    auto &open = own_warp().open;
    for (std::shared_ptr<meeting> &each : open)
        if (each->mask == mask && same(each->at, at) && same(each->operation, operation))
            return each;
    open.push_back(new_meeting(operation, at, mask, (size_t)__builtin_popcount(mask)));
    return open.back();
}

/* `orders`: the lanes then see what all of them did before. */
static const meeting &meet_lanes(const char *operation, uint32_t mask, uint64_t value, bool orders,
                                 simt_site at) {
    check_mask(operation, mask, at);
    std::shared_ptr<meeting> &opened = open_meeting(operation, mask, at);
    meeting &here = *opened; // which `waits` keeps
    here.values[running->where.thread % SIMT_WARP] = value;
    if (orders)
        release_token(here.passed);
    if (arrive(opened)) {
        std::swap(opened, own_warp().open.back());
        own_warp().open.pop_back();
        yield();
    } else {
        sleep();
    }
    if (orders)
        acquire_token(here.passed);
    return here;
}

const uint64_t *meet_warp(const char *operation, uint32_t mask, uint64_t value, simt_site at) {
    quiet hush;
    return meet_lanes(operation, mask, value, false, at).values;
}

void sync_warp(uint32_t mask, simt_site at) {
    quiet hush;
    meet_lanes("simt_warp_sync", mask, 0, true, at);
}

void leave_meetings(thread *which) {
    block &home = *which->home;
    if (which->arrived_at)
        report("this thread returns between simt_cluster_arrive (%s:%u) and simt_cluster_wait",
               which->arrived_at->at.file, which->arrived_at->at.line);
    if (home.barrier)
        report("divergent block barrier: this thread returns, but thread %u waits at %s:%u",
               home.barrier->arrived[0]->where.thread, home.barrier->at.file, home.barrier->at.line);
    if (home.within->barrier)
        report("divergent cluster barrier: this thread returns, but others wait at %s:%u",
               home.within->barrier->at.file, home.within->barrier->at.line);
    uint32_t lane = which->where.thread % SIMT_WARP;
    warp &mine = home.warps[which->where.thread / SIMT_WARP];
    for (const std::shared_ptr<meeting> &each : mine.open)
        if ((each->mask >> lane & 1) != 0)
            report("wrong warp mask: this thread returns, but %s with the mask 0x%08x names its lane (%s:%u)",
                   each->operation, each->mask, each->at.file, each->at.line);
    mine.ended |= 1u << lane;
}

} // namespace simt_runtime
