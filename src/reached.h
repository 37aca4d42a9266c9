/* SPDX-License-Identifier: Apache-2.0
 * Rare paths that a test must be able to prove it took.
 *
 * In test builds (TOPK_SHRINK) TOPK_REACHED counts a path; everywhere else it is nothing. Kernels have it
 * from simt.cuh: on the emulated GPU it counts, on a real one it is nothing. */
#ifndef TOPK_SRC_REACHED_H
#define TOPK_SRC_REACHED_H

enum topk_reached_path {
    REACHED_ROW_GUESSED,      /* the threshold of the row before serves a short row */
    REACHED_ROW_MISSED,       /* it does not, and a search finds another */
    REACHED_ROW_PLATEAU,      /* more keys equal the k-th than hits may be */
    REACHED_ROW_FEW,          /* few hits are ranked */
    REACHED_ROW_MANY,         /* many are sorted digit by digit */
    REACHED_KEYS_COUNTED,     /* a search counts keys above a threshold */
    REACHED_RANGE_TIGHTENED,  /* a search goes on between the keys that are left */
    REACHED_BRACKET_HELD,     /* the k-th key was above the lower threshold */
    REACHED_BRACKET_PLATEAU,  /* the k-th key was the lower threshold itself */
    REACHED_BRACKET_MISS,     /* too few elements at or above the lower threshold: another attempt */
    REACHED_BRACKET_OVERFLOW, /* more candidates than the pool holds: another attempt */
    REACHED_BRACKET_FALLBACK, /* attempts used up: counting passes over the row */
    REACHED_COUNTING_MISS,    /* the sampled range of a counting pass missed the k-th key */
    REACHED_NO_POOL,          /* the pool exceeds the workspace bound: counting passes from the start */
    REACHED_WHOLE_ROW,        /* k is at least the row's length */
    REACHED_TEAM_SORT,        /* a sort shared by several threads */
    REACHED_FEW_MATCHES,      /* fewer than k elements of a row match */
    REACHED_COUNTING_MATCHES, /* counting passes over the matches of a row */
    REACHED_LARGER_TILE,      /* few candidates were expected: tiles above the least size */
    REACHED_KTH_REVERSED,     /* the k-th is nearer to the worst element, and is counted from there */

    REACHED_SORT_GROUPS, /* not all rows are sorted together */
    REACHED_SORT_LIMIT,  /* the caller's limit makes the groups of rows smaller */
    REACHED_SORT_WIDE,   /* positions have 8 bytes, so that a tile's go through shared memory in two turns */
    REACHED_SORT_NEXT_ROW,  /* a block that counts digits goes on to a row behind the grid's */
    REACHED_SORT_NEXT_LIST, /* a block that sorts rows of its own goes on to another */
    REACHED_TILES_BACK,     /* a tile adds up the counts of several tiles before it */

