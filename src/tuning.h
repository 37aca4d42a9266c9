/* SPDX-License-Identifier: Apache-2.0
 * Tuning as data: the knobs that a method has, and the settings that a caller gives. */
#ifndef TOPK_SRC_TUNING_H
#define TOPK_SRC_TUNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "topk.h"

enum knob_type {
    KNOB_INTEGER,
    KNOB_SWITCH, /* 0 or 1 */
};

/* A row of a method's table, which ends with a row without a name. No knob changes a result that the contract
 * fixes. */
struct knob {
    const char *name;
    enum knob_type type;
    int64_t least, most;   /* INT64_MAX: no limit */
    int64_t default_value; /* `meaning` says where the method departs from it */
    const char *meaning;   /* for topk_explain() */
};

/* Writes the range of a knob: "0 or 1", "1 to 11", "4 or more". */
enum { RANGE_BYTES = 64 };
void topk_knob_range(const struct knob *knob, char text[RANGE_BYTES]);

/* A problem's tuning is a text of settings, "NAME=VALUE,..."; NULL and "" have none. Few calls have
 * any, so that no call keeps a table of them: what is asked of the text is read there, each time. */
struct setting {
    const char *name; /* in the text */
    size_t name_length;
    int64_t value;
};

enum { TUNING_BYTES_MAX = 255, SETTINGS_MAX = 16 };

/* MALFORMED: the text cannot be read. The functions below are for texts that can. */
topk_status topk_tuning_check(const char *text);

static inline bool tuning_is_empty(const char *text) {
    return text == NULL || *text == '\0';
}

/* A setting that a method's knobs (NULL: none) do not allow: the first one. */
struct misfit {
    struct setting setting;  /* without a name: all are allowed */
    const struct knob *knob; /* its range is exceeded; NULL: the method has no knob of that name */
};

struct misfit topk_tuning_misfit(const char *text, const struct knob *knobs);

/* Whether the text sets the knob. Then *value is what it says; else *value stays. NULL: it is not wanted. */
bool topk_tuning_given(const char *text, const struct knob *knob, int64_t *value);

/* The value of a knob, given or not. */
static inline int64_t tuning_value(const char *text, const struct knob *knob) {
    int64_t value = knob->default_value;
    if (text != NULL) {
        (void)topk_tuning_given(text, knob, &value);
    }
    return value;
}

#endif
