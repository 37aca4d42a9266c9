/* SPDX-License-Identifier: Apache-2.0
 *
 * Files that are no text, known by how they begin. */
#include <string.h>

#include "parse.h"

#define PIPE(command) "`" command " FILE' gives what it holds to a pipe"
#define SAVE "save the array with numpy.save(), or the column as CSV"
#define TABLE "`python -m libtopk' has the same commands for tables, with --column NAME"
#define RAW "for raw elements say --format raw --dtype TYPE"
#define DUMP "`h5dump -d NAME -b LE -o x.raw FILE' writes an array as a raw file"

/* The magic as a literal, and its length. */
#define MAGIC(bytes) bytes, sizeof bytes - 1

static const struct {
    const char *magic;
    size_t length;
    struct binary binary;
} kinds[] = {
    {MAGIC("PK\x03\x04"),
     {"a ZIP archive, as .npz and .pt are", PIPE("unzip -p") ", and --format npz reads an array"}},
    {MAGIC("PK\x05\x06"), {"an empty ZIP archive", SAVE}},
    {MAGIC("\x1f\x8b"), {"gzip", PIPE("gzip -dc")}},
    {MAGIC("BZh"), {"bzip2", PIPE("bzip2 -dc")}},
    {MAGIC("\xfd\x37zXZ\0"), {"xz", PIPE("xz -dc")}},
    {MAGIC("\x28\xb5\x2f\xfd"), {"Zstandard", PIPE("zstd -dc")}},
    {MAGIC("\x04\x22\x4d\x18"), {"LZ4", PIPE("lz4 -dc")}},
    {MAGIC("PAR1"), {"a Parquet file", TABLE}},
    {MAGIC("FEA1"), {"a Feather file", SAVE}},
    {MAGIC("ARROW1\0\0"), {"an Arrow file, as Feather is", TABLE}},
    {MAGIC("\xff\xff\xff\xff"), {"perhaps an Arrow stream", TABLE "; " RAW}},
    {MAGIC("\x89HDF\r\n\x1a\n"), {"an HDF5 file", DUMP}},
    {MAGIC("\x80\x02"), {"a pickle, as old .pt are", SAVE}},
    {MAGIC("\x80\x03"), {"a pickle", SAVE}},
    {MAGIC("\x80\x04"), {"a pickle", SAVE}},
    {MAGIC("\x80\x05"), {"a pickle", SAVE}},
    {MAGIC("%PDF-"), {"a PDF", PIPE("pdftotext -layout")}},
    {MAGIC("SQLite format 3\0"), {"an SQLite database", SAVE}},
    {MAGIC("\xff\xfe"), {"UTF-16", PIPE("iconv -f UTF-16 -t UTF-8")}},
    {MAGIC("\xfe\xff"), {"UTF-16", PIPE("iconv -f UTF-16 -t UTF-8")}},
};

static bool is_control(char c) {
    return (unsigned char)c < ' ' && memchr("\t\n\r", c, 3) == NULL;
}

/* Whether a file goes on as it should behind a magic that text may begin with, too. */
static bool goes_on(const char *bytes, size_t size) {
    if (memcmp(bytes, "BZh", 3) == 0) /* the size of its blocks, and the first block or the end */
        return size >= 10 && bytes[3] >= '1' && bytes[3] <= '9' &&
               (memcmp(bytes + 4, "1AY&SY", 6) == 0 || memcmp(bytes + 4, "\x17rE8P\x90", 6) == 0);
    if (memcmp(bytes, "PAR1", 4) == 0 || memcmp(bytes, "FEA1", 4) == 0)
        return size > 4 && is_control(bytes[4]);
    return true;
}

/* The length of a JSON header as 8 bytes, then the header. */
static bool is_safetensors(const char *bytes, size_t size) {
    uint64_t length;
    if (size < 10)
        return false;
    memcpy(&length, bytes, sizeof length);
    return length >= 2 && length <= 100000000 && bytes[8] == '{' && memchr("\"} ", bytes[9], 3) != NULL;
}

const struct binary *binary_by_magic(const void *head, size_t size) {
    static const struct binary safetensors = {"safetensors", "say --format safetensors"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (size >= kinds[i].length && memcmp(head, kinds[i].magic, kinds[i].length) == 0 &&
            goes_on(head, size))
            return &kinds[i].binary;
    return is_safetensors(head, size) ? &safetensors : NULL;
}

const struct binary *binary_in_text(const void *head, size_t size) {
    static const struct binary unknown = {"there is a NUL byte", RAW ", for lines that end in NUL say -z"};
    static const struct binary npy = {"an .npy array", "leave --format to the tool"};
    const struct binary *known =
        size >= 6 && memcmp(head, "\x93NUMPY", 6) == 0 ? &npy : binary_by_magic(head, size);
    const size_t block = size < BINARY_HEAD_BYTES ? size : BINARY_HEAD_BYTES;
    return known != NULL || block == 0 || memchr(head, '\0', block) == NULL ? known : &unknown;
}
