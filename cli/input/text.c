/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/alloc.h"
#include "../base/fail.h"
#include "bad_line.h"

enum {
    BLOCKS_MIN = 16, /* of a chunk: enough to make the library's cost per call vanish */
};

/* Each file is a range, or the stream. */
static void open_ranges(struct text *text) {
    const struct options *options = text->options;
    text->range_count = options->shards != NULL ? options->shard_count : 1;
    text->ranges = allocate((uint64_t)text->range_count, sizeof *text->ranges);
    for (int64_t i = 0; i < text->range_count; i++) {
        const struct shard_file file = options->shards != NULL
                                           ? options->shards[i]
                                           : (struct shard_file){options->name, options->descriptor};
        struct stat status;
        if (fstat(file.descriptor, &status) != 0)
            fail("%s: %s", file.path, strerror(errno));
        if (S_ISREG(status.st_mode))
            text->size += (uint64_t)status.st_size;
        text->ranges[i] = (struct text_range){file.path, file.descriptor, i, 0, UINT64_MAX};
    }
    text->name = text->ranges[0].name;
}

void text_open(struct text *text, const struct options *options) {
    *text = (struct text){.name = options->name, .options = options, .threads = 1};
    open_ranges(text);
    text->format = (struct line_format){
        .type = options->dtype == TOPK_TYPE_UNDEFINED ? TOPK_F64 : options->dtype,
        .field = !options_fields(options) ? 0
                 : options->field > 0     ? options->field
                                          : 1,
        .delimiter = options->delimiter,
        .point = options_point(options),
        .end = options->zero_terminated ? '\0' : '\n',
        .quotes = options->csv,
        .sizes = options->human,
        .rounds = options->dtype == TOPK_F64,
    };
    text->by = options->by_field;
    memcpy(text->conditions, options->conditions, sizeof text->conditions);
    text->parts = allocate(BLOCKS_MAX, sizeof *text->parts);
    text->usual_bytes = (size_t)BLOCKS_MIN * BLOCK_BYTES;
    bytes_begin(&text->bytes, text->name, text->ranges[0].descriptor, UINT64_MAX, text->format.end,
                options->head, options->head_bytes);
}

/* Begins to read a range. The header was passed where it does not begin the file. */
static void start_range(struct text *text) {
    const struct text_range *range = &text->ranges[text->range];
    text->name = range->name;
    text->header_passed = range->begin > 0 ? text->options->header : 0;
    if (range->end == UINT64_MAX) {
        bytes_go_on(&text->bytes, range->name, range->descriptor, UINT64_MAX, true);
        return;
    }
    if (lseek(range->descriptor, (off_t)range->begin, SEEK_SET) < 0)
        fail("%s: %s", range->name, strerror(errno));
    bytes_go_on(&text->bytes, range->name, range->descriptor, range->end - range->begin, range->begin == 0);
}

/* Goes on to the next range; false if there is none. */
static bool next_range(struct text *text) {
    if (text->range + 1 >= text->range_count)
        return false;
    text->range++;
    text->range_base = text->base;
    start_range(text);
    return true;
}

void text_take_part(struct text *text, int part, int parts) {
    text->range_count = ranges_take_part(text->ranges, text->range_count, part, parts, text->format.end,
                                         text->options->header);
    text->size = 0;
    for (int64_t i = 0; i < text->range_count; i++)
        text->size += text->ranges[i].end - text->ranges[i].begin;
    start_range(text);
}

void text_share(struct text *text, int threads) {
    text->threads = threads < BLOCKS_MAX ? threads : BLOCKS_MAX;
    if (text->threads > BLOCKS_MIN)
        text->usual_bytes = (size_t)text->threads * BLOCK_BYTES;
}

/* Lines of the file at hand that come before the chunk, its header among them. */
static int64_t lines_passed(const struct text *text) {
    return text->header_passed + text->base - text->range_base;
}

/* ---- Parts ----------------------------------------------------------------------------------- */

/* What has no end may be no text at all: that is not passed over. Nor is a number. */
static bool passes_over(const struct text *text, const struct line_error *error) {
    return text->options->skip_invalid && error->kind != LINE_UNCLOSED && !line_has_number(error);
}

/* Whether text may hold numbers beyond float64. Sizes, which have units, cannot be compared as they are
 * written, and are rounded. */
static bool has_beyond(const struct line_format *format) {
    return format->type == TOPK_F64 && !format->sizes;
}

