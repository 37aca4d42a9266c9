/* SPDX-License-Identifier: Apache-2.0
 * What the threads of a team do together. */
#ifndef TOPK_TESTS_SIMT_TEAMS_CUH
#define TOPK_TESTS_SIMT_TEAMS_CUH

#include "launch.cuh"
#include "select/team.cuh"
#include "sums.cuh"

enum { TEAM_WORDS = 10 };

/* What the operations of a team of WARPS warps say, TEAM_WORDS words for each thread. The last word is read
 * from the last thread's slot in shared memory. */
template <uint32_t WARPS> TOPK_KERNEL void team_operations(struct sums_args args) {
    simt_arena arena = simt_shared_arena();
    row_team<WARPS> team = carve_team<WARPS>(arena);
    simt_shared<uint32_t> slots = simt_carve<uint32_t>(arena, WARPS * SIMT_WARP);
    const uint32_t i = simt_block() * simt_threads() + simt_thread(), value = args.in[i];
    uint32_t *out = args.out + i * TEAM_WORDS;
    out[0] = team.reduce_add(value);
    out[1] = team.reduce_min(value);
    out[2] = team.reduce_max(value);
    const uint64_t sum = team.reduce_add(wide_of(value));
    out[3] = (uint32_t)(sum >> 32) ^ (uint32_t)sum;
    out[4] = (uint32_t)team.reduce_min(wide_of(value));
    out[5] = team.scan(value, &out[6]);
    uint32_t least = value, least_complement = ~value;
    team.reduce_min_of_each(&least, &least_complement);
    out[7] = least + 1000 * ~least_complement;
    slots[team.thread()] = value;
    team.sync();
    out[8] = team.count(value % 3 == 1);
    out[9] = slots[WARPS * SIMT_WARP - 1];
}

#endif
