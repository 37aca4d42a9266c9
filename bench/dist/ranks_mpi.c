/* SPDX-License-Identifier: Apache-2.0
 *
 * Selection by ranks, beside each rank's own selection from its elements: how much communication costs.
 * Uniform float32 in (0, 1], in runs of positions. Runs and own selections take turns. A time is the slowest
 * rank's, and the least of all repetitions: ranks that share processors with others are kept waiting. Prints
 * CSV. `over_own` is a run in own selections, `communication_percent` of a run what an own selection lacks.
 * With --piece elements are read piece by piece, from memory: `reload_us` is what copying them all takes
 * alone.
 *
 * Each run is checked (check_mpi.h), over outputs that were overwritten before. A point with a wrong result
 * is FAIL, shows no time, and makes the exit status 1.
 *
 * usage: mpirun -n RANKS topk-bench-dist [OPTION VALUE]...
 *   --n        powers of two, of the elements of a row on all ranks: "20,24"
 *   --k        numbers: "1000,100000"
 *   --rows, --repeat, --threads (of each rank)
 *   --piece    a power of two: elements of a row that are read at once; without it they lie in memory
 *   --where    everywhere, root, owner or place
 *   --spoil    value, index, order, twice, missing or number: makes a result wrong before it is checked, on
 * the last rank that has one */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_mpi.h"

enum { LIST_MOST = 16 };

static struct {
    int64_t n[LIST_MOST], k[LIST_MOST];
    int n_count, k_count, repeat, threads;
    int64_t rows, piece;
    topk_dist_destination where;
    spoil spoil;
} asked = {{26}, {1000}, 1, 1, 11, 1, 1, 0, TOPK_DIST_EVERYWHERE, SPOIL_NOTHING};

static topk_context *context;
static topk_dist_group *group;

