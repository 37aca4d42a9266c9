/* SPDX-License-Identifier: Apache-2.0
 *
 * The ranks of topk, which has none itself. */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "../base/fail.h"
#include "ranks.h"

static bool asks_for_ranks(char **arguments) {
    for (; *arguments != NULL && strcmp(*arguments, "--") != 0; arguments++)
        if (strcmp(*arguments, "--mpi") == 0)
            return true;
    return false;
}

/* topk-mpi, beside this program. */
static void find_program(char path[PATH_MAX + sizeof "topk-mpi"]) {
    const ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
    if (length < 0)
        fail("--mpi: /proc/self/exe: %s", strerror(errno));
    path[length] = '\0';
    strcpy(strrchr(path, '/') + 1, "topk-mpi");
}

const struct ranks *ranks_begin(char **arguments) {
    char path[PATH_MAX + sizeof "topk-mpi"];
    if (!asks_for_ranks(arguments))
        return NULL;
    find_program(path);
    execv(path, arguments);
    if (errno == ENOENT)
        fail("--mpi: there is no %s: this tool was built without MPI", path);
    fail("--mpi: %s: %s", path, strerror(errno));
}
