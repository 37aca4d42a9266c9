/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE
#include "matrix.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/fail.h"

static _Noreturn void fail_errno(const char *name) {
    fail("%s: %s", name, strerror(errno));
}

static void map_file(struct matrix *matrix, const char *path) {
    bool standard_input = strcmp(path, "-") == 0;
    matrix->name = standard_input ? "standard input" : path;
    const int fd = standard_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) != 0)
        fail_errno(matrix->name);
    if (S_ISDIR(status.st_mode))
        fail("%s: %s", matrix->name, strerror(EISDIR));
    if (!S_ISREG(status.st_mode))
        fail("%s: binary input must be a regular file; only text can be streamed", matrix->name);
    if (standard_input && lseek(fd, 0, SEEK_CUR) != 0)
        fail("%s: a part of the file has been read; binary input is read from its start", matrix->name);
    matrix->descriptor = fd;
    matrix->size = (uint64_t)status.st_size;
    matrix->file = NULL;
    if (matrix->size > 0) {
        void *map = mmap(NULL, matrix->size, PROT_READ, MAP_SHARED, fd, 0);
        if (map == MAP_FAILED)
            fail_errno(matrix->name);
        madvise(map, matrix->size, MADV_SEQUENTIAL);
        matrix->file = map;
    }
}

void matrix_open(struct matrix *matrix, const struct options *options) {
    map_file(matrix, options->path);
    struct parse_error error;
    bool parsed;
    matrix->has_dimensions = false;
    switch (options->format) {
    case FORMAT_NPY:
        parsed = npy_parse(matrix->file, matrix->size, options->dtype, &matrix->layout, &error);
        break;
    case FORMAT_RAW:
        parsed = raw_parse(matrix->size, options->dtype, options->cols, &matrix->layout, &error);
        break;
    default:
        matrix->has_dimensions = true;
        parsed = vecs_parse(matrix->file, matrix->size,
                            options->format == FORMAT_FVECS   ? TOPK_F32
                            : options->format == FORMAT_IVECS ? TOPK_I32
                                                              : TOPK_U8,
                            &matrix->layout, &error);
        break;
    }
    if (!parsed)
        fail("%s: byte %" PRIu64 ": %s", matrix->name, error.at, error.reason);
}

void matrix_check(const struct matrix *matrix) {
    struct stat status;
    if (fstat(matrix->descriptor, &status) != 0 || (uint64_t)status.st_size < matrix->size)
        fail("the input file has shrunk, or cannot be read");
}

void matrix_close(struct matrix *matrix) {
    if (matrix->file != NULL)
        munmap((void *)(uintptr_t)matrix->file, matrix->size);
    if (matrix->descriptor != STDIN_FILENO)
        close(matrix->descriptor);
}

static bool read_bytes(int descriptor, char *to, uint64_t at, size_t bytes) {
    while (bytes > 0) {
        const ssize_t length = pread(descriptor, to, bytes, (off_t)at);
        if (length <= 0)
            return false;
        to += length;
        at += (uint64_t)length;
        bytes -= (size_t)length;
    }
    return true;
}

bool matrix_copy(const struct matrix *matrix, void *to, const void *from, size_t bytes) {
    if (matrix != NULL) {
        const uint64_t at = (uintptr_t)from - (uintptr_t)matrix->file;
        if (at < matrix->size)
            return read_bytes(matrix->descriptor, to, at, bytes);
    }
    memcpy(to, from, bytes);
    return true;
}
