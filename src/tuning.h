/* SPDX-License-Identifier: Apache-2.0
 * Tuning fields as a set, so that a method can state which it has. */
#ifndef TOPK_SRC_TUNING_H
#define TOPK_SRC_TUNING_H

#include "topk_experimental.h"

enum tuning_field {
    TUNING_DIGIT_BITS,
    TUNING_ALPHA,
    TUNING_ADAPTIVE_BUFFERING,
    TUNING_EARLY_STOP,
    TUNING_SCALING,
    TUNING_WRITE_BUFFER,
    TUNING_RESCHEDULING,
    TUNING_PADDING,
    TUNING_BETA,
    TUNING_SUBRANGE_EXPONENT,
    TUNING_DELEGATE_FILTER,
    TUNING_QUEUE,
    TUNING_EPSILON,
    TUNING_MAX_ITERATIONS,
    TUNING_FUSED_FILTER,
    TUNING_ONE_PASS,
    TUNING_FIELDS
};

/* Name of the first field that is defined in *tuning and not in the set `known` (bit 1 << field);
 * NULL if there is none. */
const char *topk_tuning_field_beyond(const struct topk_tuning *tuning, unsigned known);

#endif