static bool is_beyond(const struct line_format *format, const struct line_error *error) {
    return error->kind == LINE_NUMBER && has_beyond(format) &&
           (error->number == NUMBER_RANGE || error->number == NUMBER_INEXACT);
}

/* Takes a line out of those that hold elements. `error` is why; LINE_OK: it does not meet the conditions. */
static void leave_out(const struct text *text, struct text_part *part, size_t slot,
                      const struct line_error *error) {
    const bool beyond = error->condition == NULL && is_beyond(&text->format, error);
    const bool filtered = error->kind == LINE_OK;
    if (!beyond && !filtered && part->invalid_count == part->beyond_count + part->filtered_count) {
        part->first_invalid = *error;
        part->first_invalid_slot = slot;
    }
    part->beyond_count += beyond;
    part->filtered_count += filtered;
    text->invalid[part->from.count + (size_t)part->invalid_count++] = (int64_t)slot;
    text->values[slot].u64 = 0;
    if (text->met != NULL)
        text->met[slot] = !filtered;
}

/* Looks at the conditions of the lines from slot `first` on, which hold numbers. False: that of a line cannot
 * be told, and it is not passed over; then the part ends before it, and its error is fatal. */
static bool filter(const struct text *text, struct text_part *part, size_t first) {
    for (size_t slot = first; slot < part->to.count; slot++) {
        const size_t begin = text->starts[slot];
        const size_t end = slot + 1 < part->to.count ? text->starts[slot + 1] : part->to.at;
        struct line_error error;
        text->met[slot] = conditions_met(&text->format, text->conditions, text->options->condition_count,
                                         text->lines + begin, end - begin, &error);
        if (error.kind == LINE_OK)
            continue;
        if (!passes_over(text, &error)) {
            part->to = (struct line_cursor){begin, slot};
            part->fatal = error;
            return false;
        }
        leave_out(text, part, slot, &error);
    }
    return true;
}

/* The error of a line whose number is wrong or beyond float64, if it meets the conditions; else LINE_OK. */
static struct line_error filtered_error(const struct text *text, const struct text_part *part,
                                        const struct line_error *error) {
    struct line_error of_condition;
    const bool met = conditions_met(&text->format, text->conditions, text->options->condition_count,
                                    text->lines + part->to.at, error->line_length, &of_condition);
    of_condition.line_length = error->line_length;
    return met ? *error : of_condition;
}

static bool parse_part(const void *work, int64_t index) {
    const struct text *text = work;
    struct text_part *part = &text->parts[index];
    part->to = part->from;
    part->invalid_count = part->beyond_count = part->filtered_count = 0;
    for (;;) {
        struct line_error error;
        const size_t first = part->to.count;
        lines_parse(&text->format, text->lines, part->stop, text->lines_end, text->values, text->starts,
                    (size_t)text->room, &part->to, &error);
        part->fatal = error;
        if (text->met != NULL && !filter(text, part, first))
            return true;
        if (error.kind == LINE_OK || error.kind == LINE_UNCLOSED)
            return true;
        if (text->met != NULL)
            part->fatal = error = filtered_error(text, part, &error);
        const bool beyond = error.condition == NULL && is_beyond(&text->format, &error);
        if (error.kind != LINE_OK && !beyond && !passes_over(text, &error))
            return true;
        leave_out(text, part, part->to.count, &error);
        text->starts[part->to.count++] = part->to.at;
        part->to.at += error.line_length;
    }
}

static void reserve(struct text *text, int64_t lines) {
    if (lines <= text->room)
        return;
    text->room = lines;
    text->values = reallocate(text->values, (uint64_t)lines, sizeof *text->values);
    text->starts = reallocate(text->starts, (uint64_t)lines, sizeof *text->starts);
    if (text->options->condition_count > 0)
        text->met = reallocate(text->met, (uint64_t)lines, 1);
    if (text->options->skip_invalid || text->met != NULL || has_beyond(&text->format))
        text->invalid = reallocate(text->invalid, (uint64_t)lines, sizeof *text->invalid);
}

