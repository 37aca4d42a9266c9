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

/* Whether the text keeps the rules. Then each of its settings must be found, and *settings is their number.
 */
static bool expected(const char *text, size_t *settings) {
    char names[SETTINGS_MAX][TUNING_BYTES_MAX + 1], copy[TUNING_BYTES_MAX + 1];
    long long values[SETTINGS_MAX];
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
        values[count++] = value;
    }
    for (size_t i = 0; i < count; i++) {
        const struct knob knob = {.name = names[i], .default_value = values[i] == 0};
        int64_t given;
        demand(topk_tuning_given(text, &knob, &given) && given == values[i]);
        demand(topk_tuning_given(text, &knob, NULL) && tuning_value(text, &knob) == values[i]);
    }
    *settings = count;
    return true;
}

/* A table of knobs, and which settings fit it. */
static void check_misfit(const char *text, size_t settings) {
    static const struct knob knobs[] = {
        {.name = "alpha", .least = 4, .most = INT64_MAX, .default_value = 128},
        {.name = "early_stop", .type = KNOB_SWITCH, .most = 1},
        {.name = NULL}};
    const struct misfit misfit = topk_tuning_misfit(text, knobs);
    int64_t alpha = 128, stop = 1;
    const bool has_alpha = topk_tuning_given(text, &knobs[0], &alpha);
    const bool has_stop = topk_tuning_given(text, &knobs[1], &stop);
    const bool in_range = alpha >= 4 && (stop == 0 || stop == 1), fits = misfit.setting.name == NULL;
    const size_t known = (size_t)has_alpha + (size_t)has_stop;
    demand(fits == (in_range && known == settings));
    if (!fits && misfit.knob == NULL)
        demand(known < settings);
    if (misfit.knob != NULL) {
        demand(misfit.setting.name_length == strlen(misfit.knob->name) && !in_range);
        demand(memcmp(misfit.setting.name, misfit.knob->name, misfit.setting.name_length) == 0);
    }
    demand(tuning_value(text, &knobs[0]) == alpha);
    demand((topk_tuning_misfit(text, NULL).setting.name == NULL) == (settings == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t settings = 0;
    char *text = malloc(size + 1);
    demand(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    const topk_status status = topk_tuning_check(text);
    demand(status == TOPK_OK || status == TOPK_ERROR_MALFORMED);
    demand(expected(text, &settings) == (status == TOPK_OK));
    if (status == TOPK_OK)
        check_misfit(text, settings);
    free(text);
    return 0;
}
