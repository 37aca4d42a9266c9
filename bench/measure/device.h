/* SPDX-License-Identifier: Apache-2.0
 *
 * The driver (run.c), and what it needs of a device. There are two: the CPU (cpu.c) and a GPU
 * (gpu/driver_cuda.c). */
#ifndef BENCH_DEVICE_H
#define BENCH_DEVICE_H

#include "check/check.h"
#include "data/data.h"
#include "measure/statistics.h"
#include "points/outputs.h"
#include "read/read.h"
#include "topk_route.h"

BENCH_C_BEGIN

typedef struct bench_options {
    int threads; /* CPU: of calls and reads */
    int runs;    /* timed ones of each call; on a GPU slow calls get fewer, but at least 11, above 100 ms 3 */
    bool cold;   /* runs go round 256 MiB of copies of the input; else all read one */
    bool graph;  /* each call also captured and replayed, if the device can */
    bool once;   /* each call once, checked but not timed: for profilers */
    bool rivals;
    bench_source source;
} bench_options;

/* What holds for all points, and what is kept from one point to the next. */
typedef struct bench_session {
    const struct bench_device *device;
    topk_context *context;
    bench_options options;
    const char *features;  /* instruction sets that the library uses; on a GPU its name */
    topk_stream stream;    /* NULL on the CPU */
    double empty_us;       /* GPU: a kernel that does nothing, measured as everything else is */
    double copy_rate;      /* GPU: bytes per second, read plus written */
    bool lost;             /* the device does not recover from an error; nothing more can be run */
    bench_spoil *spoil;    /* NULL, or what spoils a result before it is checked: a test of the checks */
    bench_data data;       /* the input of the point at hand, kept for the next if it fits */
    bench_data mask;       /* of a point with a mask: select_where reads it beside the data, others instead */
    bench_truth truth;     /* of the point at hand */
    bench_data host;       /* the data on the host, for models */
    bench_buffer of_model; /* what the model chooses, or the bias */
    topk_routing routing;
    bench_reader reader; /* CPU: of the data */
    bench_outputs outputs;
    bench_buffer workspace;
    void *state; /* the device's own */
} bench_session;

/* Bytes that runs go round. */
static inline size_t bench_cold_bytes(const bench_session *session) {
    return session->options.cold && !session->options.once ? (size_t)1 << 28 : 0;
}

typedef enum bench_outcome {
    BENCH_RIGHT,
    BENCH_WRONG,
    BENCH_REFUSED, /* no method of the library does this, or not with these options */
    BENCH_SKIPPED, /* more than the memory holds */
    BENCH_OUTCOMES
} bench_outcome;

/* One line of the results. Only where it is BENCH_RIGHT there are times, and with `once` not even there. */
typedef struct bench_result {
    const bench_point *point;
    const char *name;   /* "topk", or the name of a rival */
    const char *launch; /* GPU: "eager" or "graph" */
    bench_outcome outcome;
    char reason[192]; /* why not */
    bool invalid;     /* one read takes longer than it should on this device: VOID */
    int64_t k;        /* of a point that has none: the number of matches */
    int threads;      /* of the call; on a GPU of a block of a baseline, else 0 */
    const char *reader;
    int reader_threads; /* 0 on a GPU */
    int runs;
    double read_us, limit_us, call_us, host_us; /* medians; host_us: how long the call holds its thread */
    bench_quartiles to_limit;
    double to_topk;           /* rivals: how many times the library's time; else 1 */
    double plain_us, mask_us; /* select_where: the time of select on the same data, launched likewise; and
                                 what is to be paid for the bytes of the mask. 0: none */
    double hit_percent;       /* of an approximate selection: results that are among the exact ones */
    double floor_us; /* GPU: of a kernel that reads and writes as much and selects nothing; 0: none */
    size_t workspace_bytes;
} bench_result;

/* Something to be timed: runs or enqueues a call that reads the copy of the input whose turn it is. */
typedef struct bench_work {
    bool (*enqueue)(void *state, int64_t turn);
    void *state;
    bool waits; /* for the device, by its nature */
} bench_work;

/* What a rival is compared with. */
typedef struct bench_reference {
    bench_work work;
    double call_us;
} bench_reference;

struct bench_rival; /* measure/rivals.h */
enum { BENCH_RIVAL_TABLES = 4 };
typedef struct bench_device {
    const char *name;
    bool serves_all; /* a point that is refused or does not fit is a failure */
    const bench_memory *memory;

    /* Makes the state; false, with a sentence on stderr, if the device cannot be used. Close it in any case.
     * NULL: there is no state. */
    bool (*open)(bench_session *session);
    void (*close)(bench_session *session);
    void (*describe)(const bench_session *session, char *text, size_t bytes);

    /* Makes the input of a point, its truth, and a mask if it has one. False: the result says why not. */
    bool (*prepare)(bench_session *session, bench_result *result);
    bool (*finish)(bench_session *session); /* waits for the device; false: an error, again if it is lost */
    const char *(*error)(void); /* the sentence about an error, "" if there was none; forgets it */

    /* Whether the outputs are right and the input is as it was; else the result has the reason. */
    bool (*check)(bench_session *session, const bench_outputs *outputs, bench_result *result);
    /* Fills in all times. `reference` is NULL but for rivals. False: a run failed. */
    bool (*time)(bench_session *session, bench_work work, const bench_reference *reference,
                 const bench_outputs *outputs, bench_result *result);

    /* Captures the work, to be replayed. False: the result says why not. To be released in any case. NULL:
     * the device has no graphs. */
    bool (*capture)(bench_session *session, bench_work work, bench_work *replay, bench_result *result);
    void (*release)(bench_session *session);

    const struct bench_rival_kind *rivals[BENCH_RIVAL_TABLES]; /* NULL: none */
    /* What rivals read beside the input. False: it does not fit. NULL: they read nothing else. */
    bool (*rival_prepare)(bench_session *session, struct bench_rival *rival);

    /* For the self-test: a read kernel that misses a byte, or NULL; and whether the checks notice that the
     * input was changed (NULL: they do not look). */
    const char *(*deaf_reader)(bench_session *session);
    bool (*input_watched)(bench_session *session);
} bench_device;

extern const bench_device bench_cpu, bench_cuda;

/* Takes one result of a point; `state` is the caller's. */
typedef void bench_sink(void *state, const bench_session *session, const bench_result *result);

/* Runs a point and hands over a result for each line that the options ask for. Whether rivals were run. */
bool bench_run(bench_session *session, const bench_point *point, bench_sink *sink, void *state);

/* Whether the checks notice what they must; tells on stdout. */
bool bench_run_self_test(bench_session *session);

/* What the models of the tests need and give for a point: how it is routed; the truth about an approximation,
 * and its hit rate. False: something does not fit. */
bool bench_model_prepare(bench_session *session, const topk_problem *problem, bench_result *result);

/* Whether route chose and weighed as the model does. */
bool bench_model_routes(bench_session *session, const bench_point *point, const bench_outputs *outputs);

/* For devices: note in the result what went wrong, and return false. */
bool bench_fail(const bench_session *session, bench_result *result, bench_outcome outcome, const char *why);
/* An error that either the device or the library can explain. */
bool bench_fail_somewhere(const bench_session *session, bench_result *result);
/* What could not be made: because of an error of the device, or else too little memory. */
bool bench_fail_to_make(const bench_session *session, bench_result *result, const char *what);

BENCH_C_END

#endif /* BENCH_DEVICE_H */
