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
#include "spool.h"

static _Noreturn void fail_errno(const char *name) {
    fail("%s: %s", name, strerror(errno));
}

/* Maps the descriptor's file, which is regular. */
static void map_file(struct matrix *matrix) {
    struct stat status;
    if (fstat(matrix->descriptor, &status) != 0)
        fail_errno(matrix->name);
    matrix->size = (uint64_t)status.st_size;
    matrix->file = NULL;
    matrix->rereadable = true;
    if (matrix->size > 0) {
        void *map = mmap(NULL, matrix->size, PROT_READ, MAP_SHARED, matrix->descriptor, 0);
        if (map == MAP_FAILED)
            fail_errno(matrix->name);
        madvise(map, matrix->size, MADV_SEQUENTIAL);
        matrix->file = map;
    }
}

static void open_file(struct matrix *matrix, const char *path) {
    const bool standard_input = strcmp(path, "-") == 0;
    struct stat status;
    *matrix = (struct matrix){.name = standard_input ? "standard input" : path};
    matrix->descriptor = standard_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (matrix->descriptor < 0 || fstat(matrix->descriptor, &status) != 0)
        fail_errno(matrix->name);
    if (S_ISDIR(status.st_mode))
        fail("%s: %s", matrix->name, strerror(EISDIR));
    if (!S_ISREG(status.st_mode)) {
        matrix_spool(matrix);
        return;
    }
    if (standard_input && lseek(STDIN_FILENO, 0, SEEK_CUR) != 0)
        fail("%s: a part of the file has been read; binary input is read from its start", matrix->name);
    map_file(matrix);
}

void matrix_spool(struct matrix *matrix) {
    if (matrix->rereadable)
        return;
    const int file = spool(matrix->descriptor, NULL, 0, matrix->name);
    if (matrix->descriptor != STDIN_FILENO)
        close(matrix->descriptor);
    matrix->descriptor = file;
    map_file(matrix);
}

void matrix_open(struct matrix *matrix, const struct options *options) {
    open_file(matrix, options->path);
    struct parse_error error;
    bool parsed;
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

const void *matrix_row(const struct matrix *matrix, int64_t row) {
    const struct layout *layout = &matrix->layout;
    return matrix->file + layout->begin +
           (uint64_t)row * (uint64_t)layout->stride * topk_type_size(layout->type);
}

bool matrix_elements(const struct matrix *matrix, int64_t row, int64_t column, int64_t count, void *to) {
    const struct layout *layout = &matrix->layout;
    const uint64_t element = (uint64_t)row * (uint64_t)layout->stride + (uint64_t)column;
    const size_t size = topk_type_size(layout->type);
    return read_bytes(matrix->descriptor, to, layout->begin + element * size, (size_t)count * size);
}
