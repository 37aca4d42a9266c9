/* SPDX-License-Identifier: Apache-2.0
 *
 * A temporary file for input that has to be read more than once, or not in the order in which it comes. */
#ifndef TOPK_CLI_SPOOL_H
#define TOPK_CLI_SPOOL_H

#include <stddef.h>

/* Returns a file in $TMPDIR, or else in /tmp, that holds `head` and then all that is left to read from
 * `descriptor`. It has no name, so that it ends with the tool. `name` is the input's, for messages. */
int spool(int descriptor, const void *head, size_t head_bytes, const char *name);

/* Reads until there are `bytes` bytes or the input ends, and returns how many there are. */
size_t read_fully(int descriptor, void *to, size_t bytes, const char *name);

#endif /* TOPK_CLI_SPOOL_H */
