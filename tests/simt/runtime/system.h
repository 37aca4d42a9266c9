/* SPDX-License-Identifier: Apache-2.0
 * What the emulated primitives of system scope ask of the runtime, as runtime.h has it for all others. */
#ifndef TOPK_TESTS_SIMT_SYSTEM_H
#define TOPK_TESTS_SIMT_SYSTEM_H

#include <cstdint>

namespace simt_runtime {

/* As acquire() and release(), between all launches. */
void acquire_system(const void *address);
void release_system(const void *address);

/* The host's time. A thread that looks at it does not spin for ever, since it can wait for other launches. */
uint64_t nanoseconds();

} // namespace simt_runtime

#endif
