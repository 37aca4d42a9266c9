/* SPDX-License-Identifier: Apache-2.0 */
#include "data/vectors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a file holds: vectors, and the bytes before each that tell its dimensions. */
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

enum { header_bytes = 256 };

/* The header is a dictionary of Python's, whose length comes in two bytes behind version 1, else in four. */
static const char *read_header(const unsigned char *bytes, size_t size, char header[header_bytes],
                               size_t *first) {
    const bool is_short = size > 10 && bytes[6] == 1;
    const size_t begin = is_short ? 10 : 12;
    if (size < begin || memcmp(bytes, "\x93NUMPY", 6) != 0) {
        return "is no file of numpy's";
    }
    const size_t length = is_short ? bytes[8] | (size_t)bytes[9] << 8
                                   : bytes[8] | (size_t)bytes[9] << 8 | (size_t)bytes[10] << 16;
    if (length > size - begin || length >= header_bytes) {
        return "has a header that is too long";
    }
    memset(header, 0, header_bytes);
    memcpy(header, bytes + begin, length);
    *first = begin + length;
    return NULL;
}

static const char *find_npy(const unsigned char *bytes, size_t size, layout *file) {
    char header[header_bytes];
    size_t first;
    const char *why = read_header(bytes, size, header, &first);
    if (why != NULL) {
        return why;
    }
    const char *shape = strstr(header, "'shape': (");
    long long count, dimensions;
    int end = 0; /* behind the shape, if it is one of two numbers */
    *file = (layout){.has_floats = strstr(header, "'<f4'") != NULL, .first = first};
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

/* The type that numpy writes as a letter and a number of bytes. */
static bool find_type(const char *header, topk_type *type) {
    char name[8], letter;
    int bytes;
    const char *description = strstr(header, "'descr': '");
    if (description == NULL || sscanf(description, "'descr': '%*1[<|]%c%1d'", &letter, &bytes) != 2) {
        return false;
    }
    snprintf(name, sizeof name, "%c%d", letter, 8 * bytes);
    *type = TOPK_F16;
    while (*type <= TOPK_U64 && strcmp(topk_type_name(*type), name) != 0) {
        ++*type;
    }
    return *type <= TOPK_U64;
}

static const char *find_elements(const unsigned char *bytes, size_t size, bench_elements *elements,
                                 size_t *first) {
    char header[header_bytes];
    const char *why = read_header(bytes, size, header, first);
    if (why != NULL) {
        return why;
    }
    const char *shape = strstr(header, "'shape': (");
    long long count;
    int end = 0; /* behind the shape, if it is one of one number */
    if (shape == NULL || sscanf(shape, "'shape': (%lld,)%n", &count, &end) != 1 || end == 0 || count < 1 ||
        !find_type(header, &elements->type)) {
        return "has no elements of one dimension, of a type of the library";
    }
    elements->count = count;
    return (size - *first) / topk_type_size(elements->type) >= (size_t)count ? NULL : "ends too early";
}

const char *bench_elements_read(const char *path, bench_elements *elements) {
    size_t size = 0, first;
    unsigned char *bytes = read_all(path, &size);
    *elements = (bench_elements){.count = 0};
    const char *why = bytes != NULL ? find_elements(bytes, size, elements, &first) : "cannot be read";
    if (why != NULL) {
        free(bytes);
        *elements = (bench_elements){.count = 0};
        return why;
    }
    elements->values = memmove(bytes, bytes + first, size - first); /* so that they are aligned */
    return NULL;
}

void bench_elements_free(bench_elements *elements) {
    free(elements->values);
    *elements = (bench_elements){.count = 0};
}
