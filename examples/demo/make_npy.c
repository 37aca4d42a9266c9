/* SPDX-License-Identifier: Apache-2.0
 * make_npy FILE N: writes N uniform float32 in (0, 1] as a .npy file. There are 2^24 different values, so
 * a large file holds many ties. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 16, HEADER = 128 };

static int write_header(FILE *file, uint64_t n) {
    unsigned char header[HEADER] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, HEADER - 10, 0};
    char text[HEADER - 10];
    const int length =
        snprintf(text, sizeof text, "{'descr': '<f4', 'fortran_order': False, 'shape': (%" PRIu64 ",), }", n);
    memset(text + length, ' ', sizeof text - (size_t)length);
    text[sizeof text - 1] = '\n';
    memcpy(header + 10, text, sizeof text);
    return fwrite(header, sizeof header, 1, file) == 1;
}

/* The numbers come from xorshift64* (Vigna, 2016), always from the same seed. */
static int write_numbers(FILE *file, uint64_t n) {
    static float block[BLOCK];
    uint64_t state = 0x9e3779b97f4a7c15u;
    for (uint64_t done = 0; done < n; done += BLOCK) {
        const size_t count = n - done < BLOCK ? (size_t)(n - done) : BLOCK;
        for (size_t i = 0; i < count; i++) {
            state ^= state >> 12;
            state ^= state << 25;
            state ^= state >> 27;
            block[i] = (float)((state * 0x2545f4914f6cdd1du >> 40) + 1) / 16777216.0f;
        }
        if (fwrite(block, sizeof *block, count, file) != count) {
            return 0;
        }
    }
    return 1;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        (void)fprintf(stderr, "usage: make_npy FILE N\n");
        return 2;
    }
    const uint64_t n = strtoull(argv[2], NULL, 10);
    FILE *file = fopen(argv[1], "wb");
    if (file == NULL || !write_header(file, n) || !write_numbers(file, n) || fclose(file) != 0) {
        perror(argv[1]);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
