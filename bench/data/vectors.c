/* SPDX-License-Identifier: Apache-2.0 */
#include "data/vectors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a file holds: so many vectors, each behind so many bytes that tell its dimensions. */
typedef struct layout {
    int64_t count;
    int dimensions;
    bool has_floats; /* or bytes */
    size_t first, lead_bytes;
} layout;

static size_t element_bytes(const layout *file) {
    return file->has_floats ? sizeof(float) : 1;
}

static size_t vector_bytes(const layout *file) {
    return file->lead_bytes + (size_t)file->dimensions * element_bytes(file);
}

static bool ends_in(const char *path, const char *ending) {
    const size_t length = strlen(path), end = strlen(ending);
    return length >= end && strcmp(path + length - end, ending) == 0;
}

enum { dimensions_most = 1 << 16 };

static const char *find_vecs(const unsigned char *bytes, size_t size, bool has_floats, layout *file) {
    int32_t dimensions = 0;
    *file = (layout){.has_floats = has_floats, .lead_bytes = sizeof dimensions};
    memcpy(&dimensions, bytes, size < sizeof dimensions ? 0 : sizeof dimensions);
    if (dimensions < 1 || dimensions > dimensions_most) {
        return "does not begin with a number of dimensions";
    }
    file->dimensions = dimensions;
    file->count = (int64_t)(size / vector_bytes(file));
    for (int64_t v = 0; v < file->count; ++v) {
        if (memcmp(bytes + (size_t)v * vector_bytes(file), bytes, sizeof dimensions) != 0) {
            return "has vectors of several lengths";
        }
    }
    return size % vector_bytes(file) == 0 ? NULL : "ends within a vector";
}

/* The header is a dictionary of Python's, whose length comes in two bytes behind version 1, else in four. */
static const char *find_npy(const unsigned char *bytes, size_t size, layout *file) {
    char header[256] = "";
    const bool is_short = size > 10 && bytes[6] == 1;
    const size_t begin = is_short ? 10 : 12;
    if (size < begin || memcmp(bytes, "\x93NUMPY", 6) != 0) {
        return "is no file of numpy's";
    }
    const size_t length = is_short ? bytes[8] | (size_t)bytes[9] << 8
                                   : bytes[8] | (size_t)bytes[9] << 8 | (size_t)bytes[10] << 16;
    if (length > size - begin || length >= sizeof header) {
        return "has a header that is too long";
    }
    memcpy(header, bytes + begin, length);
    const char *shape = strstr(header, "'shape': (");
    long long count, dimensions;
    int end = 0; /* behind the shape, if it is one of two numbers */
    *file = (layout){.has_floats = strstr(header, "'<f4'") != NULL, .first = begin + length};
    if ((!file->has_floats && strstr(header, "'|u1'") == NULL) || strstr(header, "False") == NULL ||
        shape == NULL || sscanf(shape, "'shape': (%lld, %lld)%n", &count, &dimensions, &end) != 2 ||
        end == 0 || count < 0 || dimensions < 1 || dimensions > dimensions_most) {
        return "is no matrix of float32 or uint8, row by row";
    }
    file->count = count;
    file->dimensions = (int)dimensions;
    return (size - file->first) / vector_bytes(file) >= (size_t)count ? NULL : "ends too early";
}

static const char *find(const char *path, const unsigned char *bytes, size_t size, layout *file) {
    if (ends_in(path, ".fvecs") || ends_in(path, ".bvecs")) {
        return find_vecs(bytes, size, ends_in(path, ".fvecs"), file);
    }
    return ends_in(path, ".npy") ? find_npy(bytes, size, file) : "is neither .fvecs, .bvecs nor .npy";
}

/* All bytes of a file; NULL: it cannot be read. */
static unsigned char *read_all(const char *path, size_t *size) {
    FILE *in = fopen(path, "rb");
    unsigned char *bytes = NULL;
    if (in != NULL && fseek(in, 0, SEEK_END) == 0) {
        const long end = ftell(in);
        *size = end > 0 ? (size_t)end : 0;
        rewind(in);
        bytes = malloc(*size + 1);
        if (bytes != NULL && fread(bytes, 1, *size, in) != *size) {
            free(bytes);
            bytes = NULL;
        }
    }
    if (in != NULL) {
        fclose(in);
    }
    return bytes;
}

const char *bench_vectors_read(const char *path, bench_vectors *vectors) {
    size_t size = 0;
    layout file;
    unsigned char *bytes = read_all(path, &size);
    *vectors = (bench_vectors){.count = 0};
    if (bytes == NULL) {
        return "cannot be read";
    }
    const char *why = find(path, bytes, size, &file);
    if (why == NULL) {
        const size_t dimensions = (size_t)file.dimensions;
        *vectors = (bench_vectors){malloc((size_t)file.count * dimensions * sizeof(float) + 1), file.count,
                                   file.dimensions};
        why = vectors->elements == NULL ? "does not fit into memory" : NULL;
        for (size_t v = 0; why == NULL && v < (size_t)file.count; ++v) {
            const unsigned char *from = bytes + file.first + v * vector_bytes(&file) + file.lead_bytes;
            float *to = vectors->elements + v * dimensions;
            for (size_t d = 0; !file.has_floats && d < dimensions; ++d) {
                to[d] = from[d];
            }
            memcpy(to, from, file.has_floats ? dimensions * sizeof(float) : 0);
        }
    }
    free(bytes);
    return why;
}

void bench_vectors_free(bench_vectors *vectors) {
    free(vectors->elements);
    *vectors = (bench_vectors){.count = 0};
}
