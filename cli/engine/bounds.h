/* SPDX-License-Identifier: Apache-2.0
 *
 * The comparisons of the command line, as elements of a type meet them. The library compares a bound as the
 * number that it is. Here a bound that is what the tool prints for an element means this element, whose value
 * is another number where its type has few digits: 0.7 of float32 is 0.699999988079071044921875. And a bound
 * may be beyond the range of float64, but not 0 or infinite; beside text, whose numbers are compared as they
 * are written, it may also have more digits than float64 holds. */
#ifndef TOPK_CLI_BOUNDS_H
#define TOPK_CLI_BOUNDS_H

#include "../options/options.h"

/* Makes of the comparisons one predicate, and one more for each NE, up to COMPARISONS_MAX. Returns how many
 * there are: no more than 1 unless options_masks(). */
int bounds_predicates(const struct options *options, topk_type type, topk_predicate *predicates);

/* Whether a number beyond float64 meets all comparisons of the options. */
bool bounds_met(const struct options *options, const struct beyond *number);

#endif /* TOPK_CLI_BOUNDS_H */