/* Makes a part of each block that a line may begin in, and room for all lines. */
static void split(struct text *text, const struct blocks *blocks) {
    size_t low = blocks->begin;
    int64_t slots = blocks->front_ends + 1;
    text->part_count = 0;
    for (int i = 0; low < text->lines_end; i++) {
        const size_t block_end = blocks->room + (size_t)(i + 1) * blocks->block_bytes;
        const size_t high =
            i + 1 < blocks->count && block_end < text->lines_end ? block_end : text->lines_end;
        if (high <= low)
            continue;
        const bool first = text->part_count == 0;
        const char *end = first ? NULL : memchr(text->lines + low, text->format.end, high - low);
        if (first || end != NULL)
            text->parts[text->part_count++] = (struct text_part){
                .stop = high + 1,
                .from = {first ? low : (size_t)(end + 1 - text->lines), first ? 0 : (size_t)slots},
            };
        slots += i < blocks->count ? blocks->ends[i] : 0;
        low = high;
    }
    reserve(text, slots + 1);
}

/* Moves what a part found behind what the parts before it found. */
static void close_gap(struct text *text, struct text_part *part, size_t slot) {
    const size_t from = part->from.count, count = part->to.count - from;
    if (from == slot)
        return;
    memmove(text->values + slot, text->values + from, count * sizeof *text->values);
    memmove(text->starts + slot, text->starts + from, count * sizeof *text->starts);
    if (text->met != NULL)
        memmove(text->met + slot, text->met + from, count);
    for (int64_t i = 0; i < part->invalid_count; i++)
        text->invalid[slot + (size_t)i] = text->invalid[from + (size_t)i] - (int64_t)(from - slot);
    part->first_invalid_slot -= from - slot;
    part->from.count = slot;
    part->to.count = slot + count;
}

/* Keeps the numbers beyond float64 of a part, whose invalid lines these are: they are parsed again, for few
 * are. */
static void keep_beyond(struct text *text, const struct text_part *part, const int64_t *slots) {
    if (text->beyond_count + part->beyond_count > text->beyond_room) {
        text->beyond_room = 2 * (text->beyond_count + part->beyond_count);
        text->beyond = reallocate(text->beyond, (uint64_t)text->beyond_room, sizeof *text->beyond);
    }
    for (int64_t i = 0; i < part->invalid_count; i++) {
        if (text->met != NULL && !text->met[slots[i]])
            continue;
        union number value;
        size_t start;
        struct line_cursor cursor = {.at = text->starts[slots[i]]};
        struct line_error error;
        lines_parse(&text->format, text->lines, cursor.at + 1, text->lines_end, &value, &start, 1, &cursor,
                    &error);
        if (is_beyond(&text->format, &error))
            text->beyond[text->beyond_count++] =
                (struct text_beyond){slots[i], beyond_of(error.token, error.token_length, value.f64)};
    }
}

static void note_invalid(struct text *text, const struct text_part *part) {
    if (part->invalid_count == 0)
        return;
    const int64_t *slots = text->invalid + part->from.count;
    const int64_t invalid = part->invalid_count - part->beyond_count - part->filtered_count;
    if (part->beyond_count > 0)
        keep_beyond(text, part, slots);
    if (text->invalid_total == 0 && invalid > 0) {
        text->first_invalid = lines_passed(text) + (int64_t)part->first_invalid_slot + 1;
        text->first_invalid_range = text->range;
        text->first_invalid_name = text->name;
        bad_line_describe(&text->format, &part->first_invalid, text->reason, sizeof text->reason);
    }
    memmove(text->invalid + text->invalid_count, slots, (size_t)part->invalid_count * sizeof *slots);
    text->invalid_count += part->invalid_count;
    text->invalid_total += invalid;
}

/* ---- Bad lines ------------------------------------------------------------------------------- */

static _Noreturn void fail_line(const struct text *text, const struct line_error *error) {
    char reason[256];
    bad_line_describe(&text->format, error, reason, sizeof reason);
    fail_in_line(text->name, text->ranges[text->range].file, lines_passed(text) + text->count + 1, reason);
}

/* Ends the tool if a NUL is in bytes [begin, end), the line behind `passed` lines of the file. */
static void refuse_nul(const struct text *text, size_t begin, size_t end, int64_t passed) {
    if (text->format.end != '\0' && memchr(text->lines + begin, '\0', end - begin) != NULL)
        fail_in_line(text->name, text->ranges[text->range].file, passed + 1,
                     "line holds a NUL; if lines end in NUL, say --zero-terminated (-z)");
}

/* The same for all lines of the chunk. */
static void refuse_nuls(const struct text *text, const struct blocks *blocks) {
    const bool may_hold = blocks->has_nul && text->format.end != '\0';
    for (int64_t i = 0; may_hold && i < text->count; i++)
        refuse_nul(text, text->starts[i], text->starts[i + 1], lines_passed(text) + i);
}

/* ---- Chunks ---------------------------------------------------------------------------------- */

