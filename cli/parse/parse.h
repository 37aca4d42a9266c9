/* SPDX-License-Identifier: Apache-2.0
 *
 * The tool's parsers: pure functions over memory. They allocate nothing, read no environment and no
 * locale, and never exit, so that fuzzers can call them as they are. */
#ifndef TOPK_CLI_PARSE_H
#define TOPK_CLI_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "topk.h"

/* ---- Numbers --------------------------------------------------------------------------------- */

enum number_status {
    NUMBER_OK,
    NUMBER_SYNTAX,  /* not a number of the wanted kind */
    NUMBER_RANGE,   /* beyond the largest or below the smallest of the type; of F64, also rounded to 0 */
    NUMBER_INEXACT, /* of F64 from 2^53 up: not the shortest decimal of the nearest float64, but another
                       number */
    NUMBER_COMMA, /* no number because of commas, which some locales write as the point or between thousands;
                     where the comma is the point, because of points */
};

/* An element of text: which member counts is said by a topk_type of F64, I64 or U64. */
union number {
    double f64;
    int64_t i64;
    uint64_t u64;
};

/* Parses text[0, length) as a whole. F64: a decimal with optional sign, point and exponent, or inf,
 * infinity, nan in any case; correctly rounded to nearest, also where it is INEXACT. I64, U64: a decimal
 * integer with optional sign. */
enum number_status number_parse(topk_type type, const char *text, size_t length, union number *value);

/* The same where `point` is the decimal sign: '.' or ','. */
enum number_status number_parse_point(topk_type type, char point, const char *text, size_t length,
                                      union number *value);

/* Parses text[0, length) as a size: digits with an optional point, and perhaps a unit. K (or k), M, G, T, P,
 * E and Ki or KiB and their like are powers of 1024, kB, KB, MB and their like powers of 1000; B is 1. A
 * comma before the last one or two digits is a point. Rounded to nearest. */
enum number_status size_parse(const char *text, size_t length, double *value);

/* The fast case: parses the short number that begins at `text`, and returns its end, or NULL when
 * number_parse_point() has to decide. Text must hold a byte that belongs to no number at its end, e.g. a
 * newline. */
const char *number_parse_short(topk_type type, char point, const char *text, union number *value);

/* The same for sizes. It may stop within a unit, which size_parse() then has to read. */
const char *size_parse_short(const char *text, double *value);

/* A bound of a comparison: integers of 64 bits are taken exactly, other numbers rounded to float64.
 * NUMBER_RANGE: it became an infinity, or a 0 with its sign. NUMBER_INEXACT: it was rounded, and lost digits.
 */
enum number_status bound_parse(char point, const char *text, topk_bound *bound);

/* The shortest decimal that reads as a finite float64 of at least 2^53, the nearest one among those: digits,
 * e and an exponent. Returns its length. */
enum { NUMBER_SHORTEST_BYTES = 32 };
size_t number_shortest(double value, char text[NUMBER_SHORTEST_BYTES]);

/* A decimal integer from `least` to `most`, and nothing else in the string. */
bool integer_parse(const char *text, int64_t least, int64_t most, int64_t *value);

/* ---- Places in a ranking --------------------------------------------------------------------- */

/* One of the places that -k or --quantile of `topk kth` asks for. */
struct place_asked {
    enum {
        PLACE_NUMBER,   /* that place, from 1 */
        PLACE_PERCENT,  /* the first place that so many percent of the elements reach */
        PLACE_QUANTILE, /* as numpy counts: so far on the way from the first place to the last */
    } kind;
    int64_t number; /* of NUMBER */
    int64_t numerator,
        denominator;  /* of the others: a part of all elements. 100 times a power of ten, or one */
    const char *text; /* as it is written */
    size_t length;
};

/* Parses text[0, length): "10" or "99.5%", above 0 %; or a quantile from 0 to 1. Up to 15 decimals. */
bool place_parse(const char *text, size_t length, bool quantile, struct place_asked *place);

