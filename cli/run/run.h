/* SPDX-License-Identifier: Apache-2.0
 *
 * What the subcommands do. Each returns when its output is complete, and ends the tool at an error. */
#ifndef TOPK_CLI_RUN_H
#define TOPK_CLI_RUN_H

#include "../options/options.h"

void run_select(const struct options *options);
void run_kth(const struct options *options);
void run_where(const struct options *options);
void run_count(const struct options *options);
void run_mask(const struct options *options);
void run_info(const struct options *options);
void run_explain(const struct options *options);

struct session;

/* Prints the device that a session works on: cpu, or cuda and its number. */
void print_chosen(const struct session *session);

#endif /* TOPK_CLI_RUN_H */