    REACHED_RADIK_ABOVE,                 /* the k-th is beyond the range that a sample has drawn */
    REACHED_RADIK_BELOW,                 /* it is behind it */
    REACHED_RADIK_FEW_MATCHES,           /* fewer elements match than are wanted */
    REACHED_RADIK_WRITTEN_FROM_BUFFER,   /* results are written from the buffer */
    REACHED_RADIK_MANY,                  /* hits go through the write buffer */
    REACHED_RADIK_FROM_BUFFER,           /* a digit is counted in the buffer */
    REACHED_RADIK_BUFFERED,              /* candidates are buffered */
    REACHED_RADIK_NO_BUFFER,             /* a digit is counted in the input once more */
    REACHED_RADIK_FINISH,                /* the last block finishes a row */
    REACHED_RADIK_FINISH_LEFT,           /* but for its results, which go in order */
    REACHED_RADIK_IN_ORDER,              /* results are written in the order of positions */
    REACHED_RADIK_RANK,                  /* results ranked by several blocks */
    REACHED_RADIK_SORT,                  /* results sorted in one block */
    REACHED_RADIK_SHORT_ROWS,            /* short rows are left to another method */
    REACHED_RADIK_OVERFLOW,              /* more rows and tiles than there is room for */
    REACHED_RADIK_LIMIT_UNBUFFERED,      /* no candidates are buffered, for the limit */
    REACHED_RADIK_LIMIT_DIGIT,           /* shorter digits, for the limit */
    REACHED_RADIK_BEGIN_NEXT_ROW,        /* a block goes on to another row: it begins it */
    REACHED_RADIK_FIRST_NEXT_ROW,        /* in the first pass */
    REACHED_RADIK_NEXT_ROW,              /* in later ones */
    REACHED_RADIK_ORDER_NEXT_ROW,        /* where results go in order */
    REACHED_RADIK_SORT_NEXT_ROW,         /* whose results it sorts */
    REACHED_RADIK_RANK_NEXT_ROW,         /* or ranks */
    REACHED_DRTOPK_BASE_ALONE,           /* too few delegates for k: the base serves alone */
    REACHED_DRTOPK_BOUND,                /* a bound is found in place of the k-th delegate */
    REACHED_DRTOPK_COALESCED,            /* a thread makes the delegates of a subrange */
    REACHED_DRTOPK_TIES,                 /* not all delegates with the key of the k-th are taken */
    REACHED_DRTOPK_SCANNED,              /* all delegates of a subrange are taken */
    REACHED_DRTOPK_THREADS_NEXT_ROW,     /* a block goes on to another row: its threads make delegates */
    REACHED_DRTOPK_WARPS_NEXT_ROW,       /* or its warps */
    REACHED_DRTOPK_LAST_NEXT_ROW,        /* it finds the last delegate */
    REACHED_DRTOPK_CONCATENATE_NEXT_ROW, /* concatenates */
    REACHED_DRTOPK_EQUAL_NEXT_ROW,       /* counts what equals the k-th */
    REACHED_BITONIC_NEXT_ROW,            /* a block goes on to another row */
    REACHED_AIR_LIMIT_UNBUFFERED,        /* the caller's limit leaves no room for buffered candidates */
    REACHED_AIR_LIMIT_ONE_BLOCK,         /* nor for a row that blocks share */
    REACHED_AIR_MEAN_LENGTH,             /* blocks with a row each are made for less than length_max */
    REACHED_AIR_RANK,                    /* few results are ranked by all blocks */
    REACHED_AIR_SORT,                    /* more results are sorted in one block for each row */
    REACHED_AIR_ROW_NEXT,                /* a block with rows of its own goes on to another */
    REACHED_AIR_ROW_AGAIN,               /* its candidates fit shared memory only after more than one digit */
    REACHED_AIR_ROW_LATE,         /* they do after a digit, or once the predicate has sorted them out */
    REACHED_AIR_ROW_NEVER,        /* they never do */
    REACHED_AIR_ROW_IN_ORDER,     /* its first ties are taken in the order of positions */
    REACHED_SELECT_ROW_ALL_FOUND, /* the rest of its tiles need not be read */
    REACHED_AIR_NEXT_ROW,        /* blocks that share rows go on to another row, in a pass behind the first */
    REACHED_AIR_FIRST_NEXT_ROW,  /* in the first pass */
    REACHED_AIR_EXTENT_NEXT_ROW, /* whose extent they find */
    REACHED_AIR_LAST_NEXT_ROW,   /* in the last filter */
    REACHED_AIR_FUSED_NEXT_ROW,  /* in place of it */
    REACHED_AIR_SORT_NEXT_ROW,   /* whose results a block sorts */
    REACHED_AIR_RANK_NEXT_ROW,   /* or blocks rank */
    REACHED_AIR_DECIDED,         /* all candidates are results before the last pass, which writes them */
    REACHED_AIR_DECIDED_LEFT,    /* or leaves them to the last filter, which takes them in order */
    REACHED_AIR_NO_BUFFER,       /* the candidates do not fit the buffer: the input is read again */
    REACHED_AIR_BUFFERED,        /* they are buffered while their next digit is counted */
    REACHED_AIR_FROM_BUFFER,     /* and read from there afterwards */
    REACHED_AIR_LAST_FROM_BUFFER, /* the last filter reads the buffer */
    REACHED_AIR_FINISH,           /* the candidates fit one block, and the last one finishes the row */
    REACHED_AIR_FINISH_LEFT,      /* but for ties in order, which the last filter writes */
    REACHED_AIR_FUSED,            /* the last block of the last pass writes the row */
    REACHED_AIR_LAST_IN_ORDER,    /* the last filter takes ties in the order of positions */
    REACHED_AIR_RARE_TIES,        /* also where they may be any, but are rare */
    REACHED_SELECT_ALL_FOUND,     /* the rest of its tiles need not be read */
    REACHED_SELECT_WARP_STOPS,    /* a warp of the filter stops: all results are found */
    REACHED_SELECT_EMPTIED_QUEUE, /* a warp empties its queue of winners before the end of a row */
    REACHED_SELECT_TIES_KEPT,     /* a few ties are all kept, and the sort chooses */
    REACHED_SELECT_TIES_BEYOND,   /* they are too many for that */
    REACHED_SELECT_CROWDED,       /* a bucket has too many entries: they are merged */
    REACHED_SELECT_COMPARED,      /* for results by position ties are compared */
    REACHED_LOOK_BACK_BUNDLES,    /* look-back adds the sum of a whole bundle of tiles */
    REACHED_COMPACT_UNITS,        /* rows overlap so much that a unit has several tiles */
    REACHED_COMPACT_SEVERAL_ROWS, /* a tile has parts of several rows */
    REACHED_COMPACT_CAPACITY,     /* the outputs have no room for all hits */
    REACHED_COMPACT_LONG_ROWS,    /* dense rows are longer than a tile */
    REACHED_COMPACT_MASK_COPIED,  /* words of a mask cannot be written where they belong */
    REACHED_COMPACT_SHARED_WORD,  /* two parts of rows share a word of the mask */
    REACHED_COMPACT_NO_ELEMENTS,  /* no row has any element */
    REACHED_COMPACT_PHASES,       /* where, as published */
    REACHED_COMPACT_FEW,          /* lanes write their own hits, which are few */

