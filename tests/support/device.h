/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory and the stream that a test's calls use. A program links one of
 *
 *   device_host.c   the host's, for the CPU backend and the emulated GPU: buffers lie between inaccessible
 *                   pages, and a call is done when it returns
 *   device_cuda.c   a GPU's: buffers lie in pools, between red zones that are looked at afterwards
 *
 * A call's way: make inputs, outputs and workspace, device_send(), call, device_fetch(), look. Between
 * device_fetch() and device_fetch() there may be any number of calls; nothing but device_fetch() waits. One
 * thread uses all this. */
#ifndef TESTS_DEVICE_H
#define TESTS_DEVICE_H

#include <stdint.h>

#include "guarded.h"
#include "topk.h"

typedef struct device_buffer {
    void *data;       /* for the library; NULL: there is no such buffer */
    const void *seen; /* for the host: what it held at the last device_fetch() */
    size_t bytes;
    guarded guard;                 /* host: the memory, unless somebody else owns it */
    const unsigned char *zones[2]; /* GPU: the red zones before and behind it, at the last device_fetch() */
} device_buffer;

enum { DEVICE_EXIT_NONE = 77 }; /* what a program ends with if there is no device: its test is skipped */

/* Before the first use. Ends the program after a sentence if there is no device. */
void device_open(void);
void device_close(void);

/* How many calls are worth sending before one device_fetch(); 1 where calls are done when they return. */
int device_calls_at_once(void);

/* The stream to pass to the library. */
topk_stream device_stream(void);

/* For the library to read: a copy at an address with the same alignment, or the very same memory. */
device_buffer device_input(const void *data, size_t bytes);

/* For the library to write: every byte is `fill`, and nothing lies behind it up to the next page. */
device_buffer device_output(size_t bytes, unsigned char fill);

/* `offset` as for guarded_allocate(). Every byte is `fill`, or garbage if that is DEVICE_GARBAGE. The host
 * never sees it. */
enum { DEVICE_GARBAGE = -1 };
device_buffer device_workspace(size_t bytes, long offset, int fill, uint64_t seed);

/* All buffers made so far are there for the calls that follow. */
void device_send(void);

/* Waits for all calls. False if the device reports an error: device_error() says which, and nothing that was
 * made can be trusted. */
bool device_fetch(void);
const char *device_error(void);

/* Whether nothing was written next to the buffer. */
bool device_intact(const device_buffer *buffer);

/* Whether an input is still what was copied from `data`. */
bool device_unchanged(const device_buffer *input, const void *data);

/* Ends a buffer; it may be none, or another's. */
void device_free(device_buffer *buffer);

/* After device_fetch(): all buffers end. Returns the bytes that they had taken up. */
void device_reset(void);
size_t device_bytes_taken(void);

/* Between these two a call is captured instead of run; launching it runs it. Nothing where there are no
 * graphs. False after an error, which device_error() tells. */
bool device_capture_begin(void);
bool device_capture_launch(void);

#endif
