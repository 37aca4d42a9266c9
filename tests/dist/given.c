/* SPDX-License-Identifier: Apache-2.0 */
#include "given.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *row_at(const given_rows *rows, int64_t row) {
    return rows->values + (size_t)(row == 0 ? 0 : rows->ends[row - 1]) * rows->bytes;
}

static int64_t length_of(const given_rows *rows, int64_t row) {
    return rows->ends[row] - (row == 0 ? 0 : rows->ends[row - 1]);
}

/* ---- Parts ---- */

/* Elements [first, first + length) of each row, in memory that ends with the last one. */
static void make_part(given *g, int part, int64_t first, int64_t length, int64_t gap) {
    const given_rows *rows = &g->rows;
    const int64_t stride = length + gap;
    const size_t all = rows->rows > 0 && length > 0 ? (size_t)((rows->rows - 1) * stride + length) : 0;
    g->memory[part] = guarded_allocate(all * rows->bytes, GUARDED_AT_END);
    for (int64_t row = 0; row < rows->rows && length > 0; row++) {
        const int64_t left = length_of(rows, row) - first;
        const int64_t copied = left < 0 ? 0 : left < length ? left : length;
        char *const to = (char *)g->memory[part].data + (size_t)(row * stride) * rows->bytes;
        memset(to, 0x11, (size_t)length * rows->bytes);
        memcpy(to, row_at(rows, row) + (size_t)(copied > 0 ? first : 0) * rows->bytes,
               (size_t)copied * rows->bytes);
    }
    guarded_make_read_only(&g->memory[part]);
    g->parts[part] = (topk_dist_part){length > 0 ? g->memory[part].data : NULL, length, gap > 0 ? stride : 0};
}

static void make_parts(given *g, random_state *random) {
    static const int counts[] = {1, 2, GIVEN_PARTS_MOST};
    const int count = counts[random_below(random, 3)];
    int64_t first = 0;
    for (int part = 0; part < count; part++) {
        const int64_t left = g->rows.longest - first;
        const int64_t length = part == count - 1 ? left : random_below(random, left + 1);
        make_part(g, part, first, length, random_below(random, 3));
        first += length;
    }
    g->source.parts = g->parts;
    g->source.parts_count = count;
}

/* ---- A file ---- */

static topk_status read_file(void *user, int64_t row, int64_t first, int64_t length, void *values) {
    given *const g = user;
    const size_t bytes = (size_t)length * g->rows.bytes;
    const off_t at = (off_t)((size_t)(row * g->rows.longest + first) * g->rows.bytes);
    return pread(fileno(g->file), values, bytes, at) == (ssize_t)bytes ? TOPK_OK : TOPK_ERROR_BAD_STATE;
}

static void make_file(given *g) {
    g->file = tmpfile();
    for (int64_t row = 0; row < g->rows.rows && g->file != NULL; row++) {
        (void)fseek(g->file, (long)((size_t)(row * g->rows.longest) * g->rows.bytes), SEEK_SET);
        (void)fwrite(row_at(&g->rows, row), g->rows.bytes, (size_t)length_of(&g->rows, row), g->file);
    }
    if (g->file == NULL || fflush(g->file) != 0) {
        abort();
    }
    g->source.read = read_file;
}

/* ---- What is read once ---- */

static topk_status read_once(void *user, int64_t row, int64_t first, int64_t length, void *values) {
    given *const g = user;
    if (first != g->seen[row] || length > length_of(&g->rows, row) - first) {
        return TOPK_ERROR_BAD_STATE;
    }
    g->seen[row] += length;
    memcpy(values, row_at(&g->rows, row) + (size_t)first * g->rows.bytes, (size_t)length * g->rows.bytes);
    return TOPK_OK;
}

void given_begin(given *g, topk_dist_origin origin, const given_rows *rows, random_state *random) {
    memset(g, 0, sizeof *g);
    g->rows = *rows;
    g->source = (topk_dist_source)TOPK_DIST_SOURCE_INIT;
    g->source.length = rows->longest;
    g->seen = calloc((size_t)rows->rows + 1, sizeof *g->seen);
    if (g->seen == NULL) {
        abort();
    }
    if (origin == TOPK_DIST_PARTS) {
        make_parts(g, random);
        return;
    }
    g->source.user = g;
    if (origin == TOPK_DIST_READ) {
        make_file(g);
    } else {
        g->source.read = read_once;
    }
}

void given_again(given *g) {
    memset(g->seen, 0, (size_t)g->rows.rows * sizeof *g->seen);
}

void given_end(given *g) {
    for (int64_t part = 0; part < g->source.parts_count; part++) {
        guarded_free(&g->memory[part]);
    }
    if (g->file != NULL) {
        (void)fclose(g->file);
    }
    free(g->seen);
}