    REACHED_RESIDENT_OVERFLOW,    /* a sample's bound lets more pass than the list has room for */
    REACHED_RESIDENT_TIGHTENED,   /* the bounds of a search are moved to codes of the row */
    REACHED_RESIDENT_THIRDS,      /* guessing did not end a search */
    REACHED_RESIDENT_TIES,        /* the first of many ties are results */
    REACHED_RESIDENT_SORTED,      /* entries are too many to be ranked */
    REACHED_RESIDENT_FEW_MATCHES, /* matches are few, or all of them results: none is searched */
    REACHED_RESIDENT_NEXT_ROW,    /* a block goes on to another row */

    /* Where a cluster holds a row: */
    REACHED_RESIDENT_CLUSTER_OVERFLOW, /* a sample's bound lets more pass than the list has room for */
    REACHED_RESIDENT_CLUSTER_TIES,     /* the first of many ties are results */
    REACHED_RESIDENT_CLUSTER_SORTED,   /* entries are too many to be ranked, in its first block */
    REACHED_RESIDENT_CLUSTER_NEXT_ROW, /* it goes on to another row */
    REACHED_RESIDENT_STREAM_TIES, /* of a streamed row all hits are results, and some ties with the bound */
    REACHED_RESIDENT_STREAM_WAY_OUT,  /* its bound misled, and it is read again */
    REACHED_RESIDENT_STREAM_NEXT_ROW, /* its team goes on to another row */

