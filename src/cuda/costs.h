/* SPDX-License-Identifier: Apache-2.0
 * What methods are expected to take: the numbers in their cost functions, as measured on one GPU. leaf.h has
 * what becomes of them on others. */
#ifndef TOPK_SRC_CUDA_COSTS_H
#define TOPK_SRC_CUDA_COSTS_H

/* bytes_per_us: that are read and written in a microsecond. instructions_per_us: that all warps issue in one.
 */
struct cuda_costs {
    double launch_us;
    struct {
        double bytes_per_us;
        double pass_us;             /* besides reading, where blocks share rows */
        double shared_reads;        /* how often these read a row */
        double counted_per_us;      /* elements that these read in a microsecond at most, however short */
        double chosen_per_us;       /* results that these write */
        double results_per_us;      /* of a row, that one block puts in order */
        double row_us;              /* of a block with a row of its own */
        double elements_per_us;     /* that it goes through */
        double own_reads;           /* how often all rows of such blocks are read */
        double listed_bytes_per_us; /* of rows whose results are listed by position, and 4 more an element */
    } air;
    struct {
        double entries_per_us; /* in a pass through shared memory */
    } bitonic;
    struct {
        double bytes_per_us;
        double shared_us; /* of blocks that share a row, besides reading it */
        double alone_us;  /* of a block for a row of its own */
        double all_us;    /* besides, if results are sorted and the sample leaves no element of a row out */
        double pair_us;   /* besides, if the k-th element is looked for between a pair of thresholds */
        double where_us;  /* besides, if there is a predicate */
        double candidates_per_us;
        /* Parts of a candidate's cost: where only the k-th is wanted, and for an element between a pair. */
        double kth_share, pair_share;
        double results_per_us; /* of a row, that one block puts in order */
        /* The time that half and quarter blocks take to read a row, over that of large ones. */
        double half_reads, quarter_reads;
    } bracket;
    struct {
        double bytes_per_us;
    } compact;
    struct {
        double bytes_per_us;
        double call_us;      /* besides reading */
        double reads;        /* how often the rows are read */
        double worked_reads; /* and how often there are delegates and concatenated vectors */
    } drtopk;
    struct {
        double bytes_per_us;
        double block_us,
            pushed_us; /* of a block's tiles, and for each element that one of its warps pushes */
        double stream_bytes_per_us; /* that the blocks of a multiprocessor read */
        /* Instructions of a warp that has a row of its own: once, for each element, and for each that it
         * pushes. */
        double of_row, of_element, of_pushed;
        double instructions_per_us;
    } gridselect;
    struct {
        double bytes_per_us;
    } merge;
    struct {
        double bytes_per_us;
        double call_us, pass_us; /* besides reading: once, and for each launch of a pass */
        double reads;            /* how often the rows are read */
        double counted_per_us;   /* elements that are read in a microsecond at most, however short */
        double chosen_per_us;    /* results that are written */
    } radik;
    struct {
        /* To put lists in order: once, and for each round of clusters; more for each block of these, and for
         * each entry of a block. How many times as long blocks take that share a multiprocessor, and entries
         * that are most of a row. */
        double launch_us, cluster_us, block_us, entry_us, shared, crowd;
    } ordering;
    struct {
        double bytes_per_us, instructions_per_us;
        /* Of a row, from its first load to its last store; and for each of a block's elements, for each that
         * is compared with a predicate, and for each result. */
        double row_us, element_us, compared_us, chosen_us;
        /* Instructions of a block where a sample's bound nearly always tells a short list of a row's results:
         * once, for each result, for each warp, and for each of a thread's elements. */
        double of_list, of_listed, of_listing_warp, of_listing_item;
        /* Of clusters: a row's barriers; a search where the sample does not tell the results, and how many
         * times as many instructions it takes; for each entry what its sorting takes in one block, and in
         * instructions. */
        double cluster_us, search_us, searched, merged_us, of_merged, cluster_instructions_per_us;
        /* Of streamed rows: a launch, a sample and the first bytes; a selection among what is kept, and for
         * each result; bytes of a row that a block streams. */
        double stream_us, kept_us, result_us, stream_bytes_per_us;
    } resident;
    struct {
        double row_us; /* of all multiprocessors */
    } route;
    struct {
        double bytes_per_us, instructions_per_us;
        double latency_us; /* for each instruction of a row, where rows are too few to hide it */
    } rtopk;
    struct {
        double read_bytes_per_us;  /* where a threshold leaves elements out */
        double moved_bytes_per_us; /* by passes: read and written */
        double pass_us;            /* besides moving */
        double filtered_per_us;    /* elements that are compared with a threshold */
        double list_bytes_per_us;  /* of what other methods have found, read and written by all passes */
        double ranked_per_us;      /* elements in a pass of blocks with a row each */
        double row_us;             /* of all multiprocessors, for each of these rows */
        double block_pass_us;      /* such a pass, however few the rows are, and for each element of a row */
        double element_us;
    } sort;
};

#ifdef TOPK_TUNABLE /* for bench/tune.py */
__attribute__((visibility("default"))) extern struct cuda_costs topk_cuda_costs;
#else
extern const struct cuda_costs topk_cuda_costs;
#endif

#endif
