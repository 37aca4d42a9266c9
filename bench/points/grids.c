/* SPDX-License-Identifier: Apache-2.0 */
#include "points/suites.h"

/* The data of the figures of the AIR paper: uniform in (0, 1], normal, and its adversary. */
#define AIR_DATA "uniform,normal,prefix20"
#define AIR "order=any ties=any method=air "
#define COMPARED "order=any ties=any dist=" AIR_DATA " method=air,gridselect,bitonic,bucket "
#define RADIK "order=any ties=any method=radik "
#define RADIK_AND_AIR "method=auto,radik,air "
#define DRTOPK "select order=any ties=any type=u32 "
#define SMALLEST "select order=any ties=any direction=smallest "
#define DRTOPK_K "n=2^30 k=1,2^5,2^10,2^13,2^16,2^20,2^24 "
#define DRTOPK_N "n=2^20,2^22,2^24,2^26,2^28,2^30 "
#define EXPONENTS                                                                                            \
    "none,exponent=5,exponent=6,exponent=7,exponent=8,exponent=9,exponent=10,exponent=11,exponent=12,"       \
    "exponent=13,exponent=14,exponent=15"
#define EXPONENTS_WITH(KNOB)                                                                                 \
    KNOB "," KNOB "+exponent=6," KNOB "+exponent=7," KNOB "+exponent=8," KNOB "+exponent=9," KNOB            \
         "+exponent=10," KNOB "+exponent=11," KNOB "+exponent=12," KNOB "+exponent=13," KNOB                 \
         "+exponent=14," KNOB "+exponent=15"
#define RADIK_N "n=2^21,2^23,2^25,2^27,2^29 "
#define GRIDSELECT "order=any ties=any method=gridselect "
#define ANY "select order=any ties=any "
#define MANY_TYPES "f8_e4m3,f8_e5m2,f16,bf16,f32,f64,i32,u32,i64,u64,u8"
#define ROW_DATA "uniform,normal,outlier,all-equal,sorted,cluster128"
#define EVERY_TYPE MANY_TYPES ",i8,i16,u16"
#define EVERY_DISTRIBUTION                                                                                   \
    "uniform,normal,normal-1e8,cd,prefix10,prefix20,cluster,narrow,zipf,softmax,quantised,relu-quantised,"   \
    "tie-heavy,pivot-tie,all-equal"

#define N_FROM_15 "2^15,2^16,2^17,2^18,2^19,2^20,2^21,2^22,2^23,2^24,2^25,2^26,2^27,2^28"
#define N_FROM_11 "2^11,2^12,2^13,2^14," N_FROM_15
#define N_FROM_10_TO_30 "2^10,2^12,2^14,2^16,2^18,2^20,2^22,2^24,2^26,2^28,2^30"
#define K_TO_15 "2^3,2^4,2^5,2^6,2^7,2^8,2^9,2^10,2^11,2^12,2^13,2^14,2^15"
#define N_BY_4 "2^15,2^17,2^19,2^21,2^23"
#define K_BY_4 "2^3,2^5,2^7,2^9,2^11,2^13,2^15"

