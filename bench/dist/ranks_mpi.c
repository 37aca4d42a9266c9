/* SPDX-License-Identifier: Apache-2.0
 *
 * Selection by ranks, beside each rank's own selection from its elements: how much communication costs.
 * Uniform float32 in (0, 1], in runs of positions. Runs and own selections take turns. A time is the slowest
 * rank's, and the least of all repetitions: ranks that share processors with others are kept waiting. Prints
 * CSV. `over_own` is a run in own selections, `communication_percent` of a run what an own selection lacks.
 *
 * usage: mpirun -n RANKS topk-bench-dist [OPTION VALUE]...
 *   --n        powers of two, of the elements of a row on all ranks: "20,24"
 *   --k        numbers: "1000,100000"
 *   --rows, --repeat, --threads (of each rank)
 *   --where    everywhere, root, owner or place */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "topk_dist_mpi.h"

enum { LIST_MOST = 16 };

static struct {
    int64_t n[LIST_MOST], k[LIST_MOST];
    int n_count, k_count, repeat, threads;
    int64_t rows;
    topk_dist_destination where;
} asked = {{26}, {1000}, 1, 1, 11, 1, 1, TOPK_DIST_EVERYWHERE};

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
    topk_plan *own;
    size_t own_bytes;
    topk_dist_plan *plan;
    topk_dist_properties properties;
    void *workspace, *values, *indices;
};

static void run_own(struct point *p) {
    topk_output output = TOPK_OUTPUT_INIT;
    output.values = p->values;
    output.indices = p->indices;
    check(topk_plan_run(p->own, &p->input, &output, p->workspace, p->own_bytes, NULL));
}

static void run_all(struct point *p) {
    topk_dist_output output = TOPK_DIST_OUTPUT_INIT;
    output.values = p->values;
    output.indices = p->indices;
    check(topk_dist_plan_run(p->plan, &p->input, &output, p->workspace, p->properties.workspace_bytes, NULL));
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

static void measure(struct point *p, const char *strategy) {
    double own = INFINITY, all = INFINITY;
    for (int i = 0; i <= asked.repeat; i++) {
        own = fmin(own, time_us(run_own, p));
        all = fmin(all, time_us(run_all, p));
    }
    if (topk_dist_group_rank(group) == 0) {
        printf("%d,%d,%" PRId64 ",%" PRId64 ",%" PRId64 ",%s,%s,%.1f,%.1f,%.3f,%.1f,%.1f\n",
               topk_dist_group_ranks(group), asked.threads, asked.rows, p->n, p->k, strategy,
               p->properties.strategy == TOPK_DIST_GATHER ? "gather" : "histogram", own, all, all / own,
               100 * (all - own) / all, p->properties.predicted_us);
        (void)fflush(stdout);
    }
}

static void run_point(int64_t n, int64_t k, topk_dist_strategy strategy, const char *name,
                      const float *values) {
    topk_plan_properties own = TOPK_PLAN_PROPERTIES_INIT;
    topk_dist_options options = TOPK_DIST_OPTIONS_INIT;
    struct point p = {.n = n, .k = k, .problem = TOPK_PROBLEM_INIT, .input = TOPK_INPUT_INIT};
    p.properties = (topk_dist_properties)TOPK_DIST_PROPERTIES_INIT;
    p.problem.type = TOPK_F32;
    p.problem.index_type = TOPK_INDEX_I64;
    p.problem.rows = asked.rows;
    p.problem.length_max = n / topk_dist_group_ranks(group);
    p.problem.index_base = topk_dist_group_rank(group) * p.problem.length_max;
    p.problem.k_max = k;
    p.input.values = values;
    options.strategy = strategy;
    options.destination = asked.where;
    check(topk_plan_create(context, TOPK_OPERATION_SELECT, &p.problem, NULL, &p.own));
    check(topk_plan_query(p.own, &own));
    check(topk_dist_plan_create(group, context, TOPK_OPERATION_SELECT, &p.problem, &options, &p.plan));
    check(topk_dist_plan_query(p.plan, &p.properties));
    p.own_bytes = own.workspace_bytes;
    p.workspace =
        allocate(p.own_bytes > p.properties.workspace_bytes ? p.own_bytes : p.properties.workspace_bytes);
    p.values = allocate((size_t)(asked.rows * k) * sizeof(float));
    p.indices = allocate((size_t)(asked.rows * k) * sizeof(int64_t));
    measure(&p, name);
    topk_plan_destroy(p.own);
    topk_dist_plan_destroy(p.plan);
    free(p.workspace);
    free(p.values);
    free(p.indices);
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
    const int64_t number = strtoll(value, NULL, 10);
    if (strcmp(name, "--rows") == 0) {
        asked.rows = number;
    } else if (strcmp(name, "--repeat") == 0) {
        asked.repeat = (int)number;
    } else if (strcmp(name, "--threads") == 0) {
        asked.threads = (int)number;
    } else {
        return false;
    }
    return number > 0;
}

int main(int argc, char **argv) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
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
        printf("ranks,threads,rows,n,k,asked,strategy,own_us,run_us,over_own,communication_percent,predicted_"
               "us\n");
    }
    for (int i = 0; i < asked.n_count; i++) {
        const int64_t n = INT64_C(1) << asked.n[i], mine = asked.rows * (n / topk_dist_group_ranks(group));
        float *const values = allocate((size_t)mine * sizeof *values);
        for (int64_t e = 0; e < mine; e++) {
            values[e] = (float)random_unit_at(1 + (uint64_t)topk_dist_group_rank(group), e);
        }
        for (int j = 0; j < asked.k_count; j++) {
            run_point(n, asked.k[j], TOPK_DIST_GATHER, "gather", values);
            run_point(n, asked.k[j], TOPK_DIST_HISTOGRAM, "histogram", values);
            run_point(n, asked.k[j], TOPK_DIST_AUTO, "auto", values);
        }
        free(values);
    }
    topk_dist_group_destroy(group);
    topk_context_destroy(context);
    MPI_Finalize();
    return 0;
}
