/* SPDX-License-Identifier: Apache-2.0
 * Internal sizes of the CPU backend. TOPK_SHRINK makes them tiny, so that tests reach every
 * boundary and every way out of a full buffer with small inputs. */
#ifndef TOPK_SRC_CPU_SIZES_H
#define TOPK_SRC_CPU_SIZES_H

enum {
    /* Elements are masked in words of 64; all tiles are multiples of it. */
    WORD = 64,
    /* How far ahead of its use a row is fetched. */
    PREFETCH_BYTES = 8192,
    /* Samples are taken in runs of neighbours, which cost one cache miss together; and runs that are
     * fetched before they are used. */
    SAMPLE_GROUP = 4,
    RUNS_AHEAD = 32,
    /* Rows of up to this length are sorted whole, by comparing all with each other: a few vectors. */
    FEW_KEYS = 16,
    /* More hits than this are cut off by a bisection where they need no order. */
    CUT_MIN = WORD + WORD / 2,
    /* So few elements are compared one by one, with each other and with a predicate. */
    RANKED_KEYS = 4,
    /* Rows of at least this length are searched from the worst element where the k-th is nearer to it;
     * for shorter ones that takes longer to prepare than it saves. */
    REVERSED_ROW_MIN = 32,
    /* Bins of one counting pass over keys. */
    HISTOGRAM_BINS = 2048,
    /* Tables that count digits side by side. */
    DIGIT_TABLES = 4,
    /* Bytes of a cache line. */
    LINE = 64,
    /* Threads that sort one row; each has buffers as large as its cache. */
    SORT_THREADS_MAX = 64,
    /* The longest rows of the method rtopk: CONTRACT.md, section 9. */
    RTOPK_ROW_MAX = 8192,
#ifdef TOPK_SHRINK
    LIST_SPARE_MIN = 1,
    TILE_KEYS = 24,
    LISTS_IN_CACHE_BYTES = 4096,
    SHORT_ROW_MAX = 128,
    DIGIT_BITS_MAX = 2,
    INSERTED_MAX = 3,
    LISTED_MIN = 24,
    PREFIXES = 64,
    BUCKETS_MAX = 16,
    HANDED_AT_ONCE = 8,
    STUB_HITS_MIN = 12,
    AT_ONCE_MAX = 100,
    IN_CACHE_MAX = 16,
    BUCKET_ENTRIES = 24,
    BUCKETS_FEW = 6,
    LARGE_BUCKET_ENTRIES = 48,
    LARGE_IN_CACHE_MAX = 64,
    COLLECTED_MIN = 200,
    BATCH_ELEMENTS = 256,
    TILE = 128,
    TILE_MAX = 256,
    TILE_CANDIDATES = 16,
    UNIT = 128,
    UNIT_MIN = 64,
    SAMPLES_MIN = 8,
    SAMPLES_MAX = 32,
    POOL_SLACK = 16,
    POOL_SHARE = 64,
    BISECT_MAX = 64,
    COUNTING_SAMPLES = 64,
    COUNTING_DEVIATIONS = 0,
    TEAM_ELEMENTS_MIN = 256,
    TEAM_ROW_MIN = 512,
    SPLIT_ROW_MIN = 1024,
#else
    /* Candidates that a group's list has room for beside the best, at least. */
    LIST_SPARE_MIN = 16,
    /* Elements whose keys are made at once, before each is compared with what its group needs. */
    TILE_KEYS = 1 << 10,
    /* Lists of a thread that stay in its second-level cache, mostly. */
    LISTS_IN_CACHE_BYTES = 1 << 22,
    /* Rows up to this length are selected from keys in the L1 cache. */
    SHORT_ROW_MAX = 4096,
    /* Bits of a digit that stubs are sorted by: two tables of counters that stay in the first-level cache.
     */
    DIGIT_BITS_MAX = 11,
    /* Stubs that are sorted by insertion, each behind those before it. */
    INSERTED_MAX = 16,
    /* From this many results on, a long row deals them to buckets and sorts these; fewer are sorted as in
       short rows. */
    LISTED_MIN = 2048,
    /* Prefixes by which results are counted, so that buckets come out even. */
    PREFIXES = 1 << 14,
    /* Buckets that results are dealt to. */
    BUCKETS_MAX = 1 << 11,
    /* Entries that are copied from a bucket, decoded and written together. */
    HANDED_AT_ONCE = 1 << 9,
    /* From this many on, hits of a short row are sorted by stubs; fewer are ranked. */
    STUB_HITS_MIN = 80,
    /* Results that one thread sorts at once, without buckets: two arrays of entries in the outer caches. */
    AT_ONCE_MAX = 1 << 17,
    /* Entries that a thread sorts in its second-level cache. */
    IN_CACHE_MAX = 1 << 14,
    /* Entries that a bucket should have at least. */
    BUCKET_ENTRIES = 1 << 13,
    /* Dealing to more buckets than this costs more, for each has a page of its own under way. So from then on
     * buckets grow up to LARGE_BUCKET_ENTRIES, and only then become more; and a thread sorts up to
     * LARGE_IN_CACHE_MAX entries at once. */
    BUCKETS_FEW = 1 << 9,
    LARGE_BUCKET_ENTRIES = 1 << 15,
    LARGE_IN_CACHE_MAX = 1 << 16,
    /* Entries that are dealt line by line; fewer stay in the caches. */
    COLLECTED_MIN = 1 << 26,
    /* Elements of short rows that a thread takes on at once. */
    BATCH_ELEMENTS = 1 << 16,
    /* Elements whose masks are made before any is moved: 8 Ki f32 stay in the first cache levels. Where few
     * candidates are expected a tile grows, up to TILE_MAX, until it holds TILE_CANDIDATES of them. */
    TILE = 1 << 13,
    TILE_MAX = 1 << 17,
    TILE_CANDIDATES = 128,
    /* Elements that topk_where masks before it takes slots for their results: the more, the longer
     * memory is read without a pause, but each thread should get a few units. */
    UNIT = 1 << 17,
    UNIT_MIN = 1 << 12,
    SAMPLES_MIN = 256,
    SAMPLES_MAX = 1 << 15,
    /* Slots in the pool beyond k: one for POOL_SHARE elements, and POOL_SLACK. */
    POOL_SLACK = 1 << 15,
    POOL_SHARE = 64,
    /* Bisection finds the k-th of up to this many keys in cache faster than counting passes. */
    BISECT_MAX = 1 << 15,
    /* Samples that tell counting passes where to look, at most BISECT_MAX; and how many standard
     * deviations around the k-th's rank among them. */
    COUNTING_SAMPLES = 1 << 12,
    COUNTING_DEVIATIONS = 4,
    /* Work for less than this many elements is not worth a second thread. */
    TEAM_ELEMENTS_MIN = 1 << 15,
    /* A row of at least this length is shared by the team if there are fewer rows than threads;
     * a row of at least SPLIT_ROW_MIN always is. */
    TEAM_ROW_MIN = 1 << 16,
    SPLIT_ROW_MIN = 1 << 20,
#endif
};

/* Numbers of 64 bits that hold a line for each bucket. */
enum { LINE_NUMBERS = LINE / 8, BUCKET_LINES = BUCKETS_MAX * LINE_NUMBERS };

/* Rows longer than this have positions of 8 bytes. */
#ifdef TOPK_SHRINK
#define WIDE_ROW 5000
#else
#define WIDE_ROW ((int64_t)1 << 32)
#endif

#endif
