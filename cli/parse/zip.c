/* SPDX-License-Identifier: Apache-2.0
 *
 * The directory of a ZIP archive, as .npz files are: a record at the end of the file says where the directory
 * is, and each of its entries says where a member is. Sizes and places from 4 GiB up, and numbers of entries
 * from 65535 up, stand in wider records beside them (ZIP64). */
#include <string.h>

#include "parse.h"

enum {
    END_BYTES = 22,     /* the record at the end, without its comment */
    LOCATOR_BYTES = 20, /* in front of it, where there is a wide one */
    WIDE_END_BYTES = 56,
    ENTRY_BYTES = 46, /* of the directory, without name, extra fields and comment */
    LOCAL_BYTES = 30, /* in front of a member, likewise */
    COMMENT_MAX = 65535,
};

struct archive {
    const unsigned char *file;
    uint64_t size;
    uint64_t at, end; /* the directory's entries that are left */
    struct parse_error *error;
};

/* A member as the directory has it. */
struct entry {
    const char *name;
    size_t name_length;
    unsigned flags, method;
    uint64_t packed, bytes; /* its length in the file, and unpacked */
    uint64_t local;         /* where its own header is */
};

/* A number of up to 8 bytes, the lowest first. */
static uint64_t number_at(const unsigned char *bytes, int count) {
    uint64_t number = 0;
    while (count-- > 0)
        number = number << 8 | bytes[count];
    return number;
}

static bool begins(const struct archive *archive, uint64_t at, const char *magic) {
    return memcmp(archive->file + at, magic, 4) == 0;
}

/* Whether `count` bytes from `at` on lie within the file. */
static bool holds(const struct archive *archive, uint64_t at, uint64_t count) {
    return at <= archive->size && count <= archive->size - at;
}

/* Whether the record at the end begins there: its comment reaches to the file's end. */
static bool is_end(const struct archive *archive, uint64_t at) {
    return begins(archive, at, "PK\x05\x06") &&
           number_at(archive->file + at + 20, 2) == archive->size - at - END_BYTES;
}

/* Finds the directory. */
static bool find_directory(struct archive *archive) {
    const uint64_t size = archive->size;
    uint64_t at = size >= END_BYTES ? size - END_BYTES : 0;
    const uint64_t first = at > COMMENT_MAX ? at - COMMENT_MAX : 0;
    if (size < END_BYTES)
        return parse_fail(archive->error, size, "the file is no ZIP archive, as .npz files are");
    while (at > first && !is_end(archive, at))
        at--;
    if (!is_end(archive, at))
        return parse_fail(archive->error, size,
                          "the file has no directory of a ZIP archive: it may be cut off");
    uint64_t bytes = number_at(archive->file + at + 12, 4), begin = number_at(archive->file + at + 16, 4);
    if (at >= LOCATOR_BYTES && begins(archive, at - LOCATOR_BYTES, "PK\x06\x07")) {
        const uint64_t wide = number_at(archive->file + at - LOCATOR_BYTES + 8, 8);
        if (!holds(archive, wide, WIDE_END_BYTES) || !begins(archive, wide, "PK\x06\x06"))
            return parse_fail(archive->error, at - LOCATOR_BYTES,
                              "the ZIP64 directory is not where it should be");
        bytes = number_at(archive->file + wide + 40, 8);
        begin = number_at(archive->file + wide + 48, 8);
    }
    if (!holds(archive, begin, bytes))
        return parse_fail(archive->error, at, "the directory of the archive lies beyond the file's end");
    archive->at = begin;
    archive->end = begin + bytes;
    return true;
}

