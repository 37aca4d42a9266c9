// SPDX-License-Identifier: Apache-2.0
// What is said about a kernel that is wrong, and finding out why one does not end.
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "device.h"

namespace simt_runtime {

constexpr int reported = 86; // the exit status

static void print_place(const thread *whose) {
    fprintf(stderr, "simt: kernel %s, block %u, row %u, thread %u: ", now->shape.name, whose->where.block,
            whose->where.row, whose->where.thread);
}

static void print_seed() {
    fprintf(stderr, " [seed %llu]\n", (unsigned long long)now->seed);
}

[[noreturn]] static void report_list(const thread *whose, const char *format, va_list values) {
    print_place(whose);
    vfprintf(stderr, format, values);
    print_seed();
    syscall(SYS_exit_group, reported); // not _exit, at which ThreadSanitizer has more to say
    __builtin_unreachable();
}

void report(const char *format, ...) {
    va_list values;
    va_start(values, format);
    report_list(running, format, values);
}

void report_of(const thread *whose, const char *format, ...) {
    va_list values;
    va_start(values, format);
    report_list(whose, format, values);
}

/* A phase that nobody completes any more. */
static void diagnose_mbarrier(const thread *waiting) {
    if (waiting->waits->of == nullptr)
        return;
    const mbarrier &missing = *waiting->waits->of;
    report_of(waiting,
              "nobody can run: this thread waits for an mbarrier (%s:%u), in whose phase %llu %u of %u "
              "arrivals are missing",
              waiting->waits->at.file, waiting->waits->at.line, (unsigned long long)missing.phase,
              missing.arrivals - missing.arrived, missing.arrivals);
}

/* A lane that a warp operation waits for, and that waits for something else. */
static void diagnose_warp(const thread *waiting) {
    const meeting &here = *waiting->waits;
    if (here.mask == 0)
        return;
    size_t first = waiting->where.thread / SIMT_WARP * SIMT_WARP;
    for (uint32_t lane = 0; lane < SIMT_WARP; lane++) {
        const thread &other = *waiting->home->threads[first + lane];
        if ((here.mask >> lane & 1) != 0 && other.state == state::waiting && other.waits.get() != &here)
            report_of(
                waiting,
                "wrong warp mask: %s with the mask 0x%08x (%s:%u) names lane %u, which waits in %s (%s:%u)",
                here.operation, here.mask, here.at.file, here.at.line, lane, other.waits->operation,
                other.waits->at.file, other.waits->at.line);
    }
}

/* A thread that a block barrier waits for, and that waits for something else. */
static void diagnose_barrier(const thread *waiting) {
    const meeting &here = *waiting->waits;
    if (here.mask != 0 || here.of != nullptr)
        return;
    for (const std::unique_ptr<thread> &other : waiting->home->threads)
        if (other->state == state::waiting && other->waits.get() != &here)
            report_of(waiting, "divergent %s: this thread waits at %s:%u, but thread %u waits in %s (%s:%u)",
                      here.operation, here.at.file, here.at.line, other->where.thread,
                      other->waits->operation, other->waits->at.file, other->waits->at.line);
}

template <typename Action> static void for_each_waiting(Action action) {
    for (const std::unique_ptr<cluster> &group : now->clusters)
        for (const std::unique_ptr<block> &each : group->blocks)
            for (const std::unique_ptr<thread> &one : each->threads)
                if (one->state == state::waiting)
                    action(one.get());
}

void diagnose() {
    if (now->ready.empty())
        for_each_waiting(diagnose_mbarrier);
    for_each_waiting(diagnose_warp);
    for_each_waiting(diagnose_barrier);
    if (!now->ready.empty())
        report_of(now->ready[0],
                  "the blocks spin for ever: %zu threads run, %zu of %u clusters have started, and "
                  "nothing has changed for %llu steps",
                  now->ready.size(), now->started_clusters,
                  now->shape.blocks * now->shape.rows / (now->shape.cluster > 1 ? now->shape.cluster : 1),
                  (unsigned long long)now->idle_steps);
    for_each_waiting([](const thread *one) {
        report_of(one, "nobody can run: this thread waits in %s (%s:%u)", one->waits->operation,
                  one->waits->at.file, one->waits->at.line);
    });
    __builtin_unreachable();
}

constexpr uint32_t tick_ms = 50;
static uint32_t longest_turn_ms = 10000;

void longest_turn(uint32_t milliseconds) {
    longest_turn_ms = milliseconds;
}

/* On the stack of the thread that runs. */
static void tick(int) {
    static uint64_t turn;
    static uint32_t ticks;
    const device *const at = now; // which another host thread may take away
    if (at == nullptr || running == nullptr || at->turns != turn) {
        turn = at != nullptr ? at->turns : 0;
        ticks = 0;
    } else if (++ticks > longest_turn_ms / tick_ms) {
        report_of(running,
                  "runs for more than %u ms without letting others run: it polls memory by plain loads, or "
                  "loops for ever",
                  longest_turn_ms);
    }
}

/* Sanitizers put off the signals that they know of until a library function is called, and one that polls
 * calls none; hence the inner name of sigaction. */
extern "C" int __sigaction(int number, const struct sigaction *action, struct sigaction *before);

static void set_timer(uint32_t milliseconds) {
    struct itimerval interval = {};
    interval.it_interval.tv_usec = interval.it_value.tv_usec = (suseconds_t)milliseconds * 1000;
    setitimer(ITIMER_PROF, &interval, nullptr); // which counts CPU time, whatever else the machine does
}

void begin_watch() {
    static bool installed;
    if (!installed) {
        struct sigaction action = {};
        action.sa_handler = tick;
        action.sa_flags = SA_RESTART;
        __sigaction(SIGPROF, &action, nullptr);
        installed = true;
    }
    set_timer(tick_ms);
}

void end_watch() {
    set_timer(0);
}

#if defined(SIMT_ASAN) || defined(SIMT_TSAN)

/* A sanitizer's report does not know of kernels. */
static void say_where() {
    if (now == nullptr || running == nullptr)
        return;
    print_place(running);
    fprintf(stderr, "stopped by the sanitizer");
    if (running->acts.what != nullptr)
        fprintf(stderr, " in %s (%s:%u)", running->acts.what, running->acts.at.file, running->acts.at.line);
    print_seed();
}

void report_sanitizers() {
    __sanitizer_set_death_callback(say_where);
}

#ifdef SIMT_TSAN
extern "C" __attribute__((visibility("default"))) const char *__tsan_default_options() {
    return "halt_on_error=1:exitcode=66:report_thread_leaks=0:atexit_sleep_ms=0";
}
#endif

#else

void report_sanitizers() {
}

#endif

} // namespace simt_runtime