const bench_grid bench_grids[] = {
    {"cpu", "select", "select dist=uniform,normal k=10,1000,10^5,n/100 order=best,any"},
    {"cpu", "select", "select dist=all-equal,relu-quantised k=10,1000,10^5"},
    {"cpu", "sizes", "select n=2^10,2^12,2^14,2^16,2^18,2^20,2^22,2^24,2^26 k=32"},
    {"cpu", "data", "select dist=" EVERY_DISTRIBUTION " n=2^24"},
    {"cpu", "data", "select type=f8_e4m3,f8_e5m2,f16,bf16,f64,i32,u32,i64,u8 n=2^24"},
    {"cpu", "rows", "select rows=65536 n=256 k=32"},
    {"cpu", "rows", "select rows=64 n=131072 k=50,2048"},
    {"cpu", "rows", "select rows=10^6 n=64 k=8"},
    {"cpu", "rows", "select rows=1024 n=8192 k=64"},
    {"cpu cuda", "air-fig13",
     "select dist=distances direction=smallest rows=1000 n=2^11,2^12,2^13,2^14,2^15,2^16,2^17,2^18,2^19 "
     "k=10,100"},
    {"cpu cuda", "large-k", "select n=2^24 k=n/16,n/4,n/2,n order=best,any"},
    /* What order costs, with --order any --ties any for the other half: results beyond one block. */
    {"cuda", "sorted", "select dist=uniform n=2^15 k=5000,10^4"},
    {"cuda", "sorted", "select dist=uniform n=2^17 k=2^13,2^14,2^15,2^16"},
    {"cuda", "sorted", "select dist=uniform n=2^20 k=4096,10^4,20000,2^16,460855"},
    {"cuda", "sorted", "select dist=uniform n=2^24 k=4096,10^4,20000,2^16,2^20,n/2"},
    {"cuda", "sorted", "select dist=uniform n=2^28 k=4096,10^4,20000,68000,2^20,2^24,n/2"},
    {"cuda", "sorted", "select dist=uniform rows=16 n=2^20 k=5000,10^4,20000"},
    {"cuda", "sorted", "select dist=uniform rows=100 n=2^17 k=5000,10^4,20000"},
    {"cuda", "sorted", "select dist=uniform type=bf16,i64 n=2^20 k=10^4"},
    {"cuda", "sorted", "select dist=uniform type=bf16 n=2^28 k=10085"},
    {"cuda", "sorted", "select dist=uniform type=u8 n=2^28 k=10^6"},
    {"cpu", "kth", "kth dist=uniform,normal k=1000,n/100,n/2"},
    {"cpu", "where", "where keep=1,10,50,90"},
    /* With --threads 2: an accumulator gets 64 MiB at a time, or far fewer elements than it keeps. */
    {"cpu", "stream", "select dist=uniform,normal,sorted,all-equal n=2^28 k=1,1000,10^5 chunk=2^24,0"},
    {"cpu", "stream", "select dist=uniform,sorted,all-equal n=2^24 k=100,10^5 chunk=16,256,4096,2^16"},
    {"cpu", "stream", "select dist=uniform rows=2^8,2^12 n=2^14 k=32 chunk=16,256"},
    {"cuda", "stream",
     "select dist=uniform,normal,sorted,all-equal n=2^32 k=1,1000,10^5 chunk=2^24 index=i64"},
    {"cuda", "stream", "select type=u8,f16,f64 n=2^30 k=1000 chunk=2^24"},
    {"cuda", "stream", "select dist=uniform,sorted n=2^28 k=100,1000,10^5 chunk=2^18,2^20,2^22,2^24"},
    {"cuda", "stream", "select dist=uniform rows=2^8,2^12 n=2^14 k=32 chunk=256,1024"},
    {"cpu", "quick",
     "select dist=normal,tie-heavy,sorted n=10^4 rows=1,3 k=1,100,5000 chunk=1,64,1000,10^4 index=i32,i64"},
    {"cuda", "quick",
     "select dist=normal,tie-heavy,sorted n=10^4 rows=1,3 k=1,100,5000 chunk=64,1000,10^4 index=i32,i64"},
    {"cuda", "quick", "select type=" MANY_TYPES " dist=normal,tie-heavy n=2^20 k=1000 chunk=2^16"},
    {"cpu", "quick", "select type=" MANY_TYPES " dist=" EVERY_DISTRIBUTION " n=5000 k=100"},
    {"cpu cuda", "quick",
     "select dist=normal,tie-heavy n=1000 rows=1,3 k=0,1,n,2^10 direction=largest,smallest order=best,any "
     "ties=lowest,any index=i32,i64"},
    {"cpu cuda", "quick", "kth dist=normal,tie-heavy n=5000 rows=1,3 k=1,100,n"},
    {"cpu cuda", "quick", "select type=f16,f32,u32 dist=degrees,scores n=5000 k=100"},
    /* With --threads 2. */
    {"cpu", "rtopk-cpu", "select type=f8_e4m3,f16,bf16,f32,f64,i8,u8,u16,i32,i64 rows=65536 n=256 k=32"},
    {"cpu", "rtopk-cpu", "select dist=normal rows=65536 n=256 k=32 order=best,any max-iterations=2,4,8"},
    {"cpu", "rtopk-cpu", "select dist=normal rows=65536 n=256 k=32 order=best,any epsilon=1e-4,1e-16"},
    {"cpu cuda", "quick",
     "select type=f16,bf16,f32,f64 dist=normal,outlier,sorted,all-equal n=300 rows=1,5 k=0,1,30,n,301 "
     "order=best,any direction=largest,smallest max-iterations=0,1,4"},
    {"cpu cuda", "quick",
     "select dist=normal,cluster128 n=1000 rows=3 k=100 order=best,any epsilon=1e-4,1e-2"},
    {"cpu cuda", "quick", "select dist=normal n=1000 rows=3 k=100 order=best,any epsilon-relative=1e-4,1e-2"},
    {"cpu", "quick", "where type=" MANY_TYPES " n=5000 rows=1,3 keep=0,10,90 index=i32,i64"},

    {"cuda", "select",
     "select dist=uniform,normal n=2^20,2^23,2^26,2^30 k=10,1000,n/256,n/100 order=best,any"},
    {"cuda", "sizes", "select n=" N_FROM_10_TO_30 " k=32"},
    {"cuda", "data", "select dist=" EVERY_DISTRIBUTION " n=2^25"},
    {"cuda", "data", "select type=" EVERY_TYPE " n=2^25"},
    {"cuda", "rows", "select rows=2^4,2^8,2^12,2^16,2^20 n=256,1024 k=8,32"},
    {"cuda", "rows", "select rows=1,4,16,64,256,1024 n=131072 k=50,2048"},
    /* What the promises of order and ties cost. */
    {"cuda", "promises",
     "select dist=" EVERY_DISTRIBUTION
     " n=2^20,2^23,2^25,2^28 k=32,2048,2^15 order=best,any ties=lowest,any"},
    {"cuda", "promises", "select type=u8,f16,f64 n=2^25,2^28 k=32,2048,2^15 order=best,any ties=lowest,any"},
    {"cuda", "kth", "kth dist=uniform,normal n=2^20,2^26,2^30 k=1000,n/100,n/2"},
    /* Time over k. */
    {"cuda", "air-fig6", "select " AIR "dist=" AIR_DATA " n=2^15 k=" K_TO_15},
    {"cuda", "air-fig6",
     "select " AIR "dist=" AIR_DATA " n=2^20,2^25,2^30 k=" K_TO_15 ",2^16,2^17,2^18,2^19,2^20"},
    /* Time over n, for one row and for a hundred; what the memory cannot hold is skipped. */
    {"cuda", "air-fig7", "select " AIR "dist=" AIR_DATA " rows=1 n=" N_FROM_11 ",2^29,2^30 k=32,256"},
    {"cuda", "air-fig7", "select " AIR "dist=" AIR_DATA " rows=1 n=" N_FROM_15 ",2^29,2^30 k=32768"},
    {"cuda", "air-fig7", "select " AIR "dist=" AIR_DATA " rows=100 n=" N_FROM_11 " k=32,256"},
    {"cuda", "air-fig7", "select " AIR "dist=" AIR_DATA " rows=100 n=" N_FROM_15 " k=32768"},
    /* With --rivals: the paper's ten methods at fewer points of these figures, in four to five minutes. */
    {"cuda", "compare-k", "select " COMPARED "n=2^15 k=" K_BY_4},
    {"cuda", "compare-k", "select " COMPARED "n=2^20,2^25 k=" K_BY_4 ",2^17,2^20"},
    {"cuda", "compare-k", "select " COMPARED "n=2^30 k=2^3,2^11,2^13,2^15,2^17,2^20"},
    {"cuda", "compare-n", "select " COMPARED "rows=1 n=2^11,2^13," N_BY_4 ",2^25,2^27,2^30 k=32,256"},
    {"cuda", "compare-n", "select " COMPARED "rows=1 n=" N_BY_4 ",2^25,2^27,2^30 k=32768"},
    {"cuda", "compare-n", "select " COMPARED "rows=100 n=2^11,2^13," N_BY_4 " k=32,256"},
    {"cuda", "compare-n", "select " COMPARED "rows=100 n=" N_BY_4 " k=32768"},
    /* What the host and the device do when, by timeline/timeline.py. */
    {"cuda", "air-fig8", "select " AIR "n=2^23 k=2048"},
    /* Adaptive buffering and the fused last filter, against data whose first bits are equal. */
    {"cuda", "air-fig9",
     "select " AIR "dist=prefix10,prefix20,uniform,normal n=2^20,2^22,2^24,2^26,2^28,2^30 k=2048 "
     "tuning=adaptive_buffering=1,adaptive_buffering=0,adaptive_buffering=1+fused_filter=1,"
     "adaptive_buffering=0+fused_filter=1"},
    /* When candidates are buffered: below n / alpha. */
    {"cuda", "air-alpha",
     "select " AIR "dist=" AIR_DATA ",prefix10 n=2^20,2^25,2^30 k=2048 "
     "tuning=alpha=4,alpha=8,alpha=16,alpha=32,alpha=64,alpha=128,alpha=256,alpha=1024,alpha=n"},
    /* Early stopping; it comes into its own where k takes in all candidates. */
    {"cuda", "air-fig10",
     "select " AIR "dist=" AIR_DATA
     " n=2^15,2^20,2^25,2^30 k=256,2048,n/16,n/2,n tuning=early_stop=1,early_stop=0"},
    /* To be run under a profiler with --once: what each kernel of the paper's Table 3 attains. */
    {"cuda", "air-table3", "select " AIR "dist=" AIR_DATA " n=2^30 k=2048"},
    /* Time over k and over n, one queue for a warp against one for each lane, and the order of tiles. */
    {"cuda", "gridselect-k",
     "select " GRIDSELECT "dist=uniform n=2^15,2^20,2^25,2^28,2^30 k=8,32,128,256,512,1024,2048"},
    {"cuda", "gridselect-n", "select " GRIDSELECT "dist=uniform n=" N_FROM_11 ",2^29,2^30 k=32,256"},
    {"cuda", "gridselect-n", "select " GRIDSELECT "dist=uniform rows=100 n=" N_FROM_11 " k=32,256"},
    {"cuda", "gridselect-queue",
     "select " GRIDSELECT "dist=uniform n=2^20,2^25,2^30 k=32,64,128,256 tuning=queue=1,queue=0"},
    {"cuda", "gridselect-order",
     "select " GRIDSELECT "dist=uniform,sorted n=2^20,2^25,2^28,2^30 k=32,256 tuning=hashed=1,hashed=0"},
    {"cuda", "gridselect-elements",
     "select " GRIDSELECT "dist=uniform n=2^17,2^20,2^23,2^26 k=32,256,2048 "
     "tuning=none,elements=4096,elements=8192,elements=16384,elements=32768,elements=65536"},
    /* With --rivals: GridSelect over BlockSelect, in a minute, as in Table 2 of the AIR paper. */
    {"cuda", "gridselect-rivals", "select " GRIDSELECT "dist=uniform n=2^11,2^15,2^20,2^25 k=8,32,256,1024"},
    {"cuda", "gridselect-rivals", "select " GRIDSELECT "dist=normal,prefix20 n=2^11,2^20,2^25 k=32,256"},
    {"cuda", "gridselect-rivals", "select " GRIDSELECT "dist=uniform n=2^28 k=256"},
    {"cuda", "gridselect-rivals",
     "select " GRIDSELECT "dist=uniform rows=100 n=2^11,2^15,2^18,2^20 k=8,32,256,1024"},
    {"cuda", "gridselect-rivals", "select " GRIDSELECT "dist=normal,prefix20 rows=100 n=2^11,2^20 k=32,256"},
    /* The figures of the RadiK paper: time over n and k, sorted; over k, n and rows; each optimisation alone,
     * without it, and all; a large k; uniform data in narrow ranges, with and without scaling; and skew. */
    {"cuda", "radik-fig9", "select " RADIK_AND_AIR RADIK_N "k=16,64,256,512,1024,2048,4096"},
    {"cuda", "radik-fig11", "select " RADIK_AND_AIR "rows=16 n=2^20 k=16,64,256,512,1024,2048,4096"},
    {"cuda", "radik-fig11", "select " RADIK_AND_AIR "rows=16 n=2^17,2^18,2^19,2^20,2^21,2^22 k=512"},
    {"cuda", "radik-fig11", "select " RADIK_AND_AIR "rows=1,4,16,64,100 n=2^20 k=512"},
    {"cuda", "radik-fig12",
     "select " RADIK "rows=16 n=2^20 lengths=odd k=2048 "
     "tuning=write_buffer=0+rescheduling=0+padding=0+scaling=0,"
     "write_buffer=1+rescheduling=0+padding=0+scaling=0,write_buffer=0+rescheduling=1+padding=0+scaling=0,"
     "write_buffer=0+rescheduling=0+padding=1+scaling=0,write_buffer=0+rescheduling=1+padding=1+scaling=0,"
     "write_buffer=1+rescheduling=0+padding=1+scaling=0,write_buffer=1+rescheduling=1+padding=0+scaling=0,"
     "write_buffer=1+rescheduling=1+padding=1+scaling=0"},
    {"cuda", "radik-fig13", ANY "rows=16 n=2^18,2^20,2^22 k=512,n/100,n/4,n/2 method=radik,auto"},
    {"cuda", "radik-fig14",
     "select " RADIK "dist=cluster,cluster128,uniform " RADIK_N "k=512 tuning=scaling=0,scaling=1"},
    {"cuda", "radik-fig14", ANY "dist=cluster,cluster128,uniform " RADIK_N "k=512 method=auto,air"},
    {"cuda", "radik-fig15", "select " RADIK "dist=zipf-n " RADIK_N "k=512 tuning=scaling=0,scaling=1"},
    {"cuda", "radik-fig15", ANY "dist=zipf-n " RADIK_N "k=512 method=auto,air"},
    {"cuda", "radik-digits",
     "select " RADIK "n=2^20,2^25,2^28 k=512 "
     "tuning=digit_bits=8,digit_bits=9,digit_bits=10,digit_bits=11,digit_bits=12"},
    /* The figures of Dr. Top-k. 4 and 18: time over k, by methods alone and as bases of drtopk. */
    {"cuda", "drtopk-k", DRTOPK "dist=uniform,normal-1e8,cd " DRTOPK_K "method=radix,bucket,auto"},
    {"cuda", "drtopk-k", DRTOPK "dist=uniform,normal-1e8,cd " DRTOPK_K "method=drtopk tuning=none,base=4"},
    {"cuda", "drtopk-k", DRTOPK "dist=uniform,normal-1e8,cd n=2^30 k=1,2^5,2^10 method=bitonic"},
    {"cuda", "drtopk-k", DRTOPK "dist=uniform,normal-1e8,cd n=2^30 k=1,2^5,2^10 method=drtopk tuning=base=5"},
    {"cuda", "drtopk-k", DRTOPK DRTOPK_K "method=air,radik"},
    {"cuda", "drtopk-k", DRTOPK DRTOPK_K "method=drtopk tuning=base=1,base=2"},
    {"cuda", "drtopk-k", DRTOPK "n=2^30 k=1,2^5,2^10 method=gridselect"},
    {"cuda", "drtopk-k", DRTOPK "n=2^30 k=1,2^5,2^10 method=drtopk tuning=base=6"},
    {"cuda", "drtopk-k", DRTOPK DRTOPK_K "method=drtopk tuning=base=3"},
    {"cuda", "drtopk-k", ANY DRTOPK_K "method=drtopk"},
    /* 12, with --rivals: radix in place beside RadixOverwrite. So large a k leaves out the slow rivals. */
    {"cuda", "drtopk-radix", ANY "n=2^30 k=2^12,2^16,2^20,2^24 method=radix"},
    /* 13 and 14: subranges of all sizes beside the rule's. */
    {"cuda", "drtopk-exponent",
     "select order=any ties=any type=u8,u16,u32,u64 n=2^24,2^27,2^30 k=2^5,2^10,2^13,2^16,2^20 method=drtopk "
     "tuning=" EXPONENTS},
    {"cuda", "drtopk-exponent",
     DRTOPK "n=2^27,2^30 k=2^5,2^10,2^16 method=drtopk tuning=" EXPONENTS_WITH("beta=1") "," EXPONENTS_WITH(
         "beta=3") "," EXPONENTS_WITH("beta=4")},
    {"cuda", "drtopk-exponent",
     DRTOPK "n=2^27,2^30 k=2^5,2^10,2^16 method=drtopk tuning=" EXPONENTS_WITH("base=1") "," EXPONENTS_WITH(
         "base=2") "," EXPONENTS_WITH("base=4")},
    {"cuda", "drtopk-exponent",
     DRTOPK
     "n=2^27,2^30 k=2^5,2^10 method=drtopk tuning=" EXPONENTS_WITH("base=5") "," EXPONENTS_WITH("base=6")},
    /* 17: time over n, by methods alone and as bases. */
    {"cuda", "drtopk-n", DRTOPK DRTOPK_N "k=2^5,2^10 method=radix,bucket,bitonic,air,sort"},
    {"cuda", "drtopk-n", DRTOPK DRTOPK_N "k=2^5,2^10 method=drtopk tuning=none,base=4,base=5"},
    /* 19: the paper's data from files, with --data, and stand-ins for them. */
    {"cuda", "drtopk-data",
     DRTOPK "dist=degrees,file n=2^30 k=2^5,2^10,2^16,2^20 method=drtopk tuning=none,base=4"},
    {"cuda", "drtopk-data", DRTOPK "dist=degrees,file n=2^30 k=2^5,2^10,2^16,2^20 method=radix,bucket"},
    {"cuda", "drtopk-data", DRTOPK "dist=degrees,file n=2^30 k=2^5,2^10 method=bitonic"},
    {"cuda", "drtopk-data", DRTOPK "dist=degrees,file n=2^30 k=2^5,2^10 method=drtopk tuning=base=5"},
    {"cuda", "drtopk-data",
     SMALLEST "dist=scores,file n=2^30 k=2^5,2^10,2^16,2^20 method=drtopk tuning=none,base=4"},
    {"cuda", "drtopk-data", SMALLEST "dist=scores,file n=2^30 k=2^5,2^10,2^16,2^20 method=radix,bucket"},
    {"cuda", "drtopk-data", SMALLEST "dist=scores,file n=2^30 k=2^5,2^10 method=bitonic"},
    {"cuda", "drtopk-data", SMALLEST "dist=scores,file n=2^30 k=2^5,2^10 method=drtopk tuning=base=5"},
    /* 6, 7, 9, 10, 15 and 22: delegates by number, the filter, and how small subranges are loaded. */
    {"cuda", "drtopk-stages",
     DRTOPK DRTOPK_K
     "method=drtopk tuning=beta=1+filter=0,beta=1,beta=2+filter=0,beta=2,coalesced=0,beta=3,beta=4,"
     "skip=0,skip=1"},
    {"cuda", "drtopk-stages",
     DRTOPK "n=2^30 k=2^16,2^20 method=drtopk tuning=exponent=6+coalesced=0,exponent=6+coalesced=1"},
    {"cuda", "drtopk-stages", DRTOPK "n=2^26 k=2^10,2^16 method=drtopk tuning=beta=1,beta=2,beta=3,beta=4"},
    /* Table 3, by traffic.py: what calls load and store. */
    {"cuda", "drtopk-table3", DRTOPK "n=2^30 k=2^7 method=radix,bucket,bitonic"},
    {"cuda", "drtopk-table3", DRTOPK "n=2^30 k=2^7 method=drtopk tuning=none,base=4,base=5"},
    /* Rows of different lengths. */
    {"cuda", "ragged", ANY "rows=16 n=2^20 lengths=odd,even k=256,2048 method=auto,radik,air,bracket"},
    {"cuda", "ragged", ANY "rows=16 n=2^24 lengths=powers k=32,256 method=auto,radik,air,bracket"},
    {"cuda", "ragged", ANY "rows=100000 n=1000 lengths=uneven k=32 method=auto,radik,air,bracket"},
    {"cpu cuda", "quick",
     "select dist=normal,tie-heavy rows=9 n=200 lengths=odd,powers,uneven k=1,n order=best,any "
     "ties=lowest,any"},
    {"cpu cuda", "quick", "kth dist=normal,tie-heavy rows=9 n=200 lengths=odd,powers,uneven k=1,100,n"},
    /* The points at which published implementations were measured; of where also a short row. */
    {"cuda", "peers", "select order=any ties=any points=peers_h200.csv fixed=yes"},
    {"cuda", "where", "where points=peers_where_h200.csv"},
    /* The figures of the RTop-K paper: time over rows, their length, k and steps; 0: exact. */
    {"cuda", "rtopk-fig4",
     ANY "dist=normal rows=2^14,2^16,2^18,2^20 n=256,512,768 k=16,32,64,96,128 "
         "max-iterations=0,2,3,4,5,6,7,8"},
    {"cuda", "rtopk-fig6", ANY "dist=normal rows=65536 n=256,512 k=64,128,n/2 max-iterations=0,2,4,8"},
    {"cuda", "rtopk-fig6",
     ANY "dist=normal rows=65536 n=768,1024,1280,2048,3072,4096,6144,8192 k=64,128,256,512 "
         "max-iterations=0,2,4,8"},
    {"cuda", "rtopk-fig7",
     ANY "dist=normal rows=65536 n=512,1024,2048,4096,8192 k=64,128,256 epsilon=0,1e-16,1e-8,1e-4,1e-2"},
    /* Rows to be selected from at the speed of memory, in data that is hard to search, too. */
    {"cuda", "rtopk-shapes", ANY "dist=" ROW_DATA " rows=2^20,65536 n=256 k=8,16,32,128"},
    {"cuda", "rtopk-shapes", ANY "dist=" ROW_DATA " rows=2^20 n=512,768 k=32"},
    {"cuda", "rtopk-shapes", ANY "dist=" ROW_DATA " rows=4096 n=256 k=8"},
    {"cuda", "rtopk-shapes", ANY "dist=" ROW_DATA " rows=100 n=4096 k=50,256"},
    {"cuda", "rtopk-shapes", ANY "dist=" ROW_DATA " rows=20000 n=100,1000,5000 k=5,40"},
    {"cuda", "rtopk-promises",
     "select dist=" ROW_DATA " rows=2^20,65536 n=256 k=32,128 order=any,best ties=any,lowest"},
    {"cuda", "rtopk-widths", ANY "rows=2^24/n,2^28/n n=1,2,3,5,7,8,9,15,16,17,31 k=1,n/2"},
    {"cuda", "rtopk-widths",
     ANY
     "rows=2^24/n,2^28/n k=8,32,n/4 n=33,63,64,65,100,127,129,200,255,257,500,511,513,1000,1023,1025,2000,"
     "2047,2049,3000,4095,4096,4097,5000,6000,8191,8192"},
    {"cuda", "rtopk-types", ANY "type=" EVERY_TYPE " rows=65536,2^20 n=256 k=8,32,128"},
    {"cpu cuda", "routing",
     "route type=f32,bf16 dist=normal rows=128,4096,65536 n=256 k=8 routing=indices,weights,weights+bias,"
     "weights+groups,all"},
    {"cpu cuda", "quick",
     "route type=f16,f32,f64 dist=normal,tie-heavy rows=100 n=8,64,256 k=1,8 "
     "routing=indices,weights,bias,weights+bias,groups,weights+groups,bias+groups,all"},
    /* Time over the share that is kept, where matches lie anywhere and where they lie together. */
    {"cuda", "where-share", "where dist=uniform,runs keep=0,1,5,10,25,50,75,90,99,100"},
    {"cuda", "where-n", "where n=" N_FROM_10_TO_30 " keep=10,50"},
    /* One pass against the paper's three phases, over the share that is kept and over n, as its figures. */
    {"cuda", "where-phases", "where keep=1,10,25,50,75,90,99 method=compact tuning=one_pass=1,one_pass=0"},
    {"cuda", "where-phases",
     "where n=2^16,2^18,2^20,2^22,2^24,2^28 keep=50 method=compact tuning=one_pass=1,one_pass=0"},
    /* With --rivals: time over the threads of a block, of the baselines. */
    {"cuda", "where-block", "where keep=10,50 method=compact block=32,64,128,256,512,1024"},
    /* 256 MiB of each type. */
    {"cuda", "where-types", "where type=i8,u8 n=2^28 keep=10,50"},
    {"cuda", "where-types", "where type=f16,bf16,i16,u16 n=2^27 keep=10,50"},
    {"cuda", "where-types", "where type=f32,i32,u32 n=2^26 keep=10,50"},
    {"cuda", "where-types", "where type=f64,i64,u64 n=2^25 keep=10,50"},
    /* What is written, and what says which elements match. */
    {"cuda", "where-outputs", "where keep=10,50 outputs=indices,values,both,count"},
    {"cuda", "where-outputs", "where keep=10,50 index=i64"},
    {"cuda", "where-outputs", "where keep=10,50 predicate=byte-mask,bit-mask outputs=indices,count"},
    /* The k best matching elements. The comparison is `at most`: above a bound lie the best of all elements,
     * so `greater` would select the same as no predicate. */
    {"cuda", "filtered",
     "select_where " AIR "n=2^20,2^23,2^26,2^28 k=100,2048 predicate=at-most,byte-mask,bit-mask"},
    /* How many elements match, and which, by type and by mask. */
    {"cuda", "count", "count type=u8,f16,f32,f64 n=2^20,2^26,2^28"},
    {"cuda", "count", "count n=2^20,2^26,2^28 predicate=byte-mask,bit-mask"},
    {"cuda", "mask", "mask type=u8,f16,f32,f64 n=2^20,2^26,2^28"},
    {"cuda", "mask", "mask n=2^20,2^26,2^28 predicate=byte-mask"},
    {"cuda", "quick", "select type=" EVERY_TYPE " dist=" EVERY_DISTRIBUTION " n=5000,2^18 k=100"},
    {"cuda", "quick",
     "select dist=uniform,normal,prefix20,all-equal,relu-quantised n=2^20,2^25,2^28 k=32,2048 "
     "order=best,any"},
    {"cuda", "quick", "select dist=normal rows=100 n=131072 k=256"},
    {"cuda", "quick", "select dist=normal rows=65536 n=256 k=8"},
    {"cuda", "quick", "where type=" EVERY_TYPE " n=5000 rows=1,3 keep=0,10,100"},
    {"cuda", "quick",
     "where dist=uniform,tie-heavy,runs n=100003 keep=50 outputs=indices,values,both,count index=i32,i64"},
    {"cuda", "quick", "where n=100003 rows=1,3 keep=25 predicate=byte-mask,bit-mask outputs=indices,count"},
    {"cuda", "quick", "where n=1,2^25 keep=10,90"},
    {"cuda", "quick", "select_where type=" EVERY_TYPE " rows=3 n=5000 k=100 predicate=at-most,bit-mask"},
    {"cuda", "quick", "select_where " AIR "n=100003 keep=0,50 predicate=greater,at-most,byte-mask,bit-mask"},
    {"cuda", "quick", "count type=" EVERY_TYPE " rows=3 n=5000"},
    {"cuda", "quick", "count rows=1,3 n=100003 predicate=at-most,byte-mask,bit-mask"},
    {"cuda", "quick", "mask type=" EVERY_TYPE " rows=3 n=5001"},
    {"cuda", "quick", "mask rows=1,3 n=100003 predicate=at-most,byte-mask,bit-mask"},
};
const int bench_grid_count = (int)(sizeof bench_grids / sizeof *bench_grids);
