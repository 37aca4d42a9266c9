/* SPDX-License-Identifier: Apache-2.0
 * The emulated device while a launch runs: its threads, blocks and clusters. */
#ifndef TOPK_TESTS_SIMT_DEVICE_H
#define TOPK_TESTS_SIMT_DEVICE_H

#include <map>
#include <memory>
#include <new>
#include <vector>

#include "fiber.h"
#include "launch.cuh"
#include "order.h"
#include "runtime.h"

namespace simt_runtime {

struct thread;
struct mbarrier;

/* Threads that wait for each other: a barrier or a warp operation. It passes when all expected arrived. */
struct meeting {
    const char *operation;
    simt_site at;
    uint32_t mask; /* of a warp operation */
    size_t expected;
    const mbarrier *of = nullptr; /* alone at this one, for which somebody must arrive */
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

struct mbarrier {
    uint32_t arrivals, number; /* of each phase; in the order in which the launch's mbarriers are made */
    uint32_t arrived = 0;      /* in the phase that is open, as the two below */
    uint64_t bytes_to_come = 0, phase = 0;
    token open = new_token(), completed = new_token(); /* the phase before it */
    std::vector<thread *> waiting = {};
};

struct bulk_copy {
    thread *by;
    simt_site site;
    uint32_t at, bytes; /* of the block's shared memory */
    mbarrier *barrier;
    std::unique_ptr<unsigned char[]> data;
    token started = new_token();
    bool landed = false;
    uint64_t phase = 0; /* in which it landed */
};

/* What another agent does for a thread. */
struct act {
    const char *what; /* NULL: nothing */
    simt_site at;
};

enum class state { ready, waiting, ended };

struct thread {
    coordinates where;
    block *home;
    simt_runtime::state state = state::ready;
    std::shared_ptr<meeting> waits; /* while waiting; after it, what it took from there */
    bool may_touch;                 /* global memory: from the start, or after waiting for the predecessor */
    fiber run;
    std::shared_ptr<meeting> arrived_at; /* the cluster barrier that it has not waited for yet */
    uint32_t cluster_arrivals = 0, cluster_waits = 0;
    order_of_thread order;
    act acts = {};
    sighting seen[64] = {};
};

struct cluster {
    std::vector<std::unique_ptr<block>> blocks;
    std::shared_ptr<meeting> barrier;
    size_t threads = 0, ended_threads = 0;
};

/* What is known of a byte of shared memory. */
constexpr unsigned char written = 1, unfenced = 2; /* by threads, with no simt_fence_bulk since */

struct aligned_delete {
    void operator()(unsigned char *memory) const {
        ::operator delete[](memory, std::align_val_t(shared_alignment));
    }
};
typedef std::unique_ptr<unsigned char[], aligned_delete> shared_memory;

struct warp {
    uint32_t ended = 0;                         /* the lanes that have returned, as a mask */
    std::vector<std::shared_ptr<meeting>> open; /* its operations that lanes wait in */
};

struct block {
    cluster *within;
    uint32_t index;
    size_t ended_threads = 0;
    uint32_t needed_waits = 0; /* at the cluster's barrier, before it may end */
    std::vector<std::unique_ptr<thread>> threads;
    std::shared_ptr<meeting> barrier;
    std::vector<warp> warps;
    shared_memory shared;
    std::vector<unsigned char> shared_state; /* of each byte */
    std::map<uint32_t, mbarrier> mbarriers;
    std::vector<std::shared_ptr<bulk_copy>> copies; /* those that nobody has waited for */

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
    uint64_t seed, random_state;
    std::vector<std::unique_ptr<cluster>> clusters; /* the resident ones */
    size_t started_clusters = 0;
    /* Of ended clusters: an address that came back would bring what `order` knows of it. */
    std::vector<shared_memory> old_shared;
    std::vector<thread *> ready;
    std::vector<std::shared_ptr<bulk_copy>> copies; /* those on their way */
    uint32_t mbarriers_made = 0;
    uint32_t grid_barrier = 0;
    uint64_t idle_steps = 0; /* since something last changed */
    uint64_t turns = 0;
    thread *last = nullptr; /* the one that had the latest turn, unless it has ended */
    uint64_t stay = 0;   /* where it could be interrupted it goes on, but one time in so many; 0: as others */
    bool shares = false; /* another host thread gets its turn with the device next */
    order_of_memory order;
    token began = new_token(), ended = new_token();

    void progress() {
        idle_steps = 0;
    }
};

extern device *now;     /* NULL between launches */
extern thread *running; /* NULL while the host runs */

/* A number of the launch's schedule. */
uint64_t random_below(uint64_t bound);

/* Steps without any change after which blocks are said to spin: many turns for everyone. */
uint64_t patience();

/* One of those that are ready becomes the running thread. */
void pick();

/* Puts the running thread to sleep until somebody makes it ready. */
void sleep();
void wake(thread *which);

/* Whether the address is in the shared memory of the running cluster. */
bool is_shared(const void *address);

/* Called by a thread that ends, before it does. */
void leave_meetings(thread *which);
/* The same, of the last one of a block: nobody else uses its shared memory. */
void check_end(const thread *which);

/* One of the copies on their way lands. By the host. */
void land_copy(uint64_t which);

/* Makes sanitizers say in which thread of which kernel they stop the process. */
void report_sanitizers();

/* The device is one host thread's at a time; `now` and `running` are that one's. */
void take_device();
void give_device();
/* Whether another host thread waits for it. */
bool device_is_wanted();
/* Waiting launches go first, while this one is between two turns of its threads. */
void share_device();
/* Around a launch that has the device. */
void begin_launch();
void end_launch();

/* While it is on duty a thread that runs for too long is reported. */
void begin_watch();
void end_watch();

/* Finds out why nothing goes on, and reports it. */
[[noreturn]] void diagnose();
[[noreturn]] void report_of(const thread *whose, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

} // namespace simt_runtime

#endif
