/* SPDX-License-Identifier: Apache-2.0
 *
 * The shared list of cases, and random ones, with rows dealt out to ranks: in runs of positions, in turns, or
 * anyhow, with each operation, strategy and destination. A rank has its elements in one input, in parts, in a
 * file, or reads them once; on a GPU parts are the device's or the host's. What all ranks write is compared
 * with the oracle, as ever. Each process builds the same case, and keeps what its rank has.
 *
 * Seven processes (or fewer) work in turns as one group of all, as groups of four and three, and in pairs, so
 * that cases have 7, 4, 3, 2 or 1 ranks.
 *
 * WAY says where data lie, and how they move: on the `host`; on a GPU, or an emulated one, through the host
 * (`staged`); on an emulated one by pointers of the device (`pointers`), or by a transport that enqueues
 * (`enqueued`); or by such a one on the CPU (`enqueued-cpu`). But for the first and `pointers` the host's
 * copies of these data, which an emulated GPU has as its own, are inaccessible, except for the core and the
 * transport that enqueues (protected.h). `nodes` is `host` with lists merged by nodes, into which ranks are
 * divided in several ways, as all ways do now and then; `machines` is that with the nodes that MPI finds,
 * which must be two.
 *
 * usage: mpirun -n PROCESSES cases_mpi SEED CASES THREADS [WAY [NUMBER: this case alone]] */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "covering.h"
#include "elements.h"
#include "enqueued_mpi.h"
#include "given.h"
#include "protected.h"
#include "random.h"
#include "run.h"
#include "topk_dist_mpi.h"

enum { PARTITIONS = 3, GROUPS_MOST = 4, LARGEST = 1500, ELEMENTS = 6000 };
enum { LARGEST_ON_GPU = 600, ELEMENTS_ON_GPU = 1200 };

/* Which group of a partition a process is in. */
static int group_of(int partition, int process) {
    return partition == 0 ? 0 : partition == 1 ? process / 4 : process / 2;
}

static topk_dist_group *groups[PARTITIONS];
static MPI_Comm communicators[PARTITIONS];
static topk_context *context;
static long failures;

typedef enum way { HOST, STAGED, POINTERS, ENQUEUED, ENQUEUED_CPU, NODES, MACHINES, WAYS } way;
static const char *const names_of_ways[WAYS] = {"host",         "staged", "pointers", "enqueued",
                                                "enqueued-cpu", "nodes",  "machines"};
static way chosen;

static bool is_on_gpu(void) {
    return chosen == STAGED || chosen == POINTERS || chosen == ENQUEUED;
}

static bool enqueues(void) {
    return chosen == ENQUEUED || chosen == ENQUEUED_CPU;
}

static bool has_nodes(void) {
    return chosen == NODES || chosen == MACHINES;
}

/* For the device, and read by it alone. */
static guarded allocate_input(size_t bytes) {
    return guarded_allocate(bytes, GUARDED_AT_END);
}

static void *allocate(size_t bytes) {
    void *memory = calloc(1, bytes + 1);
    if (memory == NULL) {
        abort();
    }
    return memory;
}

/* ---- How a case is dealt out ---- */

typedef struct dealt {
    const instance *whole;
    topk_dist_options options;
    topk_problem problem; /* of this rank, as are all below */
    topk_input input;
    topk_predicate predicate;
    guarded values, table, offsets, mask;
    int64_t *positions, *ends; /* in each row, of its elements: row after row */
    int64_t elements;
    uint64_t seed;
    int64_t cuts[8];
    int order[7]; /* which run each rank has */
    int64_t longest;
    void *lengths; /* of rows in pieces */
    given given;   /* this operation's elements in pieces, unless options.origin is INPUT */
} dealt;

/* The node of a rank, by one of seven divisions: for 7 ranks one node, 7, 3 + 4, 1 + 2 + 4, in turns, anyhow,
 * and what MPI finds. */
static int draw_node(const dealt *d, int rank) {
    switch (d->seed % 7) {
    case 0:
        return 1;
    case 1:
        return 100 - rank;
    case 2:
        return rank < 3 ? 2 : 1;
    case 3:
        return rank == 0 ? 5 : rank < 3 ? 4 : 9;
    case 4:
        return 1 + rank % 2;
    case 5:
        return 1 + (int)(random_at(d->seed, rank) % 3);
    default:
        return 0;
    }
}

