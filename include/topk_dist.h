/* SPDX-License-Identifier: Apache-2.0
 *
 * Selection from rows whose elements lie on many ranks: processes of one machine or of many. A library of its
 * own, libtopk_dist, over libtopk.
 *
 * Results are what one call over the whole rows gives, bit for bit: for any number of ranks, any way of
 * dealing out the elements, any strategy. Elements that tie go by their position in the whole row.
 *
 *   topk_dist_group_create_mpi(MPI_COMM_WORLD, &group);                           // topk_dist_mpi.h
 *   topk_dist_plan_create(group, context, TOPK_OPERATION_SELECT, &problem, NULL, &plan);
 *   topk_dist_plan_query(plan, &properties);
 *   topk_dist_plan_run(plan, &input, &output, workspace, properties.workspace_bytes, NULL);
 *
 * All four are collective but the query: each rank of the group calls them, in the same order. The problem
 * describes the elements of the calling rank. The same on all ranks are
 *
 *   type, index_type, direction, rank, nan, ties, order, rows, k_max, and k of each row
 *
 * and each rank has its own length_max, shape, row_stride, elements_max, extent_type, method and tuning. A
 * rank may have no elements, of some rows or of all. All contexts are on the CPU, or all on a GPU: each
 * rank's data, workspace and outputs then lie on its own one.
 *
 * docs/distributed.md says when to use what. This header needs none of MPI's or NCCL's. */
#ifndef TOPK_DIST_H
#define TOPK_DIST_H

#include "topk.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One sentence on the calling thread's most recent failure in this library, as topk_last_error() tells of the
 * core's. If the failure was another rank's, it begins with that rank: "rank 2: ...". */
TOPK_API const char *topk_dist_last_error(void);

/* ---- Groups ---------------------------------------------------------------------------------- */

/* Ranks that select together, and how they communicate. Each transport has a header with its own
 * constructor: topk_dist_mpi.h, whose runs wait for the other ranks; topk_dist_nccl.h and topk_dist_peer.h,
 * whose runs enqueue their work on a stream, and topk_dist_transport.h for further ones that do. One thread
 * of a rank at a time may use a group and its plans. */
typedef struct topk_dist_group topk_dist_group;

/* Ends a group, collectively, after its plans; NULL is ignored. */
TOPK_API void topk_dist_group_destroy(topk_dist_group *group);

/* The number of the calling rank, from 0 on, and how many there are. -1 and 0 without a group. */
TOPK_API int topk_dist_group_rank(const topk_dist_group *group);
TOPK_API int topk_dist_group_ranks(const topk_dist_group *group);

/* ---- Plans ----------------------------------------------------------------------------------- */

/* Which ranks get the results of select and select_where. kth and count write theirs on all ranks. */
typedef enum topk_dist_destination {
    TOPK_DIST_EVERYWHERE = 0, /* all ranks get all rows */
    TOPK_DIST_ROOT = 1,       /* one rank gets all rows, the others nothing */
    TOPK_DIST_OWNER = 2,      /* each row goes to one rank: row r to rank r / ((rows + ranks - 1) / ranks) */
    TOPK_DIST_IN_PLACE = 3    /* each rank gets its own elements that are results, by position */
} topk_dist_destination;

/* The position in the whole row of an element that is at position p of its row on its rank. */
typedef enum topk_dist_map {
    TOPK_DIST_BASE = 0,   /* index_base + p: each rank has a run of positions. The runs [index_base,
                             index_base + length_max) of two ranks must not overlap; their order is free */
    TOPK_DIST_STRIDE = 1, /* index_base + p * ranks + rank, with the same index_base on all ranks */
    TOPK_DIST_TABLE = 2 /* input->indices has it, of index_type, for each element of input->values. Positions
                           of a row are at least 0 and ascend on a rank: a run looks at that. No two ranks
                           have the same position: nothing looks at that, and slots of the row are
                           undefined if they have */
} topk_dist_map;

