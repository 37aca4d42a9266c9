/* SPDX-License-Identifier: Apache-2.0
 * What host code asks of the CUDA runtime, in C. device.cu answers on a real machine; the emulated GPU of
 * the tests has answers of its own. Functions return 0 or a cudaError_t, which topk_device_error() puts
 * into words. */
#ifndef TOPK_SRC_CUDA_DEVICE_H
#define TOPK_SRC_CUDA_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "topk.h"

#ifdef __cplusplus
extern "C" {
#endif

struct device_info {
    char name[256];
    int major, minor; /* compute capability */
    int sms;
    int shared_bytes_max;  /* that a block may have */
    bool dependent_launch; /* a kernel may be launched before the one before it has ended */
};

int topk_device_count(int *count);
int topk_device_query(int ordinal, struct device_info *info);

/* Makes `ordinal` the calling thread's device; *previous is what topk_device_leave() goes back to. */
int topk_device_enter(int ordinal, int *previous);
int topk_device_leave(int ordinal, int previous);

/* Enqueues zeroing: a memset node when the stream is captured. */
int topk_device_zero(topk_stream stream, void *address, size_t bytes);

const char *topk_device_error(int error);

#ifdef __cplusplus
}
#endif
#endif