/* What a quantile that lies between two places is. */
enum place_between { BETWEEN_LINEAR, BETWEEN_LOWER, BETWEEN_HIGHER, BETWEEN_NEAREST, BETWEEN_MIDPOINT };

/* A place, or `rest` / `whole` of the way from place `low` to place `high`. `whole` is a power of ten. */
struct place_pair {
    int64_t low, high;
    int64_t rest, whole;
};

/* Among `length` elements. Of none the place is 1. */
struct place_pair place_among(const struct place_asked *asked, int64_t length, enum place_between how);

/* ---- Numbers beyond float64 ------------------------------------------------------------------ */

/* A decimal, with point or comma, that number_parse_point() found out of RANGE: beyond the largest float64,
 * or between 0 and the least one; or INEXACT. It is compared as it is written, and a float64 as its shortest
 * decimal: so is every number that is none of these, for from 2^53 up they all are such decimals. Only
 * exponents of more than 15 digits are as good as infinite. */
struct beyond {
    const char *text;
    size_t length;
    bool negative;
    double nearest; /* the nearest float64 without sign: infinite, 0, or at least 2^53 */
};

/* `nearest` is what number_parse_point() left. */
struct beyond beyond_of(const char *text, size_t length, double nearest);

/* That nearest float64 again. */
double beyond_nearest(const struct beyond *number);

/* Below 0, 0 or above 0, as a is below b, equal to it or above it; by magnitude, or by value. */
int beyond_compare(const struct beyond *a, const struct beyond *b, bool magnitude);

/* The same with a float64 that is not NaN, which it never equals. */
int beyond_compare_double(const struct beyond *number, double x, bool magnitude);

/* ---- Element types --------------------------------------------------------------------------- */

/* The type named by --dtype ("float32", "f32", "bfloat16", ...), or UNDEFINED. */
topk_type type_parse(const char *name);

/* The type's descr in an .npy header. Types that numpy lacks are void bytes, as ml_dtypes writes them. */
const char *type_npy_descr(topk_type type);

/* ---- Lines of text --------------------------------------------------------------------------- */

/* How a line holds its number. */
struct line_format {
    topk_type type; /* F64, I64 or U64 */
    int64_t field;  /* from 1; 0: the line holds the number and nothing else but blanks */
    int delimiter;  /* the byte between fields; -1: runs of blanks, as awk has it */
    char point;  /* the decimal sign: '.' or ',', which is not the delimiter. Sizes have rules of their own */
    char end;    /* the byte that ends a line: LF, or NUL, where LF is a blank */
    bool quotes; /* a field may be quoted, as RFC 4180 says, and then hold delimiters and line ends */
    bool sizes;  /* of F64: size_parse() reads the numbers */
    bool rounds; /* of F64: an INEXACT number is rounded, and no error */
};

/* Why a line was refused. The token is where the number should have been. */
struct line_error {
    enum {
        LINE_OK,
        LINE_BLANK,
        LINE_NO_FIELD,
        LINE_EXTRA_FIELDS,
        LINE_NUMBER,
        LINE_UNCLOSED, /* the text ends in a quoted field */
    } kind;
    enum number_status number; /* of LINE_NUMBER */
    const char *token;
    size_t token_length;
    size_t line_length;                /* its end included; not of LINE_UNCLOSED */
    const struct condition *condition; /* that cannot be told of the line; NULL: its own number is wrong */
};

/* How far lines are parsed. */
struct line_cursor {
    size_t at;    /* where the next line begins */
    size_t count; /* lines so far */
};

/* Parses the lines that begin before `stop` in text[0, length), which ends with a line. values[i] becomes the
 * number of line i, which begins at text[starts[i]]. Goes on where the cursor is, until there are `capacity`
 * lines, or up to a bad one: *error then tells. */
void lines_parse(const struct line_format *format, const char *text, size_t stop, size_t length,
                 union number *values, size_t *starts, size_t capacity, struct line_cursor *cursor,
                 struct line_error *error);

