/* SPDX-License-Identifier: Apache-2.0 */
#include "status.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char last_error[512];

topk_status topk_fail(topk_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(last_error, sizeof last_error, format, arguments);
    va_end(arguments);
    return status;
}

const char *topk_last_error(void) {
    return last_error;
}

int topk_version(void) {
    return TOPK_VERSION;
}

const char *topk_status_string(topk_status status) {
    static const char *const names[] = {
        [TOPK_OK] = "TOPK_OK",
        [TOPK_ERROR_NULL_POINTER] = "TOPK_ERROR_NULL_POINTER",
        [TOPK_ERROR_STRUCT_SIZE] = "TOPK_ERROR_STRUCT_SIZE",
        [TOPK_ERROR_UNKNOWN_ENUM] = "TOPK_ERROR_UNKNOWN_ENUM",
        [TOPK_ERROR_OUT_OF_RANGE] = "TOPK_ERROR_OUT_OF_RANGE",
        [TOPK_ERROR_OVERFLOW] = "TOPK_ERROR_OVERFLOW",
        [TOPK_ERROR_INDEX_TOO_NARROW] = "TOPK_ERROR_INDEX_TOO_NARROW",
        [TOPK_ERROR_MISALIGNED] = "TOPK_ERROR_MISALIGNED",
        [TOPK_ERROR_OVERLAP] = "TOPK_ERROR_OVERLAP",
        [TOPK_ERROR_WORKSPACE_TOO_SMALL] = "TOPK_ERROR_WORKSPACE_TOO_SMALL",
        [TOPK_ERROR_UNSUPPORTED] = "TOPK_ERROR_UNSUPPORTED",
        [TOPK_ERROR_UNKNOWN_METHOD] = "TOPK_ERROR_UNKNOWN_METHOD",
        [TOPK_ERROR_METHOD_CANNOT] = "TOPK_ERROR_METHOD_CANNOT",
        [TOPK_ERROR_BACKEND_UNAVAILABLE] = "TOPK_ERROR_BACKEND_UNAVAILABLE",
        [TOPK_ERROR_OUT_OF_MEMORY] = "TOPK_ERROR_OUT_OF_MEMORY",
        [TOPK_ERROR_BAD_STATE] = "TOPK_ERROR_BAD_STATE",
        [TOPK_ERROR_DEVICE] = "TOPK_ERROR_DEVICE",
        [TOPK_ERROR_MALFORMED] = "TOPK_ERROR_MALFORMED",
        [TOPK_ERROR_CONTRADICTION] = "TOPK_ERROR_CONTRADICTION",
    };
    const unsigned number = (unsigned)status;
    return number < sizeof names / sizeof names[0] ? names[number] : "unknown status";
}
