/* SPDX-License-Identifier: Apache-2.0
 * A libcuda.so.1 that says of memory what a test tells it. The library finds the first two functions by name,
 * the test the others. */
#ifndef TESTS_FAKE_DRIVER_CUDA_H
#define TESTS_FAKE_DRIVER_CUDA_H

#include <stddef.h>

typedef enum fake_memory { FAKE_UNKNOWN, FAKE_HOST, FAKE_DEVICE, FAKE_MANAGED } fake_memory;

/* What the driver is asked, and says. */
typedef struct fake_driver {
    const char *begin; /* of memory that is `memory`; all other is unknown */
    size_t bytes;
    fake_memory memory;
    int error;      /* of each function; 0: none */
    int contexts;   /* calls that ask for the current context */
    int attributes; /* calls that ask about a pointer */
} fake_driver;

/* The driver's own. */
fake_driver *fake_driver_state(void);

/* Whether the calling thread has a current context. */
void fake_driver_set_current(int has_context);

int cuCtxGetCurrent(void **current);
int cuPointerGetAttribute(void *value, int attribute, unsigned long long pointer);

#endif
