/* SPDX-License-Identifier: Apache-2.0
 * Launches of the emulated device. Included by src/cuda/launch.cuh alone. */
#ifndef TOPK_TESTS_SIMT_EMULATED_LAUNCH_H
#define TOPK_TESTS_SIMT_EMULATED_LAUNCH_H

namespace simt_runtime {

/* Seeds the schedules of the launches that follow; without a call, and in each report, SIMT_SEED. */
void seed(uint64_t value);

/* Runs `thread` in every thread of every block, each with its copy of the argument, which is aligned to 16
 * bytes at most; 0, or an error if the device does not hold what must be resident. */
int launch(const simt_launch_shape &shape, void (*thread)(const void *), const void *argument,
           size_t argument_bytes);

/* Kernels that have been launched so far. */
uint64_t launches();

/* How long a thread may run without letting others run, of CPU time: 10 s without a call. */
void longest_turn(uint32_t milliseconds);

/* Whether a dependent launch, were it enqueued now, could start before all work is done: what was enqueued
 * last is a launch that has called simt_allow_successor. */
bool may_start_early();

/* The host enqueued something else than a launch. */
void after_other_work();

/* What the device holds at once: of a cooperative launch at most `blocks`, 0 if it has none; of a cluster at
 * most `cluster`, 1 if it has none. Without a call, what there is room for, and 16. */
void limit_device(uint32_t blocks, uint32_t cluster);

/* How much shared memory a block may have, and whether it may have so much. Without a call 227 KiB. */
void limit_shared(uint32_t bytes);
bool may_share(uint32_t bytes);

uint32_t resident_blocks(uint32_t threads, uint32_t shared_bytes);
uint32_t resident_clusters(uint32_t threads, uint32_t shared_bytes, uint32_t cluster);

} // namespace simt_runtime

template <typename Args> struct simt_call {
    void (*kernel)(Args);
    Args args;

    static void run(const void *call) {
        const simt_call &self = *(const simt_call *)call;
        self.kernel(self.args);
    }
};

/* Returns when the kernel has ended. */
template <typename Args> int simt_launch(const simt_launch_shape &shape, void (*kernel)(Args), Args args) {
    static_assert(std::is_trivially_copyable<Args>::value && alignof(Args) <= 16, "arguments are copied");
    simt_call<Args> call = {kernel, args};
    return simt_runtime::launch(shape, simt_call<Args>::run, &call, sizeof call);
}

inline int simt_memset_async(struct CUstream_st *, void *address, uint8_t value, size_t bytes) {
    std::memset(address, value, bytes);
    simt_runtime::after_other_work();
    return 0;
}

inline int simt_copy_async(struct CUstream_st *, void *to, const void *from, size_t bytes) {
    std::memcpy(to, from, bytes);
    simt_runtime::after_other_work();
    return 0;
}

template <typename Args> int simt_allow_shared(void (*)(Args), uint32_t bytes) {
    const int invalid_value = 1;
    return simt_runtime::may_share(bytes) ? 0 : invalid_value;
}

template <typename Args> int simt_prepare(void (*kernel)(Args), uint32_t shared_bytes) {
    return simt_allow_shared(kernel, shared_bytes);
}

template <typename Args> uint32_t simt_architecture(void (*)(Args)) {
    return 90;
}

template <typename Args>
uint32_t simt_resident_blocks(void (*)(Args), uint32_t threads, uint32_t shared_bytes) {
    return simt_runtime::resident_blocks(threads, shared_bytes);
}

template <typename Args>
uint32_t simt_resident_clusters(void (*)(Args), uint32_t threads, uint32_t shared_bytes, uint32_t cluster) {
    return simt_runtime::resident_clusters(threads, shared_bytes, cluster);
}

#endif
