/* SPDX-License-Identifier: Apache-2.0
 *
 * The library's team of threads, in place of src/cpu/team.c: plain threads, which ThreadSanitizer
 * understands, while it takes GCC's OpenMP for one long race. */
#include <pthread.h>
#include <stdlib.h>

#include "cpu/team.h"

typedef struct member {
    team_function function;
    void *job;
    int part, parts;
    pthread_t thread;
} member;

static void *run_member(void *argument) {
    const member *m = argument;
    m->function(m->job, m->part, m->parts);
    return NULL;
}

void topk_cpu_team_run(const topk_context *context, int parts, team_function function, void *job) {
    (void)context;
    member *members = calloc((size_t)parts + 1, sizeof *members);
    if (members == NULL) {
        abort();
    }
    for (int part = 0; part < parts; part++) {
        members[part] = (member){.function = function, .job = job, .part = part, .parts = parts};
        if (pthread_create(&members[part].thread, NULL, run_member, &members[part]) != 0) {
            abort();
        }
    }
    for (int part = 0; part < parts; part++) {
        (void)pthread_join(members[part].thread, NULL);
    }
    free(members);
}

int topk_cpu_team_default_threads(int limit) {
    return limit < 2 ? limit : 2;
}
