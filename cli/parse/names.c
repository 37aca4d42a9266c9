/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "parse.h"

void names_add(struct names *names, const char *name, size_t length) {
    const size_t room = sizeof names->text - names->length;
    names->count++;
    if (length + 2 >= room)
        return;
    if (names->length > 0) {
        memcpy(names->text + names->length, ", ", 2);
        names->length += 2;
    }
    memcpy(names->text + names->length, name, length);
    names->length += length;
}

bool names_fail(const struct names *names, const char *name, struct parse_error *error) {
    const int length = (int)names->length;
    if (names->count == 0)
        return parse_fail(error, 0, "the file holds no array");
    if (name == NULL)
        return parse_fail(error, 0, "the file holds %lld arrays: say --array NAME, e.g. of %.*s",
                          (long long)names->count, length, names->text);
    return parse_fail(error, 0, "no array is called '%.40s'; there are %.*s%s", name, length, names->text,
                      names->length > 0 ? "" : "others");
}
