/* SPDX-License-Identifier: Apache-2.0 */
#include "points/grids.h"

/* The data of the figures of the AIR paper: uniform in (0, 1], normal, and its adversary. */
#define AIR_DATA "uniform,normal,prefix20"
#define AIR_OPTIONS [BENCH_ORDER] = "any", [BENCH_TIES] = "any", [BENCH_METHOD] = "air"
#define EVERY_TYPE "f16,bf16,f32,f64,i8,i16,i32,i64,u8,u16,u32,u64"

#define N_FROM_15 "2^15,2^16,2^17,2^18,2^19,2^20,2^21,2^22,2^23,2^24,2^25,2^26,2^27,2^28"
#define N_FROM_11 "2^11,2^12,2^13,2^14," N_FROM_15
#define K_TO_15 "2^3,2^4,2^5,2^6,2^7,2^8,2^9,2^10,2^11,2^12,2^13,2^14,2^15"

const bench_grid bench_gpu_grids[] = {
    {"select",
     TOPK_OPERATION_SELECT,
     {[BENCH_DIST] = "uniform,normal",
      [BENCH_N] = "2^20,2^23,2^26,2^30",
      [BENCH_K] = "10,1000,n/256,n/100",
      [BENCH_ORDER] = "best,any"}},
    {"sizes",
     TOPK_OPERATION_SELECT,
     {[BENCH_N] = "2^10,2^12,2^14,2^16,2^18,2^20,2^22,2^24,2^26,2^28,2^30", [BENCH_K] = "32"}},
    {"data", TOPK_OPERATION_SELECT, {[BENCH_DIST] = EVERY_DISTRIBUTION, [BENCH_N] = "2^25"}},
    {"data", TOPK_OPERATION_SELECT, {[BENCH_TYPE] = EVERY_TYPE, [BENCH_N] = "2^25"}},
    {"rows",
     TOPK_OPERATION_SELECT,
     {[BENCH_ROWS] = "2^4,2^8,2^12,2^16,2^20", [BENCH_N] = "256,1024", [BENCH_K] = "8,32"}},
    {"rows",
     TOPK_OPERATION_SELECT,
     {[BENCH_ROWS] = "1,4,16,64,256,1024", [BENCH_N] = "131072", [BENCH_K] = "50,2048"}},
    {"large-k",
     TOPK_OPERATION_SELECT,
     {[BENCH_N] = "2^24", [BENCH_K] = "n/16,n/4,n/2,n", [BENCH_ORDER] = "best,any"}},
    {"kth",
     TOPK_OPERATION_KTH,
     {[BENCH_DIST] = "uniform,normal", [BENCH_N] = "2^20,2^26,2^30", [BENCH_K] = "1000,n/100,n/2"}},

    /* Time over k. */
    {"air-fig6",
     TOPK_OPERATION_SELECT,
     {AIR_OPTIONS, [BENCH_DIST] = AIR_DATA, [BENCH_N] = "2^15", [BENCH_K] = K_TO_15}},
    {"air-fig6",
     TOPK_OPERATION_SELECT,
     {AIR_OPTIONS, [BENCH_DIST] = AIR_DATA, [BENCH_N] = "2^20,2^25,2^30",
      [BENCH_K] = K_TO_15 ",2^16,2^17,2^18,2^19,2^20"}},
    /* Time over n, for one row and for a hundred; what the memory cannot hold is skipped. */
    {"air-fig7",
     TOPK_OPERATION_SELECT,
     {AIR_OPTIONS, [BENCH_DIST] = AIR_DATA, [BENCH_ROWS] = "1", [BENCH_N] = N_FROM_11 ",2^29,2^30",
      [BENCH_K] = "32,256"}},
    {"air-fig7",
     TOPK_OPERATION_SELECT,
     {AIR_OPTIONS, [BENCH_DIST] = AIR_DATA, [BENCH_ROWS] = "1", [BENCH_N] = N_FROM_15 ",2^29,2^30",
      [BENCH_K] = "32768"}},
    {"air-fig7",
     TOPK_OPERATION_SELECT,
     {AIR_OPTIONS, [BENCH_DIST] = AIR_DATA, [BENCH_ROWS] = "100", [BENCH_N] = N_FROM_11,
      [BENCH_K] = "32,256"}},
    {"air-fig7",
     TOPK_OPERATION_SELECT,
     {AIR_OPTIONS, [BENCH_DIST] = AIR_DATA, [BENCH_ROWS] = "100", [BENCH_N] = N_FROM_15,
      [BENCH_K] = "32768"}},
    /* Adaptive buffering, against data whose first bits are equal. */
    {"air-fig9",
     TOPK_OPERATION_SELECT,
     {AIR_OPTIONS, [BENCH_DIST] = "prefix10,prefix20,uniform,normal",
      [BENCH_N] = "2^20,2^22,2^24,2^26,2^28,2^30", [BENCH_K] = "2048",
      [BENCH_TUNING] = "adaptive=1,adaptive=0"}},
    /* When candidates are buffered: below n / alpha. */
    {"air-alpha",
     TOPK_OPERATION_SELECT,
     {AIR_OPTIONS, [BENCH_DIST] = AIR_DATA ",prefix10", [BENCH_N] = "2^20,2^25,2^30", [BENCH_K] = "2048",
      [BENCH_TUNING] = "alpha=4,alpha=8,alpha=16,alpha=32,alpha=64,alpha=128,alpha=256,alpha=1024,alpha=n"}},
    /* Early stopping; it comes into its own where k takes in all candidates. */
    {"air-fig10",
     TOPK_OPERATION_SELECT,
     {AIR_OPTIONS, [BENCH_DIST] = AIR_DATA, [BENCH_N] = "2^15,2^20,2^25,2^30",
      [BENCH_K] = "256,2048,n/16,n/2,n", [BENCH_TUNING] = "early-stop=1,early-stop=0"}},
    /* To be run under a profiler with --once: what each kernel of the paper's Table 3 attains. */
    {"air-table3",
     TOPK_OPERATION_SELECT,
     {AIR_OPTIONS, [BENCH_DIST] = AIR_DATA, [BENCH_N] = "2^30", [BENCH_K] = "2048"}},

    {"quick",
     TOPK_OPERATION_SELECT,
     {[BENCH_TYPE] = EVERY_TYPE,
      [BENCH_DIST] = EVERY_DISTRIBUTION,
      [BENCH_N] = "5000,2^18",
      [BENCH_K] = "100"}},
    {"quick",
     TOPK_OPERATION_SELECT,
     {[BENCH_DIST] = "normal,tie-heavy",
      [BENCH_N] = "1000",
      [BENCH_ROWS] = "1,3",
      [BENCH_K] = "0,1,n,2^10",
      [BENCH_DIRECTION] = "largest,smallest",
      [BENCH_ORDER] = "best,any",
      [BENCH_TIES] = "lowest,any",
      [BENCH_INDEX] = "i32,i64"}},
    {"quick",
     TOPK_OPERATION_KTH,
     {[BENCH_DIST] = "normal,tie-heavy", [BENCH_N] = "5000", [BENCH_ROWS] = "1,3", [BENCH_K] = "1,100,n"}},
    {"quick",
     TOPK_OPERATION_SELECT,
     {[BENCH_DIST] = "uniform,normal,prefix20,all-equal,relu-quantised",
      [BENCH_N] = "2^20,2^25,2^28",
      [BENCH_K] = "32,2048",
      [BENCH_ORDER] = "best,any"}},
    {"quick",
     TOPK_OPERATION_SELECT,
     {[BENCH_DIST] = "normal", [BENCH_ROWS] = "100", [BENCH_N] = "131072", [BENCH_K] = "256"}},
    {"quick",
     TOPK_OPERATION_SELECT,
     {[BENCH_DIST] = "normal", [BENCH_ROWS] = "65536", [BENCH_N] = "256", [BENCH_K] = "8"}},
};
const int bench_gpu_grid_count = (int)(sizeof bench_gpu_grids / sizeof *bench_gpu_grids);
