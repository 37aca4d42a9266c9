/* SPDX-License-Identifier: Apache-2.0
 * The kernels of peer memory, as the host sees them.
 *
 * Runs of a group have the numbers 1, 2, 3, ... on each rank. Run e has three steps, which are three kernels,
 * or one if there is little to move:
 *
 *   store   blocks of the rank go to half e % 2 of the buffers of the ranks that want them; then the number e
 *           goes to this rank's flag in the array of every rank, wanted or not
 *   wait    until the flags of all ranks in the own array are at least e
 *   take    what lies in half e % 2 of the own buffer becomes the result
 *
 *   buffer  | half 0: slot of rank 0, slot of rank 1, ... | half 1: likewise |
 *   flags   | 128 flags, one of each rank | what this rank alone reads and writes: struct peer_control |
 *
 * No rank overwrites what another one still reads. Let rank r store in run e to rank p, in half e % 2. What p
 * reads there last is run e - 2: it takes it before it begins run e - 1, since runs follow each other on p's
 * stream. Rank r has waited in run e - 1 for all flags, p's too, for at least e - 1; p has released that flag
 * in run e - 1, so after it has taken e - 2. So r's stores come after p's loads. And half e % 2 is not read
 * as run e + 2, since p comes to wait there only when r's flag says e + 2.
 *
 * This needs that in each run every rank sets its flag at every other one, and waits for all. So it does in a
 * gather to one rank, too: ranks that only store wait for the root's flag, which the root sets before it
 * waits itself. No flag of consumption is needed, and nobody is more than one run ahead.
 *
 * A run whose number was not reached by the flags in time does not hold that proof: so its rank stores
 * nothing any more, ever. It sets its flags to PEER_GONE, which ends all waits. Other ranks may still store
 * run e, or e + 1, to it; it reads none of that.
 *
 * A flag has one writer and only grows. 2^64 - 1 runs, one each nanosecond, take 584 years: no flag wraps
 * around. What is released is the run's number and not a change of it, so a graph can be replayed: the number
 * is in the memory of the device. */
#ifndef TOPK_SRC_CUDA_PEER_KERNELS_H
#define TOPK_SRC_CUDA_PEER_KERNELS_H

#include "../grid.h"
#include "sizes.h"
#include "topk_peer.h"

#define PEER_GONE UINT64_MAX

/* Behind the flags of a rank's array. The first two are a topk_peer_report. */
struct peer_control {
    uint64_t runs;   /* that have ended */
    uint64_t state;  /* 0, or the outcome << 32 | a rank; atomic */
    uint32_t ticket; /* blocks that have stored; atomic, 0 between launches */
};

/* One of the blocks that a rank has for another one, or the piece of it that a run moves. */
struct peer_args_part {
    const unsigned char *block;
    unsigned char *out;
    uint64_t bytes;
    uint64_t at;         /* in a slot, a multiple of 16 */
    uint64_t stride;     /* bytes from the block for a rank to the one for the next */
    uint64_t out_stride; /* bytes from the block of a rank to the next rank's in `out` */
};

struct peer_args {
    uint32_t rank, ranks;
    int32_t root;        /* or TOPK_PEER_ALL */
    bool combines, adds; /* blocks are numbers, in one part: the greatest are taken, or the sums */
    uint32_t count;      /* of parts */
    struct peer_args_part parts[TOPK_PEER_PARTS_MAX];
    uint64_t slot_bytes, half_bytes; /* multiples of 16 */
    const uint32_t *abort;
    uint64_t timeout_ns; /* 0: none */
    unsigned char *buffers[TOPK_PEER_RANKS_MAX];
    uint64_t *flags[TOPK_PEER_RANKS_MAX];
};

#ifdef __cplusplus
extern "C" {
#endif

enum peer_kernel { PEER_STORE, PEER_WAIT, PEER_TAKE, PEER_WHOLE };

struct peer_kernels {
    int (*prepare)(void);
    /* 0 or a cudaError_t. */
    int (*launch)(enum peer_kernel kernel, const struct launch_grid *grid, const struct peer_args *args);
};

extern const struct peer_kernels topk_cuda_peer_kernels_8;

#ifdef __cplusplus
}
#endif
#endif