/* How select and select_where find results. kth and count have one way, whatever this says. */
typedef enum topk_dist_strategy {
    TOPK_DIST_AUTO = 0,      /* the one with the least predicted cost */
    TOPK_DIST_GATHER = 1,    /* each rank selects its k best; the lists meet and are merged */
    TOPK_DIST_HISTOGRAM = 2, /* sums of counters find the k-th element; only results are selected and meet */
    TOPK_DIST_GATHER_NODES = 3 /* as GATHER, but lists are merged within each node first, and only a node's
                                  k best go to other nodes. Not over peer memory; a transport of one's own has
                                  parts or does not. IN_PLACE on a GPU a node has at most 254 ranks */
} topk_dist_strategy;

/* Where the elements of a rank come from. Elements of PARTS, READ and READ_ONCE go to
 * topk_dist_plan_run_source(). */
typedef enum topk_dist_origin {
    TOPK_DIST_INPUT = 0,    /* topk_dist_plan_run(): one input, in memory */
    TOPK_DIST_PARTS = 1,    /* several vectors in memory */
    TOPK_DIST_READ = 2,     /* a function reads them piece by piece: they may be more than the memory holds */
    TOPK_DIST_READ_ONCE = 3 /* the same, and each element is read once: no kth, no histogram */
} topk_dist_origin;

/* The same on all ranks, but for device_pointers, origin, piece, trust_table and node. Start from
 * TOPK_DIST_OPTIONS_INIT. */
typedef struct topk_dist_options {
    size_t size; /* sizeof(topk_dist_options) */
    topk_dist_destination destination;
    topk_dist_map map;
    topk_dist_strategy strategy;
    int root;         /* of ROOT: a rank of the group */
    int exchange_kth; /* gather: 1 has ranks tell each other the k-th elements of their lists first, so that
                         what ranks behind the best of these is not sent (Dr. Top-k). Each rank sends what
                         can still win: it pays where some ranks have much better elements than others. By
                         nodes all ranks of a node send as many as the rank that needs most; on a GPU lists
                         are sent whole */
    int device_pointers; /* of the rank, in plans on a GPU whose group waits (MPI): 1 has the transport take
                            pointers of the device, for an MPI that is CUDA-aware; 0: through the host */
    topk_dist_origin origin; /* of this rank's elements */
    int node; /* for GATHER_NODES: ranks with the same number, 1 or more, are one node. 0 on all ranks: ranks
                 that share memory are one, as MPI tells; in a group that enqueues, ranks of one machine */
    int64_t piece;   /* the longest piece: elements of each row that are looked at in one step. READ and
                        READ_ONCE: at least 1; a workspace holds two pieces. PARTS: 0 is whole parts; on a GPU
                        that they are copied to, two times all elements then. INPUT: 0 */
    int trust_table; /* of this rank, TABLE: 0 has each run look at the table once, as topk_dist_plan_run()
                        says. 1: it does not, and slots of a row whose positions do not ascend are undefined
                      */
    int parts_on_device; /* PARTS, of a rank on a GPU: 0: parts lie in memory of the host, and pieces of them
                            are copied; 1: in the memory of the device, and pieces are looked at where they
                            lie */
} topk_dist_options;

#define TOPK_DIST_OPTIONS_INIT                                                                               \
    {                                                                                                        \
        sizeof(topk_dist_options), TOPK_DIST_EVERYWHERE, TOPK_DIST_BASE, TOPK_DIST_AUTO, 0, 0, 0,            \
            TOPK_DIST_INPUT, 0, 0, 0, 0                                                                      \
    }

/* An operation on a problem, on which all ranks have agreed. */
typedef struct topk_dist_plan topk_dist_plan;

/* Creates a plan, collectively: select, kth, select_where or count. `options` may be NULL:
 * TOPK_DIST_OPTIONS_INIT. It copies what it needs; group and context must outlive it. If it fails on one
 * rank it fails on all, with the same status and text, which name the rank and the reason; *plan is NULL.
 * The plan pointer and the group must be valid on all ranks.
 *
 * Statuses as topk_plan_create(), and: CONTRADICTION where ranks differ in what must be the same, where
 * runs of positions overlap, or where the context is not on the device of the group; OUT_OF_RANGE for a root
 * that is no rank; UNSUPPORTED for GATHER_NODES where there is none, as said there, for other operations,
 * for approximations, for 32-bit extents with lists of 2^31 candidates, and for elements that are read in a
 * group that enqueues, that come in pieces by a table of positions, or are read once for kth or histogram;
 * DEVICE as topk_dist_plan_run(). */
