/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "npy_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/alloc.h"
#include "../base/fail.h"
#include "../base/path.h"
#include "../parse/parse.h"

/* The header is always as long, so that it can be written again when the shape is known. */
enum { HEADER_BYTES = 128, PREAMBLE_BYTES = 10 };

/* Names to remove when the process ends early. */
static char *volatile unfinished[2];

void npy_file_discard_all(void) {
    for (size_t i = 0; i < sizeof unfinished / sizeof *unfinished; i++) {
        if (unfinished[i] != NULL)
            unlink(unfinished[i]);
        unfinished[i] = NULL;
    }
}

static void remember(char *temporary) {
    unfinished[unfinished[0] != NULL] = temporary;
}

static void forget(const char *temporary) {
    unfinished[unfinished[0] != temporary] = NULL;
}

static _Noreturn void fail_errno(const struct npy_file *file) {
    fail("%s: %s", file->path, strerror(errno));
}

static void write_all(struct npy_file *file, const char *bytes, size_t length, bool at_start) {
    off_t offset = 0;
    while (length > 0) {
        ssize_t written = at_start ? pwrite(file->fd, bytes, length, offset) : write(file->fd, bytes, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            fail_errno(file);
        bytes += written;
        length -= (size_t)written;
        offset += written;
    }
}

static void write_header(struct npy_file *file, bool again) {
    char header[HEADER_BYTES + 1] = "\x93NUMPY\x01";
    header[8] = HEADER_BYTES - PREAMBLE_BYTES;
    char shape[64];
    const int64_t cols = file->cols < 0 ? 0 : file->cols;
    if (file->rows < 0)
        snprintf(shape, sizeof shape, "%" PRId64 ",", cols);
    else
        snprintf(shape, sizeof shape, "%" PRId64 ", %" PRId64, file->rows, cols);
    char dictionary[HEADER_BYTES - PREAMBLE_BYTES];
    snprintf(dictionary, sizeof dictionary, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }",
             type_npy_descr(file->type), shape);
    snprintf(header + PREAMBLE_BYTES, sizeof header - PREAMBLE_BYTES, "%-*s\n",
             HEADER_BYTES - PREAMBLE_BYTES - 1, dictionary);
    write_all(file, header, HEADER_BYTES, again);
}

/* The rights that the target has, or would get. Only root can give a file away. */
static void take_rights(struct npy_file *file, const struct stat *old) {
    mode_t mask = umask(0);
    umask(mask);
    const int given = old != NULL ? fchown(file->fd, old->st_uid, old->st_gid) : 0;
    (void)given;
    if (fchmod(file->fd, old != NULL ? old->st_mode & 07777 : 0666 & ~mask) != 0)
        fail_errno(file);
}

static const char template[] = "topk-XXXXXX"; /* of names beside the target */

/* Another name in the target's folder. The caller releases it. */
static char *beside(const char *target, const char *name) {
    const char *slash = strrchr(target, '/');
    const size_t folder = slash != NULL ? (size_t)(slash + 1 - target) : 0;
    char *path = allocate(folder + strlen(name) + 1, 1);
    strcpy(mempcpy(path, target, folder), name);
    return path;
}

/* Creates a file with a name beside the target. */
static void create_named(struct npy_file *file) {
    file->temporary = beside(file->target, template);
    sigset_t all, old_signals; /* none may come between a file and its being remembered */
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old_signals);
    file->fd = mkostemp(file->temporary, O_CLOEXEC);
    if (file->fd >= 0)
        remember(file->temporary);
    pthread_sigmask(SIG_SETMASK, &old_signals, NULL);
    if (file->fd < 0)
        fail_errno(file);
}

enum { LINK_BYTES = 32 };

/* The path that links a file without a name. */
static void link_of(const struct npy_file *file, char path[LINK_BYTES]) {
    snprintf(path, LINK_BYTES, "/proc/self/fd/%d", file->fd);
}

/* Creates a file without a name in the target's folder. False if the file system has none, or nothing could
 * give it a name later. */
static bool create_unnamed(struct npy_file *file) {
    char *folder = beside(file->target, ".");
    char link[LINK_BYTES];
    file->fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    release(folder);
    if (file->fd < 0)
        return false;
    link_of(file, link);
    if (access(link, F_OK) == 0)
        return true;
    close(file->fd);
    return false;
}

/* Space for what the shape promises, so that a disk that is too small ends the tool before its work. Some
 * file systems cannot tell. */
