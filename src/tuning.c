/* SPDX-License-Identifier: Apache-2.0 */
#include "tuning.h"

#include <stdbool.h>
#include <stddef.h>

const char *topk_tuning_field_beyond(const struct topk_tuning *tuning, unsigned known) {
    const struct {
        const char *name;
        bool defined;
    } fields[TUNING_FIELDS] = {
        [TUNING_DIGIT_BITS] = {"digit_bits", tuning->digit_bits != TOPK_TUNING_UNDEFINED},
        [TUNING_ALPHA] = {"alpha", tuning->alpha != TOPK_TUNING_UNDEFINED},
        [TUNING_ADAPTIVE_BUFFERING] = {"adaptive_buffering",
                                       tuning->adaptive_buffering != TOPK_TUNING_UNDEFINED},
        [TUNING_EARLY_STOP] = {"early_stop", tuning->early_stop != TOPK_TUNING_UNDEFINED},
        [TUNING_SCALING] = {"scaling", tuning->scaling != TOPK_TUNING_UNDEFINED},
        [TUNING_WRITE_BUFFER] = {"write_buffer", tuning->write_buffer != TOPK_TUNING_UNDEFINED},
        [TUNING_RESCHEDULING] = {"rescheduling", tuning->rescheduling != TOPK_TUNING_UNDEFINED},
        [TUNING_PADDING] = {"padding", tuning->padding != TOPK_TUNING_UNDEFINED},
        [TUNING_BETA] = {"beta", tuning->beta != TOPK_TUNING_UNDEFINED},
        [TUNING_SUBRANGE_EXPONENT] = {"subrange_exponent",
                                      tuning->subrange_exponent != TOPK_TUNING_UNDEFINED},
        [TUNING_DELEGATE_FILTER] = {"delegate_filter", tuning->delegate_filter != TOPK_TUNING_UNDEFINED},
        [TUNING_QUEUE] = {"queue", tuning->queue != TOPK_QUEUE_UNDEFINED},
        [TUNING_EPSILON] = {"epsilon", !(tuning->epsilon < 0)},
        [TUNING_MAX_ITERATIONS] = {"max_iterations", tuning->max_iterations != TOPK_TUNING_UNDEFINED},
        [TUNING_FUSED_FILTER] = {"fused_filter", tuning->fused_filter != TOPK_TUNING_UNDEFINED},
        [TUNING_ONE_PASS] = {"one_pass", tuning->one_pass != TOPK_TUNING_UNDEFINED},
    };
    for (unsigned field = 0; field < TUNING_FIELDS; field++) {
        if (fields[field].defined && !(known & 1u << field)) {
            return fields[field].name;
        }
    }
    return NULL;
}
