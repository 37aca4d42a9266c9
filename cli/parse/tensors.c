/* SPDX-License-Identifier: Apache-2.0
 *
 * The header of a safetensors file: its length as 8 bytes, and a JSON object that gives each tensor's type,
 * shape and place behind the header. */
#include <string.h>

#include "parse.h"

enum { LENGTH_BYTES = 8, HEADER_MAX = 100000000 };

struct cursor {
    const char *file;
    uint64_t at, end;
    struct parse_error *error;
};

/* A string of the header, as it is written between its quotes. */
struct string {
    const char *text;
    size_t length;
};

struct tensor {
    topk_type type;
    bool has_type, has_shape, has_place;
    int dimensions;
    int64_t shape[DIMENSIONS_MAX];
    int64_t begin, end; /* behind the header */
};

static bool fail_here(const struct cursor *cursor, const char *reason) {
    return parse_fail(cursor->error, cursor->at, "%s", reason);
}

static void skip_blanks(struct cursor *cursor) {
    while (cursor->at < cursor->end && memchr(" \t\r\n", cursor->file[cursor->at], 4) != NULL)
        cursor->at++;
}

/* Takes a character if it comes next, behind blanks. */
static bool take(struct cursor *cursor, char c) {
    skip_blanks(cursor);
    if (cursor->at == cursor->end || cursor->file[cursor->at] != c)
        return false;
    cursor->at++;
    return true;
}

static bool take_string(struct cursor *cursor, struct string *string) {
    if (!take(cursor, '"'))
        return fail_here(cursor, "the header should have a string here");
    const uint64_t begin = cursor->at;
    while (cursor->at < cursor->end && cursor->file[cursor->at] != '"')
        cursor->at += cursor->file[cursor->at] == '\\' && cursor->end - cursor->at > 1 ? 2 : 1;
    if (cursor->at >= cursor->end)
        return parse_fail(cursor->error, begin, "the header has a string that does not end");
    *string = (struct string){cursor->file + begin, (size_t)(cursor->at - begin)};
    cursor->at++;
    return true;
}

static bool is(const struct string *string, const char *text) {
    return string->length == strlen(text) && memcmp(string->text, text, string->length) == 0;
}

static bool take_number(struct cursor *cursor, int64_t *number) {
    skip_blanks(cursor);
    const uint64_t begin = cursor->at;
    *number = 0;
    for (; cursor->at < cursor->end; cursor->at++) {
        const unsigned digit = (unsigned char)cursor->file[cursor->at] - (unsigned)'0';
        if (digit > 9)
            break;
        if (__builtin_mul_overflow(*number, 10, number) || __builtin_add_overflow(*number, digit, number))
            return fail_here(cursor, "a number of the header overflows");
    }
    return cursor->at > begin || fail_here(cursor, "the header should have a number here");
}

static int fail_list(const struct cursor *cursor, const char *reason) {
    fail_here(cursor, reason);
    return -1;
}

/* A list of up to `room` numbers; returns how many there are, or -1. */
static int take_numbers(struct cursor *cursor, int64_t *numbers, int room) {
    int count = 0;
    if (!take(cursor, '['))
        return fail_list(cursor, "the header should have a list here");
    while (!take(cursor, ']')) {
        if (count > 0 && !take(cursor, ','))
            return fail_list(cursor, "a list of the header should go on or end here");
        if (count == room)
            return fail_list(cursor, "a list of the header is too long");
        if (!take_number(cursor, &numbers[count++]))
            return -1;
    }
    return count;
}

/* Passes an object of strings, as "__metadata__" is. */
static bool skip_strings(struct cursor *cursor) {
    struct string string;
    if (!take(cursor, '{'))
        return fail_here(cursor, "the metadata should be an object");
    for (bool first = true; !take(cursor, '}'); first = false) {
        if (!first && !take(cursor, ','))
            return fail_here(cursor, "the metadata should go on or end here");
        if (!take_string(cursor, &string))
            return false;
        if (!take(cursor, ':'))
            return fail_here(cursor, "a colon is missing");
        if (!take_string(cursor, &string))
            return false;
    }
    return true;
}