static void check(topk_status status) {
    if (status != TOPK_OK) {
        (void)fprintf(stderr, "%s: %s %s\n", topk_status_string(status), topk_last_error(),
                      topk_dist_last_error());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void *allocate(size_t bytes) {
    void *const memory = malloc(bytes + 1);
    if (memory == NULL) {
        (void)fprintf(stderr, "no memory for %zu bytes\n", bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    memset(memory, 0, bytes + 1); /* pages are there before a clock runs */
    return memory;
}

/* What a rank has for one point. */
struct point {
    int64_t n, k;
    topk_problem problem;
    topk_input input;
    topk_dist_source source;
    topk_plan *own;
    size_t own_bytes;
    topk_dist_plan *plan;
    topk_dist_properties properties;
    void *workspace;
    size_t slots;           /* of all rows' outputs */
    results results, first; /* of this run, and of the first one, which was checked */
};

static void run_own(struct point *p) {
    topk_output output = TOPK_OUTPUT_INIT;
    output.values = p->results.values;
    output.indices = p->results.indices;
    check(topk_plan_run(p->own, &p->input, &output, p->workspace, p->own_bytes, NULL));
}

static void run_all(struct point *p) {
    topk_dist_output output = TOPK_DIST_OUTPUT_INIT;
    output.values = p->results.values;
    output.indices = p->results.indices;
    output.own_k = p->results.own_k;
    output.before = p->results.before;
    if (asked.piece == 0) {
        check(topk_dist_plan_run(p->plan, &p->input, &output, p->workspace, p->properties.workspace_bytes,
                                 NULL));
        return;
    }
    const topk_input none = TOPK_INPUT_INIT;
    check(topk_dist_plan_run_source(p->plan, &p->source, &none, &output, p->workspace,
                                    p->properties.workspace_bytes, NULL));
}

static topk_status read_elements(void *user, int64_t row, int64_t first, int64_t length, void *values) {
    const struct point *const p = user;
    const float *const from = (const float *)p->input.values + row * p->problem.length_max + first;
    memcpy(values, from, (size_t)length * sizeof *from);
    return TOPK_OK;
}

/* Copies all pieces to where a plan has its first one. */
static void run_reload(struct point *p) {
    for (int64_t first = 0; first < p->source.length; first += asked.piece) {
        const int64_t left = p->source.length - first;
        for (int64_t row = 0; row < asked.rows; row++) {
            const int64_t length = left < asked.piece ? left : asked.piece;
            check(read_elements(p, row, first, length, (float *)p->workspace + row * length));
        }
    }
}

/* Microseconds of the slowest rank. */
static double time_us(void (*run)(struct point *p), struct point *p) {
    double us, slowest;
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    run(p);
    us = (MPI_Wtime() - begin) * 1e6;
    MPI_Allreduce(&us, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

/* ---- Checks ---- */

static void overwrite(const struct point *p) {
    memset(p->results.values, 0xa5, p->slots * sizeof *p->results.values);
    memset(p->results.indices, 0xa5, p->slots * sizeof *p->results.indices);
    if (p->results.own_k != NULL) {
        memset(p->results.own_k, 0xa5, (size_t)asked.rows * sizeof(int64_t));
        memset(p->results.before, 0xa5, (size_t)asked.rows * sizeof(int64_t));
    }
}

/* Where the rows that this rank gets have their slots. */
static size_t got_slots(const struct point *p) {
    return (size_t)(p->properties.rows * p->properties.pitch);
}

/* Copies what the first run wrote, or compares with it, bit for bit. */
static bool is_as_first(struct point *p, bool is_first) {
    const size_t values = got_slots(p) * sizeof *p->results.values,
                 indices = got_slots(p) * sizeof *p->results.indices;
    if (is_first) {
        memcpy(p->first.values, p->results.values, values);
        memcpy(p->first.indices, p->results.indices, indices);
    }
    const size_t numbers = p->results.own_k != NULL ? (size_t)asked.rows * sizeof(int64_t) : 0;
    if (is_first && numbers > 0) {
        memcpy(p->first.own_k, p->results.own_k, numbers);
        memcpy(p->first.before, p->results.before, numbers);
    }
    return memcmp(p->first.values, p->results.values, values) == 0 &&
           memcmp(p->first.indices, p->results.indices, indices) == 0 &&
           (numbers == 0 || (memcmp(p->first.own_k, p->results.own_k, numbers) == 0 &&
                             memcmp(p->first.before, p->results.before, numbers) == 0));
}

/* The first run is checked against all elements, each other one against the first. */
static bool is_right(struct point *p, bool is_first) {
    const questions asked_for = {asked.rows, p->n, p->k, &p->properties, asked.where, asked.spoil};
    int right = is_as_first(p, is_first), all;
    if (is_first) {
        right = check_results(&asked_for, &p->results);
    }
    MPI_Allreduce(&right, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all != 0;
}

static bool measure(struct point *p, const char *strategy) {
    static const char *const strategies[] = {"auto", "gather", "histogram", "nodes"};
    double own = INFINITY, all = INFINITY, reload = asked.piece > 0 ? INFINITY : 0;
    bool right = true;
    for (int i = 0; i <= asked.repeat && right; i++) {
        own = fmin(own, time_us(run_own, p));
        reload = fmin(reload, asked.piece > 0 ? time_us(run_reload, p) : 0);
        overwrite(p);
        all = fmin(all, time_us(run_all, p));
        right = is_right(p, i == 0);
    }
    if (topk_dist_group_rank(group) == 0) {
        printf("%d,%d,%" PRId64 ",%" PRId64 ",%" PRId64 ",%s,%s", topk_dist_group_ranks(group), asked.threads,
               asked.rows, p->n, p->k, strategy, strategies[p->properties.strategy]);
        if (right) {
            printf(",%.1f,%.1f,%.1f,%.3f,%.1f,%.1f,ok\n", own, reload, all, all / own,
                   100 * (all - own) / all, p->properties.predicted_us);
        } else {
            printf(",,,,,,,FAIL\n");
        }
        (void)fflush(stdout);
    }
    return right;
}

static results make_results(const struct point *p) {
    const results made = {
        allocate(p->slots * sizeof(float)), allocate(p->slots * sizeof(int64_t)),
        asked.where == TOPK_DIST_IN_PLACE ? allocate((size_t)asked.rows * sizeof(int64_t)) : NULL,
        asked.where == TOPK_DIST_IN_PLACE ? allocate((size_t)asked.rows * sizeof(int64_t)) : NULL};
    return made;
}

static void free_results(results *r) {
    free(r->values);
    free(r->indices);
    free(r->own_k);
    free(r->before);
}

static bool run_point(int64_t n, int64_t k, topk_dist_strategy strategy, const char *name,
                      const float *values) {
    topk_plan_properties own = TOPK_PLAN_PROPERTIES_INIT;
    topk_dist_options options = TOPK_DIST_OPTIONS_INIT;
    struct point p = {.n = n, .k = k, .problem = TOPK_PROBLEM_INIT, .input = TOPK_INPUT_INIT};
    p.properties = (topk_dist_properties)TOPK_DIST_PROPERTIES_INIT;
    p.problem.type = TOPK_F32;
    p.problem.index_type = TOPK_INDEX_I64;
    p.problem.rows = asked.rows;
    p.problem.index_base = run_begin(n, topk_dist_group_rank(group), topk_dist_group_ranks(group));
    p.problem.length_max =
        run_begin(n, topk_dist_group_rank(group) + 1, topk_dist_group_ranks(group)) - p.problem.index_base;
    p.problem.k_max = k;
    p.input.values = values;
    options.strategy = strategy;
    options.destination = asked.where;
    if (asked.piece > 0) {
        options.origin = TOPK_DIST_READ;
        options.piece = asked.piece;
    }
    p.source = (topk_dist_source)TOPK_DIST_SOURCE_INIT;
    p.source.length = p.problem.length_max;
    p.source.read = read_elements;
    p.source.user = &p;
    check(topk_plan_create(context, TOPK_OPERATION_SELECT, &p.problem, NULL, &p.own));
    check(topk_plan_query(p.own, &own));
    check(topk_dist_plan_create(group, context, TOPK_OPERATION_SELECT, &p.problem, &options, &p.plan));
    check(topk_dist_plan_query(p.plan, &p.properties));
    p.own_bytes = own.workspace_bytes;
    p.workspace =
        allocate(p.own_bytes > p.properties.workspace_bytes ? p.own_bytes : p.properties.workspace_bytes);
    p.slots = (size_t)(asked.rows * k);
    p.results = make_results(&p);
    p.first = make_results(&p);
    const bool right = measure(&p, name);
    topk_plan_destroy(p.own);
    topk_dist_plan_destroy(p.plan);
    free(p.workspace);
    free_results(&p.results);
    free_results(&p.first);
    return right;
}

static int read_list(const char *text, int64_t *list) {
    char *end = NULL;
    int count = 0;
    for (const char *at = text; *at != '\0' && count < LIST_MOST; at = *end == ',' ? end + 1 : end) {
        list[count++] = strtoll(at, &end, 10);
        if (end == at) {
            return 0;
        }
    }
    return count;
}

static bool read_option(const char *name, const char *value) {
    static const char *const places[] = {"everywhere", "root", "owner", "place"};
    if (strcmp(name, "--n") == 0) {
        asked.n_count = read_list(value, asked.n);
        return asked.n_count > 0;
    }
    if (strcmp(name, "--k") == 0) {
        asked.k_count = read_list(value, asked.k);
        return asked.k_count > 0;
    }
    if (strcmp(name, "--where") == 0) {
        for (int w = 0; w < 4; w++) {
            if (strcmp(value, places[w]) == 0) {
                asked.where = (topk_dist_destination)w;
                return true;
            }
        }
        return false;
    }
    if (strcmp(name, "--spoil") == 0) {
        asked.spoil = spoil_of(value);
        return asked.spoil != SPOIL_NOTHING;
    }
    const int64_t number = strtoll(value, NULL, 10);
    if (strcmp(name, "--rows") == 0) {
        asked.rows = number;
    } else if (strcmp(name, "--repeat") == 0) {
        asked.repeat = (int)number;
    } else if (strcmp(name, "--piece") == 0) {
        asked.piece = number < 48 ? INT64_C(1) << number : -1;
        return asked.piece > 0;
    } else if (strcmp(name, "--threads") == 0) {
        asked.threads = (int)number;
    } else {
        return false;
    }
    return number > 0;
}

int main(int argc, char **argv) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    bool right = true;
    MPI_Init(&argc, &argv);
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 == argc || !read_option(argv[i], argv[i + 1])) {
            (void)fprintf(stderr, "topk-bench-dist: no option '%s'\n", argv[i]);
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
    }
    options.threads = asked.threads;
    check(topk_context_create(&options, &context));
    check(topk_dist_group_create_mpi(MPI_COMM_WORLD, &group));
    if (topk_dist_group_rank(group) == 0) {
        printf("ranks,threads,rows,n,k,asked,strategy,own_us,reload_us,run_us,over_own,communication_percent,"
               "predicted_"
               "us,check\n");
    }
    for (int i = 0; i < asked.n_count; i++) {
        const int rank = topk_dist_group_rank(group), ranks = topk_dist_group_ranks(group);
        const int64_t n = INT64_C(1) << asked.n[i], first = run_begin(n, rank, ranks),
                      mine = run_begin(n, rank + 1, ranks) - first;
        float *const values = allocate((size_t)(asked.rows * mine) * sizeof *values);
        for (int64_t e = 0; e < asked.rows * mine; e++) {
            values[e] = element_at(e / mine, first + e % mine);
        }
        for (int j = 0; j < asked.k_count; j++) {
            right &= run_point(n, asked.k[j], TOPK_DIST_GATHER, "gather", values);
            right &= run_point(n, asked.k[j], TOPK_DIST_HISTOGRAM, "histogram", values);
            right &= run_point(n, asked.k[j], TOPK_DIST_AUTO, "auto", values);
        }
        free(values);
    }
    topk_dist_group_destroy(group);
    topk_context_destroy(context);
    MPI_Finalize();
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
