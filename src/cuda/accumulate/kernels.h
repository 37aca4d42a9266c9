/* SPDX-License-Identifier: Apache-2.0
 * A state in device memory, what the kernels of accumulators are given, and who launches them. */
#ifndef TOPK_SRC_CUDA_ACCUMULATE_KERNELS_H
#define TOPK_SRC_CUDA_ACCUMULATE_KERNELS_H

#include "../../exported.h"
#include "../grid.h"
#include "../predicate/args.h"
#include "../rows.h"
#include "../select/args.h"
#include "sizes.h"

enum accumulate_payload { PAYLOAD_UNKNOWN, PAYLOAD_NONE, PAYLOAD_GIVEN };

#define ACCUMULATE_OPEN UINT64_C(0x317570676b706f74) /* "topkgpu1": chunks may be pushed */
#define ACCUMULATE_FINISHED UINT64_C(0)
#define ACCUMULATE_BROKEN                                                                                    \
    UINT64_C(0x787570676b706f74) /* a call found it in no state for what it had to do                        \
                                  */

/* The index of each result of a state that was broken: no row has such a position. */
#define ACCUMULATE_NO_INDEX INT64_C(-2)

/* The first words of a state. */
struct accumulate_header {
    uint64_t magic; /* atomic: a block may write it while others read it */
    uint64_t problem;
    uint32_t payload; /* enum accumulate_payload; atomic, as is `selects` */
    /* Conditions of calls inside this one. */
    uint32_t selects; /* the best of the chunk are selected. They wait until the next call lists them */
    uint32_t is_open; /* results are written */
    /* Atomic, and 0 between calls. */
    uint32_t selecting; /* of some row the best of the chunk are to be selected */
    uint64_t rows_done;
};

/* What is kept of a row. Its candidates are in a list, in any order. Words are atomic: in a push the row's
 * last block may write them once the others have read them. */
struct accumulate_row {
    uint64_t count; /* of candidates */
    uint64_t k;     /* results: k_max, or the least k that was asked for */
    /* With has_bar: of elements that come, those are candidates that have a higher key, or this one and no
     * higher position. */
    uint64_t bar_key;
    uint64_t bar_position;
    uint64_t has_bar;
    /* Slots that blocks which shared the row have taken since the state began; and how many of these they are
     * done with: all, between calls. */
    uint64_t placed, stored;
    uint64_t taken; /* struct taken_slots; 0 between calls */
};

/* How the blocks of a row find the best of a chunk: step by step. */
enum way_step_kind {
    WAY_SAMPLE,    /* count a digit of codes in the range, of a sample */
    WAY_CODES,     /* count a digit of codes in the range */
    WAY_POSITIONS, /* of ties, which the range holds alone, count a digit of the complements of their
                      positions */
    WAY_LIST,      /* list what is in the range or above */
    WAY_DONE
};

struct way_step {
    enum way_step_kind kind;
    uint32_t unknown; /* bits of codes or positions, the digit's left out */
    struct digit digit;
    bool is_guess;              /* WAY_LIST: a sample told the range, perhaps too much or too little */
    struct kth_range range;     /* of codes */
    struct kth_range positions; /* of complements of positions; of WAY_LIST, what else ties are listed for */
};

/* Of a row. Words are atomic, and 0 between calls, but for steps: a block writes them before it publishes
 * their number. */
struct accumulate_way_out {
    uint64_t bins[SELECT_BINS_MAX];
    uint64_t taken[ACCUMULATE_STEPS]; /* tiles that blocks have taken in each step, and that are done */
    uint64_t done[ACCUMULATE_STEPS];
    uint64_t listed; /* slots of `best` */
    uint32_t step;
    struct way_step steps[ACCUMULATE_STEPS];
};

/* Elements with their positions in the stream and their payload. */
struct accumulate_list {
    void *elements;
    int64_t *positions;
    void *payload;
    int64_t pitch; /* slots of a row */
};

