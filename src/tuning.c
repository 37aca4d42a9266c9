/* SPDX-License-Identifier: Apache-2.0 */
#include "tuning.h"

#include <stdio.h>

#include "status.h"

/* Reads digits, perhaps behind a minus sign, up to `end`. False if there is anything else, or if 64 bits
 * cannot hold the number. */
static bool read_value(const char *text, const char *end, int64_t *value) {
    const bool is_negative = *text == '-';
    const char *at = text + is_negative;
    bool is_number = at < end;
    *value = 0;
    for (; at < end && is_number; at++) {
        const int64_t digit = *at - '0';
        is_number = *at >= '0' && *at <= '9' && !__builtin_mul_overflow(*value, 10, value) &&
                    !__builtin_add_overflow(*value, is_negative ? -digit : digit, value);
    }
    return is_number;
}

static bool has_name(const struct tuning *tuning, const char *name, size_t length) {
    for (size_t i = 0; i < tuning->count; i++) {
        const struct setting *each = &tuning->settings[i];
        if (each->name_length == length && memcmp(each->name, name, length) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_name(const char *text, size_t length) {
    size_t at = 0;
    while (at < length && (text[at] == '_' || (text[at] >= '0' && text[at] <= '9') ||
                           (text[at] >= 'A' && text[at] <= 'Z') || (text[at] >= 'a' && text[at] <= 'z'))) {
        at++;
    }
    return length > 0 && at == length;
}

/* Reads the setting text[0, length). */
static topk_status read_setting(const char *text, size_t length, struct tuning *tuning) {
    const char *const equals = memchr(text, '=', length);
    struct setting setting = {.name = text};
    if (equals == NULL || !is_name(text, (size_t)(equals - text)) ||
        !read_value(equals + 1, text + length, &setting.value)) {
        return topk_fail(
            TOPK_ERROR_MALFORMED,
            "problem->tuning: '%.*s' is not NAME=VALUE with an integer of 64 bits, without blanks",
            (int)length, text);
    }
    setting.name_length = (size_t)(equals - text);
    if (has_name(tuning, text, setting.name_length)) {
        return topk_fail(TOPK_ERROR_MALFORMED, "problem->tuning sets '%.*s' twice", (int)setting.name_length,
                         text);
    }
    if (tuning->count == SETTINGS_MAX) {
        return topk_fail(TOPK_ERROR_MALFORMED, "problem->tuning has more than %d settings", SETTINGS_MAX);
    }
    tuning->settings[tuning->count++] = setting;
    return TOPK_OK;
}

topk_status topk_tuning_read(const char *text, struct tuning *tuning) {
    tuning->count = 0;
    if (text == NULL || *text == '\0') {
        return TOPK_OK;
    }
    if (memchr(text, '\0', TUNING_BYTES_MAX + 1) == NULL) {
        return topk_fail(TOPK_ERROR_MALFORMED, "problem->tuning has more than %d bytes", TUNING_BYTES_MAX);
    }
    for (;;) {
        const size_t length = strcspn(text, ",");
        const topk_status status = read_setting(text, length, tuning);
        if (status != TOPK_OK || text[length] == '\0') {
            return status;
        }
        text += length + 1;
    }
}

void topk_knob_range(const struct knob *knob, char text[RANGE_BYTES]) {
    if (knob->type == KNOB_SWITCH) {
        (void)snprintf(text, RANGE_BYTES, "0 or 1");
    } else if (knob->most == INT64_MAX) {
        (void)snprintf(text, RANGE_BYTES, "%lld or more", (long long)knob->least);
    } else {
        (void)snprintf(text, RANGE_BYTES, "%lld to %lld", (long long)knob->least, (long long)knob->most);
    }
}

static bool allows(const struct knob *knob, const struct setting *setting) {
    return setting->value >= knob->least && setting->value <= knob->most;
}

struct misfit topk_tuning_misfit(const struct tuning *tuning, const struct knob *knobs) {
    static const struct knob none = {.name = NULL};
    for (size_t i = 0; i < tuning->count; i++) {
        const struct setting *setting = &tuning->settings[i];
        const struct knob *knob = knobs != NULL ? knobs : &none;
        while (knob->name != NULL && !setting_names(setting, knob)) {
            knob++;
        }
        if (knob->name == NULL || !allows(knob, setting)) {
            return (struct misfit){setting, knob->name != NULL ? knob : NULL};
        }
    }
    return (struct misfit){NULL, NULL};
}
