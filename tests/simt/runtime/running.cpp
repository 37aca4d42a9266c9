// SPDX-License-Identifier: Apache-2.0
// The running thread: where it is, how it gives its turn away, and what it may touch.
#include <ctime>
#include <utility>

#include "device.h"
#include "system.h"

namespace simt_runtime {

device *now;
thread *running;

const coordinates &where() {
    return running->where;
}

uint64_t random_below(uint64_t bound) {
    now->random_state += 0x9e3779b97f4a7c15u; // splitmix64
    uint64_t z = now->random_state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    __extension__ typedef unsigned __int128 product; // its upper half: a division costs more than a switch
    return (uint64_t)((product)(z ^ z >> 31) * bound >> 64);
}

uint64_t patience() {
    return 20000 + 500 * now->ready.size();
}

void pick() {
    std::vector<thread *> &ready = now->ready;
    size_t turn = random_below(ready.size());
    if (now->last != nullptr && ready.back() == now->last && now->stay != 0 && random_below(now->stay) != 0)
        turn = ready.size() - 1;
    now->last = running = ready[turn];
    std::swap(ready[turn], ready.back());
    ready.pop_back();
    now->turns++;
}

/* Whether this is where another host thread's launch goes on: sooner if threads only look at what they have
 * seen. */
static bool lets_others_run() {
    if (device_is_wanted() && random_below(now->idle_steps > 100 ? 8 : 64) == 0)
        now->shares = true;
    return now->shares;
}

/* From thread to thread, past the host, which would cost another switch: unless it has something to do. */
static void pass_turn() {
    thread *self = running;
    if (self->state == state::ready)
        now->ready.push_back(self);
    if (!now->copies.empty() || now->ready.empty() || now->idle_steps > patience() || lets_others_run())
        return self->run.leave();
    now->idle_steps++;
    pick();
    if (running != self)
        self->run.leave_for(running->run);
}

void sleep() {
    running->state = state::waiting;
    pass_turn();
}

void wake(thread *which) {
    which->state = state::ready;
    now->ready.push_back(which);
}

void yield() {
    pass_turn();
}

void wait_predecessor() {
    quiet hush;
    yield();
    if (!running->may_touch)
        acquire_token(now->began);
    running->may_touch = true;
}

void before_access(const void *address, size_t bytes) {
    if (((uintptr_t)address & (bytes - 1)) != 0) // bytes is a power of two
        report("an access of %zu bytes at %p, which is not a multiple of %zu", bytes, address, bytes);
    if (!running->may_touch && !is_shared(address))
        report("global memory is accessed in a dependent launch before simt_wait_predecessor");
}

void before_atomic(const void *address, size_t bytes) {
    quiet hush;
    before_access(address, bytes);
    yield();
}

/* Of the host. Time passes, so who looks at it does not spin for ever. */
uint64_t nanoseconds() {
    quiet hush;
    struct timespec time;
    yield();
    clock_gettime(CLOCK_MONOTONIC, &time);
    now->progress();
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

} // namespace simt_runtime