/* Replaces what does not fit into 4 bytes by what the ZIP64 field among the extra ones says. */
static bool widen(struct entry *entry, const unsigned char *extra, size_t length) {
    uint64_t *const numbers[] = {&entry->bytes, &entry->packed, &entry->local};
    while (length >= 4) {
        const size_t id = number_at(extra, 2), bytes = number_at(extra + 2, 2);
        const unsigned char *field = extra + 4;
        if (bytes > length - 4)
            return false;
        size_t left = bytes;
        for (int i = 0; id == 1 && i < 3; i++) {
            if (*numbers[i] != UINT32_MAX)
                continue;
            if (left < 8)
                return false;
            *numbers[i] = number_at(field, 8);
            field += 8;
            left -= 8;
        }
        extra += 4 + bytes;
        length -= 4 + bytes;
    }
    return true;
}

/* Takes the next entry. There must be one. */
static bool take_entry(struct archive *archive, struct entry *entry) {
    const unsigned char *at = archive->file + archive->at;
    if (archive->end - archive->at < ENTRY_BYTES || !begins(archive, archive->at, "PK\x01\x02"))
        return parse_fail(archive->error, archive->at, "the directory should have an entry here");
    const size_t name = number_at(at + 28, 2), extra = number_at(at + 30, 2), comment = number_at(at + 32, 2);
    if (archive->end - archive->at - ENTRY_BYTES < name + extra + comment)
        return parse_fail(archive->error, archive->at, "an entry goes beyond the directory's end");
    *entry = (struct entry){.name = (const char *)at + ENTRY_BYTES,
                            .name_length = name,
                            .flags = (unsigned)number_at(at + 8, 2),
                            .method = (unsigned)number_at(at + 10, 2),
                            .packed = number_at(at + 20, 4),
                            .bytes = number_at(at + 24, 4),
                            .local = number_at(at + 42, 4)};
    if (!widen(entry, at + ENTRY_BYTES + name, extra))
        return parse_fail(archive->error, archive->at, "an entry's extra fields are broken");
    archive->at += ENTRY_BYTES + name + extra + comment;
    return true;
}

/* Finds where an entry's member begins, behind a header of its own. */
static bool open_entry(const struct archive *archive, const struct entry *entry, struct extent *found) {
    if (!holds(archive, entry->local, LOCAL_BYTES) || !begins(archive, entry->local, "PK\x03\x04"))
        return parse_fail(archive->error, archive->at, "an array is not where the directory says");
    if (entry->flags & 1)
        return parse_fail(archive->error, entry->local, "the array is encrypted");
    if (entry->method != 0 || entry->packed != entry->bytes)
        return parse_fail(archive->error, entry->local,
                          "the array is compressed: `unzip -p FILE NAME.npy' gives it to a pipe");
    const unsigned char *at = archive->file + entry->local;
    found->begin = entry->local + LOCAL_BYTES + number_at(at + 26, 2) + number_at(at + 28, 2);
    found->size = entry->bytes;
    return holds(archive, found->begin, found->size) ||
           parse_fail(archive->error, entry->local, "an array goes beyond the file's end");
}

/* The length of a member's name without .npy. */
static size_t array_name(const struct entry *entry) {
    const size_t length = entry->name_length;
    const bool is_npy = length > 4 && memcmp(entry->name + length - 4, ".npy", 4) == 0;
    return is_npy ? length - 4 : length;
}

static bool is_named(const struct entry *entry, const char *name) {
    const size_t length = strlen(name);
    return (length == entry->name_length || length == array_name(entry)) &&
           memcmp(entry->name, name, length) == 0;
}

bool npz_find(const void *file, uint64_t size, const char *name, struct extent *found,
              struct parse_error *error) {
    struct archive archive = {file, size, 0, 0, error};
    struct names names = {.count = 0};
    struct entry chosen = {0};
    bool has = false;
    if (!find_directory(&archive))
        return false;
    while (archive.at < archive.end) {
        struct entry entry;
        if (!take_entry(&archive, &entry))
            return false;
        if (name == NULL || is_named(&entry, name)) {
            chosen = entry;
            has = true;
        }
        names_add(&names, entry.name, array_name(&entry));
    }
    if (!has || (name == NULL && names.count > 1))
        return names_fail(&names, name, error);
    return open_entry(&archive, &chosen, found);
}
