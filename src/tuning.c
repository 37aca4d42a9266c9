/* SPDX-License-Identifier: Apache-2.0 */
#include "tuning.h"

#include <stdio.h>
#include <string.h>

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

static bool is_name(const char *text, size_t length) {
    size_t at = 0;
    while (at < length && (text[at] == '_' || (text[at] >= '0' && text[at] <= '9') ||
                           (text[at] >= 'A' && text[at] <= 'Z') || (text[at] >= 'a' && text[at] <= 'z'))) {
        at++;
    }
    return length > 0 && at == length;
}

/* Reads the setting at *text, and moves *text to the next one, or to the end of all. False if it cannot be
 * read; then *text stays. */
static bool next_setting(const char **text, struct setting *setting) {
    const size_t length = strcspn(*text, ",");
    const char *const equals = memchr(*text, '=', length);
    if (equals == NULL || !is_name(*text, (size_t)(equals - *text)) ||
        !read_value(equals + 1, *text + length, &setting->value)) {
        return false;
    }
    setting->name = *text;
    setting->name_length = (size_t)(equals - *text);
    *text += length;
    return true;
}

/* Whether another setting follows: then *text is moved to it. */
static bool skip_comma(const char **text) {
    const bool follows = **text == ',';
    *text += follows;
    return follows;
}

static bool is_set_before(const char *text, const struct setting *setting) {
    struct setting each;
    while (next_setting(&text, &each) && each.name != setting->name) {
        if (each.name_length == setting->name_length &&
            memcmp(each.name, setting->name, each.name_length) == 0) {
            return true;
        }
        text++; /* over a comma */
    }
    return false;
}

topk_status topk_tuning_check(const char *text) {
    const char *at = text;
    int count = 0;
    if (tuning_is_empty(text)) {
        return TOPK_OK;
    }
    if (memchr(text, '\0', TUNING_BYTES_MAX + 1) == NULL) {
        return topk_fail(TOPK_ERROR_MALFORMED, "problem->tuning has more than %d bytes", TUNING_BYTES_MAX);
    }
    do {
        struct setting setting;
        if (!next_setting(&at, &setting)) {
            return topk_fail(
                TOPK_ERROR_MALFORMED,
                "problem->tuning: '%.*s' is not NAME=VALUE with an integer of 64 bits, without blanks",
                (int)strcspn(at, ","), at);
        }
        if (is_set_before(text, &setting)) {
            return topk_fail(TOPK_ERROR_MALFORMED, "problem->tuning sets '%.*s' twice",
                             (int)setting.name_length, setting.name);
        }
        if (++count > SETTINGS_MAX) {
            return topk_fail(TOPK_ERROR_MALFORMED, "problem->tuning has more than %d settings", SETTINGS_MAX);
        }
    } while (skip_comma(&at));
    return TOPK_OK;
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

static bool names(const struct setting *setting, const struct knob *knob) {
    return strncmp(setting->name, knob->name, setting->name_length) == 0 &&
           knob->name[setting->name_length] == '\0';
}

struct misfit topk_tuning_misfit(const char *text, const struct knob *knobs) {
    static const struct knob none = {.name = NULL};
    struct misfit misfit = {.knob = NULL};
    if (tuning_is_empty(text)) {
        return misfit;
    }
    do {
        const struct knob *knob = knobs != NULL ? knobs : &none;
        (void)next_setting(&text, &misfit.setting);
        while (knob->name != NULL && !names(&misfit.setting, knob)) {
            knob++;
        }
        if (knob->name == NULL || !allows(knob, &misfit.setting)) {
            misfit.knob = knob->name != NULL ? knob : NULL;
            return misfit;
        }
    } while (skip_comma(&text));
    return (struct misfit){.knob = NULL};
}

bool topk_tuning_given(const char *text, const struct knob *knob, int64_t *value) {
    struct setting setting;
    if (tuning_is_empty(text)) {
        return false;
    }
    do {
        (void)next_setting(&text, &setting);
        if (names(&setting, knob)) {
            if (value != NULL) {
                *value = setting.value;
            }
            return true;
        }
    } while (skip_comma(&text));
    return false;
}
