// SPDX-License-Identifier: Apache-2.0
// Kernels with a mistake must be caught, each run in a process of its own, with the words that name the
// mistake; without it they must pass in silence. Some mistakes are seen by a sanitizer alone, in the build
// with it.
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/broken_rings.cuh"
#include "kernels/device_memory.cuh"

enum watcher { RUNTIME, ADDRESS_SANITIZER, THREAD_SANITIZER };

#ifdef SIMT_TSAN
constexpr watcher sanitizer = THREAD_SANITIZER;
#elif defined(SIMT_ASAN)
constexpr watcher sanitizer = ADDRESS_SANITIZER;
#else
constexpr watcher sanitizer = RUNTIME;
#endif

enum sight { ALWAYS, BY_SCHEDULE }; /* seen under every schedule, or some */

enum launched {
    ORDINARY,
    ONE_WARP, /* with a slot */
    CLUSTERS_OF_2,
    COOPERATIVE,
    MENDED_BY_COOPERATION,
    DEPENDENT, /* after `predecessor` */
    IMPATIENT, /* with turns of at most 200 ms */
};

struct mistake {
    const char *name;
    void (*kernel)(broken_args);
    watcher by;
    sight seen;
    const char *words;
    launched as;
};

static const mistake mistakes[] = {
    {"ticket_without_barrier", ticket_without_barrier, THREAD_SANITIZER, ALWAYS, "data race", ORDINARY},
    {"ticket_without_release", ticket_without_release, THREAD_SANITIZER, ALWAYS, "data race", ORDINARY},
    {"ticket_without_acquire", ticket_without_acquire, THREAD_SANITIZER, ALWAYS, "data race", ORDINARY},
    {"zero_while_read", zero_while_read, THREAD_SANITIZER, ALWAYS, "data race", ORDINARY},
    {"write_after_fence", write_after_fence, THREAD_SANITIZER, BY_SCHEDULE, "data race", ORDINARY},
    {"candidate_overflow", candidate_overflow, RUNTIME, ALWAYS, "out of bounds: element 16 of an array of 16",
     ORDINARY},
    {"arena_overflow", arena_overflow, RUNTIME, ALWAYS,
     "out of bounds: 72 bytes are carved, the launch gave 68", ORDINARY},
    {"read_after_shuffle", read_after_shuffle, THREAD_SANITIZER, ALWAYS, "data race", ORDINARY},
    {"read_after_ballot", read_after_ballot, THREAD_SANITIZER, ALWAYS, "data race", ORDINARY},
    {"read_after_vote", read_after_vote, THREAD_SANITIZER, ALWAYS, "data race", ORDINARY},
    {"read_after_match", read_after_match, THREAD_SANITIZER, ALWAYS, "data race", ORDINARY},
    {"read_after_reduction", read_after_reduction, THREAD_SANITIZER, ALWAYS, "data race", ORDINARY},
    {"write_after_ballot", write_after_ballot, THREAD_SANITIZER, ALWAYS, "data race", ORDINARY},
    {"mask_without_caller", mask_without_caller, RUNTIME, ALWAYS, "wrong warp mask: lane", ORDINARY},
    {"mask_of_returned_lane", mask_of_returned_lane, RUNTIME, ALWAYS, "wrong warp mask: ", ORDINARY},
    {"mask_of_diverged_lane", mask_of_diverged_lane, RUNTIME, ALWAYS, "names lane", ORDINARY},
    {"shuffle_from_outside", shuffle_from_outside, RUNTIME, ALWAYS, "reads lane 16, which is not in the mask",
     ORDINARY},
    {"barrier_of_returned_threads", barrier_of_returned_threads, RUNTIME, ALWAYS,
     "divergent block barrier: ", ORDINARY},
    {"barrier_in_branches", barrier_in_branches, RUNTIME, ALWAYS, "divergent block barrier: ", ORDINARY},
    {"barrier_against_warp", barrier_against_warp, RUNTIME, ALWAYS, "lane 5, which waits in block barrier",
     ORDINARY},
    {"spin_barrier", spin_barrier, RUNTIME, BY_SCHEDULE, "the blocks spin for ever", MENDED_BY_COOPERATION},
    {"cluster_block_ended", cluster_block_ended, RUNTIME, ALWAYS, "which has ended", CLUSTERS_OF_2},
    {"read_before_write", read_before_write, RUNTIME, ALWAYS, "read before it is written", ORDINARY},
    {"atomic_before_wait", atomic_before_wait, RUNTIME, ALWAYS, "before simt_wait_predecessor", DEPENDENT},
    {"read_before_wait", read_before_wait, THREAD_SANITIZER, ALWAYS, "data race", DEPENDENT},
    {"return_without_wait", return_without_wait, RUNTIME, ALWAYS, "returns without simt_wait_predecessor",
     DEPENDENT},
    {"read_only_after_write", read_only_after_write, THREAD_SANITIZER, ALWAYS, "read-only cache", ORDINARY},
    {"write_after_read_only", write_after_read_only, THREAD_SANITIZER, ALWAYS, "read-only cache", ORDINARY},
    {"read_only_of_predecessor", read_only_of_predecessor, THREAD_SANITIZER, ALWAYS, "read-only cache",
     DEPENDENT},
    {"poll_by_plain_loads", poll_by_plain_loads, RUNTIME, ALWAYS, "without letting others run", IMPATIENT},
    {"global_overflow", global_overflow, ADDRESS_SANITIZER, ALWAYS, "heap-buffer-overflow", ORDINARY},
    {"misaligned_load", misaligned_load, RUNTIME, ALWAYS, "not a multiple of 16", ORDINARY},
    {"slot_read_early", slot_read_early, RUNTIME, ALWAYS, "touched before anybody has waited", ONE_WARP},
    {"slot_read_without_wait", slot_read_without_wait, THREAD_SANITIZER, ALWAYS, "data race", ONE_WARP},
    {"slot_refilled_early", slot_refilled_early, THREAD_SANITIZER, ALWAYS, "data race", ONE_WARP},
    {"slot_filled_twice", slot_filled_twice, RUNTIME, ALWAYS, "touched before anybody has waited", ONE_WARP},
    {"slot_written_before", slot_written_before, RUNTIME, ALWAYS, "without simt_fence_bulk", ONE_WARP},
    {"slot_left_behind", slot_left_behind, RUNTIME, ALWAYS, "nobody has waited for its bulk copy", ONE_WARP},
    {"arrival_forgotten", arrival_forgotten, RUNTIME, ALWAYS, "1 of 2 arrivals are missing", ONE_WARP},
    {"mbarrier_made_late", mbarrier_made_late, THREAD_SANITIZER, ALWAYS, "data race", ONE_WARP},
    {"copy_after_write", copy_after_write, THREAD_SANITIZER, ALWAYS, "read-only cache", ONE_WARP},
    {"misaligned_copy", misaligned_copy, RUNTIME, ALWAYS, "not a multiple of 16", ONE_WARP},
    {"copy_beyond_input", copy_beyond_input, ADDRESS_SANITIZER, ALWAYS, "heap-buffer-overflow", ONE_WARP},
    {"remote_store_early", remote_store_early, RUNTIME, ALWAYS, "which may not have started", CLUSTERS_OF_2},
    {"remote_load_late", remote_load_late, RUNTIME, ALWAYS, "which has ended", CLUSTERS_OF_2},
    {"remote_load_unpublished", remote_load_unpublished, THREAD_SANITIZER, ALWAYS, "data race",
     CLUSTERS_OF_2},
    {"remote_stores_race", remote_stores_race, THREAD_SANITIZER, ALWAYS, "data race", CLUSTERS_OF_2},
    {"cluster_wait_alone", cluster_wait_alone, RUNTIME, ALWAYS, "without simt_cluster_arrive", CLUSTERS_OF_2},
    {"cluster_arrival_alone", cluster_arrival_alone, RUNTIME, ALWAYS, "returns between simt_cluster_arrive",
     CLUSTERS_OF_2},
    {"grid_barrier_skipped", grid_barrier_skipped, RUNTIME, ALWAYS, "the blocks spin for ever", COOPERATIVE},
};

