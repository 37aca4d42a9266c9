/* SPDX-License-Identifier: Apache-2.0
 *
 * The .npy header: magic, version, header length, and a Python dictionary with the keys descr,
 * fortran_order and shape, in any order. */
#include <string.h>

#include "parse.h"

/* The header's text, and how far it has been read. */
struct cursor {
    const char *file;
    size_t at;
    size_t end;
    struct parse_error *error;
};

struct header {
    bool seen_descr, seen_order, seen_shape;
    char descr[16];
    size_t descr_at;
    bool fortran;
    int dimensions;
    int64_t shape[DIMENSIONS_MAX];
};

static bool fail_here(const struct cursor *cursor, const char *reason) {
    return parse_fail(cursor->error, cursor->at, "%s", reason);
}

static void skip_space(struct cursor *cursor) {
    while (cursor->at < cursor->end && memchr(" \t\r\n", cursor->file[cursor->at], 4) != NULL)
        cursor->at++;
}

/* Takes `token` if it comes next. */
static bool take(struct cursor *cursor, const char *token) {
    skip_space(cursor);
    size_t length = strlen(token);
    if (cursor->end - cursor->at < length || memcmp(cursor->file + cursor->at, token, length) != 0)
        return false;
    cursor->at += length;
    return true;
}

static bool parse_string(struct cursor *cursor, char *string, size_t capacity) {
    skip_space(cursor);
    if (cursor->at == cursor->end || (cursor->file[cursor->at] != '\'' && cursor->file[cursor->at] != '"'))
        return fail_here(cursor, "the header should have a string here");
    const char *begin = cursor->file + cursor->at + 1;
    const char *close = memchr(begin, begin[-1], cursor->end - cursor->at - 1);
    if (close == NULL)
        return fail_here(cursor, "the header has a string that does not end");
    size_t length = (size_t)(close - begin);
    if (length >= capacity)
        return fail_here(cursor, "the header has a string that is too long");
    memcpy(string, begin, length);
    string[length] = '\0';
    cursor->at += length + 2;
    return true;
}

static bool parse_extent(struct cursor *cursor, int64_t *extent) {
    skip_space(cursor);
    size_t begin = cursor->at;
    if (begin < cursor->end && cursor->file[begin] == '-')
        return fail_here(cursor, "the shape is negative");
    *extent = 0;
    for (; cursor->at < cursor->end; cursor->at++) {
        unsigned digit = (unsigned char)cursor->file[cursor->at] - (unsigned)'0';
        if (digit > 9)
            break;
        if (__builtin_mul_overflow(*extent, 10, extent) || __builtin_add_overflow(*extent, digit, extent))
            return fail_here(cursor, "the shape overflows");
    }
    if (cursor->at == begin)
        return fail_here(cursor, "the shape should have a number here");
    /* Python 2 wrote an L behind its long integers. */
    cursor->at += cursor->at < cursor->end && cursor->file[cursor->at] == 'L';
    return true;
}

static bool parse_shape(struct cursor *cursor, struct header *header) {
    if (!take(cursor, "("))
        return fail_here(cursor, "the shape is not a tuple");
    header->dimensions = 0;
    while (!take(cursor, ")")) {
        if (header->dimensions == DIMENSIONS_MAX)
            return fail_here(cursor, "the array has more than 32 dimensions");
        if (!parse_extent(cursor, &header->shape[header->dimensions++]))
            return false;
        if (take(cursor, ","))
            continue;
        if (header->dimensions == 1)
            return fail_here(cursor, "the shape is not a tuple");
        if (cursor->at == cursor->end || cursor->file[cursor->at] != ')')
            return fail_here(cursor, "the shape should have a comma or its end here");
    }
    return true;
}

static bool parse_descr(struct cursor *cursor, struct header *header) {
    skip_space(cursor);
    header->descr_at = cursor->at;
    if (cursor->at < cursor->end && cursor->file[cursor->at] == '[')
        return fail_here(cursor, "structured elements are not supported");
    return parse_string(cursor, header->descr, sizeof header->descr);
}

static bool parse_order(struct cursor *cursor, struct header *header) {
    header->fortran = take(cursor, "True");
    return header->fortran || take(cursor, "False") ||
           fail_here(cursor, "fortran_order is neither True nor False");
}

static bool parse_entry(struct cursor *cursor, struct header *header) {
    skip_space(cursor);
    size_t begin = cursor->at;
    char key[16];
    if (!parse_string(cursor, key, sizeof key))
        return false;
    bool *seen = strcmp(key, "descr") == 0           ? &header->seen_descr
                 : strcmp(key, "fortran_order") == 0 ? &header->seen_order
                 : strcmp(key, "shape") == 0         ? &header->seen_shape
                                                     : NULL;
    if (seen == NULL || *seen)
        return parse_fail(cursor->error, begin, "the header has %s key",
                          seen == NULL ? "an unknown" : "twice the same");
    *seen = true;
    if (!take(cursor, ":"))
        return fail_here(cursor, "the header should have a colon here");
    if (seen == &header->seen_descr)
        return parse_descr(cursor, header);
    return seen == &header->seen_order ? parse_order(cursor, header) : parse_shape(cursor, header);
}

