/* SPDX-License-Identifier: Apache-2.0 */
#include "bits_file.h"

#include <string.h>

void bits_file_create(struct bits_file *bits, const char *path) {
    *bits = (struct bits_file){0};
    npy_file_create(&bits->file, path, TOPK_U8, -1, -1);
}

/* Bits [first, first + count) of a mask, at most eight. */
static unsigned take(const unsigned char *mask, int64_t first, int64_t count) {
    const int64_t shift = first % 8;
    unsigned bits = mask[first / 8] >> shift;
    if (shift + count > 8)
        bits |= (unsigned)mask[first / 8 + 1] << (8 - shift);
    return bits & ((1U << count) - 1);
}

static void flush(struct bits_file *bits) {
    const int64_t bytes = (bits->held + 7) / 8;
    npy_file_append(&bits->file, bits->bytes, bytes);
    bits->length += bytes;
    bits->held = 0;
    memset(bits->bytes, 0, sizeof bits->bytes);
}

void bits_file_append(struct bits_file *bits, const unsigned char *mask, int64_t first, int64_t count) {
    while (count > 0) {
        const int64_t shift = bits->held % 8;
        const int64_t taken = count < 8 - shift ? count : 8 - shift;
        bits->bytes[bits->held / 8] |= (unsigned char)(take(mask, first, taken) << shift);
        bits->held += taken;
        if (bits->held == 8 * (int64_t)sizeof bits->bytes)
            flush(bits);
        first += taken;
        count -= taken;
    }
}

void bits_file_end(struct bits_file *bits) {
    flush(bits);
    npy_file_reshape(&bits->file, -1, bits->length);
    npy_file_finish(&bits->file);
    npy_file_publish(&bits->file);
}
