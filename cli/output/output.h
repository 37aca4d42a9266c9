/* SPDX-License-Identifier: Apache-2.0
 *
 * Standard output, buffered. A failed write ends the tool with one line. */
#ifndef TOPK_CLI_OUTPUT_H
#define TOPK_CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void output_bytes(const void *bytes, size_t length);
void output_string(const char *string);
void output_integer(int64_t integer);

/* Writes an integer, which `negative` says is signed, before `end`, and returns where it begins: up to 20
 * bytes. */
char *output_digits(bool negative, uint64_t integer, char *end);

/* A JSON string, quotes included. Bytes that are not UTF-8 become U+FFFD. */
void output_json_string(const char *text, size_t length);

/* Writes out what is buffered. */
void output_flush(void);

/* At the end of the process: closes standard output, with what help and version have put into stdio's buffer.
 */
void output_close(void);

#endif /* TOPK_CLI_OUTPUT_H */