/* Whether a line was refused although it holds a number, or what some locale writes as one: without it the
 * results would be wrong, so it must not be passed over. */
bool line_has_number(const struct line_error *error);

/* The byte that ends the line at `text`; NULL if all such bytes are within quotes. end[-1] is one. */
const char *line_newline(const struct line_format *format, const char *text, const char *end);

/* Which field of a line, `length` bytes with its end, is `name`, from 1. 0: none is; -1: more than one is. */
int64_t line_column(const struct line_format *format, const char *line, size_t length, const char *name,
                    size_t name_length);

/* The text of a field of a line, whose length is without its end; NULL if it has too few fields. */
const char *line_field(const struct line_format *format, int64_t field, const char *line, size_t length,
                       size_t *field_length);

/* The length of a line without its end: LF, CR LF or NUL. `length` includes that end. */
size_t line_text_length(const struct line_format *format, const char *line, size_t length);

/* Whether a field's text, without blanks and quotes around it, is `text`. Between quotes two quotes are one.
 * `field` is what line_field() gives. */
bool line_field_is(const struct line_format *format, const char *field, size_t length, const char *text,
                   size_t text_length);

/* Where blanks around a line's text leave it: the first byte, and the length behind it. */
const char *line_trim(const struct line_format *format, const char *line, size_t *length);

/* ---- Conditions on fields -------------------------------------------------------------------- */

/* What a field of a line must be, as in "price>=2.5" or "city=Rome". */
struct condition {
    const char *text;         /* as it is written, and ends in NUL; the next two lie in it */
    const char *name, *value; /* of the field, and what it is compared with: without blanks around them */
    size_t name_length, value_length;
    topk_predicate_kind kind; /* GT to NE */
    int64_t field;            /* from 1; 0: not known yet */
    bool is_number;           /* numbers are compared, as they are written; else bytes, by EQ or NE */
    double number;            /* the value's; its nearest float64 if that is not it */
    struct beyond beyond; /* the value as it is written if float64 cannot hold it; else its text is NULL */
};

/* Finds name, comparison and value. False: there is no name, or none of = == != < <= > >= behind it. */
bool condition_parse(const char *text, struct condition *condition);

/* Reads the value where the decimal sign is `point`. False: it is no number, and the comparison is of
 * numbers. */
bool condition_read_value(struct condition *condition, char point);

/* Whether a line, `length` bytes with its end, meets all conditions. They are looked at in their order up to
 * one that the line does not meet, or up to one that cannot be told: *error then says why, else its kind is
 * LINE_OK. */
bool conditions_met(const struct line_format *format, const struct condition *conditions, int count,
                    const char *line, size_t length, struct line_error *error);

/* ---- Files that are no text ------------------------------------------------------------------ */

/* What a file is, and what to do with it: both for a message. */
struct binary {
    const char *what;
    const char *advice;
};

/* What begins like that, by its magic; NULL: nothing that is known. */
const struct binary *binary_by_magic(const void *head, size_t size);

/* The same, also of what is no text because a NUL byte is within so many first bytes; NULL: it may be text.
 */
enum { BINARY_HEAD_BYTES = 1 << 16 };
const struct binary *binary_in_text(const void *head, size_t size);

/* ---- Files of arrays ------------------------------------------------------------------------- */

struct parse_error {
    uint64_t at;      /* byte of the file */
    char reason[160]; /* one sentence without a full stop */
};

enum { DIMENSIONS_MAX = 32 };

/* Where the elements of a file are. A vector has one row. */
struct layout {
    topk_type type;
    bool matrix;
    int64_t rows;
    int64_t cols;
    int64_t stride; /* elements from one row's start to the next */
    uint64_t begin; /* byte of the first element */

    /* Of .npy files alone. */
    bool swapped;   /* elements are big-endian */
    bool scattered; /* layout_gather() finds the rows; where it puts them, they have the stride */
    int dimensions;
    int64_t extents[DIMENSIONS_MAX]; /* of the axes; the one along a row is last */
    int64_t steps[DIMENSIONS_MAX];   /* elements from one to the next along each axis */
};

