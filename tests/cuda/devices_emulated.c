/* SPDX-License-Identifier: Apache-2.0
 *
 * Machines with devices that are too old, or none: which contexts there are, that AUTO is on CUDA wherever
 * CUDA serves, and that no error of the runtime is left behind. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "cuda/resident/sizes.h"
#include "emulated_device.h"
#include "topk_advanced.h"
#include "topk_simple.h"

/* Creates a context and compares its status; returns its backend, AUTO if there is none. */
static topk_backend created(topk_backend backend, int device, topk_status wanted) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_context_properties properties = TOPK_CONTEXT_PROPERTIES_INIT;
    topk_context *context;
    options.backend = backend;
    options.device = device;
    if (CHECK_STATUS(wanted, topk_context_create(&options, &context)) && wanted == TOPK_OK) {
        CHECK_STATUS(TOPK_OK, topk_context_query(context, &properties));
        CHECK(properties.device == device);
    }
    topk_context_destroy(context);
    CHECK(emulated_waiting_error == 0);
    return properties.backend;
}

typedef struct machine {
    int capabilities[3], count; /* 10 x major + minor; below 0: no driver */
    topk_status status;         /* of the backend */
    topk_status cuda[3];        /* of a context on each device, whether there is one or not */
    topk_status automatic[3];
} machine;

static const machine machines[] = {
    {{90},
     1,
     TOPK_OK,
     {TOPK_OK, TOPK_ERROR_OUT_OF_RANGE, TOPK_ERROR_OUT_OF_RANGE},
     {TOPK_OK, TOPK_ERROR_OUT_OF_RANGE, TOPK_ERROR_OUT_OF_RANGE}},
    {{70, 75},
     2,
     TOPK_OK,
     {TOPK_ERROR_BACKEND_UNAVAILABLE, TOPK_OK, TOPK_ERROR_OUT_OF_RANGE},
     {TOPK_OK, TOPK_OK, TOPK_ERROR_OUT_OF_RANGE}},
    {{90, 61, 80},
     3,
     TOPK_OK,
     {TOPK_OK, TOPK_ERROR_BACKEND_UNAVAILABLE, TOPK_OK},
     {TOPK_OK, TOPK_ERROR_OUT_OF_RANGE, TOPK_OK}},
    {{70, 61},
     2,
     TOPK_ERROR_BACKEND_UNAVAILABLE,
     {TOPK_ERROR_BACKEND_UNAVAILABLE, TOPK_ERROR_BACKEND_UNAVAILABLE, TOPK_ERROR_OUT_OF_RANGE},
     {TOPK_OK, TOPK_ERROR_OUT_OF_RANGE, TOPK_ERROR_OUT_OF_RANGE}},
    {{0},
     0,
     TOPK_ERROR_BACKEND_UNAVAILABLE,
     {TOPK_ERROR_BACKEND_UNAVAILABLE, TOPK_ERROR_BACKEND_UNAVAILABLE, TOPK_ERROR_BACKEND_UNAVAILABLE},
     {TOPK_OK, TOPK_ERROR_OUT_OF_RANGE, TOPK_ERROR_OUT_OF_RANGE}},
    {{0},
     -1,
     TOPK_ERROR_BACKEND_UNAVAILABLE,
     {TOPK_ERROR_BACKEND_UNAVAILABLE, TOPK_ERROR_BACKEND_UNAVAILABLE, TOPK_ERROR_BACKEND_UNAVAILABLE},
     {TOPK_OK, TOPK_ERROR_OUT_OF_RANGE, TOPK_ERROR_OUT_OF_RANGE}},
};

static void check_machine(const machine *m) {
    emulated_devices(m->capabilities, m->count);
    CHECK_STATUS(m->status, topk_backend_status(TOPK_BACKEND_CUDA));
    CHECK_STATUS(TOPK_OK, topk_backend_status(TOPK_BACKEND_AUTO));
    CHECK(emulated_waiting_error == 0);
    for (int device = 0; device < 3; device++) {
        (void)created(TOPK_BACKEND_CUDA, device, m->cuda[device]);
        const topk_backend best = created(TOPK_BACKEND_AUTO, device, m->automatic[device]);
        CHECK((best == TOPK_BACKEND_CUDA) == (m->cuda[device] == TOPK_OK));
    }
}

/* A device that holds few blocks at once, or refuses cooperative launches and clusters, serves all the same.
 */
static void check_small_room(void) {
    enum { FEW = 2 };
    const uint32_t blocks[] = {0, FEW, UINT32_MAX}, cluster_blocks[] = {1, FEW, UINT32_MAX};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        emulated_devices(machines[0].capabilities, 1);
        emulated_room(blocks[i], cluster_blocks[i]);
        CHECK(created(TOPK_BACKEND_CUDA, 0, TOPK_OK) == TOPK_BACKEND_CUDA);
    }
}

