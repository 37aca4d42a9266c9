/* SPDX-License-Identifier: Apache-2.0
 *
 * A team of threads that share jobs, part by part. */
#ifndef TOPK_CLI_TEAM_H
#define TOPK_CLI_TEAM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Does one part of a job, from 0; false if it cannot be done. It must neither end the tool nor wait for
 * another part. */
typedef bool team_function(const void *work, int64_t part);

/* The team's mutex guards all fields from team_start() to the end of team_wait(). */
struct job {
    team_function *function;
    const void *work;
    int64_t parts;
    int64_t next; /* the first part that nobody has taken */
    int64_t left; /* parts that are not done */
    bool failed;  /* some part could not be done */
    struct job *behind;
};

struct team {
    pthread_t *threads;
    int count; /* threads beside the caller's */
    pthread_mutex_t mutex;
    pthread_cond_t begun; /* there is a part to take, or the team ends */
    pthread_cond_t done;  /* no part of some job is left */
    /* Guarded by the mutex. */
    struct job *first, *last; /* jobs with parts that nobody has taken, oldest first; NULL: there are none */
    bool ends;
};

/* A team of `threads` threads, the caller's included, or of fewer if the system gives no more. */
void team_begin(struct team *team, int threads);

/* Begins a job of one or more parts, which call function(work, part). It follows the earlier ones. The job
 * must stay where it is until team_wait() returns. */
void team_start(struct team *team, struct job *job, team_function *function, const void *work, int64_t parts);

/* Helps with a job that was started until it is done; false if some part could not be done. */
bool team_wait(struct team *team, struct job *job);

/* No job may be left. */
void team_end(struct team *team);

#endif /* TOPK_CLI_TEAM_H */
