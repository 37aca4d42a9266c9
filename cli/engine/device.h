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

/* ---- Copies beside work ---------------------------------------------------------------------- */

/* Copies to the device that can be on their way, one in each slot. */
enum { DEVICE_SLOTS = 4 };

/* How large a slot should be: enough to keep the device busy while the next one is filled. */
uint64_t device_slot_bytes(void);

/* Memory of the host that the device reads by itself. The caller owns it and ends it with
 * device_release_pinned(), where NULL is ignored. */
void *device_allocate_pinned(uint64_t bytes);
void device_release_pinned(void *memory);

/* As device_allocate_pinned(), for the device `ordinal`. It neither ends the tool nor needs device_use(), and
 * another thread may start the device meanwhile: most of the work needs no device. NULL: it cannot be done.
 * Ends with device_release_early(), where NULL is ignored. */
void *device_allocate_early(int ordinal, uint64_t bytes);
void device_release_early(void *memory);

/* Copies from pinned memory without waiting, once the work before the last device_slot_used() of this slot is
 * done. What is enqueued on the default stream from now on comes behind the copy. */
void device_slot_upload(int slot, void *device, const void *pinned, uint64_t bytes);

/* All work that reads what was copied last in this slot is on the default stream. */
void device_slot_used(int slot);

/* Waits for the last copy of this slot: its pinned memory can be written again. */
void device_slot_wait(int slot);

/* Copies back to pinned memory without waiting, once all work that is on the default stream by now is done.
 */
void device_slot_download(int slot, void *pinned, const void *device, uint64_t bytes);

/* Waits for the last copy back of this slot. */
void device_slot_download_wait(int slot);

#endif /* TOPK_CLI_DEVICE_H */
