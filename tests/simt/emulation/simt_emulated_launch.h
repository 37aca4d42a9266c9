/* SPDX-License-Identifier: Apache-2.0
 * Launches of the emulated device. Included by src/cuda/launch.cuh alone. */
#ifndef TOPK_TESTS_SIMT_EMULATED_LAUNCH_H
#define TOPK_TESTS_SIMT_EMULATED_LAUNCH_H

namespace simt_runtime {

/* Seeds the schedules of the launches that follow; without a call, and in each report, SIMT_SEED. */
void seed(uint64_t value);

/* Runs `thread` in every thread of every block; 0, or an error if the device does not hold what must be
 * resident. */
int launch(const simt_launch_shape &shape, void (*thread)(const void *), const void *argument);

uint32_t resident_blocks(uint32_t threads, uint32_t shared_bytes);

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
    simt_call<Args> call = {kernel, args};
    return simt_runtime::launch(shape, simt_call<Args>::run, &call);
}

template <typename Args> int simt_allow_shared(void (*)(Args), uint32_t) {
    return 0;
}

template <typename Args>
uint32_t simt_resident_blocks(void (*)(Args), uint32_t threads, uint32_t shared_bytes) {
    return simt_runtime::resident_blocks(threads, shared_bytes);
}

#endif
