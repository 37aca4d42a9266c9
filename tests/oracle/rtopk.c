/* SPDX-License-Identifier: Apache-2.0 */
#include "rtopk.h"

#include <math.h>
#include <stdlib.h>

/* The finite elements of a row, in the order of their positions. */
typedef struct finite_row {
    bool wide;      /* double is the working precision, not float */
    double *values; /* larger is better */
    int64_t *positions;
    int64_t count;
    int64_t wanted; /* 1 to count */
    int64_t steps;
} finite_row;

/* Elements at or above `fewer` are results; those from `low` on fill up what is missing, by position. */
typedef struct outcome {
    double low, fewer;
} outcome;

static bool is_finite(const oracle_number *number) {
    return !number->nan && (number->mantissa != 0 || number->sign == 0);
}

static double value_of(const topk_problem *problem, const oracle_number *number) {
    double value =
        number->sign == 0 ? 0 : ldexp((double)(number->mantissa >> 11), number->exponent - 63 + 11);
    bool negative = number->sign < 0 && problem->rank == TOPK_BY_VALUE;
    return negative == (problem->direction == TOPK_LARGEST) ? -value : value;
}

static double half_way(const finite_row *row, double a, double b) {
    if (row->wide) {
        double sum = a + b;
        return isinf(sum) ? a / 2 + b / 2 : sum / 2;
    }
    float sum = (float)a + (float)b;
    return isinf(sum) ? (float)a / 2 + (float)b / 2 : sum / 2;
}

static double width(const finite_row *row, double low, double high) {
    return row->wide ? high - low : (float)high - (float)low;
}

static double epsilon_of(const finite_row *row, const topk_problem *problem, double low, double high) {
    double larger = fmax(fabs(low), fabs(high));
    if (problem->epsilon != 0) {
        return row->wide ? problem->epsilon : (float)problem->epsilon;
    }
    return row->wide ? problem->epsilon_relative * larger : (float)problem->epsilon_relative * (float)larger;
}

static int64_t count_from(finite_row *row, double threshold) {
    int64_t count = 0;
    for (int64_t i = 0; i < row->count; i++) {
        count += row->values[i] >= threshold;
    }
    row->steps++;
    return count;
}

/* Algorithm 2, line by line. */
static outcome stop_early(finite_row *row, double min, double max, int64_t max_iterations) {
    for (int64_t iteration = 1; iteration <= max_iterations; iteration++) {
        double thres = half_way(row, min, max);
        int64_t cnt = count_from(row, thres);
        if (cnt < row->wanted) {
            max = thres;
        } else {
            min = thres;
        }
    }
    return (outcome){min, (double)INFINITY};
}

/* Algorithm 1, with an end where no value lies between min and max: after max, which may be an element that
 * was never counted. */
static outcome narrow_down(finite_row *row, double min, double max, double epsilon) {
    double fewer = (double)INFINITY;
    while (width(row, min, max) > epsilon) {
        double thres = half_way(row, min, max);
        bool last = thres == min || thres == max;
        if (last) {
            thres = max;
        }
        int64_t cnt = count_from(row, thres);
        if (cnt == row->wanted) {
            return (outcome){thres, thres};
        }
        if (cnt < row->wanted) {
            max = fewer = thres;
        } else {
            min = thres;
        }
        if (last) {
            break;
        }
    }
    return (outcome){min, fewer};
}

static outcome search(finite_row *row, const topk_problem *problem) {
    double min = row->values[0], max = row->values[0];
    for (int64_t i = 1; i < row->count; i++) {
        min = row->values[i] < min ? row->values[i] : min;
        max = row->values[i] > max ? row->values[i] : max;
    }
    return problem->max_iterations > 0 ? stop_early(row, min, max, problem->max_iterations)
                                       : narrow_down(row, min, max, epsilon_of(row, problem, min, max));
}

/* Marks, by position, which of the finite elements are chosen. */
static void choose(finite_row *row, const topk_problem *problem, bool *taken) {
    outcome end = search(row, problem);
    int64_t missing = row->wanted;
    for (int64_t i = 0; i < row->count; i++) {
        if (row->values[i] >= end.fewer) {
            taken[row->positions[i]] = true;
            missing--;
        }
    }
    for (int64_t i = 0; i < row->count && missing > 0; i++) {
        if (row->values[i] >= end.low && row->values[i] < end.fewer) {
            taken[row->positions[i]] = true;
            missing--;
        }
    }
}

