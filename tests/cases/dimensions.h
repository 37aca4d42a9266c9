/* SPDX-License-Identifier: Apache-2.0
 *
 * The one list of cases that every method of every backend runs. A case is a point in a space of
 * dimensions: one level of each, and a seed for what is drawn at random. It is written as text,
 * e.g. "type=f32,size=1024,k=n/2,seed=7"; a dimension that is not named has its first level. */
#ifndef TESTS_DIMENSIONS_H
#define TESTS_DIMENSIONS_H

#include <stdbool.h>
#include <stdint.h>

enum dimension {
    DIM_TYPE,
    DIM_DATA,
    DIM_SIZE, /* length_max */
    DIM_K,
    DIM_ROWS,
    DIM_DIRECTION,
    DIM_RANK,
    DIM_TIES,
    DIM_ORDER,
    DIM_NAN,
    DIM_INDEX,
    DIM_EXTENT,
    DIM_SHAPE,
    DIM_LENGTHS, /* how the extents of rows are drawn */
    DIM_ROW_K,
    DIM_PAYLOAD,
    DIM_BASE,
    DIM_PLACEMENT, /* of the inputs, relative to a page */
    DIM_WORKSPACE, /* alignment and previous contents */
    DIM_LIMIT,     /* whether the workspace is kept below what the method would like */
    DIM_OUTPUTS,   /* which outputs are given */
    DIM_PREDICATE,
    DIM_CAPACITY,
    DIM_APPROXIMATION, /* of the operations that ask for one, beside the exact ones */
    DIM_RANKS,         /* of the operations that ask for several k a row, beside the others */
    DIMENSIONS,
    /* Covering arrays have the dimensions before this one; case_at() draws the others' levels from the seed.
     * So a new dimension leaves all other levels of every case as they were. */
    COVERED_DIMENSIONS = DIM_RANKS
};

/* Levels by name, for the dimensions where code must tell them apart. Types are topk_type - 1, and
 * the enumerations of topk.h are their own levels. */
enum { SHAPE_DENSE, SHAPE_GAPS, SHAPE_OVERLAPPING, SHAPE_SPANS, SHAPE_CSR };
enum { LENGTHS_FULL, LENGTHS_RAGGED, LENGTHS_HOSTILE, LENGTHS_LOOSE };
enum { ROW_K_NONE, ROW_K_HOSTILE };
enum { PLACEMENT_AT_PAGE, PLACEMENT_ONE_ELEMENT, PLACEMENT_SEVEN_ELEMENTS, PLACEMENT_AT_END };
enum { LIMIT_NONE, LIMIT_HALF };
enum { OUTPUTS_BOTH, OUTPUTS_VALUES, OUTPUTS_INDICES };
enum { CAPACITY_ALL, CAPACITY_EXACT, CAPACITY_ONE_LESS, CAPACITY_ONE, CAPACITY_ZERO };

typedef struct dimension_levels {
    const char *name;
    int count;
    const char *const *names; /* of the levels, or NULL where numbers are given */
    const int64_t *numbers;
} dimension_levels;

/* Each dimension's table; valid after dimensions_init(). */
extern dimension_levels dimensions[DIMENSIONS];

/* Sizes outside of [smallest, largest] are left out of the table. */
void dimensions_init(int64_t smallest, int64_t largest);

typedef struct test_case {
    int64_t value[DIMENSIONS]; /* the level's number, or its index where levels have names */
    uint64_t seed;
} test_case;

/* The case at a level of each covered dimension. */
test_case case_at(const int levels[COVERED_DIMENSIONS], uint64_t seed);

/* Reads "dimension=level,..." over a case. Sizes and rows may be any number. False after a message
 * on stderr if the text makes no sense. *named, unless NULL, gets a bit for each dimension named. */
bool case_parse(const char *text, test_case *out, uint32_t *named);

enum { CASE_TEXT_BYTES = 512 };

/* The text of a case, without the dimensions that are at their first level. */
const char *case_format(const test_case *c, char text[CASE_TEXT_BYTES]);

/* The number that a level of DIM_K stands for in rows of n. */
int64_t case_k(const test_case *c, int64_t n);

/* What a level of DIM_APPROXIMATION stands for: one of the three is not 0. */
typedef struct case_approximation {
    int64_t max_iterations;
    double epsilon, epsilon_relative;
} case_approximation;

case_approximation case_approximate(const test_case *c);

/* What a level of DIM_RANKS stands for: problem.ranks, and where rows have ranks of their own how many
 * entries lie between two rows' ranks; -1: all rows share them. */
typedef struct case_ranks {
    int64_t ranks, gap;
} case_ranks;

case_ranks case_ranks_of(const test_case *c);

#endif
