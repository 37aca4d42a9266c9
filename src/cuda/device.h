/* SPDX-License-Identifier: Apache-2.0
 * What host code asks of the CUDA runtime, in C. device.cu answers on a real machine; the emulated GPU of
 * the tests has answers of its own. Functions return 0 or a cudaError_t, which topk_device_error() puts
 * into words. */
#ifndef TOPK_SRC_CUDA_DEVICE_H
#define TOPK_SRC_CUDA_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "topk_transfer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Multiprocessors of the GPU that methods were measured on. */
enum { DEVICE_SMS_OF_H200 = 132 };

/* Blocks of a cluster, at most. */
enum { DEVICE_CLUSTER_MAX = 16 };

struct bracket_kernel;

struct device_info {
    char name[256];
    int major, minor; /* compute capability */
    int sms;
    double sm_speed, memory_speed; /* of a multiprocessor, and of the memory; of an H200: 1 */
    int shared_bytes_max;          /* that a block may have */
    int waiting_blocks;    /* that can wait for each other, one for each multiprocessor; 0: none can */
    bool dependent_launch; /* a kernel may be launched before the one before it has ended */
    uint32_t
        cluster_blocks[4]; /* that resident's kernels of each width find room for in a cluster: 1 if none */
    uint32_t stream_blocks[4]; /* likewise, of those that stream */
    /* Clusters, by their blocks, that the device holds at once, of kernels of each width that put lists in
     * order: with the usual threads, and with the most that a block may have. */
    uint32_t ordering_clusters[4][2][DEVICE_CLUSTER_MAX + 1];
    const struct bracket_kernel *bracket[4]; /* that the device has room for, of each width; or NULL */
    uint32_t merge_cluster[4];               /* blocks of a cluster that merges lists, at most; 1: none */
};

int topk_device_count(int *count);
int topk_device_capability(int ordinal, int *major, int *minor);
int topk_device_query(int ordinal, struct device_info *info);

/* Of the current device, and of the kernels compiled for it. */
bool topk_device_knows_dependent_launches(void);

/* A device that is held open: its primary context, and the driver's functions for it. */
struct device_handle {
    int ordinal;
    void *primary;
    void *push, *pop, *release;
};

int topk_device_open(int ordinal, struct device_handle *handle);
void topk_device_close(struct device_handle *handle);

/* Makes it the calling thread's device, and goes back to what was current before, whatever that was. */
int topk_device_enter(const struct device_handle *handle);
int topk_device_leave(const struct device_handle *handle);

/* Enqueues zeroing: a memset node when the stream is captured. */
int topk_device_zero(topk_stream stream, void *address, size_t bytes);

/* Enqueues a copy from one place of the device's memory to another. */
int topk_device_copy(topk_stream stream, void *to, const void *from, size_t bytes);

/* Enqueues a copy between any of the device's memory and the host's; and setting bytes. */
int topk_device_transfer(topk_stream stream, void *to, const void *from, size_t bytes);
int topk_device_fill(topk_stream stream, void *to, int byte, size_t bytes);

/* Until the work of the stream is done. */
int topk_device_wait(topk_stream stream);

/* As many rows, each from_pitch and to_pitch bytes behind the one before. */
int topk_device_transfer_rows(topk_stream stream, void *to, size_t to_pitch, const void *from,
                              size_t from_pitch, size_t row_bytes, int64_t rows);

/* Streams that do not wait for the default stream, and events without times. */
int topk_device_create_stream(topk_stream *stream);
int topk_device_destroy_stream(topk_stream stream);
int topk_device_create_event(topk_event *event);
int topk_device_destroy_event(topk_event event);
int topk_device_record(topk_event event, topk_stream stream);
int topk_device_await(topk_event event, topk_stream stream);
int topk_device_wait_event(topk_event event);

/* Memory of the host that the device copies by itself. Without room as topk_device_allocate(). */
int topk_device_allocate_host(size_t bytes, void **address);
int topk_device_free_host(void *address);

/* Memory of the current device. If there is no room *address is NULL, and no error is returned or waits. */
int topk_device_allocate(size_t bytes, void **address);

/* When all work of the current device is done. */
int topk_device_free(void *address);

/* An error that the runtime returns also waits for the thread's next cudaGetLastError(). Which one waits, or
 * 0; and forgetting what has come since, unless one waited then: that is the caller's. */
int topk_device_waiting_error(void);
void topk_device_forget_error(int waiting_before);

const char *topk_device_error(int error);

#ifdef __cplusplus
}
#endif
#endif