TOPK_API topk_status topk_dist_plan_create(topk_dist_group *group, topk_context *context,
                                           topk_operation operation, const topk_problem *problem,
                                           const topk_dist_options *options, topk_dist_plan **plan);

/* Ends a plan; NULL is ignored. Not collective. */
TOPK_API void topk_dist_plan_destroy(topk_dist_plan *plan);

typedef struct topk_dist_properties {
    size_t size;                 /* sizeof(topk_dist_properties); set by the caller */
    topk_dist_strategy strategy; /* that was chosen, the same on all ranks */
    int reserved;                /* 0 */
    size_t workspace_bytes;      /* that a run needs on this rank */
    int64_t first_row, rows; /* the rows whose results this rank gets: rows [first_row, first_row + rows) */
    int64_t pitch;           /* slots of a row in the outputs: k_max, or less in IN_PLACE */
    double predicted_us;     /* how long a run is expected to take on the slowest rank, in microseconds */
} topk_dist_properties;

#define TOPK_DIST_PROPERTIES_INIT                                                                            \
    { sizeof(topk_dist_properties), TOPK_DIST_AUTO, 0, 0, 0, 0, 0, 0 }

/* Fills *properties. NULL_POINTER, STRUCT_SIZE. */
TOPK_API topk_status topk_dist_plan_query(const topk_dist_plan *plan, topk_dist_properties *properties);

/* Where a run writes on this rank. An array that is NULL is not written; count must have its own.
 *
 * select, select_where   values, indices: properties.rows x properties.pitch slots, row after row from
 *                        properties.first_row on, as topk_select() writes them. Indices are positions in the
 *                        whole row. IN_PLACE: this rank's results, by position, and padding behind them
 *                        own_k, before: IN_PLACE alone, `rows` numbers: how many results of the row this
 *                        rank has, and how many the ranks with a lower number have together
 * kth                    values, better, equal: `rows` elements or numbers, as topk_kth() writes them
 * count                  counts: `rows` numbers, as topk_count() writes them */
typedef struct topk_dist_output {
    size_t size; /* sizeof(topk_dist_output) */
    void *values;
    void *indices;
    int64_t *own_k;
    int64_t *before;
    int64_t *better;
    int64_t *equal;
    int64_t *counts;
} topk_dist_output;

#define TOPK_DIST_OUTPUT_INIT                                                                                \
    { sizeof(topk_dist_output), NULL, NULL, NULL, NULL, NULL, NULL, NULL }

/* Runs a plan, collectively, and returns when this rank has its results. `input` has the elements of this
 * rank, its extents, the k of each row (the same on all ranks) and the predicate of select_where and count
 * (a comparison the same on all ranks; a mask is of the rank's own elements). `stream` is NULL on the CPU. On
 * a GPU the work is enqueued on it.
 *
 * An argument that is wrong on one rank is an error on all, as in topk_dist_plan_create(): nothing has been
 * written, and the plan can run again. But outputs that overlap each other, inputs or the workspace fail, on
 * the CPU, on their rank alone; on GPUs in a group that waits on all ranks, when some have been written.
 *
 * DEVICE means that ranks cannot communicate, or that a GPU failed; then all further calls with the group are
 * DEVICE. In a group that waits (MPI) a GPU that fails is an error on all ranks. Where ranks cannot
 * communicate, or the group enqueues, others may wait for this one for ever: docs/distributed.md says what to
 * do.
 *
 * A table of positions that does not ascend in a row is CONTRADICTION on the CPU; the text names rank, row
 * and element. On a GPU, and in groups that enqueue, it breaks the row, as CONTRACT.md, 10.8, says: on all
 * ranks that get it indices are -2, and its values say nothing. IN_PLACE all ranks get it, with own_k and
 * before of -2; but by histogram, where ties are free, the rank alone that has the table. kth and count look
 * at none.
 *
 * With a transport that enqueues (topk_dist_transport.h) a run returns when its work is enqueued. The host
 * looks at nothing that ranks compute, and nothing is agreed on: a wrong argument is an error on its rank
 * alone, before that has sent anything, and the others may wait for it. A CUDA graph can capture such a run.
 *
 * Statuses as topk_plan_run(), and DEVICE. */