static topk_type type_of(const struct string *name) {
    static const struct {
        const char *name;
        topk_type type;
    } types[] = {{"F64", TOPK_F64},         {"F32", TOPK_F32},         {"F16", TOPK_F16}, {"BF16", TOPK_BF16},
                 {"F8_E4M3", TOPK_F8_E4M3}, {"F8_E5M2", TOPK_F8_E5M2}, {"I64", TOPK_I64}, {"I32", TOPK_I32},
                 {"I16", TOPK_I16},         {"I8", TOPK_I8},           {"U64", TOPK_U64}, {"U32", TOPK_U32},
                 {"U16", TOPK_U16},         {"U8", TOPK_U8},           {"BOOL", TOPK_U8}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (is(name, types[i].name))
            return types[i].type;
    return TOPK_TYPE_UNDEFINED;
}

static bool take_member(struct cursor *cursor, struct tensor *tensor) {
    struct string key, value;
    int64_t place[2];
    if (!take_string(cursor, &key))
        return false;
    if (!take(cursor, ':'))
        return fail_here(cursor, "a colon is missing");
    if (is(&key, "dtype") && !tensor->has_type) {
        tensor->has_type = take_string(cursor, &value);
        tensor->type = tensor->has_type ? type_of(&value) : TOPK_TYPE_UNDEFINED;
        return tensor->has_type;
    }
    if (is(&key, "shape") && !tensor->has_shape) {
        tensor->dimensions = take_numbers(cursor, tensor->shape, DIMENSIONS_MAX);
        return tensor->has_shape = tensor->dimensions >= 0;
    }
    if (!is(&key, "data_offsets") || tensor->has_place)
        return fail_here(cursor, "a tensor has dtype, shape and data_offsets, each once");
    const int count = take_numbers(cursor, place, 2);
    tensor->has_place = count == 2;
    tensor->begin = place[0];
    tensor->end = place[1];
    return tensor->has_place || (count >= 0 && fail_here(cursor, "data_offsets are two numbers"));
}

static bool take_tensor(struct cursor *cursor, struct tensor *tensor) {
    *tensor = (struct tensor){.has_type = false};
    if (!take(cursor, '{'))
        return fail_here(cursor, "a tensor should be an object");
    for (bool first = true; !take(cursor, '}'); first = false) {
        if (!first && !take(cursor, ','))
            return fail_here(cursor, "a tensor should go on or end here");
        if (!take_member(cursor, tensor))
            return false;
    }
    return (tensor->has_type && tensor->has_shape && tensor->has_place) ||
           fail_here(cursor, "a tensor has dtype, shape and data_offsets, each once");
}

/* Goes through all tensors, and chooses the one of that name, or the last one if it is NULL. */
static bool take_header(struct cursor *cursor, const char *name, struct names *names, struct tensor *chosen,
                        bool *has) {
    if (!take(cursor, '{'))
        return fail_here(cursor, "the header is no JSON object");
    for (bool first = true; !take(cursor, '}'); first = false) {
        struct string key;
        struct tensor tensor;
        if (!first && !take(cursor, ','))
            return fail_here(cursor, "the header should go on or end here");
        if (!take_string(cursor, &key))
            return false;
        if (!take(cursor, ':'))
            return fail_here(cursor, "a colon is missing");
        if (is(&key, "__metadata__")) {
            if (!skip_strings(cursor))
                return false;
            continue;
        }
        if (!take_tensor(cursor, &tensor))
            return false;
        names_add(names, key.text, key.length);
        if (name != NULL && !is(&key, name))
            continue;
        *chosen = tensor;
        *has = true;
    }
    return true;
}

bool tensor_find(const void *file, uint64_t size, const char *name, struct layout *layout, uint64_t *end,
                 struct parse_error *error) {
    uint64_t length = 0;
    struct names names = {.count = 0};
    struct tensor tensor;
    bool has = false;
    if (size < LENGTH_BYTES)
        return parse_fail(error, size, "the file ends within the length of its header");
    memcpy(&length, file, sizeof length);
    if (length > HEADER_MAX || length > size - LENGTH_BYTES)
        return parse_fail(error, 0, "a header of %llu bytes is longer than the file, or than 100 MB",
                          (unsigned long long)length);
    struct cursor cursor = {file, LENGTH_BYTES, LENGTH_BYTES + length, error};
    if (!take_header(&cursor, name, &names, &tensor, &has))
        return false;
    if (!has || (name == NULL && names.count > 1))
        return names_fail(&names, name, error);
    if (tensor.type == TOPK_TYPE_UNDEFINED)
        return parse_fail(error, LENGTH_BYTES, "the tensor's elements are of no type that is served");
    const uint64_t data = LENGTH_BYTES + length;
    if (tensor.begin > tensor.end || (uint64_t)tensor.end > size - data)
        return parse_fail(error, LENGTH_BYTES, "the tensor's data_offsets lie beyond the file's end");
    *layout = (struct layout){.type = tensor.type, .begin = data + (uint64_t)tensor.begin};
    *end = data + (uint64_t)tensor.end;
    layout_set_axes(layout, tensor.shape, tensor.dimensions, false);
    return true;
}