static void run(const mistake &one, bool mended, unsigned long seed) {
    const uint32_t blocks = one.as == ONE_WARP ? 1 : 4, threads = one.as == ONE_WARP ? SIMT_WARP : 64;
    device_array<uint32_t> data(DATA_WORDS), word(1), out(DATA_WORDS);
    simt_launch_shape shape = {};
    shape.name = one.name;
    shape.blocks = blocks;
    shape.rows = 1;
    shape.threads = threads;
    shape.cluster = one.as == CLUSTERS_OF_2 ? 2 : 0;
    shape.cooperative = one.as == COOPERATIVE || (mended && one.as == MENDED_BY_COOPERATION);
    shape.shared_bytes = one.as == ONE_WARP ? 16 * (1 + SIMT_WARP) : (CANDIDATES + 1) * 4;
    broken_args args = {mended, data.data, word.data, out.data};
    simt_runtime::seed(seed);
    if (one.as == IMPATIENT)
        simt_runtime::longest_turn(200);
    if (one.as == DEPENDENT)
        require_success(simt_launch(shape, predecessor, args), "predecessor");
    shape.dependent = one.as == DEPENDENT;
    require_success(simt_launch(shape, one.kernel, args), one.name);
}

struct outcome {
    bool succeeded;
    std::string said; /* on stderr */
};

