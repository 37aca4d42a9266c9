/* SPDX-License-Identifier: Apache-2.0
 *
 * What the subcommands do. Each returns when its output is complete, and ends the tool at an error. */
#ifndef TOPK_CLI_RUN_H
#define TOPK_CLI_RUN_H

#include "../options/options.h"

void run_select(const struct options *options);
void run_by(const struct options *options); /* select from each of the groups of lines */
void run_kth(const struct options *options);
void run_where(const struct options *options);
void run_count(const struct options *options);
void run_mask(const struct options *options);
void run_info(const struct options *options);
void run_explain(const struct options *options);

/* How many elements of each row rank at or above its k-th. */
struct reach {
    int64_t *counts;
    int64_t most;
    bool matrix; /* else there is one row */
};

/* As run_kth() with --padding, but prints nothing. The caller ends counts with release(). */
void find_reach(const struct options *options, struct reach *reach);

/* Has select take all elements that are equal to the k-th: reads the input for that, and leaves it as if
 * nothing had been read. Makes k the most that any row has at or above its k-th. */
void take_all_ties(struct options *options, struct reach *reach);

struct session;

/* Prints the device that a session works on: cpu, or cuda and its number. */
void print_chosen(const struct session *session);

#endif /* TOPK_CLI_RUN_H */
