/* SPDX-License-Identifier: Apache-2.0
 *
 * Single elements: decoded, and as text. */
#ifndef TOPK_CLI_ELEMENT_H
#define TOPK_CLI_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "topk.h"

/* The element at `element`, which may have any alignment, as the number that it stands for: F64 for
 * floats, I64 for signed and U64 for unsigned integers. */
topk_bound element_decode(topk_type type, const void *element);

/* A text of an element, not terminated. */
struct element_text {
    size_t length;
    char text[32];
};

/* The shortest decimal that reads back as this element of its type, the nearest one among those; inf,
 * -inf or nan. Scientific from 1e16 up and below 1e-4. */
void element_format(topk_type type, const void *element, struct element_text *text);

/* Whether that text is a JSON number. */
bool element_is_finite(topk_type type, const void *element);

#endif /* TOPK_CLI_ELEMENT_H */
