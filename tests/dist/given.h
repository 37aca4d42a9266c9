/* SPDX-License-Identifier: Apache-2.0
 * The elements of a rank as a source of topk_dist.h: in parts, in a file, or read once. */
#ifndef TESTS_DIST_GIVEN_H
#define TESTS_DIST_GIVEN_H

#include <stdio.h>

#include "guarded.h"
#include "random.h"
#include "topk_dist.h"

enum { GIVEN_PARTS_MOST = 5 };

/* Row r has the elements [begin, ends[r]) of values, where begin is the end of the row before. */
typedef struct given_rows {
    const char *values;
    const int64_t *ends;
    int64_t rows, longest;
    size_t bytes; /* of an element */
} given_rows;

typedef struct given {
    topk_dist_source source;
    given_rows rows;
    topk_dist_part parts[GIVEN_PARTS_MOST];
    guarded memory[GIVEN_PARTS_MOST];
    FILE *file;    /* READ: row r from element r * longest on */
    int64_t *seen; /* READ_ONCE: how many elements of each row were read */
} given;

/* Parts are uneven, some of them empty. The rows must outlive what is given. */
void given_begin(given *g, topk_dist_origin origin, const given_rows *rows, random_state *random);

/* The elements will be read anew, by another run. */
void given_again(given *g);

void given_end(given *g);

#endif
