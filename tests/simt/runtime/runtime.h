/* SPDX-License-Identifier: Apache-2.0
 * What the emulated primitives ask of the runtime. The primitives are inline and compiled with the kernels,
 * so that a sanitizer sees the memory accesses; the runtime behind this header is compiled without
 * ThreadSanitizer, so that its own bookkeeping orders nothing. */
#ifndef TOPK_TESTS_SIMT_RUNTIME_H
#define TOPK_TESTS_SIMT_RUNTIME_H

#include <cstddef>
#include <cstdint>

/* Where in the kernel something was called. */
struct simt_site {
    const char *file;
    unsigned line;
};

/* As a default argument it names the caller. */
constexpr simt_site simt_here(const char *file = __builtin_FILE(), unsigned line = __builtin_LINE()) {
    return simt_site{file, line};
}

namespace simt_runtime {

struct block;

struct coordinates {
    uint32_t thread, threads, block, blocks, row, rows, cluster_rank, cluster_size;
};

/* Of the running thread. */
const coordinates &where();

/* Ends the process with a line that names the kernel, the block and the thread, the sentence and the seed. */
[[noreturn]] void report(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A point at which another thread may run. */
void yield();

/* The running thread may touch global memory from now on, if its launch is dependent. */
void wait_predecessor();
/* A dependent launch after the running one may start before its end. */
void allow_successor();
/* An access of that many bytes of global memory. */
void before_access(const void *address, size_t bytes);
/* The load about to be done goes through the read-only cache. */
void read_through_cache(const void *address, size_t bytes, simt_site at);

/* All threads of the block meet; the number of those whose `predicate` holds. */
uint32_t meet_block(bool predicate, simt_site at);

/* A word that is 0 when a launch begins, for its grid barriers. */
uint32_t *state_of_grid();
/* All threads of the cluster arrive; each waits, later, until all have arrived, and sees what those
 * published. */
void arrive_cluster(bool publishes, simt_site at);
void wait_cluster(simt_site at);

/* The lanes of `mask` meet in the operation of that name, which orders none of their accesses. Returns 32
 * values: each lane of the mask has set its own. They stay until the caller's next meeting. */
const uint64_t *meet_warp(const char *operation, uint32_t mask, uint64_t value, simt_site at);
/* The lanes of `mask` meet and then see what all of them did before. */
void sync_warp(uint32_t mask, simt_site at);

/* Before and after each atomic access of the word at `address`. */
void before_atomic(const void *address, size_t bytes);
void after_load(const void *address, uint64_t value);
void after_store(const void *address);
void after_read_modify_write(const void *address, uint64_t value, bool changed);
void fence();
void acquire(const void *address); /* makes the load just done an acquire */
void release(const void *address); /* makes the store about to be done a release */

/* Mbarriers of the running block, each known by its first byte. */
void make_mbarrier(uint32_t at, uint32_t arrivals);
void arrive_mbarrier(uint32_t at);
void wait_mbarrier(uint32_t at, uint32_t parity, simt_site site);
/* A copy to byte `to` of the running block's shared memory: what holds before it; the running thread writes
 * there, so that no reader may be left; then its start, which is an arrival at that mbarrier. */
void before_copy(uint32_t to, const void *from, uint32_t bytes);
void overwrite(uint32_t to, uint32_t bytes);
void copy_bulk(uint32_t to, const void *from, uint32_t bytes, uint32_t at, simt_site site);
void fence_bulk();

/* The running block's shared memory. */
constexpr uint32_t shared_alignment = 128;
block *home();
uint32_t shared_bytes();
unsigned char *shared_base(const block *of);
block *block_of_rank(uint32_t rank);
/* Bytes [at, at + bytes) of that block's shared memory are about to be accessed. */
void check_shared(block *of, uint32_t at, uint32_t bytes, bool reads, bool writes);

} // namespace simt_runtime

#endif
