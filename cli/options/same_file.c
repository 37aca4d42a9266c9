/* SPDX-License-Identifier: Apache-2.0
 *
 * Outputs that are the input, or each other, by whatever names. */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/alloc.h"
#include "../base/fail.h"
#include "../base/path.h"
#include "keys.h"

/* A file by its inode, or one that does not exist yet by its name in a folder's inode. */
struct identity {
    bool known; /* false: no file, or one that many may write to, e.g. a terminal, a pipe or /dev/null */
    dev_t device;
    ino_t inode;
    char name[NAME_MAX + 1]; /* in that folder; "": the inode is the file's own */
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

/* A new file's identity. It has none where it cannot be made: without its folder, or with too long a name. */
static struct identity of_new(const char *path) {
    struct identity identity = {0};
    struct stat status;
    char *end = path_follow(path);
    char *slash = strrchr(end, '/');
    const char *name = slash != NULL ? slash + 1 : end;
    if (strlen(name) <= NAME_MAX) {
        strcpy(identity.name, name);
        if (slash != NULL)
            slash[1] = '\0';
        identity.known = stat(slash != NULL ? end : ".", &status) == 0;
        identity.device = identity.known ? status.st_dev : 0;
        identity.inode = identity.known ? status.st_ino : 0;
    }
    release(end);
    return identity;
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

static void check_input(const struct identity *output, const char *name, const struct options *options) {
    const bool standard_input = strcmp(options->path, "-") == 0;
    for (int64_t i = 0; i < (options->shards != NULL ? options->shard_count : 1); i++) {
        const char *path = options->shards != NULL ? options->shards[i].path : options->path;
        const struct identity input = standard_input ? of_descriptor(STDIN_FILENO) : of_path(path);
        if (same(output, &input))
            fail_usage("%s is the input, '%s': choose another file", name,
                       standard_input ? "standard input" : path);
    }
}

void check_outputs(const struct options *options, bool prints) {
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
        if (outputs[i].file.known)
            check_input(&outputs[i].file, outputs[i].name, options);
        for (size_t other = 0; other < i; other++)
            if (same(&outputs[i].file, &outputs[other].file))
                fail_usage("%s and %s are the same file: choose two", outputs[other].name, outputs[i].name);
    }
}