static void *allocate(int64_t count, size_t size) {
    void *memory = calloc((size_t)count + 1, size);
    if (memory == NULL) {
        abort();
    }
    return memory;
}

static int64_t last_position(const oracle_entry *entries, int64_t count) {
    int64_t last = 0;
    for (int64_t i = 0; i < count; i++) {
        last = entries[i].position > last ? entries[i].position : last;
    }
    return last;
}

static bool are_in_order(const oracle_entry *entries, int64_t count) {
    for (int64_t i = 1; i < count; i++) {
        if (entries[i].position < entries[i - 1].position) {
            return false;
        }
    }
    return true;
}

/* No two have the same position. */
static void sort_by_position(oracle_entry *entries, int64_t count) {
    if (are_in_order(entries, count)) {
        return;
    }
    int64_t end = last_position(entries, count) + 1, sorted = 0;
    oracle_entry *scattered = allocate(end, sizeof *scattered);
    bool *present = allocate(end, sizeof *present);
    for (int64_t i = 0; i < count; i++) {
        scattered[entries[i].position] = entries[i];
        present[entries[i].position] = true;
    }
    for (int64_t position = 0; position < end; position++) {
        if (present[position]) {
            entries[sorted++] = scattered[position];
        }
    }
    free(present);
    free(scattered);
}

/* The finite elements lie together in a ranking, from `first` on. */
static void choose_finite(const topk_problem *problem, const oracle_entry *ranking, int64_t first,
                          finite_row *row, bool *taken) {
    oracle_entry *entries = allocate(row->count, sizeof *entries);
    row->wide = problem->type == TOPK_F64;
    row->values = allocate(row->count, sizeof *row->values);
    row->positions = allocate(row->count, sizeof *row->positions);
    for (int64_t i = 0; i < row->count; i++) {
        entries[i] = ranking[first + i];
    }
    sort_by_position(entries, row->count);
    for (int64_t i = 0; i < row->count; i++) {
        row->values[i] = value_of(problem, &entries[i].number);
        row->positions[i] = entries[i].position;
    }
    choose(row, problem, taken);
    free(row->positions);
    free(row->values);
    free(entries);
}

int64_t oracle_approximate(const topk_problem *problem, const oracle_entry *ranking, int64_t length,
                           int64_t k, oracle_entry *chosen, int64_t *steps) {
    finite_row row = {.count = 0};
    int64_t above = 0, results = k < length ? k : length, written = 0;
    bool *taken = allocate(last_position(ranking, length) + 1, sizeof *taken);
    while (above < length && !is_finite(&ranking[above].number)) {
        above++;
    }
    while (above + row.count < length && is_finite(&ranking[above + row.count].number)) {
        row.count++;
    }
    row.wanted = results - above;
    if (row.wanted <= 0 || row.wanted > row.count) { /* the k-th is not finite */
        for (int64_t i = 0; i < results; i++) {
            taken[ranking[i].position] = true;
        }
    } else {
        for (int64_t i = 0; i < above; i++) {
            taken[ranking[i].position] = true;
        }
        choose_finite(problem, ranking, above, &row, taken);
    }
    for (int64_t i = 0; i < length; i++) {
        if (taken[ranking[i].position]) {
            chosen[written++] = ranking[i];
        }
    }
    if (problem->order != TOPK_ORDER_BEST_FIRST) {
        sort_by_position(chosen, written);
    }
    if (steps != NULL) {
        *steps = row.steps;
    }
    free(taken);
    return written;
}

void oracle_rank_f32(const float *values, int64_t length, oracle_entry *ranking) {
    topk_problem problem = TOPK_PROBLEM_INIT;
    problem.type = TOPK_F32;
    oracle_rank(&problem, values, length, ranking);
}

int64_t oracle_approximate_f32(const oracle_entry *ranking, int64_t length, int64_t k, int64_t max_iterations,
                               double epsilon, oracle_entry *chosen, int64_t *steps) {
    topk_problem problem = TOPK_PROBLEM_INIT;
    problem.type = TOPK_F32;
    problem.k_max = k;
    problem.order = TOPK_ORDER_ANY;
    problem.max_iterations = max_iterations;
    problem.epsilon = epsilon;
    return oracle_approximate(&problem, ranking, length, k, chosen, steps);
}