/* Puts what the parts found together, up to where a record has no end yet. */
static void join(struct text *text, struct blocks *blocks) {
    struct line_cursor done = {.at = blocks->begin};
    struct line_error fatal = {.kind = LINE_OK};
    for (int i = 0; i < text->part_count && fatal.kind == LINE_OK; i++) {
        struct text_part *part = &text->parts[i];
        if (done.at >= part->stop)
            continue;
        if (part->from.at != done.at) {
            part->from = done;
            parse_part(text, i);
        }
        close_gap(text, part, done.count);
        note_invalid(text, part);
        done = part->to;
        fatal = part->fatal;
    }
    text->count = (int64_t)done.count;
    text->starts[done.count] = blocks->begin = done.at;
    refuse_nuls(text, blocks);
    if (fatal.kind != LINE_OK && (fatal.kind != LINE_UNCLOSED || (text->is_last && text->count == 0))) {
        if (fatal.kind != LINE_UNCLOSED && blocks->has_nul)
            refuse_nul(text, done.at, done.at + fatal.line_length, lines_passed(text) + text->count);
        fail_line(text, &fatal);
    }
}

/* The field that the header's last line calls so. */
static int64_t named_field(const struct text *text, const char *line, size_t length, const char *name,
                           size_t name_length) {
    char reason[256];
    const int64_t field = line_column(&text->format, line, length, name, name_length);
    if (field > 0)
        return field;
    snprintf(reason, sizeof reason, "the header names %s column '%.*s'", field == 0 ? "no" : "more than one",
             name_length < 100 ? (int)name_length : 100, name);
    fail_in_line(text->name, text->ranges[text->range].file, text->header_passed + 1, reason);
}

/* Finds the column in the last line of a header, and keeps the first file's header. */
static void take_header_line(struct text *text, const char *line, size_t length) {
    const struct options *options = text->options;
    if (options->column == NULL)
        return;
    if (text->range == 0) {
        const size_t kept = line_text_length(&text->format, line, length);
        text->header = reallocate(text->header, text->header_length + kept + 1, 1);
        memcpy(text->header + text->header_length, line, kept);
        text->header_length += kept + 1;
        text->header[text->header_length - 1] = text->format.end;
    }
    if (text->header_passed + 1 < options->header)
        return;
    text->format.field = named_field(text, line, length, options->column, strlen(options->column));
    if (options->by != NULL)
        text->by = named_field(text, line, length, options->by, strlen(options->by));
    for (int i = 0; i < options->condition_count; i++) {
        struct condition *condition = &text->conditions[i];
        condition->field = named_field(text, line, length, condition->name, condition->name_length);
    }
    text->has_column = true;
}

/* Passes lines of the header. False if more bytes are needed for that, or are needed behind it. */
static bool pass_header(struct text *text, struct blocks *blocks) {
    while (text->header_passed < text->options->header && blocks->begin < text->lines_end) {
        const char *end =
            line_newline(&text->format, text->lines + blocks->begin, text->lines + text->lines_end);
        if (end == NULL && text->is_last)
            fail_line(text, &(struct line_error){.kind = LINE_UNCLOSED});
        if (end == NULL)
            return false;
        const size_t next = (size_t)(end + 1 - text->lines);
        if (blocks->has_nul)
            refuse_nul(text, blocks->begin, next, text->header_passed);
        take_header_line(text, text->lines + blocks->begin, next - blocks->begin);
        blocks->begin = next;
        text->header_passed++;
    }
    return blocks->begin < text->lines_end;
}

/* Lines of what is no text would be passed over as invalid, or refused with words that lead astray. */
static void refuse_binary(const struct text *text, const char *begin, size_t size) {
    const struct binary *binary =
        text->format.end == '\0' ? binary_by_magic(begin, size) : binary_in_text(begin, size);
    if (binary != NULL)
        fail("%s: holds binary data (%s): %s", text->name, binary->what, binary->advice);
}

/* The same of a file that a range is the first of. Other ranks may have what tells. */
static void refuse_binary_file(const struct text *text, const struct blocks *blocks) {
    const struct text_range *range = &text->ranges[text->range];
    if (range->end == UINT64_MAX) {
        refuse_binary(text, blocks->buffer + blocks->begin, blocks->end - blocks->begin);
        return;
    }
    enum { HEAD_BYTES = MARK_BYTES + BINARY_HEAD_BYTES }; /* a mark does not count */
    char *head = allocate(HEAD_BYTES, 1);
    const size_t size = ranges_head(range, head, HEAD_BYTES);
    const size_t mark = byte_order_mark(head, size);
    refuse_binary(text, head + mark, size - mark);
    release(head);
}

