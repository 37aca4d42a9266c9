/* SPDX-License-Identifier: Apache-2.0
 *
 * Outputs that are the input, or each other, by whatever names. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/alloc.h"
#include "../base/fail.h"
#include "keys.h"

/* A file by its inode, or one that does not exist yet by its name in a folder's inode. */
struct identity {
    bool known; /* false: no file, or one that many may write to, e.g. a terminal, a pipe or /dev/null */
    dev_t device;
    ino_t inode;
    const char *name; /* in that folder; "": the inode is the file's own */
};

static struct identity of_status(int result, const struct stat *status) {
    if (result != 0 || !S_ISREG(status->st_mode))
        return (struct identity){0};
    return (struct identity){true, status->st_dev, status->st_ino, ""};
}

static struct identity of_descriptor(int descriptor) {
    struct stat status;
    return of_status(fstat(descriptor, &status), &status);
}

/* A new file's identity. It has none where its folder does not exist, for it cannot be made there. */
static struct identity of_new(const char *path) {
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    size_t length = (size_t)(name - path);
    char *folder = allocate(length + 2, 1);
    strcpy(mempcpy(folder, path, length), ".");
    struct stat status;
    int result = stat(folder, &status);
    release(folder);
    return result != 0 ? (struct identity){0} : (struct identity){true, status.st_dev, status.st_ino, name};
}

static struct identity of_path(const char *path) {
    struct stat status;
    if (path == NULL)
        return (struct identity){0};
    int result = stat(path, &status);
    return result != 0 && errno == ENOENT ? of_new(path) : of_status(result, &status);
}

static bool same(const struct identity *a, const struct identity *b) {
    return a->known && b->known && a->device == b->device && a->inode == b->inode &&
           strcmp(a->name, b->name) == 0;
}

void check_outputs(const struct options *options) {
    const bool standard_input = strcmp(options->path, "-") == 0;
    const struct identity input = standard_input ? of_descriptor(STDIN_FILENO) : of_path(options->path);
    const bool prints = !options_writes_arrays(options);
    const struct {
        const char *name;
        struct identity file;
    } outputs[] = {
        {"standard output", prints ? of_descriptor(STDOUT_FILENO) : (struct identity){0}},
        {"--values", of_path(options->values_path)},
        {"--indices", of_path(options->indices_path)},
        {"--bits", of_path(options->bits_path)},
    };
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        if (same(&outputs[i].file, &input))
            fail_usage("%s is the input, '%s': choose another file", outputs[i].name,
                       standard_input ? "standard input" : options->path);
        for (size_t other = 0; other < i; other++)
            if (same(&outputs[i].file, &outputs[other].file))
                fail_usage("%s and %s are the same file: choose two", outputs[other].name, outputs[i].name);
    }
}
