// SPDX-License-Identifier: Apache-2.0
// Shared memory, and who may touch it.
#include <algorithm>
#include <cstring>

#include "device.h"

namespace simt_runtime {

block *home() {
    return running->home;
}

uint32_t shared_bytes() {
    return now->shape.shared_bytes;
}

unsigned char *shared_base(const block *of) {
    return of->shared.get();
}

block *block_of_rank(uint32_t rank) {
    cluster &within = *running->home->within;
    if (rank >= within.blocks.size())
        report("shared memory of rank %u in a cluster of %zu blocks", rank, within.blocks.size());
    return within.blocks[rank].get();
}

bool is_shared(const void *address) {
    for (const std::unique_ptr<block> &each : running->home->within->blocks) {
        const unsigned char *base = each->shared.get();
        if (address >= base && address < base + now->shape.shared_bytes)
            return true;
    }
    return false;
}

/* A block has started once a cluster barrier was passed, and lasts until it has passed the one after. */
static void check_remote(block &of) {
    if (of.ended())
        report("the shared memory of block %u, which has ended", of.index);
    if (running->cluster_waits == 0)
        report("the shared memory of block %u, which may not have started: no cluster barrier came before",
               of.index);
    of.needed_waits = std::max(of.needed_waits, running->cluster_arrivals + 1);
}

void check_end(const thread *which) {
    const block &home = *which->home;
    if (home.ended_threads + 1 < home.threads.size())
        return;
    if (which->cluster_waits < home.needed_waits)
        report("others use the shared memory of block %u, which has ended: no cluster barrier came between",
               home.index);
    if (!home.copies.empty())
        report("the block ends, and nobody has waited for its bulk copy of %s:%u", home.copies[0]->site.file,
               home.copies[0]->site.line);
}

/* Most accesses are of words, whose states are looked at and set together. */
static bool all_written(const unsigned char *state, uint32_t bytes) {
    constexpr uint32_t each = written * 0x01010101u;
    uint32_t i = 0;
    for (uint32_t four; i + sizeof four <= bytes; i += sizeof four) {
        memcpy(&four, state + i, sizeof four);
        if ((four & each) != each)
            return false;
    }
    while (i < bytes && (state[i] & written) != 0)
        i++;
    return i == bytes;
}

/* By stores alone: ThreadSanitizer would take a call of memset for an access of the kernel's. */
static void mark(unsigned char *state, uint32_t bytes) {
    constexpr int both = written | unfenced;
    switch (bytes) {
    case 2:
        memset(state, both, 2);
        break;
    case 4:
        memset(state, both, 4);
        break;
    case 8:
        memset(state, both, 8);
        break;
    case 16:
        memset(state, both, 16);
        break;
    default:
        for (volatile unsigned char *each = state; each < state + bytes; each++)
            *each = both;
    }
}

[[noreturn]] static void report_unwritten(const block *of, uint32_t at) {
    while ((of->shared_state[at] & written) != 0)
        at++;
    report("shared memory is read before it is written: byte %u of block %u", at, of->index);
}

void check_shared(block *of, uint32_t at, uint32_t bytes, bool reads, bool writes) {
    if (of != running->home)
        check_remote(*of);
    for (const std::shared_ptr<bulk_copy> &copy : of->copies)
        if (at < copy->at + copy->bytes && copy->at < at + bytes)
            report("shared memory is touched before anybody has waited for its bulk copy of %s:%u: byte %u",
                   copy->site.file, copy->site.line, at);
    unsigned char *const state = &of->shared_state[at];
    if (reads && !all_written(state, bytes))
        report_unwritten(of, at);
    if (writes)
        mark(state, bytes);
}

} // namespace simt_runtime
