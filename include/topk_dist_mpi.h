/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups of topk_dist.h that communicate by MPI. */
#ifndef TOPK_DIST_MPI_H
#define TOPK_DIST_MPI_H

#include <mpi.h>

#include "topk_dist.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Creates a group of the ranks of an intracommunicator, collectively. It duplicates the communicator, so its
 * messages meet no others, and sets MPI_ERRORS_RETURN on the duplicate. MPI must be initialized, and must not
 * be finalized before topk_dist_group_destroy(). With threads MPI needs the level that its calls then have:
 * MPI_THREAD_FUNNELED if the thread that initialized it makes all of them. On failure *group is NULL.
 *
 * NULL_POINTER and BAD_STATE (MPI is not initialized, or was finalized) are found by a rank alone;
 * UNSUPPORTED for MPI_COMM_NULL and intercommunicators, likewise. OUT_OF_MEMORY is the same on all ranks.
 * DEVICE: MPI failed. */
TOPK_API topk_status topk_dist_group_create_mpi(MPI_Comm communicator, topk_dist_group **group);

#ifdef __cplusplus
}
#endif

#endif /* TOPK_DIST_MPI_H */
