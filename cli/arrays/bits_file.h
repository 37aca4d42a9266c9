/* SPDX-License-Identifier: Apache-2.0
 *
 * The array of --bits: a bit mask as an .npy file of uint8, in the form that the library reads and writes.
 * Bit i % 8, lowest first, of byte i / 8 is for element i. */
#ifndef TOPK_CLI_BITS_FILE_H
#define TOPK_CLI_BITS_FILE_H

#include "npy_file.h"

struct bits_file {
    struct npy_file file;
    int64_t length;            /* of the file's array */
    int64_t held;              /* bits that the file does not have yet */
    unsigned char bytes[4096]; /* which hold them; all behind them is zero */
};

/* Begins a file; path NULL: none is wanted. */
void bits_file_create(struct bits_file *bits, const char *path);

/* Adds bits [first, first + count) of a mask. */
void bits_file_append(struct bits_file *bits, const unsigned char *mask, int64_t first, int64_t count);

/* Completes the file, and gives it its name. */
void bits_file_end(struct bits_file *bits);

#endif /* TOPK_CLI_BITS_FILE_H */
