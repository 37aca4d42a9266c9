/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "parse.h"

/* The library's short names count bits, where numpy's one-letter names count bytes; numpy's are
 * therefore only understood in .npy headers. */
static const struct {
    topk_type type;
    const char *name;
    const char *descr;
} types[] = {
    {TOPK_F16, "float16", "<f2"},
    {TOPK_BF16, "bfloat16", "<V2"},
    {TOPK_F32, "float32", "<f4"},
    {TOPK_F64, "float64", "<f8"},
    {TOPK_F8_E4M3, "float8_e4m3", "|V1"},
    {TOPK_F8_E5M2, "float8_e5m2", "|V1"},
    {TOPK_I8, "int8", "|i1"},
    {TOPK_I16, "int16", "<i2"},
    {TOPK_I32, "int32", "<i4"},
    {TOPK_I64, "int64", "<i8"},
    {TOPK_U8, "uint8", "|u1"},
    {TOPK_U16, "uint16", "<u2"},
    {TOPK_U32, "uint32", "<u4"},
    {TOPK_U64, "uint64", "<u8"},
};

topk_type type_parse(const char *name) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(name, types[i].name) == 0 || strcmp(name, topk_type_name(types[i].type)) == 0)
            return types[i].type;
    return strcmp(name, "float8_e4m3fn") == 0 ? TOPK_F8_E4M3 : TOPK_TYPE_UNDEFINED;
}

const char *type_npy_descr(topk_type type) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].type == type)
            return types[i].descr;
    return NULL;
}

bool parse_fail(struct parse_error *error, uint64_t at, const char *format, ...) {
    error->at = at;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->reason, sizeof error->reason, format, arguments);
    va_end(arguments);
    return false;
}
