/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_driver_cuda.h"

#include <stdint.h>

enum { ERROR_INVALID_VALUE = 1, MEMORY_TYPE = 2, IS_MANAGED = 8, TYPE_HOST = 1, TYPE_DEVICE = 2 };

static fake_driver driver;
static _Thread_local void *current_context;

fake_driver *fake_driver_state(void) {
    return &driver;
}

void fake_driver_set_current(int has_context) {
    current_context = has_context ? &driver : NULL;
}

int cuCtxGetCurrent(void **current) {
    driver.contexts++;
    *current = current_context;
    return driver.error;
}

/* As the driver does, it writes nothing about memory that it does not know. */
int cuPointerGetAttribute(void *value, int attribute, unsigned long long pointer) {
    const uintptr_t begin = (uintptr_t)driver.begin;
    driver.attributes++;
    if (driver.error != 0) {
        return driver.error;
    }
    if (pointer < begin || pointer >= begin + driver.bytes || driver.memory == FAKE_UNKNOWN) {
        return ERROR_INVALID_VALUE;
    }
    if (attribute == MEMORY_TYPE) {
        *(unsigned *)value = driver.memory == FAKE_HOST ? TYPE_HOST : TYPE_DEVICE;
    } else if (attribute == IS_MANAGED) {
        *(unsigned *)value = driver.memory == FAKE_MANAGED;
    } else {
        return ERROR_INVALID_VALUE;
    }
    return 0;
}
