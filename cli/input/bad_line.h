/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOPK_CLI_BAD_LINE_H
#define TOPK_CLI_BAD_LINE_H

#include <stddef.h>

#include "../parse/parse.h"

/* Why a line holds no number, as the end of a message, in up to `size` bytes with the terminator. */
void bad_line_describe(const struct line_format *format, const struct line_error *error, char *reason,
                       size_t size);

#endif /* TOPK_CLI_BAD_LINE_H */