static bool parse_dictionary(struct cursor *cursor, struct header *header) {
    if (!take(cursor, "{"))
        return fail_here(cursor, "the header is not a dictionary");
    while (!take(cursor, "}")) {
        if (!parse_entry(cursor, header))
            return false;
        if (!take(cursor, ",") && (cursor->at == cursor->end || cursor->file[cursor->at] != '}'))
            return fail_here(cursor, "the header should have a comma or its end here");
    }
    skip_space(cursor);
    if (cursor->at != cursor->end)
        return fail_here(cursor, "the header goes on after its end");
    if (!header->seen_descr || !header->seen_order || !header->seen_shape)
        return fail_here(cursor, "the header lacks descr, fortran_order or shape");
    return true;
}

/* Bytes before the dictionary of a version. */
static uint64_t preamble_bytes(const unsigned char *file) {
    return file[6] == 1 ? 10 : 12;
}

static bool has_magic(const void *file, uint64_t size) {
    return size >= 6 && memcmp(file, "\x93NUMPY", 6) == 0;
}

uint64_t npy_header_bytes(const void *file, uint64_t size) {
    const unsigned char *bytes = file;
    if (size < 10)
        return 10;
    const uint64_t preamble = preamble_bytes(bytes);
    if (!has_magic(file, size) || size < preamble)
        return preamble;
    const uint64_t more = preamble == 12 ? bytes[10] | (uint64_t)bytes[11] << 8 : 0;
    return preamble + (bytes[8] | (uint64_t)bytes[9] << 8 | more << 16);
}

/* Reads what precedes the dictionary. */
static bool parse_preamble(struct cursor *cursor, uint64_t size) {
    const unsigned char *bytes = (const unsigned char *)cursor->file;
    if (!has_magic(bytes, size))
        return parse_fail(cursor->error, 0, "not an .npy file");
    if (size >= 10 && (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0))
        return parse_fail(cursor->error, 6, "version %d.%d of the format is not supported", bytes[6],
                          bytes[7]);
    if (size < 10 || size < preamble_bytes(bytes))
        return parse_fail(cursor->error, size, "the file ends within the header");
    if (npy_header_bytes(bytes, size) > size)
        return parse_fail(cursor->error, 8, "the header's length is beyond the end of the file");
    cursor->at = preamble_bytes(bytes);
    cursor->end = npy_header_bytes(bytes, size);
    return true;
}

/* The type that a descr such as "<f4" names, or UNDEFINED. */
static topk_type find_type(const char *descr) {
    if (strcmp(descr, "|b1") == 0)
        return TOPK_U8;
    for (topk_type type = TOPK_F16; type <= TOPK_U64; type++) {
        const char *known = type_npy_descr(type);
        bool ordered = *descr == '<' || *descr == '>' || (topk_type_size(type) == 1 && *descr == '|');
        if (ordered && known[1] != 'V' && strcmp(descr + 1, known + 1) == 0)
            return type;
    }
    return TOPK_TYPE_UNDEFINED;
}

/* Whether a descr names void or unsigned elements of that size, which may stand for any type. */
static bool is_opaque(const char *descr, size_t size) {
    return memchr("<>|", descr[0], 3) != NULL && (descr[1] == 'V' || descr[1] == 'u') &&
           descr[2] == (char)('0' + size) && descr[3] == '\0';
}

/* Whether a descr may stand for a type. ml_dtypes writes its float8_e5m2 as f1, a float of one byte. */
static bool may_be(const char *descr, topk_type type) {
    const bool one_byte_float = memchr("<>|", descr[0], 3) != NULL && strcmp(descr + 1, "f1") == 0;
    return is_opaque(descr, topk_type_size(type)) || (type == TOPK_F8_E5M2 && one_byte_float);
}

static bool resolve_type(const struct header *header, topk_type override, struct layout *layout,
                         struct parse_error *error) {
    const char *descr = header->descr;
    layout->type = find_type(descr);
    layout->swapped = descr[0] == '>' && descr[2] != '1';
    if (override != TOPK_TYPE_UNDEFINED && override != layout->type) {
        layout->type = override;
        return may_be(descr, override) ||
               parse_fail(error, header->descr_at, "elements of dtype %s are not %s", descr,
                          topk_type_name(override));
    }
    if (layout->type != TOPK_TYPE_UNDEFINED)
        return true;
    const char *hint = is_opaque(descr, 1) || is_opaque(descr, 2)
                           ? "; if they are bfloat16 or 8-bit floats, say so with --dtype"
                       : may_be(descr, TOPK_F8_E5M2) ? "; they may be float8_e5m2: say so with --dtype"
                                                     : "";
    return parse_fail(error, header->descr_at, "elements of dtype %s are not supported%s", descr, hint);
}

bool npy_parse(const void *file, uint64_t size, topk_type override, struct layout *layout,
               struct parse_error *error) {
    struct cursor cursor = {file, 0, 0, error};
    struct header header = {0};
    *layout = (struct layout){0};
    if (!parse_preamble(&cursor, size) || !parse_dictionary(&cursor, &header) ||
        !resolve_type(&header, override, layout, error))
        return false;
    layout->begin = cursor.end;
    layout_set_axes(layout, header.shape, header.dimensions, header.fortran);
    return true;
}

bool npy_check_size(const struct layout *layout, uint64_t size, struct parse_error *error) {
    const uint64_t bytes = (uint64_t)layout->rows * (uint64_t)layout->cols * topk_type_size(layout->type);
    const uint64_t there = size - layout->begin;
    if (there < bytes)
        return parse_fail(error, size,
                          "the file ends before its data: the shape asks for %llu bytes, %llu are there",
                          (unsigned long long)bytes, (unsigned long long)there);
    return there == bytes ||
           parse_fail(error, layout->begin + bytes, "%llu byte%s the data",
                      (unsigned long long)(there - bytes), there - bytes == 1 ? " follows" : "s follow");
}
