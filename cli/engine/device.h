/* SPDX-License-Identifier: Apache-2.0
 *
 * The tool's only door to CUDA: the memory of one GPU. What cannot be done ends the tool with one line that
 * names the device. */
#ifndef TOPK_CLI_DEVICE_H
#define TOPK_CLI_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether this build of the tool can use a GPU. Without it, none of the functions below may be called. */
bool device_supported(void);

int device_count(void);

/* One line on a device: name, memory, compute capability. */
struct device_text {
    char text[384];
};
void device_describe(int ordinal, struct device_text *text);

/* Makes `ordinal` the device that the rest is about. */
void device_use(int ordinal);

/* Memory that can still be allocated. */
uint64_t device_free_bytes(void);

/* The caller owns it and ends it with device_release(); aligned for any type. */
void *device_allocate(uint64_t bytes);

/* NULL is ignored. */
void device_release(void *memory);

/* Copies between the host and the device; back from there once all that was enqueued is done. */
void device_upload(void *device, const void *host, uint64_t bytes);
void device_download(void *host, const void *device, uint64_t bytes);

#endif /* TOPK_CLI_DEVICE_H */
