/* SPDX-License-Identifier: Apache-2.0
 *
 * An .npy file that is written in one go, and is either there as a whole or not at all: it grows without a
 * name where the file system has such files, else under another name in the same folder, and gets its own
 * name once it is complete. Without a name it is gone however the process ends. */
#ifndef TOPK_CLI_NPY_FILE_H
#define TOPK_CLI_NPY_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "topk.h"

struct npy_file {
    const char *path; /* NULL: no file is wanted, and all calls do nothing */
    char *target;     /* what gets replaced: the path with symbolic links resolved; NULL: written directly */
    char *temporary;  /* the name of the file in the meantime; NULL: it has none, or is written directly */
    int fd;
    topk_type type;
    int64_t rows; /* -1: a vector */
    int64_t cols; /* -1: not known before the end */
    int held;     /* bytes of `buffer` that are not written yet */
    char buffer[8192];
};

/* Begins a file; path NULL: none. With cols = -1 the shape must follow, by npy_file_reshape(). */
void npy_file_create(struct npy_file *file, const char *path, topk_type type, int64_t rows, int64_t cols);

void npy_file_append(struct npy_file *file, const void *elements, int64_t count);

/* Changes the shape that create promised. */
void npy_file_reshape(struct npy_file *file, int64_t rows, int64_t cols);

/* Completes the file; it takes its name with npy_file_publish() only. */
void npy_file_finish(struct npy_file *file);
void npy_file_publish(struct npy_file *file);

/* Removes all files that are not published. May be called in a signal handler. */
void npy_file_discard_all(void);

#endif /* TOPK_CLI_NPY_FILE_H */
