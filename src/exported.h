/* SPDX-License-Identifier: Apache-2.0
 * Where things lie in an accumulator's state as bytes: docs/state.md has the table. */
#ifndef TOPK_SRC_EXPORTED_H
#define TOPK_SRC_EXPORTED_H

#include <stddef.h>
#include <stdint.h>

#define EXPORTED_MAGIC UINT64_C(0x6363612d6b706f74) /* "topk-acc" */

enum {
    EXPORTED_VERSION = 1,
    EXPORTED_BYTE_ORDER = 0x01020304,
    EXPORTED_WORDS = 10, /* of the header; the last one is `payload` */
    EXPORTED_ROW_BYTES = 16
};

/* The first bytes. */
struct exported_header {
    uint64_t magic;
    uint32_t version, byte_order;
    uint64_t bytes; /* of all */
    uint32_t type, index_type, direction, rank, nan, zero;
    int64_t rows, k_max, index_base;
    uint64_t payload; /* of chunks so far: 0 none had elements, 1 without indices, 2 with indices */
};

/* The bytes of one problem. The offsets are of arrays for all rows. In them each row has k_max slots: first
 * its candidates, in ascending position, then zeros. */
struct exported {
    struct exported_header header; /* with payload 0 */
    int64_t position_end;          /* a candidate's position is below */
    size_t rows;                   /* of each row its k and its number of candidates, 8 bytes each */
    size_t positions, payload, values;
    size_t bytes; /* SIZE_MAX: beyond the address space */
};

#endif
