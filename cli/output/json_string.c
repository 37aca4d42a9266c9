/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "output.h"

/* Bytes of the UTF-8 character at `text`, or 0 if there is none: overlong forms, surrogates and what lies
 * beyond U+10FFFF are none. */
static size_t utf8_length(const unsigned char *text, size_t length) {
    unsigned char lead = text[0];
    size_t count = lead < 0x80   ? 1
                   : lead < 0xc2 ? 0
                   : lead < 0xe0 ? 2
                   : lead < 0xf0 ? 3
                   : lead < 0xf5 ? 4
                                 : 0;
    if (count > length)
        return 0;
    for (size_t i = 1; i < count; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    if ((lead == 0xe0 && text[1] < 0xa0) || (lead == 0xed && text[1] > 0x9f) ||
        (lead == 0xf0 && text[1] < 0x90) || (lead == 0xf4 && text[1] > 0x8f))
        return 0;
    return count;
}

void output_json_string(const char *text, size_t length) {
    const unsigned char *bytes = (const unsigned char *)text;
    output_bytes("\"", 1);
    for (size_t at = 0; at < length;) {
        size_t count = utf8_length(bytes + at, length - at);
        char escape[8];
        if (count == 0) {
            output_string("\\ufffd");
            count = 1;
        } else if (bytes[at] < ' ') {
            snprintf(escape, sizeof escape, "\\u%04x", bytes[at]);
            output_string(escape);
        } else {
            if (bytes[at] == '"' || bytes[at] == '\\')
                output_bytes("\\", 1);
            output_bytes(bytes + at, count);
        }
        at += count;
    }
    output_bytes("\"", 1);
}