/* Goes on to the next bytes, and finds the whole lines in them. NULL: there are none left. */
static struct blocks *load(struct text *text) {
    const bool first = !text->bytes.begun;
    struct blocks *blocks = bytes_next(&text->bytes);
    if (blocks == NULL)
        return NULL;
    if (first && text->ranges[text->range].begin == 0)
        refuse_binary_file(text, blocks);
    text->is_last = text->bytes.at_end;
    text->lines = blocks->buffer;
    const char *end = memrchr(text->lines + blocks->begin, text->format.end, blocks->end - blocks->begin);
    text->lines_end = end != NULL ? (size_t)(end + 1 - text->lines) : blocks->begin;
    return blocks;
}

/* Parses the lines while the next bytes are read. */
static void parse(struct text *text, struct blocks *blocks, size_t wanted) {
    struct job job;
    split(text, blocks);
    if (text->part_count > 1 && text->threads > 1 && !text->has_team) {
        team_begin(&text->team, text->threads);
        text->has_team = true;
    }
    if (text->has_team)
        team_start(&text->team, &job, parse_part, text, text->part_count);
    bytes_read_ahead(&text->bytes, wanted);
    if (text->has_team)
        team_wait(&text->team, &job);
    for (int i = 0; !text->has_team && i < text->part_count; i++)
        parse_part(text, i);
    join(text, blocks);
}

bool text_next(struct text *text) {
    size_t wanted = text->usual_bytes;
    text->base += text->count;
    text->count = 0;
    text->invalid_count = text->beyond_count = 0;
    if (!text->bytes.begun)
        bytes_read_ahead(&text->bytes, wanted);
    while (text->count == 0) {
        struct blocks *blocks = load(text);
        if (blocks == NULL) {
            if (!next_range(text)) {
                if (text->options->column != NULL && !text->has_column)
                    fail("%s: has no header to name column '%s'", text->name, text->options->column);
                return false;
            }
            bytes_read_ahead(&text->bytes, wanted);
            continue;
        }
        if (pass_header(text, blocks))
            parse(text, blocks, wanted);
        else
            bytes_read_ahead(&text->bytes, wanted);
        /* As many bytes again, so that the time for a long record is in proportion to its length. */
        const size_t left = blocks->end - blocks->begin;
        wanted = left > text->usual_bytes ? left : text->usual_bytes;
    }
    return true;
}

const char *text_line(const struct text *text, int64_t index, size_t *length) {
    const int64_t line = index - text->base;
    const char *begin = text->lines + text->starts[line];
    *length = line_text_length(&text->format, begin, text->starts[line + 1] - text->starts[line]);
    return begin;
}

bool text_run(const struct text *text, struct run *run) {
    run->begin = run->end;
    for (; run->passed < text->invalid_count && text->invalid[run->passed] == run->begin; run->passed++)
        run->begin++;
    run->end = run->passed < text->invalid_count ? text->invalid[run->passed] : text->count;
    return run->begin < text->count;
}

int64_t text_compact(struct text *text) {
    int64_t count = 0;
    for (struct run run = {0}; text_run(text, &run); count += run.end - run.begin) {
        const size_t length = (size_t)(run.end - run.begin);
        memmove(text->values + count, text->values + run.begin, length * sizeof *text->values);
        if (text->met != NULL)
            memmove(text->met + count, text->met + run.begin, length);
    }
    return count;
}

void text_say_skipped(const struct text *text) {
    const bool shards = text->options->shards != NULL;
    if (text->invalid_total > 0 && !text->options->quiet)
        note("%s: invalid lines passed over: %" PRId64 "; the first is line %" PRId64 "%s%s: %s",
             text->options->name, text->invalid_total, text->first_invalid, shards ? " of " : "",
             shards ? text->first_invalid_name : "", text->reason);
}

void text_close(struct text *text) {
    if (text->has_team)
        team_end(&text->team);
    for (int64_t i = 0; i < text->range_count; i++)
        if (text->ranges[i].descriptor != STDIN_FILENO)
            close(text->ranges[i].descriptor);
    bytes_end(&text->bytes);
    release(text->header);
    release(text->ranges);
    release(text->parts);
    release(text->values);
    release(text->starts);
    release(text->met);
    release(text->invalid);
    release(text->beyond);
}
