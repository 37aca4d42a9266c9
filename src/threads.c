/* SPDX-License-Identifier: Apache-2.0 */
#include "threads.h"

#include <stdatomic.h>
#include <sys/types.h>
#include <unistd.h>

/* The process that created the first context; set once. */
static _Atomic pid_t first_process;

void topk_note_process(void) {
    pid_t none = 0;
    (void)atomic_compare_exchange_strong(&first_process, &none, getpid());
}

int topk_context_threads(const topk_context *context) {
    return context->threads > 1 && getpid() != atomic_load(&first_process) ? 1 : context->threads;
}
