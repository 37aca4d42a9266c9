/* SPDX-License-Identifier: Apache-2.0 */
#include "protected.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { BUFFERS = 16, PAGE = 4096 };

static struct {
    guarded buffer;
    bool read_only;
} buffers[BUFFERS];
static int count, depth;
static bool active;

void protected_add(const guarded *buffer, bool read_only) {
    if (buffer->map == NULL) {
        return;
    }
    if (count == BUFFERS) {
        abort();
    }
    buffers[count].buffer = *buffer;
    buffers[count++].read_only = read_only;
}

static void set(bool open) {
    for (int b = 0; b < count; b++) {
        const guarded *const g = &buffers[b].buffer;
        const int access = !open ? PROT_NONE : buffers[b].read_only ? PROT_READ : PROT_READ | PROT_WRITE;
        if (g->map_bytes > 2 * PAGE && mprotect(g->map + PAGE, g->map_bytes - 2 * PAGE, access) != 0) {
            perror("mprotect");
            abort();
        }
    }
}

void protected_begin(void) {
    active = true;
    set(false);
}

void protected_open(void) {
    if (active && depth++ == 0) {
        set(true);
    }
}

void protected_close(void) {
    if (active && --depth == 0) {
        set(false);
    }
}

void protected_end(void) {
    if (active) {
        set(true);
    }
    active = false;
    count = 0;
}
