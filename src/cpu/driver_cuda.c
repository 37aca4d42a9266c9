/* SPDX-License-Identifier: Apache-2.0
 * Numbers and functions are as in cuda.h, which a build without CUDA lacks. Whatever the driver
 * reports as an error refuses nothing: it does so for memory that it does not know, in a forked child, and
 * while the process ends. */
#define _GNU_SOURCE
#include "driver_cuda.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "../status.h"

enum { SUCCESS = 0, ATTRIBUTE_MEMORY_TYPE = 2, ATTRIBUTE_IS_MANAGED = 8, MEMORY_OF_DEVICE = 2 };

struct driver {
    void *library; /* held, so that the functions stay */
    int (*current_context)(void **current);
    int (*attribute)(void *value, int attribute, unsigned long long pointer);
};

/* Writes the function's address to a pointer to functions, which ISO C does not convert. */
static bool find_function(void *library, const char *name, void *function) {
    void *const address = dlsym(library, name);
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

static int is_driver(struct dl_phdr_info *loaded, size_t bytes, void *unused) {
    (void)bytes;
    (void)unused;
    return strstr(loaded->dlpi_name, "/libcuda.so") != NULL;
}

/* Whoever loaded it may have asked for libcuda.so. Where nothing of such a name is loaded dlopen() is not
 * called: it would look through the file system, and keep the text of its error. */
static void *hold_driver(void) {
    return dl_iterate_phdr(is_driver, NULL) != 0 ? dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD) : NULL;
}

bool topk_cpu_driver_find(topk_context *context) {
    void *const library = hold_driver();
    if (library == NULL) {
        return true;
    }
    struct driver driver = {.library = library};
    struct driver *kept = NULL;
    const bool has_functions = find_function(library, "cuCtxGetCurrent", &driver.current_context) &&
                               find_function(library, "cuPointerGetAttribute", &driver.attribute);
    if (has_functions && (kept = malloc(sizeof *kept)) != NULL) {
        *kept = driver;
        context->driver = kept;
    } else {
        (void)dlclose(library);
    }
    return !has_functions || kept != NULL;
}

void topk_cpu_driver_leave(topk_context *context) {
    struct driver *driver = context->driver;
    if (driver != NULL) {
        (void)dlclose(driver->library);
        free(driver);
    }
}

static unsigned attribute_of(const struct driver *driver, int attribute, const void *data) {
    unsigned value = 0;
    return driver->attribute(&value, attribute, (uintptr_t)data) == SUCCESS ? value : 0;
}

/* Managed memory is the device's or the host's in turn, and both reach it. */
static bool is_of_device(const struct driver *driver, const void *data) {
    return attribute_of(driver, ATTRIBUTE_MEMORY_TYPE, data) == MEMORY_OF_DEVICE &&
           !attribute_of(driver, ATTRIBUTE_IS_MANAGED, data);
}

topk_status topk_cpu_check_memory(const topk_context *context, const struct buffer_list *buffers) {
    const struct driver *driver = context->driver;
    void *current = NULL;
    if (driver->current_context(&current) != SUCCESS || current == NULL) {
        return TOPK_OK;
    }
    for (size_t i = 0; i < buffers->count; i++) {
        if (is_of_device(driver, buffers->list[i].data)) {
            return topk_fail(
                TOPK_ERROR_CONTRADICTION,
                "%s is memory of a GPU, which a context of the CPU cannot reach: use a context of the GPU, "
                "or copy the data to the host",
                buffers->list[i].name);
        }
    }
    return TOPK_OK;
}
