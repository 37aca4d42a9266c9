/* SPDX-License-Identifier: Apache-2.0
 *
 * What a handler sees of XLA's foreign function interface, version 0.3: the layouts that xla/ffi/api/c_api.h
 * of jaxlib fixes, as far as xla.c reads them. A test compares them with the header of the jaxlib at hand.
 * Structs begin with their size and grow at their end; XLA asks each handler for its version, and refuses
 * those that it does not serve. */
#ifndef TOPK_PYTHON_XLA_H
#define TOPK_PYTHON_XLA_H

#include <stddef.h>
#include <stdint.h>

enum { XLA_MAJOR = 0, XLA_MINOR = 3 };

enum xla_type {
    XLA_S8 = 2,
    XLA_S16 = 3,
    XLA_S32 = 4,
    XLA_S64 = 5,
    XLA_U8 = 6,
    XLA_U16 = 7,
    XLA_U32 = 8,
    XLA_U64 = 9,
    XLA_F16 = 10,
    XLA_F32 = 11,
    XLA_F64 = 12,
    XLA_BF16 = 16,
    XLA_F8_E5M2 = 19,
    XLA_F8_E4M3FN = 20
};

enum { XLA_EXTENSION_METADATA = 1, XLA_BUFFER = 1, XLA_SCALAR = 3 };

enum { XLA_EXECUTE = 3 }; /* the stage of a call that works; those before prepare it */

/* A trait: calls with the same attributes enqueue the same work, and XLA may capture it and replay it. */
enum { XLA_CAN_BE_CAPTURED = 1 };

enum xla_error_code {
    XLA_INVALID_ARGUMENT = 3,
    XLA_RESOURCE_EXHAUSTED = 8,
    XLA_UNIMPLEMENTED = 12,
    XLA_INTERNAL = 13
};

struct xla_error; /* XLA's own */

struct xla_extension {
    size_t struct_size;
    int type;
    struct xla_extension *next;
};

struct xla_version {
    size_t struct_size;
    struct xla_extension *extensions;
    int major, minor;
};

/* Asks a handler for its version, in place of a call. */
struct xla_metadata {
    size_t struct_size;
    struct xla_version version;
    uint32_t traits;
};

struct xla_metadata_extension {
    struct xla_extension base;
    struct xla_metadata *metadata;
};

struct xla_error_arguments {
    size_t struct_size;
    struct xla_extension *extensions;
    const char *message; /* copied */
    int code;
};

/* On CUDA. */
struct xla_stream_arguments {
    size_t struct_size;
    struct xla_extension *extensions;
    void *context; /* of the call */
    void *stream;  /* set by XLA */
};

struct xla_device_arguments {
    size_t struct_size;
    struct xla_extension *extensions;
    void *context;  /* of the call */
    int32_t device; /* set by XLA: CUDA's number */
};

struct xla_api {
    size_t struct_size;
    struct xla_extension *extensions;
    struct xla_version version;
    const void *internal;
    struct xla_error *(*error_create)(struct xla_error_arguments *arguments);
    void (*unused[3])(void);
    struct xla_error *(*stream_get)(struct xla_stream_arguments *arguments);
    void (*unused_too[12])(void);
    struct xla_error *(*device_get)(struct xla_device_arguments *arguments);
};

struct xla_buffer {
    size_t struct_size;
    struct xla_extension *extensions;
    int type;
    void *data;
    int64_t rank;
    int64_t *dims;
};

/* Arguments or results. */
struct xla_buffers {
    size_t struct_size;
    struct xla_extension *extensions;
    int64_t count;
    int *kinds;
    void **items;
};

struct xla_text {
    const char *start;
    size_t length;
};

struct xla_scalar {
    int type;
    void *value;
};

struct xla_attributes {
    size_t struct_size;
    struct xla_extension *extensions;
    int64_t count;
    int *kinds;
    struct xla_text **names;
    void **items;
};

struct xla_call {
    size_t struct_size;
    struct xla_extension *extensions;
    const struct xla_api *api;
    void *context;
    int stage;
    struct xla_buffers arguments;
    struct xla_buffers results;
    struct xla_attributes attributes;
};

#endif /* TOPK_PYTHON_XLA_H */
