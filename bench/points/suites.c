/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* strsep */
#include "points/suites.h"

#include "data/data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The points so far. The list of a dimension is in the first of the texts that has it. */
typedef struct builder {
    const bench_request *request;
    const bench_grid *grid;
    const char *texts[3];
    bench_point *points;
    int count, room;
    char *error;
    size_t error_bytes;
} builder;

static bool fail(builder *made, const char *what, const char *why) {
    snprintf(made->error, made->error_bytes, "%s%s", what, why);
    return false;
}

/* The list "LIST" of the word "name=LIST" in the text, or NULL. It ends at a space. */
static const char *find_word(const char *text, const char *name) {
    const size_t length = strlen(name);
    for (; text != NULL && *text != '\0'; text += strspn(text, " ")) {
        if (strncmp(text, name, length) == 0 && text[length] == '=') {
            return text + length + 1;
        }
        text += strcspn(text, " ");
    }
    return NULL;
}

static bool is_fixed(const bench_grid *grid) {
    return find_word(grid->words, "fixed") != NULL;
}

/* "all" is every suite but quick and fixed suites; "air-figures" is all that begin with air-, and so
 * on. Of a fixed suite, "SUITE-GROUP" is a part. */
static bool belongs(const bench_grid *grid, const bench_request *request) {
    const char *suite = request->suite;
    const char *figures = strstr(suite, "figures");
    const size_t length = strlen(grid->suite);
    if (strstr(grid->devices, request->device) == NULL) {
        return false;
    }
    if (strcmp(suite, "all") == 0) {
        return strcmp(grid->suite, "quick") != 0 && !is_fixed(grid);
    }
    if (figures != NULL) {
        return strncmp(grid->suite, suite, (size_t)(figures - suite)) == 0;
    }
    return strncmp(suite, grid->suite, length) == 0 &&
           (suite[length] == '\0' || (suite[length] == '-' && is_fixed(grid)));
}

/* Appends the point unless it is there already. */
static bool append(builder *made, const bench_point *point) {
    for (int i = 0; i < made->count; ++i) {
        if (memcmp(&made->points[i], point, sizeof *point) == 0) {
            return true;
        }
    }
    if (made->count == made->room) {
        made->room = made->room ? 2 * made->room : 64;
        bench_point *grown = realloc(made->points, (size_t)made->room * sizeof *grown);
        if (grown == NULL) {
            return fail(made, "out of memory", "");
        }
        made->points = grown;
    }
    made->points[made->count++] = *point;
    return true;
}

/* Fields that mean nothing to the operation are 0. Rows below 0 are the elements of all rows. */
static void clear_idle(bench_point *point) {
    const bool has_predicate = bench_has_predicate(point);
    point->k = bench_has_k(point) ? point->k : 0;
    point->keep_percent = has_predicate ? point->keep_percent : 0;
    point->predicate = has_predicate ? point->predicate : BENCH_GREATER;
    point->wanted = point->operation == TOPK_OPERATION_WHERE ? point->wanted : BENCH_INDICES;
    point->chunk = point->operation == TOPK_OPERATION_SELECT ? point->chunk : 0;
    point->routing = point->operation == TOPK_OPERATION_ROUTE ? point->routing : 0;
    point->rows = point->rows >= 0 ? point->rows : point->n > 0 ? -point->rows / point->n : 0;
    bench_point_add_up(point);
}

/* Whether rows may have this length: what goes by the position of an element in the input knows no other than
 * even rows, nor do accumulators. */
static bool may_differ(const bench_point *point) {
    return point->lengths == BENCH_EVEN ||
           ((point->operation == TOPK_OPERATION_SELECT || point->operation == TOPK_OPERATION_KTH) &&
            point->chunk == 0 && !bench_is_approximate(point) && !bench_has_distances(point));
}

/* With a mask there are no values to be written: the benchmark gives the call none. Only select from floats
 * can be approximate, by one field and in one call; logits are floats, and the model gives int32 indices. */
static bool makes_sense(const bench_point *point) {
    const int fields = (point->max_iterations > 0) + (point->epsilon > 0) + (point->epsilon_relative > 0);
    const bool route = point->operation == TOPK_OPERATION_ROUTE;
    return bench_distribution_serves(point->distribution, point->type) && may_differ(point) &&
           !(bench_has_mask(point) && bench_wants_values(point)) &&
           (fields == 0 || (fields == 1 && point->operation == TOPK_OPERATION_SELECT && point->chunk == 0)) &&
           (element_is_float(point->type) || !(fields > 0 || route)) &&
           (point->index_type == TOPK_INDEX_I32 || !route);
}

/* Whether the files that were given have what a point is made of. */
static bool is_in(const bench_point *point, const bench_source *source) {
    return !(bench_has_distances(point) && source->base.count == 0) &&
           !(bench_has_file(point) && (source->file.count == 0 || source->file.type != point->type));
}

