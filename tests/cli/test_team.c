/* SPDX-License-Identifier: Apache-2.0
 *
 * The tool's team does each part of each job once, has nothing left to do when a job was waited for, and says
 * whether a part could not be done: with many threads, and with fewer than it asked for. Linked with
 * --wrap=pthread_create. */
#include <errno.h>

#include "base/team.h"
#include "check.h"

enum { JOBS = 2000, PARTS_MAX = 7, AHEAD = 2 };

static int creations_left; /* threads that the system gives */

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                          void *state);
__attribute__((visibility("default"))) int __wrap_pthread_create(pthread_t *thread,
                                                                 const pthread_attr_t *attributes,
                                                                 void *(*start)(void *), void *state);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                          void *state) {
    return creations_left-- > 0 ? __real_pthread_create(thread, attributes, start, state) : EAGAIN;
}

/* What the parts of a job write to. Plain memory, so that ThreadSanitizer sees accesses out of order. */
struct counts {
    int64_t failing; /* the part that cannot be done, or -1 */
    int *done;
};

static bool count(const void *work, int64_t part) {
    const struct counts *counts = work;
    counts->done[part]++;
    return part != counts->failing;
}

static int64_t parts_of(int job) {
    return 1 + job % PARTS_MAX;
}

static void check_job(struct team *team, struct job *job, const struct counts *counts, int64_t parts) {
    CHECK(team_wait(team, job) == (counts->failing < 0));
    for (int64_t part = 0; part < PARTS_MAX; part++)
        CHECK(counts->done[part] == (part < parts));
}

static void test_team(int threads, int given) {
    static int done[JOBS][PARTS_MAX];
    struct counts counts[AHEAD];
    struct job jobs[AHEAD];
    struct team team;
    creations_left = given;
    team_begin(&team, threads);
    CHECK(team.count == (given < threads - 1 ? given : threads - 1));
    for (int i = 0; i < JOBS + AHEAD; i++) {
        if (i >= AHEAD)
            check_job(&team, &jobs[i % AHEAD], &counts[i % AHEAD], parts_of(i - AHEAD));
        if (i >= JOBS)
            continue;
        for (int part = 0; part < PARTS_MAX; part++)
            done[i][part] = 0;
        counts[i % AHEAD] = (struct counts){i % 5 == 0 ? i % parts_of(i) : -1, done[i]};
        team_start(&team, &jobs[i % AHEAD], count, &counts[i % AHEAD], parts_of(i));
    }
    team_end(&team);
}

int main(void) {
    test_team(1, 0);
    test_team(2, 1);
    test_team(5, 4);
    test_team(5, 2);
    test_team(5, 0);
    return check_report();
}