/* Runs the kernel under `count` schedules in a child. */
static outcome run_in_child(const mistake &one, bool mended, unsigned long first, unsigned long count) {
    int ends[2];
    require_success(pipe(ends), "pipe");
    fflush(stdout);
    pid_t child = fork();
    require_success(child < 0, "fork");
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        for (unsigned long seed = first; seed < first + count; seed++)
            run(one, mended, seed);
        _exit(0);
    }
    close(ends[1]);
    outcome result;
    char buffer[4096];
    for (ssize_t got; (got = read(ends[0], buffer, sizeof buffer)) > 0;)
        result.said.append(buffer, (size_t)got);
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    result.succeeded = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return result;
}

static int failures;

static void fail(const mistake &one, const char *what, const std::string &said) {
    printf("FAIL %s: %s\n%s\n", one.name, what, said.c_str());
    failures++;
}

static void test_broken(const mistake &one, unsigned long schedules, bool verbose) {
    unsigned long caught = 0;
    for (unsigned long seed = 1; seed <= schedules; seed++) {
        outcome result = run_in_child(one, false, seed, 1);
        std::string thread = std::string("kernel ") + one.name + ", block ";
        bool named =
            result.said.find(one.words) != std::string::npos && result.said.find(thread) != std::string::npos;
        if (!result.succeeded && !named)
            return fail(one, "is stopped for another reason", result.said);
        if (result.succeeded && one.seen != BY_SCHEDULE)
            return fail(one, "is not caught", result.said);
        if (verbose && caught == 0)
            printf("%s", result.said.c_str());
        caught += !result.succeeded;
    }
    printf("%s: caught under %lu of %lu schedules\n", one.name, caught, schedules);
    if (caught == 0)
        fail(one, "is never caught", "");
}

static void test_mended(const mistake &one, unsigned long schedules) {
    outcome result = run_in_child(one, true, 1, schedules);
    if (!result.succeeded || !result.said.empty())
        fail(one, "fails although mended", result.said);
}

/* test_broken [BROKEN_SCHEDULES [MENDED_SCHEDULES [NAME]]]; with a name what is said is shown. */
int main(int count, char **words) {
    unsigned long broken = count > 1 ? strtoul(words[1], nullptr, 0) : 8;
    unsigned long mended = count > 2 ? strtoul(words[2], nullptr, 0) : 50;
    for (const mistake &one : mistakes) {
        if (count > 3 && std::string(one.name) != words[3])
            continue;
        if (one.by == sanitizer)
            test_broken(one, broken, count > 3);
        else if (one.by == RUNTIME && one.seen == ALWAYS) /* the plain build tries other schedules */
            test_broken(one, 1, count > 3);
        test_mended(one, mended);
    }
    return failures != 0;
}
