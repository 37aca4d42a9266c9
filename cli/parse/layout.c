/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays of any dimensions and order as rows. */
#include <string.h>

#include "parse.h"

/* Lines and elements of each that are copied at a time: both sides of a tile stay in the caches. */
enum { TILE_LINES = 64, TILE_ELEMENTS = 64 };

static void move_to_end(int64_t *numbers, int at, int count) {
    const int64_t moved = numbers[at];
    memmove(numbers + at, numbers + at + 1, (size_t)(count - 1 - at) * sizeof *numbers);
    numbers[count - 1] = moved;
}

/* Whether the elements come in the order of the rows, one behind the other. */
static bool in_order(const struct layout *layout) {
    int64_t step = 1;
    for (int axis = layout->dimensions - 1; axis >= 0; axis--) {
        if (layout->extents[axis] != 1 && layout->steps[axis] != step)
            return false;
        step *= layout->extents[axis];
    }
    return true;
}

void layout_set_axes(struct layout *layout, const int64_t *shape, int dimensions, bool fortran) {
    uint64_t step = 1;
    layout->dimensions = dimensions;
    for (int i = 0; i < dimensions; i++) {
        const int axis = fortran ? i : dimensions - 1 - i;
        layout->extents[axis] = shape[axis];
        layout->steps[axis] = (int64_t)step;
        step *= (uint64_t)shape[axis];
    }
}

bool layout_rows(struct layout *layout, int axis, bool flat, struct parse_error *error) {
    const int last = layout->dimensions - 1;
    if (last > 0 && !flat) {
        axis += axis < 0 ? layout->dimensions : 0;
        move_to_end(layout->extents, axis, layout->dimensions);
        move_to_end(layout->steps, axis, layout->dimensions);
    }
    int64_t bytes;
    layout->cols = last >= 0 ? layout->extents[last] : 1;
    layout->rows = 1;
    for (int i = 0; i < last; i++)
        if (__builtin_mul_overflow(layout->rows, layout->extents[i], &layout->rows))
            return parse_fail(error, layout->begin, "the shape overflows");
    if (__builtin_mul_overflow(layout->rows, layout->cols, &bytes) ||
        __builtin_mul_overflow(bytes, (int64_t)topk_type_size(layout->type), &bytes))
        return parse_fail(error, layout->begin, "the shape overflows");
    layout->matrix = last > 0 && !flat;
    layout->scattered = bytes > 0 && !in_order(layout);
    if (flat) {
        layout->cols *= layout->rows;
        layout->rows = 1;
    }
    layout->stride = layout->cols;
    return true;
}

/* Where a line begins. Lines are along the last axis, and count in C order of the others. */
static uint64_t line_begin(const struct layout *layout, uint64_t line) {
    uint64_t element = 0;
    for (int axis = layout->dimensions - 2; axis >= 0; axis--) {
        const uint64_t extent = (uint64_t)layout->extents[axis];
        element += line % extent * (uint64_t)layout->steps[axis];
        line /= extent;
    }
    return element;
}

/* What gather_tile() copies: elements of lines, which are `step` elements apart, to lines of `pitch`. */
struct tile {
    const char *from;
    char *to;
    uint64_t step;
    uint64_t pitch;
    uint64_t begins[TILE_LINES]; /* of lines in `from` */
};

/* Inlined into each case below, so that an element is one load and one store. */
__attribute__((always_inline)) static inline void gather_tile(const struct tile *tile, uint64_t lines,
                                                              uint64_t begin, uint64_t end, size_t size) {
    for (uint64_t at = begin; at < end; at++)
        for (uint64_t line = 0; line < lines; line++)
            memcpy(tile->to + (line * tile->pitch + at) * size,
                   tile->from + (tile->begins[line] + at * tile->step) * size, size);
}

static void gather_lines(const struct tile *tile, uint64_t lines, uint64_t count, size_t size) {
    for (uint64_t begin = 0; begin < count; begin += TILE_ELEMENTS) {
        const uint64_t end = count - begin < TILE_ELEMENTS ? count : begin + TILE_ELEMENTS;
        switch (size) {
        case 1:
            gather_tile(tile, lines, begin, end, 1);
            break;
        case 2:
            gather_tile(tile, lines, begin, end, 2);
            break;
        case 4:
            gather_tile(tile, lines, begin, end, 4);
            break;
        default:
            gather_tile(tile, lines, begin, end, 8);
            break;
        }
    }
}

/* Elements [column, column + count) of each of the lines. */
static void gather_block(const struct layout *layout, const char *from, uint64_t line, uint64_t lines,
                         uint64_t column, uint64_t count, char *to) {
    const size_t size = topk_type_size(layout->type);
    struct tile tile = {.step = (uint64_t)layout->steps[layout->dimensions - 1], .pitch = count};
    tile.from = from + column * tile.step * size;
    for (uint64_t done = 0; done < lines; done += TILE_LINES) {
        const uint64_t some = lines - done < TILE_LINES ? lines - done : TILE_LINES;
        for (uint64_t i = 0; i < some; i++)
            tile.begins[i] = line_begin(layout, line + done + i);
        tile.to = to + done * count * size;
        gather_lines(&tile, some, count, size);
    }
}

void layout_gather(const struct layout *layout, const void *file, uint64_t first, uint64_t count, void *to) {
    const char *from = (const char *)file + layout->begin;
    const uint64_t length = (uint64_t)layout->extents[layout->dimensions - 1];
    char *end = to;
    while (count > 0) {
        const uint64_t column = first % length;
        const bool whole = column == 0 && count >= length;
        const uint64_t lines = whole ? count / length : 1;
        const uint64_t part = whole ? length : count < length - column ? count : length - column;
        gather_block(layout, from, first / length, lines, column, part, end);
        end += lines * part * topk_type_size(layout->type);
        first += lines * part;
        count -= lines * part;
    }
}

void layout_swap(topk_type type, void *elements, uint64_t count) {
    const size_t size = topk_type_size(type);
    uint16_t *halves = elements;
    uint32_t *words = elements;
    uint64_t *doubles = elements;
    for (uint64_t i = 0; size == 2 && i < count; i++)
        halves[i] = __builtin_bswap16(halves[i]);
    for (uint64_t i = 0; size == 4 && i < count; i++)
        words[i] = __builtin_bswap32(words[i]);
    for (uint64_t i = 0; size == 8 && i < count; i++)
        doubles[i] = __builtin_bswap64(doubles[i]);
}
