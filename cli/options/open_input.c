/* SPDX-License-Identifier: Apache-2.0
 *
 * The input's format, by its first bytes or by its name. */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/fail.h"
#include "keys.h"

static const char npy_magic[6] = "\x93NUMPY";

/* Whether the input begins as .npy files do. Reads no more of a stream than it takes to know, and keeps that.
 */
static bool is_npy(struct options *options) {
    struct stat status;
    const int fd = options->descriptor;
    const bool regular = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    size_t bytes = 0;
    while (bytes < sizeof npy_magic && memcmp(options->head, npy_magic, bytes) == 0) {
        const ssize_t got = regular ? pread(fd, options->head + bytes, sizeof npy_magic - bytes,
                                            lseek(fd, 0, SEEK_CUR) + (off_t)bytes)
                                    : read(fd, options->head + bytes, sizeof npy_magic - bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) /* an error comes again where the input is read */
            break;
        bytes += (size_t)got;
    }
    options->head_bytes = regular ? 0 : bytes;
    return bytes == sizeof npy_magic && memcmp(options->head, npy_magic, bytes) == 0;
}

static enum input_format format_by_name(const struct options *options) {
    const char *dot = strrchr(options->shards != NULL ? options->shards[0].path : options->path, '.');
    for (int format = FORMAT_NPY; dot != NULL && format <= FORMAT_RAW; format++)
        if (strcmp(dot + 1, format_words[format]) == 0)
            return (enum input_format)format;
    if (dot != NULL && strcmp(dot, ".bin") == 0)
        return FORMAT_RAW;
    return options->cols > 0 || options->skip_bytes >= 0 ? FORMAT_RAW : FORMAT_TEXT;
}

/* Ranks read parts of regular files alone, and do not wait for whoever would write to a pipe. */
static int open_file(const struct options *options, const char *path) {
    struct stat status;
    const int file = open(path, O_RDONLY | O_CLOEXEC | (options->mpi ? O_NONBLOCK : 0));
    if (options->mpi && file >= 0 && fstat(file, &status) == 0 && !S_ISREG(status.st_mode))
        fail("%s: no regular file, of which ranks could read parts", path);
    return file;
}

/* As many files as the system lets the tool open. */
static void raise_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static int open_shards(struct options *options) {
    raise_limit();
    for (int64_t i = 0; i < options->shard_count; i++) {
        struct shard_file *shard = &options->shards[i];
        shard->descriptor = open_file(options, shard->path);
        if (shard->descriptor >= 0)
            continue;
        options->name = shard->path;
        return errno;
    }
    options->descriptor = options->shards[0].descriptor;
    return 0;
}

static int open_one(struct options *options) {
    const bool standard_input = strcmp(options->path, "-") == 0;
    options->name = standard_input ? "standard input" : options->path;
    options->descriptor = standard_input ? STDIN_FILENO : open_file(options, options->path);
    return options->descriptor < 0 ? errno : 0;
}

int open_input(struct options *options) {
    options->name = options->path;
    const int reason = options->shards != NULL ? open_shards(options) : open_one(options);
    if (options->format == FORMAT_AUTO)
        options->format = reason == 0 && is_npy(options) ? FORMAT_NPY : format_by_name(options);
    return reason;
}
