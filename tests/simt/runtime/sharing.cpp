// SPDX-License-Identifier: Apache-2.0
// Host threads take turns with the emulated device: in the order in which they asked for it, each until its
// launch has ended, or until that lets others run. So kernels of several host threads are under way at once
// and can wait for each other, as those of several streams.
//
// A mutex would order what the threads did, for ThreadSanitizer, and hide that kernels do not. It knows
// nothing of this futex.
#include <atomic>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "device.h"

namespace simt_runtime {

static std::atomic<uint32_t> next_turn, current_turn;
static uint32_t launches_under_way; // changes in one's turn alone

/* Who waits for a turn has one of the futex's 32 bits, so that few others wake with it. */
static uint32_t bit_of(uint32_t turn) {
    return UINT32_C(1) << turn % 32;
}

void take_device() {
    const uint32_t mine = next_turn++;
    for (uint32_t seen = current_turn; seen != mine; seen = current_turn)
        syscall(SYS_futex, &current_turn, FUTEX_WAIT_BITSET_PRIVATE, seen, nullptr, nullptr, bit_of(mine));
}

void give_device() {
    const uint32_t next = ++current_turn;
    if (next_turn != next)
        syscall(SYS_futex, &current_turn, FUTEX_WAKE_BITSET_PRIVATE, INT32_MAX, nullptr, nullptr,
                bit_of(next));
}

bool device_is_wanted() {
    return next_turn.load(std::memory_order_relaxed) - current_turn.load(std::memory_order_relaxed) > 1;
}

void share_device() {
    device *const mine = now;
    mine->shares = false;
    now = nullptr;
    give_device();
    take_device();
    now = mine;
}

void begin_launch() {
    if (launches_under_way++ == 0)
        begin_watch();
}

void end_launch() {
    if (--launches_under_way == 0)
        end_watch();
}

} // namespace simt_runtime