/* Whether `resident` serves a row of that length with that tuning, or refuses it with these words. */
static void check_resident(const topk_context *context, int64_t length, const char *tuning,
                           const char *refusal) {
    topk_problem p = TOPK_PROBLEM_INIT;
    size_t bytes;
    p.type = TOPK_F32;
    p.rows = 1;
    p.length_max = p.row_stride = length;
    p.k_max = 3;
    p.tuning = tuning;
    p.method = "resident";
    CHECK_STATUS(refusal == NULL ? TOPK_OK : TOPK_ERROR_METHOD_CANNOT,
                 topk_workspace_size(context, TOPK_OPERATION_SELECT, &p, &bytes));
    CHECK(refusal == NULL || strstr(topk_last_error(), refusal) != NULL);
    p.method = NULL;
    p.tuning = NULL;
    CHECK_STATUS(TOPK_OK, topk_workspace_size(context, TOPK_OPERATION_SELECT, &p, &bytes));
}

/* Rows that one block does not hold are served where the device has room for clusters that do. */
static void check_room_for_clusters(void) {
    enum { OF_BLOCK = RESIDENT_ROW_MAX, OF_ONE = RESIDENT_CLUSTER_THREADS * RESIDENT_ITEMS_2, LARGEST = 16 };
    static const char no_room[] = "the device has no room for clusters of so many blocks";
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    options.backend = TOPK_BACKEND_CUDA;
    for (int cluster = 1; cluster <= LARGEST; cluster *= 2) {
        topk_context *context;
        const int64_t most = cluster == 1 ? OF_BLOCK : cluster * OF_ONE;
        emulated_devices(machines[0].capabilities, 1);
        emulated_room(UINT32_MAX, (uint32_t)cluster);
        CHECK_STATUS(TOPK_OK, topk_context_create(&options, &context));
        check_resident(context, most, NULL, NULL);
        check_resident(context, most + 1, NULL,
                       cluster == 1 ? "and there is no room for clusters"
                                    : "than a cluster's registers hold");
        check_resident(context, OF_BLOCK + 1, "cluster=1", "than a block's registers hold");
        check_resident(context, 1, "cluster=2", cluster < 2 ? no_room : NULL);
        check_resident(context, 1, "cluster=15", cluster < 8 ? no_room : NULL);
        check_resident(context, 1, "cluster=16", cluster < 16 ? no_room : NULL);
        topk_context_destroy(context);
    }
}

/* What waits for the caller's next cudaGetLastError() is not cleared. */
static void check_waiting_error(void) {
    enum { CALLERS = 2 };
    emulated_devices(NULL, -1);
    emulated_waiting_error = CALLERS;
    CHECK_STATUS(TOPK_ERROR_BACKEND_UNAVAILABLE, topk_backend_status(TOPK_BACKEND_CUDA));
    CHECK(emulated_waiting_error != 0);
    emulated_devices(machines[0].capabilities, 1);
    emulated_waiting_error = CALLERS;
    CHECK_STATUS(TOPK_OK, topk_backend_status(TOPK_BACKEND_CUDA));
    CHECK(emulated_waiting_error == CALLERS);
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_context *context;
    options.backend = TOPK_BACKEND_CUDA;
    CHECK_STATUS(TOPK_OK, topk_context_create(&options, &context));
    topk_context_destroy(context);
    CHECK(emulated_waiting_error == CALLERS);
}

/* A workspace that the device has no room for is an error; a call that needs less goes on. */
static void check_small_memory(void) {
    enum { LENGTH = 2000, ROOM_BYTES = 4000 };
    static float values[LENGTH];
    static int64_t indices[LENGTH];
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_simple *simple;
    emulated_devices(machines[0].capabilities, 1);
    options.backend = TOPK_BACKEND_CUDA;
    CHECK_STATUS(TOPK_OK, topk_simple_create(&options, &simple));
    values[7] = 1;
    emulated_memory(ROOM_BYTES);
    CHECK_STATUS(TOPK_ERROR_OUT_OF_MEMORY, topk_simple_select(simple, TOPK_LARGEST, TOPK_F32, values, 1,
                                                              LENGTH, LENGTH, NULL, indices));
    CHECK(strstr(topk_last_error(), "workspace") != NULL);
    CHECK_STATUS(TOPK_OK,
                 topk_simple_select(simple, TOPK_LARGEST, TOPK_F32, values, 1, 20, 1, NULL, indices));
    CHECK(indices[0] == 7);
    emulated_memory(SIZE_MAX);
    CHECK_STATUS(TOPK_OK, topk_simple_select(simple, TOPK_LARGEST, TOPK_F32, values, 1, LENGTH, LENGTH, NULL,
                                             indices));
    CHECK(indices[0] == 7 && indices[LENGTH - 1] == LENGTH - 1);
    topk_simple_destroy(simple);
}

int main(void) {
    unsetenv("TOPK_METHOD");
    for (size_t m = 0; m < sizeof machines / sizeof machines[0]; m++) {
        check_machine(&machines[m]);
    }
    check_small_room();
    check_room_for_clusters();
    check_waiting_error();
    check_small_memory();
    return check_report();
}
