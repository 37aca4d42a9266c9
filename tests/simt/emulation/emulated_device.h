/* SPDX-License-Identifier: Apache-2.0
 * The devices that host code finds where the GPU is emulated: one of compute capability 9.0, unless a test
 * asks for others. Kernels run alike on all. */
#ifndef TOPK_TESTS_EMULATED_DEVICE_H
#define TOPK_TESTS_EMULATED_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* `capabilities`: 10 x major + minor of each; it stays the caller's. With a count below 0 the driver refuses.
 */
void emulated_devices(const int *capabilities, int count);

/* What the devices hold at once: `blocks` of a cooperative launch, 0 if they refuse those; clusters of
 * `cluster_blocks`, 1 if they have none. */
void emulated_room(uint32_t blocks, uint32_t cluster_blocks);

/* How many multiprocessors the devices have, how much shared memory a block may have, and how fast
 * multiprocessors and memory are, beside an H200's. */
void emulated_size(int sms, int shared_kib, double sm_speed, double memory_speed);

/* How much memory topk_device_allocate() has for one buffer. */
void emulated_memory(size_t bytes);

/* Kernels that have been launched so far. */
uint64_t emulated_launches(void);

/* What waits for the host's next cudaGetLastError(). */
extern int emulated_waiting_error;

#ifdef __cplusplus
}
#endif
#endif
