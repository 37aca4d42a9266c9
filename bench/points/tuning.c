/* SPDX-License-Identifier: Apache-2.0 */
#include "points/tuning.h"

#include "points/dimensions.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

const char bench_tuning_names[] =
    "digit-bits, alpha, adaptive, early-stop, scaling, write-buffer, rescheduling, "
    "padding, beta, subrange, filter, fused, one-pass, queue";

/* The knob of that name, or NULL; alpha and the queue are of other types. */
static int *knob_of(topk_tuning *tuning, const char *name) {
    const struct {
        const char *name;
        int *knob;
    } knobs[] = {
        {"digit-bits", &tuning->digit_bits},
        {"adaptive", &tuning->adaptive_buffering},
        {"early-stop", &tuning->early_stop},
        {"scaling", &tuning->scaling},
        {"write-buffer", &tuning->write_buffer},
        {"rescheduling", &tuning->rescheduling},
        {"padding", &tuning->padding},
        {"beta", &tuning->beta},
        {"subrange", &tuning->subrange_exponent},
        {"filter", &tuning->delegate_filter},
        {"fused", &tuning->fused_filter},
        {"one-pass", &tuning->one_pass},
    };
    for (size_t i = 0; i < sizeof knobs / sizeof *knobs; ++i) {
        if (strcmp(knobs[i].name, name) == 0) {
            return knobs[i].knob;
        }
    }
    return NULL;
}

static bool set_queue(topk_tuning *tuning, const char *value) {
    const bool shared = strcmp(value, "shared") == 0;
    tuning->queue = shared ? TOPK_QUEUE_SHARED : TOPK_QUEUE_REGISTERS;
    return shared || strcmp(value, "registers") == 0;
}

static bool set(topk_tuning *tuning, int64_t n, const char *name, const char *value) {
    int64_t number;
    if (strcmp(name, "queue") == 0) {
        return set_queue(tuning, value);
    }
    if (!bench_count_read(value, n, &number)) {
        return false;
    }
    if (strcmp(name, "alpha") == 0) {
        tuning->alpha = number;
        return true;
    }
    int *knob = knob_of(tuning, name);
    if (knob == NULL || number > INT_MAX) {
        return false;
    }
    *knob = (int)number;
    return true;
}

bool bench_tuning_read(const char *text, int64_t n, topk_tuning *tuning) {
    *tuning = (topk_tuning)TOPK_TUNING_INIT;
    while (*text != '\0') {
        char name[32], value[32];
        int taken = 0;
        if (sscanf(text, "%31[a-z-]=%31[^+]%n", name, value, &taken) != 2 || !set(tuning, n, name, value)) {
            return false;
        }
        text += taken;
        text += *text == '+';
    }
    return true;
}