    REACHED_BRACKET_GPU_FINER,            /* a sample is ranked in finer bins */
    REACHED_BRACKET_GPU_PAGES,            /* a block's list has several pages */
    REACHED_BRACKET_GPU_OVERFLOW,         /* more reach the threshold than a block lists */
    REACHED_BRACKET_GPU_AGAIN,            /* a row is read again, from a threshold that counts have raised */
    REACHED_BRACKET_GPU_MISSED,           /* fewer than k elements reach the threshold */
    REACHED_BRACKET_GPU_UNEVEN,           /* blocks go to rows by their lengths */
    REACHED_BRACKET_GPU_PAIR_MISSED,      /* the k-th element is not between a pair of thresholds */
    REACHED_BRACKET_GPU_PAIR_WIDENED,     /* nor in that of a larger sample */
    REACHED_BRACKET_GPU_PAIR_CLOSER,      /* a pair of thresholds comes closer, for another read */
    REACHED_BRACKET_GPU_WAY_OUT,          /* rows that blocks share are narrowed digit by digit */
    REACHED_BRACKET_GPU_WAY_OUT_ALONE,    /* the same, of a row that a block has to itself */
    REACHED_BRACKET_GPU_POSITIONS,        /* digits of positions tell which of many ties are results */
    REACHED_BRACKET_GPU_FEW_MATCHES,      /* fewer than k elements of a row match */
    REACHED_BRACKET_GPU_ENOUGH_TIES,      /* a block has listed enough of a plateau */
    REACHED_BRACKET_GPU_MASK_READ,        /* all of a mask is read, with the row */
    REACHED_BRACKET_GPU_COUNTED,          /* the k-th class is a plateau, which has been counted */
    REACHED_BRACKET_GPU_FIRST_TIES,       /* the first elements of a plateau are results */
    REACHED_BRACKET_GPU_TIES_FURTHER,     /* and lie further on than was expected */
    REACHED_BRACKET_GPU_CUT,              /* the bin of the k-th candidate is crowded, and cut into bins */
    REACHED_BRACKET_GPU_CUT_BY_POSITIONS, /* the same, of candidates that tie */
    REACHED_BRACKET_GPU_ONE_CLASS,        /* the bin of the k-th candidate is crowded, by ties alone */
    REACHED_BRACKET_GPU_SORTED_TWICE,     /* results by position are sorted best first before */
    REACHED_BRACKET_GPU_NEXT_ROW,         /* a block goes on to another row */

    REACHED_GRIDSELECT_SECOND_STEP, /* entries find no room before a queue is merged */
    REACHED_GRIDSELECT_NONE_FRESH,  /* a queue of entries that are no longer wanted */
    REACHED_GRIDSELECT_LAST,        /* the last block of a row selects from all blocks' lists */
    REACHED_GRIDSELECT_NEXT_ROW,    /* a block goes on to another row */
    REACHED_GRIDSELECT_OPENED,      /* lanes of a warp with a row of its own push an element each first */
    REACHED_GRIDSELECT_TOO_FEW,     /* and too few come before the one that these elements told */
    REACHED_GRIDSELECT_ROW_EDGES,   /* such a row has elements before or behind what a bulk copy brings */
    REACHED_GRIDSELECT_WARP_NEXT,   /* a warp goes on to another row */

    REACHED_SELECT_SINGLE_LOADS,        /* elements of a misaligned row are read one by one, to fit */
    REACHED_RTOPK_BISECTION,            /* guessing did not end a search */
    REACHED_RTOPK_SURPLUS_TIES,         /* more elements tie with the k-th than are results */
    REACHED_RTOPK_PAIRS,                /* a lane sorts two entries */
    REACHED_RTOPK_NEAR,                 /* keys of entries differ in few bits */
    REACHED_RTOPK_MANY,                 /* entries are sorted in shared memory */
    REACHED_RTOPK_NETWORK_TIES,         /* more elements reach the threshold than are results */
    REACHED_RTOPK_NETWORK_COUNTED,      /* a list was too short, so the warp counts */
    REACHED_RTOPK_NETWORK_EXCHANGED,    /* two results that words had put in the wrong order */
    REACHED_RTOPK_COUNTS_TIGHTENED,     /* a bound of a search by counting moves to a lead */
    REACHED_RTOPK_COUNTS_HALVED,        /* guessing did not end a search by counting */
    REACHED_RTOPK_NETWORK_MISSING,      /* a row whose leads do not tell its results */
    REACHED_RTOPK_CANDIDATES_TIED,      /* too many candidates: most are ties */
    REACHED_RTOPK_CANDIDATES_OPEN,      /* candidates do not tell a row's results */
    REACHED_RTOPK_NO_MATCH,             /* no element of a row matches */
    REACHED_RTOPK_NEXT_ROW,             /* a warp goes on to another row */
    REACHED_RTOPK_UNEVEN_NEXT_ROW,      /* of rows of different lengths */
    REACHED_RTOPK_WHERE_NEXT_ROW,       /* with a predicate */
    REACHED_RTOPK_APPROXIMATE_NEXT_ROW, /* a team goes on to another approximate row */
    REACHED_RTOPK_TINY_NEXT_ROWS,       /* lanes go on to other rows of few elements */
    REACHED_RTOPK_FEWER,           /* a step of epsilon finds fewer than k numbers at or above its midpoint */
    REACHED_RTOPK_BY_THREADS,      /* threads that have a number at or above a midpoint are more than k */
    REACHED_RTOPK_WINNERS,         /* results of an approximation that the threshold alone does not tell */
    REACHED_RTOPK_NOT_FINITE,      /* infinities or NaN in an approximate row */
    REACHED_RTOPK_KTH_NOT_FINITE,  /* among them the k-th element */
    REACHED_RTOPK_PART_NUMBERS,    /* results are listed with their numbers */
    REACHED_RTOPK_PART_NOT_FINITE, /* a row of a part that has infinities or NaN */
    REACHED_RTOPK_PART_KTH_NOT_FINITE, /* whose k-th element is none */
    REACHED_RTOPK_LISTED,              /* so many results that their list of positions is sorted itself */

