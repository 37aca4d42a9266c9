/* SPDX-License-Identifier: Apache-2.0
 *
 * Status strings, versions, type names, and the error sentence of each thread. */
#include <pthread.h>
#include <string.h>

#include "check.h"

static void check_status_strings(void) {
    static const char *const names[] = {"TOPK_OK",
                                        "TOPK_ERROR_NULL_POINTER",
                                        "TOPK_ERROR_STRUCT_SIZE",
                                        "TOPK_ERROR_UNKNOWN_ENUM",
                                        "TOPK_ERROR_OUT_OF_RANGE",
                                        "TOPK_ERROR_OVERFLOW",
                                        "TOPK_ERROR_INDEX_TOO_NARROW",
                                        "TOPK_ERROR_MISALIGNED",
                                        "TOPK_ERROR_OVERLAP",
                                        "TOPK_ERROR_WORKSPACE_TOO_SMALL",
                                        "TOPK_ERROR_UNSUPPORTED",
                                        "TOPK_ERROR_UNKNOWN_METHOD",
                                        "TOPK_ERROR_METHOD_CANNOT",
                                        "TOPK_ERROR_BACKEND_UNAVAILABLE",
                                        "TOPK_ERROR_OUT_OF_MEMORY",
                                        "TOPK_ERROR_BAD_STATE",
                                        "TOPK_ERROR_DEVICE",
                                        "TOPK_ERROR_MALFORMED",
                                        "TOPK_ERROR_CONTRADICTION"};
    int count = sizeof names / sizeof names[0];
    for (int s = 0; s < count; s++) {
        CHECK(strcmp(topk_status_string((topk_status)s), names[s]) == 0);
    }
    CHECK(strcmp(topk_status_string((topk_status)count), "unknown status") == 0);
    CHECK(strcmp(topk_status_string((topk_status)-1), "unknown status") == 0);
}

static void check_types(void) {
    static const struct {
        const char *name;
        size_t bytes;
    } types[] = {{NULL, 0},      {"f16", 2}, {"bf16", 2}, {"f32", 4}, {"f64", 8}, {"f8_e4m3", 1},
                 {"f8_e5m2", 1}, {"i8", 1},  {"i16", 2},  {"i32", 4}, {"i64", 8}, {"u8", 1},
                 {"u16", 2},     {"u32", 4}, {"u64", 8},  {NULL, 0}};
    for (int t = 0; t < (int)(sizeof types / sizeof types[0]); t++) {
        const char *name = topk_type_name((topk_type)t);
        CHECK(topk_type_size((topk_type)t) == types[t].bytes);
        CHECK(types[t].name == NULL ? name == NULL : name != NULL && strcmp(name, types[t].name) == 0);
    }
    CHECK(topk_type_size((topk_type)-1) == 0);
    CHECK(topk_type_name((topk_type)-1) == NULL);
}

/* A thread that has had no failure has no sentence, whatever happened elsewhere. */
static void *fail_in_thread(void *unused) {
    (void)unused;
    CHECK(strcmp(topk_last_error(), "") == 0);
    CHECK_STATUS(TOPK_ERROR_UNKNOWN_ENUM, topk_backend_status((topk_backend)77));
    CHECK(strstr(topk_last_error(), "77") != NULL);
    return NULL;
}

static void check_last_error(void) {
    pthread_t thread;
    CHECK(strcmp(topk_last_error(), "") == 0);
    CHECK_STATUS(TOPK_ERROR_UNKNOWN_ENUM, topk_backend_status((topk_backend)88));
    CHECK(strstr(topk_last_error(), "88") != NULL);
    CHECK(pthread_create(&thread, NULL, fail_in_thread, NULL) == 0 && pthread_join(thread, NULL) == 0);
    CHECK(strstr(topk_last_error(), "88") != NULL);
    CHECK_STATUS(TOPK_OK, topk_backend_status(TOPK_BACKEND_CPU));
    CHECK(strstr(topk_last_error(), "88") != NULL);
}

int main(void) {
    check_last_error();
    check_status_strings();
    check_types();
    CHECK(topk_version() == TOPK_VERSION);
    return check_report();
}
