/* SPDX-License-Identifier: Apache-2.0
 * The names of src/cuda/simt.cuh on the CPU: coordinates, barriers, warp operations; the rest in the headers
 * included below. Included by simt.cuh alone, which says what each name means. */
#ifndef TOPK_TESTS_SIMT_EMULATION_H
#define TOPK_TESTS_SIMT_EMULATION_H

#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "../../../src/reached.h"
#include "runtime.h"

#define TOPK_KERNEL static
#define TOPK_BOUNDS(threads, blocks)
#define TOPK_DEVICE static inline
#define TOPK_NOINLINE static inline
#define TOPK_CONSTANT_ARGS const
#define TOPK_MEMBER inline
#define TOPK_LAMBDA
#define TOPK_HOST_DEVICE static inline

inline uint32_t simt_thread() {
    return simt_runtime::where().thread;
}

inline uint32_t simt_threads() {
    return simt_runtime::where().threads;
}

inline uint32_t simt_lane() {
    return simt_thread() % SIMT_WARP;
}

inline uint32_t simt_warp() {
    return simt_thread() / SIMT_WARP;
}

inline uint32_t simt_warps() {
    return simt_threads() / SIMT_WARP;
}

inline uint32_t simt_block() {
    return simt_runtime::where().block;
}

inline uint32_t simt_blocks() {
    return simt_runtime::where().blocks;
}

inline uint32_t simt_block_y() {
    return simt_runtime::where().row;
}

inline uint32_t simt_blocks_y() {
    return simt_runtime::where().rows;
}

inline void simt_block_sync(simt_site at = simt_here()) {
    simt_runtime::meet_block(false, at);
}

inline uint32_t simt_block_count(bool predicate, simt_site at = simt_here()) {
    return simt_runtime::meet_block(predicate, at);
}

inline void simt_wait_predecessor() {
    simt_runtime::wait_predecessor();
}

inline void simt_allow_successor() {
    simt_runtime::allow_successor();
}

#include "simt_emulated_atomic.h"
#include "simt_emulated_bits.h"
#include "simt_emulated_compare.h"
#include "simt_emulated_float.h"
#include "simt_emulated_shared.h"

#include "simt_emulated_bulk.h"
#include "simt_emulated_cluster.h"
#include "simt_emulated_warp.h"

#endif
