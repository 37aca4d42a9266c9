// SPDX-License-Identifier: Apache-2.0
// The running thread: where it is, how it gives its turn away, and what it may touch.
#include "device.h"

namespace simt_runtime {

device *now;
thread *running;

const coordinates &where() {
    return running->where;
}

void sleep() {
    running->state = state::waiting;
    running->run.leave();
}

void wake(thread *which) {
    which->state = state::ready;
    now->ready.push_back(which);
}

void yield() {
    running->run.leave();
}

void wait_predecessor() {
    quiet hush;
    yield();
    if (!running->may_touch)
        acquire_token(now->began);
    running->may_touch = true;
}

void before_access(const void *address, size_t bytes) {
    if ((uintptr_t)address % bytes != 0)
        report("an access of %zu bytes at %p, which is not a multiple of %zu", bytes, address, bytes);
    if (!running->may_touch && !is_shared(address))
        report("global memory is accessed in a dependent launch before simt_wait_predecessor");
}

void before_atomic(const void *address, size_t bytes) {
    quiet hush;
    before_access(address, bytes);
    yield();
}

} // namespace simt_runtime
