/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of vectors: what the benchmark reads of each format, what it says of files that are none, and the
 * distances; the same of files of elements. It leaves files of 3000 and of 20 vectors, and one of 1000
 * elements, for runs of the benchmark.
 *
 * usage: test_bench_vectors FOLDER */
#include "data/vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define HEADER_OF(shape, type, order)                                                                        \
    "{'descr': '" type "', 'fortran_order': " order ", 'shape': " shape ", }                            \n"

static const char *folder;

static const char *path_of(const char *name) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* Writes a file in two parts, and returns its path. */
static const char *write_file(const char *name, const void *head, size_t head_bytes, const void *rest,
                              size_t rest_bytes) {
    const char *path = path_of(name);
    FILE *out = fopen(path, "wb");
    if (CHECK(out != NULL)) {
        CHECK(fwrite(head, 1, head_bytes, out) == head_bytes);
        CHECK(fwrite(rest, 1, rest_bytes, out) == rest_bytes);
        CHECK(fclose(out) == 0);
    }
    return path;
}

/* A file of numpy's of that version, 1 or 2, with the header as it stands. */
static const char *write_npy(const char *name, int version, const char *header, const void *data,
                             size_t bytes) {
    unsigned char head[512] = "\x93NUMPY";
    const size_t lead = version == 1 ? 10 : 12, length = strlen(header);
    head[6] = (unsigned char)version;
    head[8] = (unsigned char)length;
    head[9] = (unsigned char)(length >> 8);
    memcpy(head + lead, header, length);
    return write_file(name, head, lead + length, data, bytes);
}

static void expect(const char *path, int64_t count, int dimensions, const float *elements) {
    bench_vectors vectors;
    const char *why = bench_vectors_read(path, &vectors);
    if (CHECK(why == NULL) && CHECK(vectors.count == count && vectors.dimensions == dimensions)) {
        CHECK(memcmp(vectors.elements, elements, (size_t)(count * dimensions) * sizeof *elements) == 0);
    }
    bench_vectors_free(&vectors);
}

static void expect_none(const char *path, const char *reason) {
    bench_vectors vectors;
    const char *why = bench_vectors_read(path, &vectors);
    if (!CHECK(why != NULL && strstr(why, reason) != NULL)) {
        fprintf(stderr, "%s: \"%s\" instead of \"%s\"\n", path, why == NULL ? "read" : why, reason);
    }
    CHECK(vectors.elements == NULL && vectors.count == 0);
    bench_vectors_free(&vectors);
}

static void check_formats(void) {
    static const float floats[] = {1.5f, -2, 3e30f, 0, 0.1f, -0.0f};
    static const float numbers[] = {0, 1, 255, 128, 7, 9};
    static const unsigned char bytes[] = {0, 1, 255, 128, 7, 9};
    static const int32_t lead = 3;
    unsigned char fvecs[2 * 16], bvecs[2 * 7];
    for (int v = 0; v < 2; ++v) {
        memcpy(fvecs + v * 16, &lead, 4);
        memcpy(fvecs + v * 16 + 4, floats + v * 3, 12);
        memcpy(bvecs + v * 7, &lead, 4);
        memcpy(bvecs + v * 7 + 4, bytes + v * 3, 3);
    }
    expect(write_file("two.fvecs", fvecs, sizeof fvecs, NULL, 0), 2, 3, floats);
    expect(write_file("two.bvecs", bvecs, sizeof bvecs, NULL, 0), 2, 3, numbers);
    expect(write_npy("f4.npy", 1, HEADER_OF("(2, 3)", "<f4", "False"), floats, 24), 2, 3, floats);
    expect(write_npy("u1.npy", 2, HEADER_OF("(3, 2)", "|u1", "False"), bytes, 6), 3, 2, numbers);

    expect_none(path_of("there-is-no-such-file.npy"), "cannot be read");
    expect_none(write_file("two.txt", fvecs, sizeof fvecs, NULL, 0), "neither");
    expect_none(write_file("empty.fvecs", "", 0, NULL, 0), "number of dimensions");
    expect_none(write_file("zeros.fvecs", "\0\0\0\0", 4, NULL, 0), "number of dimensions");
    expect_none(write_file("cut.fvecs", fvecs, sizeof fvecs - 1, NULL, 0), "ends within");
    fvecs[16] = 2;
    expect_none(write_file("uneven.fvecs", fvecs, sizeof fvecs, NULL, 0), "several lengths");
    expect_none(write_file("other.npy", fvecs, sizeof fvecs, NULL, 0), "no file of numpy's");
    expect_none(write_file("short.npy", "\x93NUMPY\1", 7, NULL, 0), "no file of numpy's");
    expect_none(write_file("long.npy", "\x93NUMPY\1\0\xff\0{}", 12, NULL, 0), "header that is too long");
    expect_none(write_npy("early.npy", 1, HEADER_OF("(3, 3)", "<f4", "False"), floats, 24), "too early");
    expect_none(write_npy("f8.npy", 1, HEADER_OF("(1, 3)", "<f8", "False"), floats, 24), "no matrix");
    expect_none(write_npy("flat.npy", 1, HEADER_OF("(6,)", "<f4", "False"), floats, 24), "no matrix");
    expect_none(write_npy("cube.npy", 1, HEADER_OF("(1, 2, 3)", "<f4", "False"), floats, 24), "no matrix");
    expect_none(write_npy("columns.npy", 1, HEADER_OF("(2, 3)", "<f4", "True"), floats, 24), "no matrix");
}

