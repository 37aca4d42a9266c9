/* SPDX-License-Identifier: Apache-2.0
 * Fibers: each runs when the host enters it or another leaves for it, until it leaves. */
#ifndef TOPK_TESTS_SIMT_FIBER_H
#define TOPK_TESTS_SIMT_FIBER_H

#include <cstddef>

namespace simt_runtime {

/* What a fiber runs on: a stack with an inaccessible page below it, and ThreadSanitizer's state of a thread.
 */
struct seat {
    char *stack;
    size_t bytes;
    void *race_state;
};

/* What a switch leaves or reaches: where it goes on, and what the sanitizers know of its stack. */
struct side {
    void *context = nullptr;
    void *fake_stack = nullptr;
    const void *stack = nullptr;
    size_t stack_bytes = 0;
    void *race_state = nullptr;
};

class fiber {
  public:
    fiber() = default;
    fiber(const fiber &) = delete;

    /* `entry` calls `finish` at its end and never returns. */
    void start(void (*entry)(), const char *name);
    void enter();                 /* by the host, which goes on when a fiber leaves */
    void leave();                 /* by the fiber, which goes on when it is entered or left for */
    void leave_for(fiber &other); /* the same, and the host does not notice */
    void finish();                /* by the fiber, for the last time: the host goes on */
    void discard();               /* by the host, after that */

    /* Makes the seats of discarded fibers free: who sits there next is taken to come after them. */
    static void recycle();

  private:
    side own;
    seat at = {};
    void (*body)() = nullptr;
};

} // namespace simt_runtime

#endif