static void draw_nodes(dealt *d, int rank) {
    if (chosen != HOST && !has_nodes() && d->seed / 7 % 3 == 0) {
        d->options.strategy = TOPK_DIST_GATHER_NODES;
        d->options.node = draw_node(d, rank);
    }
    if (!has_nodes()) {
        return;
    }
    d->options.strategy = d->seed % 5 == 0 ? TOPK_DIST_AUTO : TOPK_DIST_GATHER_NODES;
    d->options.node = chosen == NODES ? draw_node(d, rank) : 0;
}

static void draw_options(dealt *d, random_state *random, int ranks) {
    d->options = (topk_dist_options)TOPK_DIST_OPTIONS_INIT;
    d->options.destination = (topk_dist_destination)random_below(random, 4);
    d->options.map = (topk_dist_map)random_below(random, 3);
    d->options.strategy = (topk_dist_strategy)random_below(random, 3);
    d->options.root = (int)random_below(random, ranks);
    d->options.exchange_kth = random_below(random, 2) == 0;
    d->options.device_pointers = chosen == POINTERS;
    d->seed = random_bits(random);
    if (random_below(random, 6) == 0) { /* only a part of a list is sent, and the list is needed afterwards */
        d->options.destination = TOPK_DIST_IN_PLACE;
        d->options.strategy = TOPK_DIST_GATHER;
        d->options.exchange_kth = 1;
    }
}