static void expect_elements(const char *path, topk_type type, const void *values, int64_t count) {
    bench_elements elements;
    const char *why = bench_elements_read(path, &elements);
    if (CHECK(why == NULL) && CHECK(elements.count == count && elements.type == type)) {
        CHECK(memcmp(elements.values, values, (size_t)count * topk_type_size(type)) == 0);
    }
    bench_elements_free(&elements);
}

static void expect_no_elements(const char *path, const char *reason) {
    bench_elements elements;
    const char *why = bench_elements_read(path, &elements);
    CHECK(why != NULL && strstr(why, reason) != NULL);
    CHECK(elements.values == NULL && elements.count == 0);
    bench_elements_free(&elements);
}

static void check_elements(void) {
    static const unsigned char bytes[24] = {0, 1, 255, 128, 7, 9, 3, 200, 100, 50};
    expect_elements(write_npy("e.npy", 1, HEADER_OF("(6,)", "<f4", "False"), bytes, 24), TOPK_F32, bytes, 6);
    expect_elements(write_npy("e.npy", 2, HEADER_OF("(6,)", "<u4", "False"), bytes, 24), TOPK_U32, bytes, 6);
    expect_elements(write_npy("e.npy", 1, HEADER_OF("(24,)", "|i1", "True"), bytes, 24), TOPK_I8, bytes, 24);
    expect_elements(write_npy("e.npy", 1, HEADER_OF("(3,)", "<f8", "False"), bytes, 24), TOPK_F64, bytes, 3);
    expect_elements(write_npy("e.npy", 1, HEADER_OF("(2,)", "<f2", "False"), bytes, 24), TOPK_F16, bytes, 2);

    expect_no_elements(path_of("there-is-no-such-file.npy"), "cannot be read");
    expect_no_elements(write_file("e.npy", bytes, sizeof bytes, NULL, 0), "no file of numpy's");
    expect_no_elements(write_npy("e.npy", 1, HEADER_OF("(7,)", "<f4", "False"), bytes, 24), "too early");
    expect_no_elements(write_npy("e.npy", 1, HEADER_OF("(0,)", "<f4", "False"), bytes, 24), "no elements");
    expect_no_elements(write_npy("e.npy", 1, HEADER_OF("(2, 3)", "<f4", "False"), bytes, 24), "no elements");
    expect_no_elements(write_npy("e.npy", 1, HEADER_OF("(6,)", ">f4", "False"), bytes, 24), "no elements");
    expect_no_elements(write_npy("e.npy", 1, HEADER_OF("(3,)", "<c8", "False"), bytes, 24), "no elements");
}

static void fill(float *elements, int64_t count) {
    uint32_t state = 1;
    for (int64_t i = 0; i < count; ++i) {
        state = state * 1664525 + 1013904223;
        elements[i] = (float)(state >> 8) / (1 << 24) - 0.5f;
    }
}

/* Of any number of dimensions, also such that eight sums do not share out. */
static void check_distances(void) {
    float elements[200];
    fill(elements, 200);
    for (int dimensions = 1; dimensions <= 100; ++dimensions) {
        double sum = 0;
        for (int d = 0; d < dimensions; ++d) {
            sum += pow((double)elements[d] - elements[100 + d], 2);
        }
        CHECK(fabs(bench_distance(elements, elements + 100, dimensions) - sum) <= 1e-6 * sum);
    }
    CHECK(bench_distance(elements, elements, 100) == 0);
}

static void leave_files(void) {
    enum { dimensions = 12, count = 3000, queries = 20 };
    float *elements = malloc((size_t)count * (dimensions + 1) * sizeof *elements);
    if (!CHECK(elements != NULL)) {
        return;
    }
    fill(elements, queries * dimensions);
    write_npy("queries.npy", 1, HEADER_OF("(20, 12)", "<f4", "False"), elements,
              queries * dimensions * sizeof *elements);
    fill(elements, (int64_t)count * (dimensions + 1));
    const int32_t lead = dimensions;
    for (int64_t v = 0; v < count; ++v) {
        memcpy(elements + v * (dimensions + 1), &lead, sizeof lead);
    }
    write_file("base.fvecs", elements, (size_t)count * (dimensions + 1) * sizeof *elements, NULL, 0);
    fill(elements, 1000);
    write_npy("elements.npy", 1, HEADER_OF("(1000,)", "<u4", "False"), elements, 1000 * sizeof *elements);
    free(elements);
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: test_bench_vectors FOLDER\n");
        return 2;
    }
    folder = argv[1];
    check_formats();
    check_elements();
    check_distances();
    leave_files();
    return check_report();
}