static void reserve_space(struct npy_file *file) {
    off_t bytes;
    if (file->cols < 0)
        return;
    if (__builtin_mul_overflow(file->rows < 0 ? 1 : file->rows, file->cols, &bytes) ||
        __builtin_mul_overflow(bytes, topk_type_size(file->type), &bytes) ||
        __builtin_add_overflow(bytes, HEADER_BYTES, &bytes))
        fail("%s: %s", file->path, strerror(EFBIG));
    if (fallocate(file->fd, FALLOC_FL_KEEP_SIZE, 0, bytes) != 0 &&
        (errno == EFBIG || errno == ENOSPC || errno == EDQUOT))
        fail_errno(file);
}

static void flush(struct npy_file *file) {
    write_all(file, file->buffer, (size_t)file->held, false);
    file->held = 0;
}

void npy_file_create(struct npy_file *file, const char *path, topk_type type, int64_t rows, int64_t cols) {
    *file = (struct npy_file){.path = path, .type = type, .rows = rows, .cols = cols};
    if (path == NULL)
        return;
    struct stat old;
    bool exists = stat(path, &old) == 0;
    if (!exists && errno != ENOENT)
        fail_errno(file);
    if (exists && S_ISDIR(old.st_mode))
        fail("%s: %s", path, strerror(EISDIR));
    if (exists && !S_ISREG(old.st_mode)) {
        file->fd = open(path, O_WRONLY | O_CLOEXEC);
        if (file->fd < 0)
            fail_errno(file);
        if (cols < 0 && lseek(file->fd, 0, SEEK_CUR) < 0)
            fail("%s: the header, which comes first, needs the number of results: write to a file", path);
    } else {
        if (exists && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0)
            fail_errno(file); /* which replacing it would not ask for */
        file->target = path_follow(path);
        if (!create_unnamed(file))
            create_named(file);
        take_rights(file, exists ? &old : NULL);
        reserve_space(file);
    }
    write_header(file, false);
}

void npy_file_append(struct npy_file *file, const void *elements, int64_t count) {
    const size_t bytes = (size_t)count * topk_type_size(file->type);
    if (file->path == NULL || bytes == 0)
        return;
    if (bytes > sizeof file->buffer - (size_t)file->held)
        flush(file);
    if (bytes > sizeof file->buffer) {
        write_all(file, elements, bytes, false);
    } else {
        memcpy(file->buffer + file->held, elements, bytes);
        file->held += (int)bytes;
    }
}

void npy_file_reshape(struct npy_file *file, int64_t rows, int64_t cols) {
    file->rows = rows;
    file->cols = cols;
    if (file->path != NULL)
        write_header(file, true);
}

void npy_file_finish(struct npy_file *file) {
    if (file->path == NULL)
        return;
    flush(file);
    /* Some file systems say only here that there was no space. Without its last descriptor an unnamed file
     * ends. */
    const bool unnamed = file->target != NULL && file->temporary == NULL;
    const int closed = unnamed ? dup(file->fd) : file->fd;
    if (closed < 0 || close(closed) != 0)
        fail_errno(file);
}

/* Gives an unnamed file another name beside the target, which is taken. It is remembered first, so that it is
 * removed at whatever moment a signal comes. */
static void name_temporarily(struct npy_file *file, const char *link) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
    char *name = beside(file->target, template);
    int result;
    do {
        uint32_t random;
        if (getrandom(&random, sizeof random, 0) != sizeof random)
            fail_errno(file);
        for (char *end = name + strlen(name), *at = end - strlen("XXXXXX"); at < end; at++, random >>= 5)
            *at = letters[random % 32];
        remember(name);
        result = linkat(AT_FDCWD, link, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
        if (result != 0)
            forget(name);
    } while (result != 0 && errno == EEXIST);
    if (result != 0)
        fail_errno(file);
    file->temporary = name;
}

void npy_file_publish(struct npy_file *file) {
    if (file->target != NULL && file->temporary == NULL) {
        char link[LINK_BYTES];
        link_of(file, link);
        if (linkat(AT_FDCWD, link, AT_FDCWD, file->target, AT_SYMLINK_FOLLOW) != 0) {
            if (errno != EEXIST)
                fail_errno(file);
            name_temporarily(file, link);
        }
        close(file->fd);
    }
    if (file->temporary != NULL) {
        if (rename(file->temporary, file->target) != 0)
            fail_errno(file);
        forget(file->temporary);
    }
    release(file->temporary);
    release(file->target);
}