static int ascending(const void *left, const void *right) {
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* Runs of any length, some of them empty, in any order of the ranks. */
static void draw_cuts(dealt *d, random_state *random, int ranks, int64_t length) {
    const bool even = random_below(random, 2) == 0;
    for (int c = 0; c <= ranks; c++) {
        d->cuts[c] = c == 0       ? 0
                     : c == ranks ? length
                     : even       ? length * c / ranks
                                  : random_below(random, length + 1);
        if (c < ranks) {
            const int other = (int)random_below(random, c + 1);
            d->order[c] = d->order[other];
            d->order[other] = c;
        }
    }
    qsort(d->cuts, (size_t)ranks + 1, sizeof *d->cuts, ascending);
}

static int owner_of(const dealt *d, int64_t row, int64_t position, int ranks) {
    if (d->options.map == TOPK_DIST_STRIDE) {
        return (int)(position % ranks);
    }
    if (d->options.map == TOPK_DIST_TABLE) { /* in some rows one rank has most elements */
        const uint64_t drawn = random_at(d->seed + (uint64_t)row, position);
        return d->seed % 3 == 0 && drawn % 16 != 0 ? 0 : (int)(drawn / 16 % (uint64_t)ranks);
    }
    for (int rank = 0; rank < ranks; rank++) {
        if (position >= d->cuts[d->order[rank]] && position < d->cuts[d->order[rank] + 1]) {
            return rank;
        }
    }
    abort();
}

static void list_positions(dealt *d, int rank, int ranks) {
    const instance *i = d->whole;
    int64_t all = 0;
    for (int64_t row = 0; row < i->problem.rows; row++) {
        all += i->rows[row].extent.length;
    }
    d->positions = allocate((size_t)all * sizeof *d->positions);
    d->ends = allocate((size_t)i->problem.rows * sizeof *d->ends);
    for (int64_t row = 0; row < i->problem.rows; row++) {
        for (int64_t p = 0; p < i->rows[row].extent.length; p++) {
            if (owner_of(d, row, p, ranks) == rank) {
                d->positions[d->elements++] = p;
            }
        }
        d->ends[row] = d->elements;
    }
}

static void write_integer(void *array, int64_t at, topk_index_type type, int64_t number) {
    if (type == TOPK_INDEX_I32) {
        ((int32_t *)array)[at] = (int32_t)number;
    } else {
        ((int64_t *)array)[at] = number;
    }
}

static int64_t begin_of(const dealt *d, int64_t row) {
    return row == 0 ? 0 : d->ends[row - 1];
}

/* The rank's elements, one behind the other, with their table and mask. */
static void copy_elements(dealt *d) {
    const instance *i = d->whole;
    const topk_problem *p = &i->problem;
    const size_t bytes = oracle_type_size(p->type);
    d->values = allocate_input((size_t)d->elements * bytes);
    d->table = allocate_input((size_t)d->elements * instance_index_bytes(p));
    d->mask = allocate_input((size_t)d->elements);
    for (int64_t row = 0; row < p->rows; row++) {
        for (int64_t e = begin_of(d, row); e < d->ends[row]; e++) {
            const int64_t of_case = i->rows[row].extent.first + d->positions[e];
            memcpy((char *)d->values.data + (size_t)e * bytes,
                   (const char *)i->input.values + (size_t)of_case * bytes, bytes);
            write_integer(d->table.data, e, p->index_type, p->index_base + d->positions[e]);
            ((unsigned char *)d->mask.data)[e] = i->rows[row].is_match[d->positions[e]];
        }
    }
    guarded_make_read_only(&d->values);
    guarded_make_read_only(&d->table);
    guarded_make_read_only(&d->mask);
}

/* As compact strided rows where all have the same length, else as CSR. */
static void make_shape(dealt *d, int64_t longest, bool is_even) {
    topk_problem *p = &d->problem;
    p->row_stride = 0;
    p->length_max = longest;
    p->shape = is_even ? TOPK_SHAPE_STRIDED : TOPK_SHAPE_CSR;
    p->elements_max = is_even ? 0 : d->elements;
    if (!is_even) {
        d->offsets = allocate_input((size_t)(p->rows + 1) * 8);
        for (int64_t row = 0; row <= p->rows; row++) {
            write_integer(d->offsets.data, row, p->extent_type, row == 0 ? 0 : d->ends[row - 1]);
        }
        d->input.offsets = d->offsets.data;
    }
}

static void deal(dealt *d, const instance *whole, random_state *random, int rank, int ranks) {
    int64_t longest = 0, least = INT64_MAX;
    d->whole = whole;
    for (int64_t row = 0; row < whole->problem.rows; row++) {
        longest = whole->rows[row].extent.length > longest ? whole->rows[row].extent.length : longest;
    }
    draw_options(d, random, ranks);
    draw_nodes(d, rank);
    draw_cuts(d, random, ranks, longest);
    list_positions(d, rank, ranks);
    copy_elements(d);
    longest = 0;
    for (int64_t row = 0; row < whole->problem.rows; row++) {
        const int64_t length = d->ends[row] - begin_of(d, row);
        longest = length > longest ? length : longest;
        least = length < least ? length : least;
    }
    d->longest = longest;
    d->problem = whole->problem;
    d->problem.workspace_limit = 0;
    d->input = (topk_input)TOPK_INPUT_INIT;
    d->input.values = d->values.data;
    d->input.k = whole->input.k;
    make_shape(d, longest, least == longest);
    if (d->options.map == TOPK_DIST_BASE) {
        d->problem.index_base += d->cuts[d->order[rank]];
    }
    d->predicate = instance_predicate(whole);
    if (d->predicate.mask != NULL || d->predicate.kind == TOPK_AT_LEAST) {
        d->predicate = (topk_predicate)TOPK_PREDICATE_INIT;
        d->predicate.kind = TOPK_BYTE_MASK;
        d->predicate.mask = d->mask.data;
    }
}

/* ---- Elements in pieces ---- */

/* Each rank has its own origin, as far as the operation can have it. */
static topk_dist_origin draw_origin(const dealt *d, const run_operation *operation, random_state *random) {
    const bool selects = operation == &run_select || operation == &run_select_where;
    const bool takes_mask = d->predicate.mask != NULL && d->input.predicate != NULL;
    const topk_dist_origin origin = (topk_dist_origin)random_below(random, 4);
    const bool reads = origin == TOPK_DIST_READ || origin == TOPK_DIST_READ_ONCE;
    if ((enqueues() && reads) || takes_mask || (selects && d->options.map == TOPK_DIST_TABLE)) {
        return TOPK_DIST_INPUT;
    }
    const bool rereads = operation == &run_kth || (selects && d->options.strategy == TOPK_DIST_HISTOGRAM);
    return origin == TOPK_DIST_READ_ONCE && rereads ? TOPK_DIST_READ : origin;
}

/* Of this operation: *problem, *input and options. */
static void give(dealt *d, const run_operation *operation, int rank, topk_problem *problem,
                 topk_input *input) {
    random_state random = {random_at(d->seed + (uint64_t)operation->operation, rank)};
    const given_rows rows = {d->values.data, d->ends, d->problem.rows, d->longest,
                             oracle_type_size(d->problem.type)};
    d->options.origin = draw_origin(d, operation, &random);
    d->options.piece = 0;
    d->options.parts_on_device = is_on_gpu() && random_below(&random, 3) == 0;
    if (d->options.origin == TOPK_DIST_INPUT) {
        return;
    }
    given_begin(&d->given, d->options.origin, &rows, &random);
    if (d->options.origin != TOPK_DIST_PARTS || random_below(&random, 2) == 0) {
        d->options.piece =
            1 + d->longest / (1 + random_below(&random, 8)); /* few pieces: each is waited for */
    }
    problem->shape = TOPK_SHAPE_STRIDED;
    problem->row_stride = problem->elements_max = 0;
    input->values = input->offsets = NULL;
    input->lengths = NULL;
    if (d->problem.shape == TOPK_SHAPE_CSR) {
        d->lengths = allocate((size_t)problem->rows * 8);
        for (int64_t row = 0; row < problem->rows; row++) {
            write_integer(d->lengths, row, problem->extent_type, d->ends[row] - begin_of(d, row));
        }
        input->lengths = d->lengths;
    }
}

static void end_given(dealt *d) {
    if (d->options.origin != TOPK_DIST_INPUT) {
        given_end(&d->given);
    }
    free(d->lengths);
    d->lengths = NULL;
}

static void end_dealt(dealt *d) {
    guarded_free(&d->values);
    guarded_free(&d->table);
    guarded_free(&d->mask);
    guarded_free(&d->offsets);
    free(d->positions);
    free(d->ends);
}

/* ---- Results in place ---- */

static int by_position(const void *left, const void *right) {
    const oracle_entry *a = left, *b = right;
    return (a->position > b->position) - (a->position < b->position);
}

/* The results of a row that lie on a rank, by position. Returns how many. */
static int64_t own_results(const dealt *d, int64_t row, bool filtered, int rank, int ranks,
                           oracle_entry *own) {
    const instance_row *of_case = &d->whole->rows[row];
    const oracle_entry *ranking = filtered ? of_case->matching : of_case->ranking;
    const int64_t ranked = filtered ? of_case->matches : of_case->extent.length;
    int64_t count = 0;
    for (int64_t i = 0; i < ranked && i < of_case->extent.k; i++) {
        if (owner_of(d, row, ranking[i].position, ranks) == rank) {
            own[count++] = ranking[i];
        }
    }
    qsort(own, (size_t)count, sizeof *own, by_position);
    return count;
}

static run_result check_slots(const dealt *d, const run *r, int64_t row, int64_t pitch,
                              const oracle_entry *own, int64_t count) {
    const topk_problem *p = &d->whole->problem;
    const instance_row *of_case = &d->whole->rows[row];
    uint64_t padding = 0;
    oracle_write_padding(p->type, p->direction, &padding);
    padding = element_get_bits(p->type, &padding, 0);
    for (int64_t s = 0; s < pitch; s++) {
        const int64_t index = s < count ? instance_index(d->whole, of_case, own[s].position) : -1;
        const uint64_t bits = s < count ? element_get_bits(p->type, d->whole->input.values,
                                                           of_case->extent.first + own[s].position)
                                        : padding;
        const int64_t at = row * pitch + s;
        if (wants_indices(d->whole) && instance_read_index(p, r->outputs[1].seen, at) != index) {
            return run_fail("row %" PRId64 " slot %" PRId64 " of %" PRId64
                            " in place: expected index %" PRId64 ", got %" PRId64,
                            row, s, count, index, instance_read_index(p, r->outputs[1].seen, at));
        }
        if (wants_values(d->whole) && run_output_bits(p->type, &r->outputs[0], at) != bits) {
            return run_fail("row %" PRId64 " slot %" PRId64 " in place: another value", row, s);
        }
    }
    return RUN_PASSED;
}

static run_result check_in_place(const dealt *d, const run *r, int64_t pitch, const int64_t *own_k,
                                 const int64_t *before, int rank, int ranks) {
    run_result result = RUN_PASSED;
    const bool filtered = r->operation->operation == TOPK_OPERATION_SELECT_WHERE;
    for (int64_t row = 0; row < d->problem.rows && result == RUN_PASSED; row++) {
        oracle_entry *own = allocate((size_t)d->whole->rows[row].extent.length * sizeof *own);
        int64_t wanted_before = 0;
        for (int other = 0; other < rank; other++) {
            wanted_before += own_results(d, row, filtered, other, ranks, own);
        }
        const int64_t count = own_results(d, row, filtered, rank, ranks, own);
        if (own_k[row] != count || before[row] != wanted_before) {
            result = run_fail("row %" PRId64 ": %" PRId64 " results behind %" PRId64 ", not %" PRId64
                              " behind %" PRId64,
                              row, own_k[row], before[row], count, wanted_before);
        } else {
            result = check_slots(d, r, row, pitch, own, count);
        }
        free(own);
    }
    return result;
}

/* ---- Runs ---- */

/* An output that has rows of its own alone, at their places in one of all rows. */
static void *at_row(const device_buffer *output, int64_t slot, size_t bytes) {
    return output->data != NULL ? (char *)output->data + (size_t)slot * bytes : NULL;
}

static bool is_poison(const device_buffer *output, size_t begin, size_t end) {
    bool poison = true;
    for (size_t b = begin; b < end && output->data != NULL; b++) {
        poison = poison && ((const unsigned char *)output->seen)[b] == RUN_POISON;
    }
    return poison;
}

static run_result check_others(const run *r, int o, size_t row_bytes, int64_t first, int64_t end) {
    const bool poison = is_poison(&r->outputs[o], 0, (size_t)first * row_bytes) &&
                        is_poison(&r->outputs[o], (size_t)end * row_bytes, r->outputs[o].bytes);
    return poison && device_intact(&r->outputs[o]) ? RUN_PASSED
                                                   : run_fail("output %d: other rows written", o);
}

/* The rank's input where the device has it. */
typedef struct placed {
    topk_input input;
    topk_predicate predicate;
} placed;

static const void *place(const void *data, size_t bytes) {
    return data != NULL ? device_input(data, bytes).data : NULL;
}

static void place_input(const dealt *d, placed *to) {
    const size_t rows = (size_t)d->problem.rows;
    const size_t extent = d->problem.extent_type == TOPK_INDEX_I32 ? sizeof(int32_t) : sizeof(int64_t);
    to->input = d->input;
    to->input.values = place(d->input.values, d->values.bytes);
    to->input.indices = place(d->input.indices, d->table.bytes);
    to->input.offsets = place(d->input.offsets, (rows + 1) * extent);
    to->input.lengths = place(d->input.lengths, rows * extent);
    to->input.k = place(d->input.k, rows * extent);
    if (d->input.predicate != NULL) {
        to->predicate = *d->input.predicate;
        to->predicate.mask = place(to->predicate.mask, d->mask.bytes);
        if (to->predicate.bounds != NULL) {
            to->predicate.bounds = place(d->whole->bounds, sizeof d->whole->bounds);
        }
        to->input.predicate = &to->predicate;
    }
}

/* The source, with parts where options.parts_on_device says. */
static topk_dist_source place_parts(const dealt *d, topk_dist_part *parts) {
    topk_dist_source source = d->given.source;
    if (d->options.origin == TOPK_DIST_PARTS && d->options.parts_on_device != 0) {
        for (int64_t part = 0; part < source.parts_count; part++) {
            parts[part] = source.parts[part];
            parts[part].values = place(parts[part].values, d->given.memory[part].bytes);
        }
        source.parts = parts;
    }
    return source;
}

/* The host's copies, from now on until protected_end(). */
static void protect(const dealt *d, const device_buffer *workspace, const run *r) {
    if (chosen == HOST || has_nodes() || chosen == POINTERS) {
        return;
    }
    const guarded *const inputs[] = {&d->values, &d->table, &d->mask, &d->offsets};
    for (size_t i = d->options.origin == TOPK_DIST_INPUT ? 0 : 1; i < sizeof inputs / sizeof inputs[0]; i++) {
        protected_add(inputs[i], true); /* what the caller reads for itself is its own */
    }
    protected_add(&workspace->guard, false);
    for (int o = 0; o < RUN_OUTPUTS; o++) {
        protected_add(&r->outputs[o].guard, false);
    }
    protected_begin();
}

static topk_status run_plan(dealt *d, const topk_dist_plan *plan, const run *r,
                            const topk_dist_properties *properties, const topk_dist_output *output) {
    device_buffer workspace =
        device_workspace(properties->workspace_bytes, GUARDED_AT_END, DEVICE_GARBAGE, 7);
    topk_status status = TOPK_OK;
    placed on_device;
    topk_dist_part parts[GIVEN_PARTS_MOST];
    const topk_dist_source source = place_parts(d, parts);
    place_input(d, &on_device);
    device_send();
    protect(d, &workspace, r);
    for (int again = 0; again < 2 && status == TOPK_OK; again++) {
        topk_dist_plan *const runs = (topk_dist_plan *)(uintptr_t)plan;
        if (d->options.origin == TOPK_DIST_INPUT) {
            status = topk_dist_plan_run(runs, &on_device.input, output, workspace.data, workspace.bytes,
                                        device_stream());
        } else {
            given_again(&d->given);
            status = topk_dist_plan_run_source(runs, &source, &on_device.input, output, workspace.data,
                                               workspace.bytes, device_stream());
        }
    }
    protected_end();
    if (!device_fetch()) {
        fprintf(stderr, "%s\n", device_error());
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (!device_intact(&workspace)) {
        status = (topk_status)run_fail("wrote outside of the workspace");
    }
    device_free(&workspace);
    return status;
}

static run_result check_select(dealt *d, topk_dist_plan *plan, run *r, int rank, int ranks) {
    const topk_problem *p = &d->problem;
    topk_dist_properties properties = TOPK_DIST_PROPERTIES_INIT;
    topk_dist_output output = TOPK_DIST_OUTPUT_INIT;
    const bool is_placed = d->options.destination == TOPK_DIST_IN_PLACE;
    const size_t bytes[2] = {oracle_type_size(p->type), instance_index_bytes(p)};
    run_result result = RUN_PASSED;
    (void)topk_dist_plan_query(plan, &properties);
    const int64_t pitch = properties.pitch, first = properties.first_row, end = first + properties.rows;
    r->outputs[0] = run_output(wants_values(d->whole), p->rows * pitch, bytes[0]);
    r->outputs[1] = run_output(wants_indices(d->whole), p->rows * pitch, bytes[1]);
    output.values = at_row(&r->outputs[0], first * pitch, bytes[0]);
    output.indices = at_row(&r->outputs[1], first * pitch, bytes[1]);
    device_buffer numbers = device_output((size_t)p->rows * 2 * sizeof(int64_t), RUN_POISON);
    const int64_t *const own_k = numbers.seen, *const before = own_k + p->rows;
    output.own_k = is_placed ? numbers.data : NULL;
    output.before = is_placed ? output.own_k + p->rows : NULL;
    d->input.indices = d->options.map == TOPK_DIST_TABLE ? d->table.data : NULL;
    const topk_status status = run_plan(d, plan, r, &properties, &output);
    if (status != TOPK_OK) {
        result = run_fail("%s: %s", topk_status_string(status), topk_dist_last_error());
    } else {
        result = is_placed ? check_in_place(d, r, pitch, own_k, before, rank, ranks)
                           : run_check_selected(r, first, end);
    }
    for (int o = 0; o < 2 && result == RUN_PASSED; o++) {
        result = check_others(r, o, (size_t)pitch * bytes[o], first, end);
    }
    device_free(&numbers);
    return result;
}

static run_result check_numbers(dealt *d, topk_dist_plan *plan, run *r) {
    const topk_problem *p = &d->problem;
    const bool is_count = r->operation->operation == TOPK_OPERATION_COUNT;
    topk_dist_properties properties = TOPK_DIST_PROPERTIES_INIT;
    topk_dist_output output = TOPK_DIST_OUTPUT_INIT;
    (void)topk_dist_plan_query(plan, &properties);
    r->outputs[0] = run_output(true, p->rows, is_count ? sizeof(int64_t) : oracle_type_size(p->type));
    output.counts = is_count ? r->outputs[0].data : NULL;
    if (!is_count) {
        r->outputs[1] = run_output(true, p->rows, sizeof(int64_t));
        r->outputs[2] = run_output(true, p->rows, sizeof(int64_t));
        output.values = r->outputs[0].data;
        output.better = r->outputs[1].data;
        output.equal = r->outputs[2].data;
    }
    const topk_status status = run_plan(d, plan, r, &properties, &output);
    return status == TOPK_OK ? r->operation->judge(r)
                             : run_fail("%s: %s", topk_status_string(status), topk_dist_last_error());
}

static run_result run_operation_of(dealt *d, const run_operation *operation, topk_dist_group *group) {
    run r = {.operation = operation, .instance = d->whole, .problem = d->whole->problem};
    topk_dist_plan *plan;
    const bool selects = operation == &run_select || operation == &run_select_where;
    d->input.predicate = operation == &run_select_where || operation == &run_count ? &d->predicate : NULL;
    d->input.indices = NULL;
    const int rank = topk_dist_group_rank(group), ranks = topk_dist_group_ranks(group);
    const topk_input all = d->input;
    topk_problem problem = d->problem;
    give(d, operation, rank, &problem, &d->input);
    const topk_status status =
        topk_dist_plan_create(group, context, operation->operation, &problem, &d->options, &plan);
    if (status != TOPK_OK) {
        return run_fail("%s: %s", topk_status_string(status), topk_dist_last_error());
    }
    const run_result result = selects ? check_select(d, plan, &r, rank, ranks) : check_numbers(d, plan, &r);
    end_given(d);
    d->input = all;
    topk_dist_plan_destroy(plan);
    for (int o = 0; o < RUN_OUTPUTS; o++) {
        device_free(&r.outputs[o]);
    }
    device_reset();
    return result;
}

static void run_case(const test_case *c, long number, topk_dist_group *group) {
    static const run_operation *const operations[] = {&run_select, &run_select_where, &run_kth, &run_count};
    static instance whole;
    const int rank = topk_dist_group_rank(group), ranks = topk_dist_group_ranks(group);
    random_state random = {c->seed};
    dealt d = {.whole = NULL};
    char text[CASE_TEXT_BYTES];
    instance_build(c, &whole);
    whole.input.indices = NULL; /* positions are what is looked at */
    deal(&d, &whole, &random, rank, ranks);
    if (d.options.destination == TOPK_DIST_IN_PLACE) {
        d.problem.ties = whole.problem.ties = TOPK_TIES_LOWEST_INDEX;
    }
    for (size_t o = 0; o < sizeof operations / sizeof operations[0]; o++) {
        if (run_operation_of(&d, operations[o], group) != RUN_PASSED) {
            failures++;
            fprintf(
                stderr,
                "  case %ld, rank %d of %d, %s, destination %d, map %d, strategy %d, node %d, exchange %d, "
                "origin %d, piece %" PRId64 ": %s\n",
                number, rank, ranks, operations[o]->name, (int)d.options.destination, (int)d.options.map,
                (int)d.options.strategy, d.options.node, d.options.exchange_kth, (int)d.options.origin,
                d.options.piece, case_format(c, text));
        }
    }
    end_dealt(&d);
    instance_free(&whole);
}

/* First the covering list, then random cases. */
static test_case case_number(const covering_array *array, uint64_t seed, long number) {
    random_state random = {seed * 1000000 + (uint64_t)number};
    int levels[COVERED_DIMENSIONS];
    if (number < array->count) {
        return case_at(array->rows[number], random.state);
    }
    for (int d = 0; d < COVERED_DIMENSIONS; d++) {
        levels[d] = (int)random_below(&random, dimensions[d].count);
    }
    test_case c = case_at(levels, random_bits(&random));
    c.value[DIM_SIZE] = random_below(&random, INT64_C(1) << random_below(&random, 11));
    c.value[DIM_ROWS] = random_below(&random, 9);
    return c;
}

static covering_array cover(uint64_t seed) {
    int counts[COVERED_DIMENSIONS];
    for (int d = 0; d < COVERED_DIMENSIONS; d++) {
        counts[d] = dimensions[d].count;
    }
    return covering_build(counts, COVERED_DIMENSIONS, seed);
}

static void run_list(uint64_t seed, long cases, long only, int process) {
    covering_array array = cover(seed);
    if (cases == 0) {
        cases = array.count;
    }
    for (long step = 0; step * GROUPS_MOST < cases * PARTITIONS; step++) {
        const int partition = (int)(step % PARTITIONS);
        const long number = step / PARTITIONS * (1 + 2 + GROUPS_MOST) +
                            (partition == 0   ? 0
                             : partition == 1 ? 1
                                              : 3) +
                            group_of(partition, process);
        if (number < cases && (only < 0 || number == only)) {
            const test_case c = case_number(&array, seed, number);
            run_case(&c, number, groups[partition]);
        }
    }
    covering_free(&array);
}

static topk_dist_strategy chosen_for(topk_dist_group *group, int64_t k, int node) {
    topk_problem problem = TOPK_PROBLEM_INIT;
    topk_dist_options options = TOPK_DIST_OPTIONS_INIT;
    topk_dist_properties properties = TOPK_DIST_PROPERTIES_INIT;
    topk_dist_plan *plan;
    problem.type = TOPK_F32;
    problem.index_type = TOPK_INDEX_I64;
    problem.rows = 1;
    problem.length_max = 1 << 24;
    problem.index_base = problem.length_max * topk_dist_group_rank(group);
    problem.k_max = k;
    options.destination = TOPK_DIST_ROOT;
    options.node = node;
    if (topk_dist_plan_create(group, context, TOPK_OPERATION_SELECT, &problem, &options, &plan) != TOPK_OK ||
        topk_dist_plan_query(plan, &properties) != TOPK_OK) {
        abort();
    }
    topk_dist_plan_destroy(plan);
    return properties.strategy;
}

static void check_choice(topk_dist_group *group, int node, topk_dist_strategy wanted) {
    const topk_dist_strategy strategy = chosen_for(group, 3000, node);
    if (strategy != wanted) {
        failures++;
        fprintf(stderr, "  rank %d, node %d: strategy %d, not %d\n", topk_dist_group_rank(group), node,
                (int)strategy, (int)wanted);
    }
}

/* Nodes pay if there are several, and some have several ranks. */
static void check_choices(topk_dist_group *group) {
    const int rank = topk_dist_group_rank(group), ranks = topk_dist_group_ranks(group);
    if (chosen == MACHINES && ranks >= 6) { /* two of them */
        check_choice(group, 0, TOPK_DIST_GATHER_NODES);
    } else if (chosen == NODES && ranks >= 6) {
        check_choice(group, 0, TOPK_DIST_GATHER);
        check_choice(group, 1, TOPK_DIST_GATHER);
        check_choice(group, 1 + rank, TOPK_DIST_GATHER);
        check_choice(group, 1 + rank / 4, TOPK_DIST_GATHER_NODES);
    }
}

int main(int argc, char **argv) {
    const uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    const long cases = argc > 2 ? strtol(argv[2], NULL, 10) : 0,
               only = argc > 5 ? strtol(argv[5], NULL, 10) : -1;
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    int process;
    while (argc > 4 && strcmp(argv[4], names_of_ways[chosen]) != 0) {
        if (++chosen == WAYS) {
            return 2;
        }
    }
    options.threads = is_on_gpu() ? 0 : argc > 3 ? atoi(argv[3]) : 1;
    options.backend = is_on_gpu() ? TOPK_BACKEND_CUDA : TOPK_BACKEND_CPU;
    device_open(); /* before MPI begins, so that without a device each process ends alone */
    if (MPI_Init(&argc, &argv) != MPI_SUCCESS || topk_context_create(&options, &context) != TOPK_OK) {
        return 2;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    for (int p = 0; p < PARTITIONS; p++) {
        MPI_Comm_split(MPI_COMM_WORLD, group_of(p, process), process, &communicators[p]);
        const topk_status status = enqueues() ? enqueued_group_create(communicators[p], context, &groups[p])
                                              : topk_dist_group_create_mpi(communicators[p], &groups[p]);
        if (status != TOPK_OK) {
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
    }
    dimensions_init(0, is_on_gpu() ? LARGEST_ON_GPU : LARGEST);
    instance_set_budget(is_on_gpu() ? ELEMENTS_ON_GPU : ELEMENTS);
    run_list(seed, cases, only, process);
    check_choices(groups[0]);
    for (int p = 0; p < PARTITIONS; p++) {
        topk_dist_group_destroy(groups[p]);
        MPI_Comm_free(&communicators[p]);
    }
    topk_context_destroy(context);
    device_close();
    long all = 0;
    MPI_Allreduce(&failures, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (process == 0) {
        printf("seed %" PRIu64 ": %ld failures\n", seed, all);
    }
    MPI_Finalize();
    return all != 0;
}
