// SPDX-License-Identifier: Apache-2.0
// Shared memory, and who may touch it.
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

void check_shared(block *of, uint32_t at, uint32_t bytes, bool reads, bool writes) {
    if (of->ended())
        report("the shared memory of block %u, which has ended", of->index);
    if (!of->started)
        report("the shared memory of block %u, which has not started", of->index);
    for (uint32_t i = at; i < at + bytes; i++) {
        if (reads && !of->shared_written[i])
            report("shared memory is read before it is written: byte %u of block %u", i, of->index);
        if (writes)
            of->shared_written[i] = true;
    }
}

} // namespace simt_runtime