TOPK_API topk_status topk_dist_plan_run(topk_dist_plan *plan, const topk_input *input,
                                        const topk_dist_output *output, void *workspace,
                                        size_t workspace_bytes, topk_stream stream);

/* ---- Elements in several vectors, or read piece by piece ----
 *
 * The elements of a rank's row lie one behind the other in its parts, or are read. An element's position on
 * the rank counts through all parts. Rows are STRIDED, and the map is BASE or STRIDE.
 *
 * On a GPU a workspace holds two pieces. While one is selected from, the next is copied there, on a stream of
 * the plan's own: so a row may be longer than the GPU's memory. Parts lie in memory of the host; pinned
 * memory (topk_memory_allocate() gives some) is copied behind the caller's back, other memory more slowly,
 * and perhaps before a call returns. With options.parts_on_device they lie on the GPU, and nothing is
 * copied. What parts hold must stay until the run's work is done, and in each replay of a graph.
 * Copies of ranks that share a GPU would wait for each other, so a group over peer memory whose `one_each`
 * does not say that each rank has its own copies nothing (UNSUPPORTED, of the plan). Elements that are read
 * come through two pinned pieces of the plan; their group waits (MPI). */

/* A part of each row: element e of row r is values[r * row_stride + e]. */
typedef struct topk_dist_part {
    const void *values;
    int64_t length;     /* of the part of each row, 0 or more */
    int64_t row_stride; /* 0: length */
} topk_dist_part;

/* Writes elements [first, first + length) of row `row` of the rank to `values`, which is memory of the host.
 * length is at least 1. Returns TOPK_OK, or a status that the run then has on all ranks; DEVICE of it breaks
 * no group. A run calls it from a thread of its own as well, but never twice at the same time: the next piece
 * is read while ranks select from one. Rows of a piece are read in turn, and pieces in the order of
 * positions. Histogram and kth read all elements several times. */
typedef topk_status topk_dist_read(void *user, int64_t row, int64_t first, int64_t length, void *values);

typedef struct topk_dist_source {
    size_t size;                 /* sizeof(topk_dist_source) */
    int64_t length;              /* of each row, 0 to length_max, in all parts together */
    const topk_dist_part *parts; /* PARTS: parts_count of them. Else NULL */
    int64_t parts_count;
    topk_dist_read *read; /* READ, READ_ONCE. Else NULL */
    void *user;           /* for `read` */
} topk_dist_source;

#define TOPK_DIST_SOURCE_INIT                                                                                \
    { sizeof(topk_dist_source), 0, NULL, 0, NULL, NULL }

/* As topk_dist_plan_run(), for a rank whose options name an origin other than INPUT; the other ranks may call
 * either. `input` has k, the predicate and `lengths` (clamped to source->length), on a GPU in its memory; its
 * values and indices are NULL. It may start a thread, which ends before it returns.
 *
 * An error of the source on one rank, also in the middle, is an error on all, and nothing has been written:
 * the status that `read` returned. CONTRADICTION for what does not suit the plan's origin; OVERFLOW for a
 * part beyond 2^63 bytes. A group that enqueues has the errors of topk_dist_plan_run(). */
TOPK_API topk_status topk_dist_plan_run_source(topk_dist_plan *plan, const topk_dist_source *source,
                                               const topk_input *input, const topk_dist_output *output,
                                               void *workspace, size_t workspace_bytes, topk_stream stream);

#ifdef __cplusplus
}
#endif

#endif /* TOPK_DIST_H */
