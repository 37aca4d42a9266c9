/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of a problem's tuning, against a plain reading of the rules: setting by setting, with strtoll().
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "fuzz.h"
#include "tuning.h"

/* Reads one setting; false if it breaks a rule by itself. */
static bool expected_setting(const char *text, char *name, long long *value) {
    const char *const equals = strchr(text, '=');
    if (equals == NULL || equals == text)
        return false;
    for (const char *at = text; at < equals; at++)
        if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", *at) == NULL)
            return false;
    memcpy(name, text, (size_t)(equals - text));
    name[equals - text] = '\0';
    const char *const number = equals + 1, *const digits = number + (*number == '-');
    char *end;
    errno = 0;
    *value = strtoll(number, &end, 10);
    return *digits >= '0' && *digits <= '9' && *end == '\0' && errno == 0;
}

/* Checks a text that was read, or says whether it may be refused. */
static bool expected(const char *text, const struct tuning *tuning) {
    char names[SETTINGS_MAX][TUNING_BYTES_MAX + 1], copy[TUNING_BYTES_MAX + 1];
    size_t count = 0;
    if (strlen(text) > TUNING_BYTES_MAX)
        return false;
    strcpy(copy, text);
    for (char *setting = copy, *next = copy; *text != '\0' && next != NULL; setting = next) {
        char name[TUNING_BYTES_MAX + 1];
        long long value;
        next = strchr(setting, ',');
        if (next != NULL)
            *next++ = '\0';
        if (count == SETTINGS_MAX || !expected_setting(setting, name, &value))
            return false;
        for (size_t i = 0; i < count; i++)
            if (strcmp(names[i], name) == 0)
                return false;
        strcpy(names[count], name);
        if (tuning != NULL) {
            const struct setting *found = &tuning->settings[count];
            demand(found->name == text + (setting - copy));
            demand(found->name_length == strlen(name) && found->value == value);
        }
        count++;
    }
    demand(tuning == NULL || tuning->count == count);
    return true;
}

/* A table of knobs, and which settings fit it. */
static void check_misfit(const struct tuning *tuning) {
    static const struct knob knobs[] = {
        {.name = "alpha", .least = 4, .most = INT64_MAX, .default_value = 128},
        {.name = "early_stop", .type = KNOB_SWITCH, .most = 1},
        {.name = NULL}};
    const struct misfit misfit = topk_tuning_misfit(tuning, knobs);
    const int64_t *const alpha = tuning_given(tuning, &knobs[0]), *const stop =
                                                                      tuning_given(tuning, &knobs[1]);
    const bool in_range = (alpha == NULL || *alpha >= 4) && (stop == NULL || *stop == 0 || *stop == 1);
    const size_t known = (size_t)(alpha != NULL) + (size_t)(stop != NULL);
    demand((misfit.setting == NULL) == (in_range && known == tuning->count));
    if (misfit.setting != NULL && misfit.knob == NULL)
        demand(known < tuning->count);
    if (misfit.knob != NULL)
        demand(setting_names(misfit.setting, misfit.knob) && !in_range);
    demand(tuning_value(tuning, &knobs[0]) == (alpha != NULL ? *alpha : 128));
    demand((topk_tuning_misfit(tuning, NULL).setting == NULL) == (tuning->count == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct tuning tuning;
    char *text = malloc(size + 1);
    demand(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    const topk_status status = topk_tuning_read(text, &tuning);
    demand(status == TOPK_OK || status == TOPK_ERROR_MALFORMED);
    demand(expected(text, status == TOPK_OK ? &tuning : NULL) == (status == TOPK_OK));
    if (status == TOPK_OK)
        check_misfit(&tuning);
    free(text);
    return 0;
}
