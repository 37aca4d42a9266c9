/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <string.h>

#include "../base/alloc.h"
#include "../base/fail.h"
#include "keys.h"

static void add_place(struct options *options, const char *text, size_t length, bool quantile) {
    struct place_asked *place = &options->places[options->place_count++];
    if (place_parse(text, length, quantile, place)) {
        const int64_t k = place->kind == PLACE_NUMBER ? place->number : INT64_MAX;
        options->k = k > options->k ? k : options->k;
        return;
    }
    if (quantile)
        fail_usage("--quantile: '%.*s' is no decimal from 0 to 1 with up to 15 digits behind the point",
                   (int)length, text);
    if (place->kind == PLACE_PERCENT)
        fail_usage("-k: '%.*s' is no percentage above 0%% and up to 100%%", (int)length, text);
    fail_usage("-k: '%.*s' is no integer from 0 up", (int)length, text);
}

void parse_places(struct options *options, const char *list, bool quantiles) {
    size_t count = 1;
    if (options->places != NULL && (options->places->kind == PLACE_QUANTILE) != quantiles)
        fail_usage("-k and --quantile both say which places: choose");
    for (const char *comma = list; (comma = strchr(comma, ',')) != NULL; comma++)
        count++;
    release(options->places);
    options->places = allocate(count, sizeof *options->places);
    options->place_count = 0;
    options->k = -1;
    for (size_t i = 0; i < count; i++) {
        const size_t length = strcspn(list, ",");
        add_place(options, list, length, quantiles);
        list += length + 1;
    }
    if (quantiles)
        options->problem.direction = TOPK_SMALLEST;
}
