/* SPDX-License-Identifier: Apache-2.0
 *
 * Knobs of a method as text: settings such as "alpha=n/4" or "early-stop=0", joined by '+'. */
#ifndef BENCH_TUNING_H
#define BENCH_TUNING_H

#include "topk_experimental.h"

#include <stdbool.h>

/* Fills *tuning; what the text does not name stays undefined. n is the length of a row. False if the
 * text cannot be read. */
bool bench_tuning_read(const char *text, int64_t n, topk_tuning *tuning);

/* The names of all knobs, for help. */
extern const char bench_tuning_names[];

#endif /* BENCH_TUNING_H */
