/* SPDX-License-Identifier: Apache-2.0
 * Launches that overlap the end of the launch before them. Where the hardware does not know them they start
 * when it has ended, and both functions do nothing. Included by simt.cuh alone. */
#ifndef TOPK_SRC_CUDA_SIMT_DEPENDENT_CUH
#define TOPK_SRC_CUDA_SIMT_DEPENDENT_CUH

/* Returns when all launches before this one have ended and what they wrote can be read. In the kernel of a
 * dependent launch each thread of each block calls it, before it touches global memory, and in any case: the
 * launch after this one takes the end of this one for the end of all. Elsewhere it does nothing. */
TOPK_DEVICE void simt_wait_predecessor(void) {
#ifdef SIMT_HAS_DEPENDENT_LAUNCHES
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* The launch after this one may start, if it is dependent, once all blocks have called this or ended. It
 * takes room on the SMs from then on, but sees nothing of this launch before its end. The last
 * launch of a call does not call it: what comes after is the caller's, and need not wait. */
TOPK_DEVICE void simt_allow_successor(void) {
#ifdef SIMT_HAS_DEPENDENT_LAUNCHES
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

#endif
