/* SPDX-License-Identifier: Apache-2.0
 * The emulated device while a launch runs: its threads, blocks and clusters. */
#ifndef TOPK_TESTS_SIMT_DEVICE_H
#define TOPK_TESTS_SIMT_DEVICE_H

#include <memory>
#include <vector>

#include "fiber.h"
#include "launch.cuh"
#include "order.h"
#include "runtime.h"

namespace simt_runtime {

struct thread;

/* Threads that wait for each other: a barrier or a warp operation. It passes when all expected arrived. */
struct meeting {
    const char *operation;
    simt_site at;
    uint32_t mask; /* of a warp operation */
    size_t expected;
    std::vector<thread *> arrived;
    uint32_t votes = 0;
    uint64_t values[SIMT_WARP] = {};
    token passed = new_token();
};

/* The last value that a thread saw at an address: seeing it again is no progress. */
struct sighting {
    const void *address;
    uint64_t value;
};

enum class state { ready, waiting, ended };

struct thread {
    coordinates where;
    block *home;
    simt_runtime::state state = state::ready;
    std::shared_ptr<meeting> waits; /* while waiting; after it, what it took from there */
    bool may_touch;                 /* global memory: from the start, or after waiting for the predecessor */
    fiber run;
    order_of_thread order;
    simt_site reads_cache_at = {}; /* while it reads through the read-only cache */
    sighting seen[64] = {};
};

struct cluster {
    std::vector<std::unique_ptr<block>> blocks;
    std::shared_ptr<meeting> barrier;
    size_t threads = 0, ended_threads = 0;
};

struct block {
    cluster *within;
    uint32_t index;
    bool started = false;
    size_t ended_threads = 0;
    std::vector<std::unique_ptr<thread>> threads;
    std::shared_ptr<meeting> barrier;
    std::vector<std::shared_ptr<meeting>> warp_meetings; /* those still open, of all warps */
    std::unique_ptr<unsigned char[]> shared;
    std::vector<bool> shared_written;

    bool ended() const {
        return ended_threads == threads.size();
    }
};

/* One launch. */
struct device {
    simt_launch_shape shape;
    void (*body)(const void *);
    const void *argument;
    size_t argument_bytes;
    uint64_t seed;
    std::vector<std::unique_ptr<cluster>> clusters; /* the resident ones */
    size_t started_clusters = 0;
    /* Of ended clusters: an address that came back would bring what `order` knows of it. */
    std::vector<std::unique_ptr<unsigned char[]>> old_shared;
    std::vector<thread *> ready;
    uint64_t idle_steps = 0; /* since something last changed */
    uint64_t turns = 0;
    order_of_memory order;
    token began = new_token(), ended = new_token();

    void progress() {
        idle_steps = 0;
    }
};

extern device *now;     /* NULL between launches */
extern thread *running; /* NULL while the host runs */

/* Puts the running thread to sleep until somebody makes it ready. */
void sleep();
void wake(thread *which);

/* Whether the address is in the shared memory of the running cluster. */
bool is_shared(const void *address);

/* Called by a thread that ends, before it does. */
void leave_meetings(thread *which);

/* Makes sanitizers say in which thread of which kernel they stop the process. */
void report_sanitizers();

/* While it is on duty a thread that runs for too long is reported. */
void begin_watch();
void end_watch();

/* Finds out why nothing goes on, and reports it. */
[[noreturn]] void diagnose();
[[noreturn]] void report_of(const thread *whose, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

} // namespace simt_runtime

#endif
