/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE
#include "matrix.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/alloc.h"
#include "../base/fail.h"
#include "spool.h"

enum { BEGIN_BYTES = 1 << 16 }; /* of a file that is not mapped: more than most headers have */

static _Noreturn void fail_errno(const char *name) {
    fail("%s: %s", name, strerror(errno));
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

static _Noreturn void fail_reading(void) {
    fail("the input file has shrunk, or cannot be read");
}

/* Reads the first bytes of a file that is not mapped. */
static void read_begin(struct matrix *matrix, uint64_t wanted) {
    matrix->head_bytes = (size_t)(wanted < matrix->size ? wanted : matrix->size);
    matrix->head = reallocate(matrix->head, matrix->head_bytes, 1);
    if (!read_bytes(matrix->descriptor, matrix->head, 0, matrix->head_bytes))
        fail_reading();
}

/* Whether a limit on the address space leaves room for more than the mapping: a quarter of what is left may
 * be mapped, for results and pieces need address space too. */
static bool may_map(uint64_t bytes) {
    struct rlimit limit;
    unsigned long pages = 0;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return true;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file != NULL) {
        if (fscanf(file, "%lu", &pages) != 1)
            pages = 0;
        (void)fclose(file);
    }
    const uint64_t used = (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
    return used < limit.rlim_cur && bytes <= (limit.rlim_cur - used) / 4;
}

/* Maps the descriptor's file, which is regular. Where that cannot be done, as with little address space, it
 * will be read piece by piece. */
static void map_file(struct matrix *matrix) {
    struct stat status;
    if (fstat(matrix->descriptor, &status) != 0)
        fail_errno(matrix->name);
    matrix->size = (uint64_t)status.st_size;
    matrix->file = NULL;
    matrix->rereadable = true;
    if (matrix->size > 0) {
        void *map = may_map(matrix->size)
                        ? mmap(NULL, matrix->size, PROT_READ, MAP_SHARED, matrix->descriptor, 0)
                        : MAP_FAILED;
        if (map != MAP_FAILED)
            matrix->file = map;
        else
            read_begin(matrix, BEGIN_BYTES);
    }
}

bool matrix_is_unmapped(const struct matrix *matrix) {
    if (matrix->shards.list != NULL)
        return !matrix->shards.in_place;
    return matrix->rereadable && matrix->file == NULL && matrix->size > 0;
}

/* What the file or stream begins with, as far as it is at hand. */
static const char *begin_of(const struct matrix *matrix) {
    return matrix->file != NULL ? matrix->file : matrix->head;
}

static _Noreturn void fail_parse(const struct matrix *matrix, const struct parse_error *error) {
    fail("%s: byte %" PRIu64 ": %s", matrix->name, error->at, error->reason);
}

static void check_size(const struct matrix *matrix, uint64_t size) {
    struct parse_error error;
    if (!npy_check_size(&matrix->layout, size, &error))
        fail_parse(matrix, &error);
}

/* Maps a temporary file instead of the stream. */
static void spool_stream(struct matrix *matrix) {
    const int file = spool(matrix->descriptor, matrix->head, matrix->head_bytes, matrix->name);
    if (matrix->descriptor != STDIN_FILENO)
        close(matrix->descriptor);
    matrix->descriptor = file;
    map_file(matrix);
}

void matrix_spool(struct matrix *matrix) {
    if (matrix->rereadable)
        return;
    spool_stream(matrix);
    check_size(matrix, matrix->size);
}

/* Reads a stream up to the end of its header. */
static void read_head(struct matrix *matrix) {
    for (uint64_t end; (end = npy_header_bytes(matrix->head, matrix->head_bytes)) > matrix->head_bytes;) {
        const size_t missing = (size_t)end - matrix->head_bytes;
        matrix->head = reallocate(matrix->head, end, 1);
        const size_t got =
            read_fully(matrix->descriptor, matrix->head + matrix->head_bytes, missing, matrix->name);
        matrix->head_bytes += got;
        if (got < missing)
            break;
    }
}

static void open_file(struct matrix *matrix, const struct options *options) {
    struct stat status;
    *matrix = (struct matrix){.name = options->name, .descriptor = options->descriptor};
    if (fstat(matrix->descriptor, &status) != 0)
        fail_errno(matrix->name);
    if (S_ISDIR(status.st_mode))
        fail("%s: %s", matrix->name, strerror(EISDIR));
    if (S_ISREG(status.st_mode)) {
        if (matrix->descriptor == STDIN_FILENO && lseek(STDIN_FILENO, 0, SEEK_CUR) != 0)
            fail("%s: a part of the file has been read; binary input is read from its start", matrix->name);
        map_file(matrix);
        return;
    }
    matrix->head = allocate(sizeof options->head, 1);
    matrix->head_bytes = options->head_bytes;
    memcpy(matrix->head, options->head, options->head_bytes);
    if (options->format == FORMAT_NPY)
        read_head(matrix);
    else
        spool_stream(matrix);
}

static void make_rows(struct matrix *matrix, const struct options *options, struct parse_error *error) {
    struct layout *layout = &matrix->layout;
    const int dimensions = layout->dimensions;
    if (options->axis != -1 && (options->axis >= dimensions || options->axis < -dimensions))
        fail("%s: there is no --axis %d: the array has %d dimension%s", matrix->name, options->axis,
             dimensions, dimensions == 1 ? "" : "s");
    if (!layout_rows(layout, options->axis, options->flat, error))
        fail_parse(matrix, error);
    if (layout->scattered && matrix_is_unmapped(matrix))
        fail("%s: there is no address space to map the file, which rows that are not in its order need; "
             "`ulimit -v' says how much there is",
             matrix->name);
}

static void open_npy(struct matrix *matrix, const struct options *options) {
    struct layout *layout = &matrix->layout;
    struct parse_error error;
    if (matrix_is_unmapped(matrix))
        read_begin(matrix, npy_header_bytes(matrix->head, matrix->head_bytes) + BEGIN_BYTES);
    const char *head = begin_of(matrix);
    const uint64_t head_bytes = matrix->file != NULL ? matrix->size : matrix->head_bytes;
    const struct binary *binary = binary_by_magic(head, head_bytes);
    if (binary != NULL)
        fail("%s: not an .npy file (%s): %s", matrix->name, binary->what, binary->advice);
    if (!npy_parse(head, head_bytes, options->dtype, layout, &error))
        fail_parse(matrix, &error);
    make_rows(matrix, options, &error);
    if (matrix->rereadable) {
        check_size(matrix, matrix->size);
        return;
    }
    const uint64_t elements = (uint64_t)layout->rows * (uint64_t)layout->cols;
    matrix->size = layout->begin + elements * topk_type_size(layout->type);
    if (layout->scattered || elements == 0)
        matrix_spool(matrix);
}

/* An array among others of a file. What is read to find it may lie anywhere. */
static void open_member(struct matrix *matrix, const struct options *options) {
    struct layout *layout = &matrix->layout;
    struct extent member = {0, 0};
    struct parse_error error = {0, ""};
    uint64_t end;
    if (matrix_is_unmapped(matrix))
        fail("%s: there is no address space to map the file, which --array needs; `ulimit -v' says how much "
             "there is",
             matrix->name);
    const bool found = options->format == FORMAT_NPZ
                           ? npz_find(matrix->file, matrix->size, options->array, &member, &error)
                           : tensor_find(matrix->file, matrix->size, options->array, layout, &end, &error);
    if (!found)
        fail_parse(matrix, &error);
    if (options->format == FORMAT_NPZ) {
        end = member.begin + member.size;
        if (!npy_parse(matrix->file + member.begin, member.size, options->dtype, layout, &error)) {
            error.at += member.begin;
            fail_parse(matrix, &error);
        }
        layout->begin += member.begin;
    }
    make_rows(matrix, options, &error);
    check_size(matrix, end);
}

/* The type of the elements of a format that has one. */
static topk_type type_of_format(enum input_format format) {
    switch (format) {
    case FORMAT_IVECS:
    case FORMAT_IBIN:
        return TOPK_I32;
    case FORMAT_BVECS:
    case FORMAT_U8BIN:
        return TOPK_U8;
    case FORMAT_I8BIN:
        return TOPK_I8;
    default:
        return TOPK_F32;
    }
}

/* Files with a header of rows and columns are often called .bin, too. The header would be taken for elements.
 */
static void refuse_header(const struct matrix *matrix, const struct options *options) {
    uint32_t rows, cols;
    if (options->format_given || options->skip_bytes >= 0 ||
        !bin_fits(begin_of(matrix), matrix->size, options->dtype, &rows, &cols))
        return;
    fail("%s: the first 8 bytes are a header, for %" PRIu32 " rows of %" PRIu32
         " %s follow: say --skip-bytes 8 --cols %" PRIu32 ", or --format raw if they are elements",
         matrix->name, rows, cols, topk_type_name(options->dtype), cols);
}

static void open_one(struct matrix *matrix, const struct options *options) {
    struct parse_error error;
    bool parsed;
    open_file(matrix, options);
    switch (options->format) {
    case FORMAT_NPY:
        open_npy(matrix, options);
        return;
    case FORMAT_NPZ:
    case FORMAT_SAFETENSORS:
        open_member(matrix, options);
        return;
    case FORMAT_RAW:
        refuse_header(matrix, options);
        parsed = raw_parse(matrix->size, options->skip_bytes > 0 ? (uint64_t)options->skip_bytes : 0,
                           options->dtype, options->cols, &matrix->layout, &error);
        break;
    case FORMAT_FBIN:
    case FORMAT_U8BIN:
    case FORMAT_I8BIN:
    case FORMAT_IBIN:
        parsed = bin_parse(begin_of(matrix), matrix->size, type_of_format(options->format), &matrix->layout,
                           &error);
        break;
    default:
        matrix->has_dimensions = true;
        parsed = vecs_parse(begin_of(matrix), matrix->size, type_of_format(options->format), &matrix->layout,
                            &error);
        break;
    }
    if (!parsed)
        fail_parse(matrix, &error);
}

/* ---- Shards ---------------------------------------------------------------------------------- */

static _Noreturn void fail_shard(const struct matrix *shard, const struct matrix *first, const char *what) {
    fail("%s: its %s is not that of %s: shards are parts of one array", shard->name, what, first->name);
}

/* Ends the tool if a shard cannot go on where the others end. */
static void check_shard(const struct matrix *shard, const struct matrix *first) {
    const struct layout *a = &shard->layout, *b = &first->layout;
    if (!shard->rereadable)
        fail("%s: shards are regular files", shard->name);
    if (a->scattered)
        fail("%s: rows that are not in the order of the file: shards have them in that order", shard->name);
    if (a->type != b->type)
        fail("%s: holds %s, but %s holds %s", shard->name, topk_type_name(a->type), first->name,
             topk_type_name(b->type));
    if (a->swapped != b->swapped)
        fail_shard(shard, first, "byte order");
    if (a->matrix != b->matrix || a->dimensions != b->dimensions || (a->matrix && a->cols != b->cols))
        fail_shard(shard, first, "number of dimensions or of columns");
    for (int axis = 1; axis < a->dimensions; axis++)
        if (a->extents[axis] != b->extents[axis])
            fail_shard(shard, first, "shape");
}

/* Appends the elements of a file. */
static void add_shard(struct matrix *matrix, const struct matrix *one) {
    const size_t size = topk_type_size(one->layout.type);
    const uint64_t bytes = (uint64_t)one->layout.rows * (uint64_t)one->layout.cols * size;
    struct layout *layout = &matrix->layout;
    struct shards *shards = &matrix->shards;
    const uint64_t begin = shards->count > 0 ? shards->list[shards->count - 1].end : layout->begin;
    shards->list[shards->count++] = (struct shard){
        one->name, one->file, one->size, one->descriptor, one->layout.begin, begin, begin + bytes};
    shards->in_place &= bytes == 0 || (one->file != NULL && one->layout.begin % size == 0);
    matrix->size = begin + bytes;
    int64_t *extent = layout->matrix ? &layout->rows : &layout->cols;
    if (shards->count == 1)
        return;
    *extent += layout->matrix ? one->layout.rows : one->layout.cols;
    if (layout->dimensions > 0)
        layout->extents[0] += one->layout.extents[0];
    if (!layout->matrix)
        layout->stride = layout->cols;
}

static void open_shards(struct matrix *matrix, const struct options *options) {
    struct matrix first;
    struct shard *list = allocate((uint64_t)options->shard_count, sizeof *list);
    for (int64_t i = 0; i < options->shard_count; i++) {
        struct options own = *options;
        struct matrix one;
        own.name = own.path = options->shards[i].path;
        own.descriptor = options->shards[i].descriptor;
        open_one(&one, &own);
        if (i == 0) {
            first = one;
            *matrix = (struct matrix){
                .name = options->name, .descriptor = -1, .layout = one.layout, .rereadable = true};
            matrix->shards = (struct shards){.list = list, .in_place = true};
        }
        check_shard(&one, &first);
        add_shard(matrix, &one);
        release(one.head);
    }
}

void matrix_open(struct matrix *matrix, const struct options *options) {
    if (options->shards != NULL)
        open_shards(matrix, options);
    else
        open_one(matrix, options);
}

/* ---- Reading --------------------------------------------------------------------------------- */

void matrix_read(const struct matrix *matrix, void *to, uint64_t at, size_t bytes) {
    const size_t got = read_fully(matrix->descriptor, to, bytes, matrix->name);
    if (got < bytes)
        check_size(matrix, at + got);
}

/* Reads bytes of a rereadable matrix, without the mapping. */
static bool read_again(const struct matrix *matrix, void *to, uint64_t at, size_t bytes) {
    return matrix->shards.list != NULL ? shards_read(&matrix->shards, to, at, bytes)
                                       : read_bytes(matrix->descriptor, to, at, bytes);
}

void matrix_read_at(const struct matrix *matrix, void *to, uint64_t at, size_t bytes) {
    if (!read_again(matrix, to, at, bytes))
        fail_reading();
}

static void check_stream_end(const struct matrix *matrix) {
    char rest[1 << 16];
    uint64_t size = matrix->size;
    for (size_t got; (got = read_fully(matrix->descriptor, rest, sizeof rest, matrix->name)) > 0;)
        size += got;
    check_size(matrix, size);
}

static bool is_shorter(const struct matrix *matrix) {
    struct stat status;
    return fstat(matrix->descriptor, &status) != 0 || (uint64_t)status.st_size < matrix->size;
}

void matrix_check_end(const struct matrix *matrix) {
    if (!matrix->rereadable)
        check_stream_end(matrix);
    else if (matrix->shards.list != NULL ? shards_shrunk(&matrix->shards) : is_shorter(matrix))
        fail_reading();
}

void matrix_close(struct matrix *matrix) {
    if (matrix->shards.list != NULL) {
        shards_close(&matrix->shards);
        return;
    }
    if (matrix->file != NULL)
        munmap((void *)(uintptr_t)matrix->file, matrix->size);
    if (matrix->descriptor != STDIN_FILENO)
        close(matrix->descriptor);
    release(matrix->head);
}

bool matrix_copy(const struct matrix *matrix, void *to, const void *from, size_t bytes) {
    if (matrix != NULL && matrix->file != NULL) {
        const uint64_t at = (uintptr_t)from - (uintptr_t)matrix->file;
        if (at < matrix->size)
            return read_bytes(matrix->descriptor, to, at, bytes);
    }
    memcpy(to, from, bytes);
    return true;
}

/* The same for a file that is not mapped: reads the dimension of each row. */
static void check_by_reading(const struct matrix *matrix, int64_t first, int64_t count) {
    const struct layout *layout = &matrix->layout;
    const uint64_t stride = (uint64_t)layout->stride * topk_type_size(layout->type);
    for (int64_t row = first; row < first + count; row++) {
        int32_t dimension;
        matrix_read_at(matrix, &dimension, (uint64_t)row * stride, sizeof dimension);
        if (dimension != layout->cols)
            fail("%s: byte %" PRIu64 ": vector %" PRId64 " has dimension %" PRId32 ", others have %" PRId64,
                 matrix->name, (uint64_t)row * stride, row, dimension, layout->cols);
    }
}

void matrix_check_rows(const struct matrix *matrix, int64_t first, int64_t count) {
    struct parse_error error;
    if (matrix->has_dimensions && matrix->file == NULL)
        check_by_reading(matrix, first, count);
    else if (matrix->has_dimensions && !vecs_check(matrix->file, &matrix->layout, first, count, &error))
        fail("%s: byte %" PRIu64 ": %s", matrix->name, error.at, error.reason);
}

const void *matrix_row(const struct matrix *matrix, int64_t row) {
    const struct layout *layout = &matrix->layout;
    if (layout->scattered || layout->swapped || matrix->file == NULL)
        return NULL;
    matrix_check_rows(matrix, row, 1);
    return matrix->file + layout->begin +
           (uint64_t)row * (uint64_t)layout->stride * topk_type_size(layout->type);
}

bool matrix_elements(const struct matrix *matrix, int64_t row, int64_t column, int64_t count, void *to) {
    const struct layout *layout = &matrix->layout;
    const uint64_t element = (uint64_t)row * (uint64_t)layout->stride + (uint64_t)column;
    const size_t size = topk_type_size(layout->type);
    if (layout->scattered)
        layout_gather(layout, matrix->file, element, (uint64_t)count, to);
    else if (!read_again(matrix, to, layout->begin + element * size, (size_t)count * size))
        return false;
    if (layout->swapped)
        layout_swap(layout->type, to, (uint64_t)count);
    return true;
}
