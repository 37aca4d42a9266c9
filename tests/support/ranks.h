/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranks of one process with memory that all of them reach. A program links one of
 *
 *   ranks_host.c   the host's memory, for the emulated GPU: work is done when a call returns
 *   ranks_cuda.c   GPUs: one that all ranks share, or one for each rank
 *
 * Each rank's functions are called by one thread at a time. Failures of the machine end the program. */
#ifndef TESTS_RANKS_H
#define TESTS_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "topk.h"

enum { RANKS_EXIT_NONE = 77 }; /* what a program ends with if there is no device: its test is skipped */

/* Ends the program after a sentence if there is no device. */
void ranks_start(void);

/* Whether `ranks` ranks can be opened, with a GPU each or on one. */
bool ranks_fit(int ranks, bool have_one_each);
void ranks_open(int ranks, bool have_one_each);
void ranks_close(void);

int ranks_device(int rank);
void ranks_enter(int rank); /* makes its device the calling thread's */
topk_stream ranks_stream(int rank);

/* So long blocks take all ways of the library's peer memory: its sizes are tiny on the emulated GPU. */
size_t ranks_block_bytes(void);

/* Zeroed memory of the rank's device, which all ranks reach; released by ranks_close(). */
void *ranks_memory(int rank, size_t bytes);

/* A word that all devices read and the host writes; 0 after ranks_open(). */
uint32_t *ranks_word(void);

/* In the order of the rank's stream. The host's memory must stay until ranks_wait(). */
void ranks_send(int rank, void *to, const void *from, size_t bytes);
void ranks_fetch(int rank, void *to, const void *from, size_t bytes);
void ranks_wait(int rank);

/* What is enqueued between these two is a graph, which each launch runs. False where there are no graphs. */
bool ranks_capture(int rank);
void *ranks_graph(int rank);
void ranks_launch(int rank, void *graph);
void ranks_forget(void *graph); /* once it has run */

#endif