    REACHED_ROUTE_PLAIN,        /* rows are full, aligned and chosen by logits alone */
    REACHED_ROUTE_SINGLE_LOADS, /* a row is not aligned, or ends within 16 bytes */
    REACHED_ROUTE_GROUPS,       /* groups are chosen in registers */
    REACHED_ROUTE_EQUAL_GROUPS, /* which go by their numbers */
    REACHED_ROUTE_UNCERTAIN,    /* two of them are too near to each other for that */
    REACHED_ROUTE_WAY_OUT,      /* rows are chosen from exact keys of all experts */
    REACHED_ROUTE_TIES,         /* candidates are ranked by expert, too */
    REACHED_ROUTE_AHEAD,        /* the next rows are loaded while these are served */
    REACHED_ROUTE_NEXT_ROW,     /* a warp goes on to other rows */

    REACHED_ACCUMULATE_LEFT,           /* a chunk without a bar that the list has no room for */
    REACHED_ACCUMULATE_OVERFLOW,       /* more of a chunk passes the bar than there is room for */
    REACHED_ACCUMULATE_BEYOND,         /* more of it than blocks hold back */
    REACHED_ACCUMULATE_WAITED,         /* the best of a chunk become candidates */
    REACHED_ACCUMULATE_WAY_OUT,        /* blocks find the best of a chunk digit by digit */
    REACHED_ACCUMULATE_SAMPLED,        /* about the k-th of a sample tells what to list */
    REACHED_ACCUMULATE_MISSED,         /* which was too little or too much */
    REACHED_ACCUMULATE_PLATEAU,        /* of many ties in it, the first by position */
    REACHED_ACCUMULATE_FEW_MATCHES,    /* all that match are listed */
    REACHED_ACCUMULATE_CARRIED,        /* the payload of what a selection found is copied */
    REACHED_ACCUMULATE_ABOVE,          /* nothing can pass a bar */
    REACHED_ACCUMULATE_SETTLED,        /* the best candidates of a row stay */
    REACHED_ACCUMULATE_FULL,           /* because there is no more room */
    REACHED_ACCUMULATE_TIES,           /* elements tie with the k-th, and the first by position stay */
    REACHED_ACCUMULATE_REFILLED,       /* the list is full before another state's candidates are all there */
    REACHED_ACCUMULATE_NEXT_ROW,       /* a block goes on to another row */
    REACHED_ACCUMULATE_MERGE_NEXT_ROW, /* the same, where states are merged */
    REACHED_ACCUMULATE_BROKEN,         /* a call finds its state in no state for it */
    REACHED_PATHS
};

#ifdef TOPK_SHRINK
#ifdef __cplusplus
extern "C" {
#endif
extern const char *const topk_reached_names[];
extern unsigned long topk_reached_counts[];
extern const int topk_reached_total;
#ifdef __cplusplus
}
#endif
#define TOPK_REACHED(path) ((void)__atomic_fetch_add(&topk_reached_counts[path], 1, __ATOMIC_RELAXED))
#else
#define TOPK_REACHED(path) ((void)0)
#endif

#endif
