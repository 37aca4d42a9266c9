/* SPDX-License-Identifier: Apache-2.0
 * A group that enqueues, over MPI, where the device is emulated: work is done when it is enqueued. */
#ifndef TESTS_ENQUEUED_MPI_H
#define TESTS_ENQUEUED_MPI_H

#include <mpi.h>

#include "topk_dist_transport.h"

topk_status enqueued_group_create(MPI_Comm communicator, topk_context *context, topk_dist_group **group);

#endif