/* Appends all completions of a point whose dimensions below d are set. */
static bool expand(builder *made, int d, const bench_point *begun) {
    if (d == BENCH_DIMENSIONS) {
        bench_point whole = *begun;
        clear_idle(&whole);
        return !makes_sense(&whole) || !is_in(&whole, made->request->source) || append(made, &whole);
    }
    const bench_dimension *dimension = &bench_dimensions[d];
    const char *list = NULL;
    for (int t = 0; list == NULL && t < 3; ++t) {
        list = find_word(made->texts[t], dimension->name);
    }
    list = list != NULL ? list : dimension->usual;
    for (bool more = true; more;) {
        const size_t length = strcspn(list, ", ");
        char item[64];
        bench_point point = *begun;
        snprintf(item, sizeof item, "%.*s", (int)length, list);
        if (length >= sizeof item || !dimension->set(dimension, &point, item)) {
            return fail(made, item, " is not a value of this option");
        }
        if (!expand(made, d + 1, &point)) {
            return false;
        }
        more = list[length] == ',';
        list += length + more;
    }
    return true;
}

static bool add_grid(builder *made) {
    bench_point point;
    memset(&point, 0, sizeof point);
    char operation[16];
    snprintf(operation, sizeof operation, "%.*s", (int)strcspn(made->grid->words, " "), made->grid->words);
    (void)bench_choose(operation, bench_operation_names, (unsigned *)&point.operation);
    return expand(made, 0, &point);
}

/* The next field of a line, which is cut off there. */
static const char *take(char **line) {
    const char *field = strsep(line, ",\n");
    return field != NULL ? field : "";
}

/* The words of a line, whose columns are named in the header. False: the line is of another group. */
static bool read_line(char *header, char *line, const char *group, char *words, size_t room) {
    size_t used = 0;
    while (header != NULL && *header != '\0') {
        const char *name = take(&header), *field = take(&line);
        name = strcmp(name, "data") == 0 ? "dist" : strcmp(name, "keep_percent") == 0 ? "keep" : name;
        if (strcmp(name, "group") == 0 && *group != '\0' && strcmp(field, group) != 0) {
            return false;
        }
        for (int d = 0; d < BENCH_DIMENSIONS && used < room; ++d) {
            if (strcmp(name, bench_dimensions[d].name) == 0) {
                used += (size_t)snprintf(words + used, room - used, "%s=%s ", name, field);
            }
        }
    }
    return used < room;
}

/* Appends the points of a CSV file's lines; a suite "SUITE-GROUP" has only the lines of that group. */
static bool add_file(builder *made, const char *name) {
    const char *group = is_fixed(made->grid) ? strchr(made->request->suite, '-') : NULL;
    char header[512], header_copy[512], line[512], words[256], usual[4096];
    snprintf(usual, sizeof usual, "%s/%.*s", BENCH_POINTS_FOLDER, (int)strcspn(name, " "), name);
    const char *path = made->request->file != NULL ? made->request->file : usual;
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return fail(made, path, ": no such file; --points says where it is");
    }
    bool ok = fgets(header, sizeof header, file) != NULL;
    while (ok && fgets(line, sizeof line, file) != NULL) {
        strcpy(header_copy, header);
        if (read_line(header_copy, line, group != NULL ? group + 1 : "", words, sizeof words)) {
            made->texts[1] = words;
            ok = add_grid(made);
        }
    }
    made->texts[1] = NULL;
    fclose(file);
    return ok;
}

/* Whether the request may name the dimensions that it names. */
static bool may_choose(builder *made) {
    for (int d = 0; d < BENCH_DIMENSIONS; ++d) {
        const bench_dimension *dimension = &bench_dimensions[d];
        const bool named = find_word(made->request->words, dimension->name) != NULL;
        if (named && strncmp(dimension->help, "CUDA", 4) == 0 && strcmp(made->request->device, "cpu") == 0) {
            return fail(made, "only the benchmark on a GPU has --", dimension->name);
        }
        if (named && d < BENCH_HOW && is_fixed(made->grid)) {
            return fail(made, "the points of this suite are fixed: it has no --", dimension->name);
        }
    }
    return true;
}

int bench_suite_points(const bench_request *request, bench_point **points, char *error, size_t error_bytes) {
    builder made = {.request = request, .error = error, .error_bytes = error_bytes};
    static const char nothing[] = "no such suite, or no points in it (distances take --vectors, file takes "
                                  "--data of the type; --lengths "
                                  "is for exact select and kth, each in one call): ";
    bool ok = true, from_file = false;
    for (int g = 0; ok && g < bench_grid_count; ++g) {
        const bench_grid *grid = &bench_grids[g];
        if (belongs(grid, request)) {
            made.grid = grid;
            made.texts[0] = request->words;
            made.texts[2] = grid->words;
            const char *file = find_word(grid->words, "points");
            from_file |= file != NULL;
            ok = may_choose(&made) && (file != NULL ? add_file(&made, file) : add_grid(&made));
        }
    }
    ok = ok && (made.count > 0 || fail(&made, nothing, request->suite)) &&
         (from_file || request->file == NULL || fail(&made, "no points of a file are in ", request->suite));
    if (!ok) {
        free(made.points);
        return -1;
    }
    *points = made.points;
    return made.count;
}
