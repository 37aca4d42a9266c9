// SPDX-License-Identifier: Apache-2.0
#include "fiber.h"

#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include <boost/context/detail/fcontext.hpp>
#include <sys/mman.h>

#include "device.h"

namespace simt_runtime {

namespace context = boost::context::detail;

constexpr size_t guard_bytes = 4096;
constexpr size_t least_bytes = 60 * 1024; /* of a stack */

/* Stacks that end at the same offset from a page share few sets of the caches, and a switch then waits for
 * memory. So each begins five cache lines further than the one before it, modulo a period of the second-level
 * cache. */
constexpr size_t period_bytes = 64 * 1024, shift_bytes = 5 * 64;
constexpr size_t mapped_bytes = guard_bytes + least_bytes + period_bytes;

/* Seats are kept from launch to launch of a host thread: under ThreadSanitizer a new one costs 0.4 ms. One
 * that is kept costs 0.7 MB there, and all its operations take longer the more there are; it knows 8128
 * threads at most. */
constexpr size_t most_kept = races_are_watched ? 1000 : 8000;

static void destroy(seat old) {
    munmap(old.stack - guard_bytes, mapped_bytes);
#ifdef SIMT_TSAN
    __tsan_destroy_fiber(old.race_state);
#endif
}

/* Of host threads that have ended. It changes while a host thread has the device. */
static std::vector<seat> vacated_seats;

struct seats : std::vector<seat> {
    ~seats() {
        quiet hush;
        take_device();
        vacated_seats.insert(vacated_seats.end(), begin(), end());
        give_device();
    }
};
static thread_local seats free_seats, left_seats;

/* Of the launch that runs. Its threads sit down where another has left only if so many have: ThreadSanitizer
 * takes the two for one thread, between whose accesses there is no race. */
static seat left_seat() {
    static size_t turn;
    std::swap(left_seats[turn++ % left_seats.size()], left_seats.back());
    seat found = left_seats.back();
    left_seats.pop_back();
    return found;
}

static seat new_seat() {
    static size_t made_before;
    void *memory = mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, guard_bytes, PROT_NONE) != 0) {
        perror("simt: no memory for a stack");
        exit(1);
    }
    seat made = {(char *)memory + guard_bytes, least_bytes + made_before++ * shift_bytes % period_bytes,
                 nullptr};
#ifdef SIMT_TSAN
    made.race_state = __tsan_create_fiber(0);
#endif
    return made;
}

static side host;
static fiber *entered;

static void arrive(context::transfer_t from, const side &here) {
    side *left = (side *)from.data;
    left->context = from.fctx;
#ifdef SIMT_ASAN
    __sanitizer_finish_switch_fiber(here.fake_stack, &left->stack, &left->stack_bytes);
#else
    (void)here;
#endif
}

/* `last`: nobody comes back to that side. */
static void change_sides(side &from, const side &to, bool last) {
#ifdef SIMT_TSAN
    __tsan_switch_to_fiber(to.race_state, 1); // 1: the switch orders nothing
#endif
#ifdef SIMT_ASAN
    __sanitizer_start_switch_fiber(last ? nullptr : &from.fake_stack, to.stack, to.stack_bytes);
#else
    (void)last;
#endif
    arrive(context::jump_fcontext(to.context, &from), from);
}

void fiber::start(void (*entry)(), const char *name) {
    if (!free_seats.empty()) {
        at = free_seats.back();
        free_seats.pop_back();
    } else if (left_seats.size() > (races_are_watched ? most_kept / 2 : 0)) {
        at = left_seat();
    } else if (!vacated_seats.empty()) {
        at = vacated_seats.back();
        vacated_seats.pop_back();
    } else {
        at = new_seat();
    }
#ifdef SIMT_TSAN
    __tsan_set_fiber_name(at.race_state, name);
#else
    (void)name;
#endif
    body = entry;
    own = {nullptr, nullptr, at.stack, at.bytes, at.race_state};
    own.context = context::make_fcontext(at.stack + at.bytes, at.bytes, [](context::transfer_t from) {
        arrive(from, entered->own);
        entered->body();
    });
}

void fiber::enter() {
    entered = this;
#ifdef SIMT_TSAN
    host.race_state = __tsan_get_current_fiber();
#endif
    change_sides(host, own, false);
}

void fiber::leave() {
    change_sides(own, host, false);
}

void fiber::leave_for(fiber &other) {
    entered = &other;
    change_sides(own, other.own, false);
}

void fiber::finish() {
    change_sides(own, host, true);
}

void fiber::discard() {
    left_seats.push_back(at);
}

void fiber::recycle() {
    free_seats.insert(free_seats.end(), left_seats.begin(), left_seats.end());
    left_seats.clear();
    for (; free_seats.size() > most_kept; free_seats.pop_back())
        destroy(free_seats.back());
}

} // namespace simt_runtime
