/* SPDX-License-Identifier: Apache-2.0 */
#include "team.h"

#include "alloc.h"

/* Does the next part of the first job. The mutex is locked, except while the part is done. */
static void do_part(struct team *team) {
    struct job *job = team->first;
    const int64_t part = job->next++;
    if (job->next == job->parts)
        team->first = job->behind;
    pthread_mutex_unlock(&team->mutex);
    const bool done = job->function(job->work, part);
    pthread_mutex_lock(&team->mutex);
    job->failed |= !done;
    if (--job->left == 0)
        pthread_cond_signal(&team->done);
}

static void *serve(void *state) {
    struct team *team = state;
    pthread_mutex_lock(&team->mutex);
    while (!team->ends)
        if (team->first != NULL)
            do_part(team);
        else
            pthread_cond_wait(&team->begun, &team->mutex);
    pthread_mutex_unlock(&team->mutex);
    return NULL;
}

void team_begin(struct team *team, int threads) {
    *team = (struct team){.threads = allocate((uint64_t)threads, sizeof *team->threads)};
    pthread_mutex_init(&team->mutex, NULL);
    pthread_cond_init(&team->begun, NULL);
    pthread_cond_init(&team->done, NULL);
    while (team->count < threads - 1 && pthread_create(&team->threads[team->count], NULL, serve, team) == 0)
        team->count++;
}

void team_start(struct team *team, struct job *job, team_function *function, const void *work,
                int64_t parts) {
    *job = (struct job){.function = function, .work = work, .parts = parts, .left = parts};
    pthread_mutex_lock(&team->mutex);
    if (team->first == NULL)
        team->first = job;
    else
        team->last->behind = job;
    team->last = job;
    pthread_cond_broadcast(&team->begun);
    pthread_mutex_unlock(&team->mutex);
}

/* Earlier jobs that have parts to take come first, as only the first job's are taken. */
bool team_wait(struct team *team, struct job *job) {
    pthread_mutex_lock(&team->mutex);
    while (job->left > 0)
        if (job->next < job->parts)
            do_part(team);
        else
            pthread_cond_wait(&team->done, &team->mutex);
    pthread_mutex_unlock(&team->mutex);
    return !job->failed;
}

void team_end(struct team *team) {
    pthread_mutex_lock(&team->mutex);
    team->ends = true;
    pthread_cond_broadcast(&team->begun);
    pthread_mutex_unlock(&team->mutex);
    for (int i = 0; i < team->count; i++)
        pthread_join(team->threads[i], NULL);
    pthread_cond_destroy(&team->done);
    pthread_cond_destroy(&team->begun);
    pthread_mutex_destroy(&team->mutex);
    release(team->threads);
}
