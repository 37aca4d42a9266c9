/* SPDX-License-Identifier: Apache-2.0
 * Groups of jobs.h over NCCL: the real one, or fake_nccl.c. */
#ifndef TESTS_DIST_GROUPS_NCCL_H
#define TESTS_DIST_GROUPS_NCCL_H

#include "jobs.h"
#include "topk_dist_nccl.h"

/* Whether the communicators that are made block. */
extern bool groups_block;

/* For jobs_start(). */
void groups_open(void);
void groups_close(void);

ncclComm_t groups_communicator(int r);

/* By topk_dist_group_abort_nccl(). */
void groups_abort(int r);

#endif