struct accumulate_state {
    struct accumulate_header *header;
    struct accumulate_row *rows;
    struct accumulate_list candidates;
    int64_t reserve;             /* slots at the end of a row's candidates, for what blocks have held back */
    struct accumulate_list best; /* of a chunk, in any order; position -1 ends a row */
    struct accumulate_way_out *ways_out; /* of each row; NULL: a selection finds the best of a chunk */
    /* Of rows in calls inside this one. */
    int64_t *lengths, *ks;
};

struct accumulate_args {
    struct row_args rows; /* of a chunk, without outputs; or without a chunk, with outputs */
    uint64_t problem;
    int64_t base;
    enum accumulate_payload payload; /* of a chunk; unknown without one, or without elements */
    bool ends;                       /* the state is finished */
    bool is_apart;                   /* launches of their own settle rows: apart.cuh */
    uint64_t *bars;                  /* of blocks that do: key and position of the last that each keeps */
    struct accumulate_state state;
    struct accumulate_state other; /* that is merged into the state; or without a header */
    /* Where results come from: places of candidates by their position, and places among these; NULL: these
     * are the results, by position. */
    const int64_t *places, *sorted;
    void *arranged; /* elements of candidates by their position */
};

struct accumulate_where_args {
    struct accumulate_args of_rows;
    struct predicate_args predicate;
};

struct accumulate_bytes_args {
    struct accumulate_args of_rows; /* with `places` of candidates by their position, to export */
    const int64_t *positions;       /* of candidates, ascending */
    void *bytes;                    /* at any alignment */
    bool has_state;                 /* there are results, and so a state */
    struct exported exported;
    uint64_t words[EXPORTED_WORDS]; /* of its header */
};

#ifdef __cplusplus
extern "C" {
#endif

/* The kernels of one element width. */
struct accumulate_kernels {
    int (*prepare)(uint32_t shared_bytes_max);
    /* Of a block that reads a chunk. */
    uint32_t (*shared_bytes)(uint32_t threads);
    /* Begins a state. */
    int (*init)(const struct launch_grid *grid, const struct accumulate_args *args);
    /* Adds what of a chunk passes the bar. The grid has blocks for each row, and a second dimension for rows.
     */
    int (*push)(const struct launch_grid *grid, const struct accumulate_args *args);
    int (*where)(const struct launch_grid *grid, const struct accumulate_where_args *args);
    /* Adds what waits, and another state's candidates; then at most k of each row are left. */
    int (*merge)(const struct launch_grid *grid, const struct accumulate_args *args);
    /* The payload of what was selected from a chunk. */
    int (*carry)(const struct launch_grid *grid, const struct accumulate_args *args);
    /* Of rows that launches of their own settle: looks whether they are to be; puts the best of a chunk
     * behind the candidates; keeps what is in the list of the best. The last grid has as many blocks for each
     * row.
     */
    int (*ask)(const struct launch_grid *grid, const struct accumulate_args *args);
    int (*gather)(const struct launch_grid *grid, const struct accumulate_args *args);
    int (*keep)(const struct launch_grid *grid, const struct accumulate_args *args);
    /* Elements of candidates by their position. */
    int (*arrange)(const struct launch_grid *grid, const struct accumulate_args *args);
    /* Indices of results; or of a state that is broken, everything. */
    int (*write)(const struct launch_grid *grid, const struct accumulate_args *args);
    /* The bytes of a state that is ready for results; of one that is broken, zeros. */
    int (*export_bytes)(const struct launch_grid *grid, const struct accumulate_bytes_args *args);
    /* Fills a state that was begun; breaks it if the bytes are wrong. */
    int (*import_bytes)(const struct launch_grid *grid, const struct accumulate_bytes_args *args);
};

extern const struct accumulate_kernels topk_cuda_accumulate_kernels_8, topk_cuda_accumulate_kernels_16,
    topk_cuda_accumulate_kernels_32, topk_cuda_accumulate_kernels_64;

#ifdef __cplusplus
}
#endif
#endif
