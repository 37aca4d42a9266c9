/* SPDX-License-Identifier: Apache-2.0 */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "topk_dist.h"

enum { WORD_BYTES = 8, STRUCT_BYTES_MAX = 4096 };

static _Thread_local char last_error[TOPK_DIST_TEXT_BYTES];

const char *topk_dist_last_error(void) {
    return last_error;
}

topk_status topk_dist_fail(topk_status status, const char *format, ...) {
    char text[TOPK_DIST_TEXT_BYTES]; /* an argument may be the last error itself */
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    memcpy(last_error, text, sizeof text);
    return status;
}

topk_status topk_dist_of_core(topk_status status) {
    return status == TOPK_OK ? TOPK_OK : topk_dist_fail(status, "%s", topk_last_error());
}

topk_status topk_dist_read_struct(const char *name, const void *caller, size_t first, size_t known,
                                  void *copy) {
    size_t size;
    if (caller == NULL) {
        return topk_dist_fail(TOPK_ERROR_NULL_POINTER, "%s is NULL", name);
    }
    memcpy(&size, caller, sizeof size);
    if (size < first || size > STRUCT_BYTES_MAX || (size < known && size % WORD_BYTES != 0)) {
        return topk_dist_fail(TOPK_ERROR_STRUCT_SIZE, "%s->size is %zu: this library takes %zu to %zu", name,
                              size, first, known);
    }
    for (size_t i = known; i < size; i++) {
        if (((const unsigned char *)caller)[i] != 0) {
            return topk_dist_fail(TOPK_ERROR_STRUCT_SIZE,
                                  "%s sets a field at byte %zu that this library does not know", name, i);
        }
    }
    memset(copy, 0, known);
    memcpy(copy, caller, size < known ? size : known);
    memcpy(copy, &known, sizeof known);
    return TOPK_OK;
}