/* Sets the axes of an array, the last one along the elements of the file, or the first one. Steps wrap where
 * a shape overflows, which layout_rows() refuses, or has no elements. */
void layout_set_axes(struct layout *layout, const int64_t *shape, int dimensions, bool fortran);

/* Bytes of a file. */
struct extent {
    uint64_t begin, size;
};

/* Finds an array of an .npz file, a whole .npy file, by its name with or without .npy; NULL: the only one. It
 * must not be compressed. */
bool npz_find(const void *file, uint64_t size, const char *name, struct extent *found,
              struct parse_error *error);

/* Finds a tensor of a safetensors file, by its name as the header writes it; NULL: the only one. Its elements
 * are to end at *end, as npy_check_size() sees once layout_rows() has made rows. */
bool tensor_find(const void *file, uint64_t size, const char *name, struct layout *layout, uint64_t *end,
                 struct parse_error *error);

/* The first names of what a file holds, for a message. */
struct names {
    int64_t count;
    char text[80];
    size_t length;
};
void names_add(struct names *names, const char *name, size_t length);

/* Fails because none has that name, or, if it is NULL, because there is not exactly one. */
bool names_fail(const struct names *names, const char *name, struct parse_error *error);

/* How many bytes there are up to the end of an .npy file's header, as far as its first `size` bytes tell. */
uint64_t npy_header_bytes(const void *file, uint64_t size);

/* The header of an .npy file, of which `size` bytes are there: type, place, byte order and axes. With an
 * `override` other than UNDEFINED, the header must name that type, or unsigned or void elements of its size.
 */
bool npy_parse(const void *file, uint64_t size, topk_type override, struct layout *layout,
               struct parse_error *error);

/* Whether an .npy file of `size` bytes ends with its last element. */
bool npy_check_size(const struct layout *layout, uint64_t size, struct parse_error *error);

/* Makes rows of the axes, along one that exists; negative ones count from the last. The rows are in C order
 * of the other axes. Flat: all elements are one row, in C order. */
bool layout_rows(struct layout *layout, int axis, bool flat, struct parse_error *error);

/* Copies `count` elements of a scattered layout, from element `first` of its rows on. */
void layout_gather(const struct layout *layout, const void *file, uint64_t first, uint64_t count, void *to);

/* Changes the byte order of elements of more than one byte. */
void layout_swap(topk_type type, void *elements, uint64_t count);

/* .fvecs, .ivecs or .bvecs by `type`: F32, I32 or U8. Reads only the first vector's dimension. */
bool vecs_parse(const void *file, uint64_t size, topk_type type, struct layout *layout,
                struct parse_error *error);

/* Whether rows [first, first + count) of such a file all have the layout's dimension. */
bool vecs_check(const void *file, const struct layout *layout, int64_t first, int64_t count,
                struct parse_error *error);

/* .fbin, .u8bin, .i8bin or .ibin by `type`: F32, U8, I8 or I32. The number of rows, then of columns, as
 * uint32, and the elements. */
bool bin_parse(const void *file, uint64_t size, topk_type type, struct layout *layout,
               struct parse_error *error);

/* Whether a file is exactly as long as the header that it then has says. */
bool bin_fits(const void *file, uint64_t size, topk_type type, uint32_t *rows, uint32_t *cols);

/* Elements behind `skipped` bytes that may hold anything; cols = 0: a vector. */
bool raw_parse(uint64_t size, uint64_t skipped, topk_type type, int64_t cols, struct layout *layout,
               struct parse_error *error);

/* Sets *error and returns false, for a parser to return. */
__attribute__((format(printf, 3, 4))) bool parse_fail(struct parse_error *error, uint64_t at,
                                                      const char *format, ...);

#endif /* TOPK_CLI_PARSE_H */
