/* SPDX-License-Identifier: Apache-2.0
 * make_npy FILE N [different]: writes N float32 as a .npy file; ROWSxCOLUMNS in place of N makes a matrix.
 * They are uniform in (0, 1], 2^24 different values, so a large file holds many ties. With `different` they
 * are from 1 to 256, and the first 2^26 of them all differ. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 16, HEADER = 128 };

static int write_header(FILE *file, uint64_t rows, uint64_t columns) {
    unsigned char header[HEADER] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, HEADER - 10, 0};
    char second[32] = "";
    char text[HEADER - 10];
    if (columns != 0) {
        (void)snprintf(second, sizeof second, " %" PRIu64, columns);
    }
    const int length =
        snprintf(text, sizeof text, "{'descr': '<f4', 'fortran_order': False, 'shape': (%" PRIu64 ",%s), }",
                 rows, second);
    memset(text + length, ' ', sizeof text - (size_t)length);
    text[sizeof text - 1] = '\n';
    memcpy(header + 10, text, sizeof text);
    return fwrite(header, sizeof header, 1, file) == 1;
}

/* xorshift64* (Vigna, 2016), always from the same seed. */
static float next_uniform(void) {
    static uint64_t state = 0x9e3779b97f4a7c15u;
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (float)((state * 0x2545f4914f6cdd1du >> 40) + 1) / 16777216.0f;
}

/* A congruential generator whose period is 2^26, then an invertible mix: each of the 2^26 floats from 1 to
 * 256 comes once. */
static float next_different(void) {
    static uint32_t state = 1;
    float value;
    state = (state * 1664525 + 1013904223) % (1 << 26);
    const uint32_t bits = 0x3f800000 + (state ^ state >> 13);
    memcpy(&value, &bits, sizeof value);
    return value;
}

static int write_numbers(FILE *file, uint64_t n, float (*next)(void)) {
    static float block[BLOCK];
    for (uint64_t done = 0; done < n; done += BLOCK) {
        const size_t count = n - done < BLOCK ? (size_t)(n - done) : BLOCK;
        for (size_t i = 0; i < count; i++) {
            block[i] = next();
        }
        if (fwrite(block, sizeof *block, count, file) != count) {
            return 0;
        }
    }
    return 1;
}

int main(int argc, char **argv) {
    const int different = argc == 4 && strcmp(argv[3], "different") == 0;
    if (argc != 3 && !different) {
        (void)fprintf(stderr, "usage: make_npy FILE N|ROWSxCOLUMNS [different]\n");
        return 2;
    }
    char *end;
    const uint64_t rows = strtoull(argv[2], &end, 10);
    const uint64_t columns = *end == 'x' ? strtoull(end + 1, NULL, 10) : 0;
    FILE *file = fopen(argv[1], "wb");
    if (file == NULL || !write_header(file, rows, columns) ||
        !write_numbers(file, columns ? rows * columns : rows, different ? next_different : next_uniform) ||
        fclose(file) != 0) {
        perror(argv[1]);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
