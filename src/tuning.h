/* SPDX-License-Identifier: Apache-2.0
 * Tuning as data: the knobs that a method has, and the settings that a caller gives. */
#ifndef TOPK_SRC_TUNING_H
#define TOPK_SRC_TUNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

struct setting {
    const char *name; /* in the caller's text */
    size_t name_length;
    int64_t value;
};

enum { TUNING_BYTES_MAX = 255, SETTINGS_MAX = 16 };

struct tuning {
    size_t count;
    struct setting settings[SETTINGS_MAX]; /* the first `count`, no two of one name */
};

/* Reads "NAME=VALUE,..."; NULL and "" set nothing. A text that cannot be read is MALFORMED. The settings
 * point into the text. */
topk_status topk_tuning_read(const char *text, struct tuning *tuning);

/* A setting that a method's knobs (NULL: none) do not allow. */
struct misfit {
    const struct setting *setting; /* NULL: all are allowed */
    const struct knob *knob;       /* its range is exceeded; NULL: the method has no knob of that name */
};

struct misfit topk_tuning_misfit(const struct tuning *tuning, const struct knob *knobs);

static inline bool setting_names(const struct setting *setting, const struct knob *knob) {
    return strncmp(setting->name, knob->name, setting->name_length) == 0 &&
           knob->name[setting->name_length] == '\0';
}

/* The value that the caller gives a knob, or NULL. */
static inline const int64_t *tuning_given(const struct tuning *tuning, const struct knob *knob) {
    for (size_t i = 0; i < tuning->count; i++) {
        if (setting_names(&tuning->settings[i], knob)) {
            return &tuning->settings[i].value;
        }
    }
    return NULL;
}

/* The value of a knob, given or not. */
static inline int64_t tuning_value(const struct tuning *tuning, const struct knob *knob) {
    const int64_t *given = tuning_given(tuning, knob);
    return given != NULL ? *given : knob->default_value;
}

#endif
