// SPDX-License-Identifier: Apache-2.0
// Launches: which blocks are resident, and whose turn it is.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <alloca.h>

#include "device.h"

namespace simt_runtime {

/* The emulated device. */
constexpr uint32_t sms = 4, threads_per_sm = 1024, blocks_per_sm = 16, shared_bytes_per_sm = 228 * 1024;
constexpr uint32_t largest_shared = 227 * 1024, largest_block = 1024, largest_cluster = 16;

/* More threads take ThreadSanitizer very long: at a time, and where not all must be resident. */
constexpr uint32_t most_watched = races_are_watched ? 512 : UINT32_MAX;

static uint64_t seed_of_next;

void seed(uint64_t value) {
    seed_of_next = value;
}

static uint64_t next_seed() {
    static const char *given = getenv("SIMT_SEED");
    return given != nullptr ? strtoull(given, nullptr, 0) : seed_of_next++;
}

/* What a fiber runs. Before a thread of a dependent launch has waited, nothing orders it after what the host
 * and earlier launches did, so that plain accesses that come too early are races. */
static void run_thread() {
    thread *self = running;
    void *argument = alloca(now->argument_bytes);
    {
        quiet hush;
        if (self->may_touch)
            acquire_token(now->began);
        memcpy(argument, now->argument, now->argument_bytes);
    }
    now->body(argument);
    {
        quiet hush;
        if (!self->may_touch)
            report("a thread of a dependent launch returns without simt_wait_predecessor");
        leave_meetings(self);
        check_end(self);
        release_token(now->ended);
        self->home->ended_threads++;
        self->home->within->ended_threads++;
        self->state = state::ended;
        now->progress();
    }
    self->run.finish();
}

static void start_block(cluster *within, uint32_t index, uint32_t row, uint32_t rank) {
    const simt_launch_shape &shape = now->shape;
    within->blocks.push_back(std::make_unique<block>());
    block &made = *within->blocks.back();
    made.within = within;
    made.index = index;
    made.shared.reset(new (std::align_val_t(shared_alignment)) unsigned char[shape.shared_bytes]);
    made.shared_state.resize(shape.shared_bytes);
    made.warps.resize(shape.threads / SIMT_WARP);
    for (uint32_t i = 0; i < shape.threads; i++) {
        made.threads.push_back(std::make_unique<thread>());
        thread &one = *made.threads.back();
        one.home = &made;
        one.may_touch = !shape.dependent;
        one.where = {i,   shape.threads, index, shape.blocks,
                     row, shape.rows,    rank,  std::max(shape.cluster, 1u)};
        char name[64] = "";
        if (races_are_watched)
            snprintf(name, sizeof name, "block %u, row %u, thread %u", index, row, i);
        one.run.start(run_thread, name);
        wake(&one);
    }
}

static void start_cluster(uint32_t which) {
    uint32_t size = std::max(now->shape.cluster, 1u), per_row = now->shape.blocks / size;
    now->clusters.push_back(std::make_unique<cluster>());
    cluster *made = now->clusters.back().get();
    made->threads = (size_t)size * now->shape.threads;
    for (uint32_t rank = 0; rank < size; rank++)
        start_block(made, which % per_row * size + rank, which / per_row, rank);
    now->progress();
}

static void end_cluster(cluster *which) {
    for (std::unique_ptr<block> &each : which->blocks)
        now->old_shared.push_back(std::move(each->shared));
    auto found = std::find_if(now->clusters.begin(), now->clusters.end(),
                              [=](const std::unique_ptr<cluster> &one) { return one.get() == which; });
    now->clusters.erase(found);
}

/* The thread's last moment, and its cluster's if it is the last one there. The shared memory of an ended
 * block stays as long as the cluster, so that accesses that come too late are noticed. */
static void bury(thread *which) {
    cluster *within = which->home->within;
    which->run.discard();
    which->waits.reset();
    if (within->ended_threads == within->threads)
        end_cluster(within);
}

/* Whether a bulk copy lands next: after few turns in some schedules, in others when nobody else can run. */
static bool copy_lands() {
    const uint64_t turns[] = {2, 16, 1024};
    return !now->copies.empty() && (now->ready.empty() || random_below(turns[now->seed % 3]) == 0);
}

/* Runs the clusters in the given order, at most `resident` at a time. */
static void run_clusters(const std::vector<uint32_t> &order, size_t resident) {
    const uint64_t habits[] = {0, 2, 16}; // some schedules alternate, in some a thread mostly goes on
    now->stay = habits[random_below(3)];
    while (true) {
        while (now->started_clusters < order.size() && now->clusters.size() < resident)
            start_cluster(order[now->started_clusters++]);
        if (now->clusters.empty())
            return;
        if (now->shares)
            share_device();
        if (copy_lands()) {
            land_copy(random_below(now->copies.size()));
            continue;
        }
        if (now->ready.empty() || now->idle_steps++ > patience())
            diagnose();
        pick();
        running->run.enter();
        running = nullptr;
        if (now->last->state == state::ended) {
            bury(now->last);
            now->last = nullptr;
        }
    }
}

uint32_t *state_of_grid() {
    return &now->grid_barrier;
}

static uint32_t cooperative_limit = UINT32_MAX, cluster_limit = largest_cluster;
static uint32_t shared_limit = largest_shared;

void limit_shared(uint32_t bytes) {
    shared_limit = std::min(bytes, largest_shared);
}

bool may_share(uint32_t bytes) {
    return bytes <= shared_limit;
}

void limit_device(uint32_t blocks, uint32_t cluster) {
    cooperative_limit = blocks;
    cluster_limit = std::min(cluster, largest_cluster);
}

static uint32_t room(uint32_t threads, uint32_t shared_bytes) {
    uint32_t by_threads = threads_per_sm / threads;
    uint32_t by_shared = shared_bytes != 0 ? shared_bytes_per_sm / (shared_bytes + 1024) : blocks_per_sm;
    return sms * std::min({by_threads, by_shared, blocks_per_sm});
}

uint32_t resident_blocks(uint32_t threads, uint32_t shared_bytes) {
    return std::min(room(threads, shared_bytes), cooperative_limit);
}

uint32_t resident_clusters(uint32_t threads, uint32_t shared_bytes, uint32_t cluster) {
    return cluster > cluster_limit ? 0 : room(threads, shared_bytes) / cluster;
}

static bool fits(const simt_launch_shape &shape) {
    uint32_t cluster = std::max(shape.cluster, 1u);
    return shape.blocks > 0 && shape.rows > 0 && shape.threads > 0 && shape.threads % SIMT_WARP == 0 &&
           shape.threads <= largest_block && may_share(shape.shared_bytes) && shape.blocks % cluster == 0 &&
           resident_clusters(shape.threads, shape.shared_bytes, cluster) > 0;
}

/* What the host thread enqueued last is a launch; which has allowed a successor. */
static thread_local bool launched_before, successor_allowed;
static uint64_t launched;

void after_other_work() {
    launched_before = successor_allowed = false;
}

void allow_successor() {
    successor_allowed = true;
    yield();
}

bool may_start_early() {
    return successor_allowed;
}

uint64_t launches() {
    return launched;
}

int launch(const simt_launch_shape &shape, void (*body)(const void *), const void *argument,
           size_t argument_bytes) {
    enum { INVALID_CONFIGURATION = 9, COOPERATIVE_LAUNCH_TOO_LARGE = 720 };
    quiet hush;
    report_sanitizers();
    if (!fits(shape))
        return INVALID_CONFIGURATION;
    uint32_t cluster = std::max(shape.cluster, 1u), clusters = shape.blocks / cluster * shape.rows;
    uint32_t capacity = resident_clusters(shape.threads, shape.shared_bytes, cluster);
    uint32_t together = resident_blocks(shape.threads, shape.shared_bytes);
    if (shape.cooperative && clusters * cluster > together)
        return COOPERATIVE_LAUNCH_TOO_LARGE;
    uint32_t most_resident = std::max(1u, std::min(capacity, most_watched / (cluster * shape.threads)));

    device running_launch = {};
    take_device();
    begin_launch();
    now = &running_launch;
    now->shape = shape;
    now->body = body;
    now->argument = argument;
    now->argument_bytes = argument_bytes;
    now->seed = now->random_state = next_seed();
    successor_allowed = false;
    release_token(now->began);
    open_read_only_cache(shape.dependent && launched_before);
    std::vector<uint32_t> order(clusters);
    for (uint32_t i = 0; i < clusters; i++) {
        uint32_t to = (uint32_t)random_below(i + 1);
        order[i] = order[to];
        order[to] = i;
    }
    run_clusters(order, shape.cooperative ? clusters : 1 + random_below(std::min(most_resident, clusters)));
    close_read_only_cache();
    acquire_token(now->ended);
    launched_before = true;
    launched++;
    fiber::recycle(); // a host thread's launches come one after another
    now = nullptr;
    end_launch();
    give_device();
    return 0;
}

} // namespace simt_runtime
