/* SPDX-License-Identifier: Apache-2.0
 *
 * Any elements of a matrix are what its pieces hold there: of files, and of pipes before and after their
 * first piece, in each order of axes and bytes. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "input/matrix.h"

enum { EXTENT = 6, ELEMENTS = EXTENT * EXTENT * EXTENT };

/* A cube of uint32: element i in the order of the file is 1000 + i. */
static size_t write_cube(char *file, bool big, bool fortran) {
    const int length = sprintf(file + 10, "{'descr': '%cu4', 'fortran_order': %s, 'shape': (%d, %d, %d)}\n",
                               big ? '>' : '<', fortran ? "True" : "False", EXTENT, EXTENT, EXTENT);
    memcpy(file, "\x93NUMPY\x01\x00", 8);
    file[8] = (char)length;
    file[9] = 0;
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        const uint32_t element = big ? __builtin_bswap32(1000 + i) : 1000 + i;
        memcpy(file + 10 + (size_t)length + i * sizeof element, &element, sizeof element);
    }
    return 10 + (size_t)length + ELEMENTS * sizeof(uint32_t);
}

static uint32_t expected(bool fortran, int axis, int64_t row, int64_t column) {
    int64_t index[3];
    const int64_t others[2] = {row / EXTENT, row % EXTENT};
    for (int i = 0, other = 0; i < 3; i++)
        index[i] = i == axis ? column : others[other++];
    return 1000 + (uint32_t)(fortran ? (index[2] * EXTENT + index[1]) * EXTENT + index[0]
                                     : (index[0] * EXTENT + index[1]) * EXTENT + index[2]);
}

static void check_elements(const struct matrix *matrix, bool fortran, int axis) {
    for (int64_t row = 0; row < matrix->layout.rows; row++)
        for (int64_t column = 0; column < EXTENT; column++) {
            uint32_t found[EXTENT + 1];
            const int64_t count = EXTENT - column;
            found[count] = 7;
            matrix_elements(matrix, row, column, count, found);
            for (int64_t i = 0; i < count; i++)
                CHECK(found[i] == expected(fortran, axis, row, column + i));
            CHECK(found[count] == 7);
        }
}

static void check_pieces(const struct matrix *matrix, bool fortran, int axis) {
    struct pieces pieces;
    int64_t elements = 0;
    pieces_begin(&pieces, matrix, 0, EXTENT, 2 * EXTENT, 2);
    for (struct piece piece; pieces_next(&pieces, &piece); elements += piece.rows * piece.length) {
        const uint32_t *values = piece.values;
        for (int64_t i = 0; i < piece.rows * EXTENT; i++)
            CHECK(values[i] == expected(fortran, axis, piece.row + i / EXTENT, i % EXTENT));
    }
    CHECK(elements == ELEMENTS);
    pieces_end(&pieces);
}

/* A file or a pipe that holds the bytes. */
static int make_source(const char *bytes, size_t size, bool pipes) {
    int ends[2];
    char name[] = "/tmp/test_matrix_XXXXXX";
    if (pipes ? pipe(ends) != 0 : (ends[0] = ends[1] = mkstemp(name)) < 0)
        abort();
    if (write(ends[1], bytes, size) != (ssize_t)size)
        abort();
    if (pipes)
        close(ends[1]);
    else
        unlink(name);
    return ends[0];
}

static void check_source(bool pipes, bool spools, bool big, bool fortran, int axis) {
    char bytes[4096];
    const size_t size = write_cube(bytes, big, fortran);
    struct options options = {.name = "test", .format = FORMAT_NPY, .axis = axis};
    options.descriptor = make_source(bytes, size, pipes);
    struct matrix matrix;
    matrix_open(&matrix, &options);
    CHECK(matrix.rereadable == !(pipes && !fortran && axis == 2));
    if (spools)
        matrix_spool(&matrix);
    CHECK(matrix.rereadable || !spools);
    if (matrix.rereadable)
        check_elements(&matrix, fortran, axis);
    check_pieces(&matrix, fortran, axis);
    if (matrix.rereadable) {
        check_pieces(&matrix, fortran, axis);
        check_elements(&matrix, fortran, axis);
    }
    matrix_close(&matrix);
}

int main(void) {
    for (int bits = 0; bits < 16; bits++)
        for (int axis = 0; axis < 3; axis++)
            check_source(bits & 1, bits & 2, bits & 4, bits & 8, axis);
    return check_report();
}
