/* SPDX-License-Identifier: Apache-2.0 */
#include "threads.h"

#include <unistd.h>

int topk_context_threads(const topk_context *context) {
    return context->threads > 1 && getpid() != context->process ? 1 : context->threads;
}
