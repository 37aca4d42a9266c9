/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOPK_SRC_CUDA_TRANSFER_STREAMS_H
#define TOPK_SRC_CUDA_TRANSFER_STREAMS_H

#include "../../transfer.h"

extern const struct stream_calls topk_cuda_streams;

#endif
