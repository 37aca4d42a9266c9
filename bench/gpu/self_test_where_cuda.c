/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/self_test_where_cuda.h"

#include "data/data.h"
#include "gpu/session_cuda.h"

#include <stdio.h>
#include <string.h>

enum { elements = 5000, keep_percent = 30, reason_bytes = 192 };

/* A row on the device and what is right about it, found out on the host. */
typedef struct subject {
    bench_point point;
    bench_gpu_outputs outputs;
    float values[elements];
    int32_t indices[elements];
    int64_t offsets[2];
} subject;

/* Makes the right result wrong. */
typedef void spoil(subject *self);

static void leave_right(subject *self) {
    (void)self;
}

static void exchange(subject *self) {
    const int32_t first = self->indices[0];
    const float value = self->values[0];
    self->indices[0] = self->indices[1];
    self->values[0] = self->values[1];
    self->indices[1] = first;
    self->values[1] = value;
}

static void reverse(subject *self) {
    for (int64_t i = 0, j = self->offsets[1] - 1; i < j; ++i, --j) {
        const int32_t index = self->indices[i];
        self->indices[i] = self->indices[j];
        self->indices[j] = index;
    }
}

static void change_value(subject *self) {
    self->values[self->offsets[1] - 1] += 1;
}

static void repeat(subject *self) {
    self->indices[self->offsets[1] - 1] = self->indices[0];
}

static void leave_out(subject *self) {
    --self->offsets[1];
}

static void add_one(subject *self) {
    ++self->offsets[1];
}

static void go_outside(subject *self) {
    self->indices[7] = elements;
}

static void go_below(subject *self) {
    self->indices[7] = -1;
}

/* The first element that is no match, in the place of a match. */
static void take_another(subject *self) {
    int32_t i = 0;
    while (self->indices[i] == i) {
        ++i;
    }
    self->indices[self->offsets[1] - 1] = i;
}

static const struct {
    const char *what;
    spoil *change;
    bench_wanted wanted;
    bool any_order;
    bool right; /* all the same */
} trials[] = {
    {"indices and values", leave_right, BENCH_PAIRS, false, true},
    {"a changed value of a match", change_value, BENCH_PAIRS, false, false},
    {"two values exchanged", exchange, BENCH_VALUES, false, false},
    {"a count alone", leave_right, BENCH_COUNT, false, true},
    {"a changed count alone", add_one, BENCH_COUNT, false, false},
    {"matches in reverse where any order will do", reverse, BENCH_INDICES, true, true},
    {"matches in reverse", reverse, BENCH_INDICES, false, false},
    {"of a set, a match twice", repeat, BENCH_INDICES, true, false},
    {"of a set, a match that is missing", leave_out, BENCH_INDICES, true, false},
    {"of a set, an element that does not match", take_another, BENCH_INDICES, true, false},
    {"of a set, an index past the end", go_outside, BENCH_INDICES, true, false},
    {"of a set, an index below 0", go_below, BENCH_INDICES, true, false},
};

static bool copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
    return to == NULL || from == NULL || bytes == 0 ||
           bench_device_ok(cudaMemcpy(to, from, bytes, kind), "a test of checks");
}

/* The input, its truth, and the right result by a loop on the host. */
static bool make(subject *self, struct bench_gpu_state *state, bench_wanted wanted) {
    static float input[elements];
    bench_gpu_checker *checker = &state->checker;
    const cudaStream_t stream = state->timer.stream;
    bool made;
    memset(&self->point, 0, sizeof self->point);
    self->point.operation = TOPK_OPERATION_WHERE;
    self->point.type = TOPK_F32;
    self->point.distribution = bench_distribution_find("uniform");
    self->point.rows = 1;
    self->point.n = elements;
    self->point.keep_percent = keep_percent;
    self->point.wanted = wanted;
    if (!bench_gpu_data_make(&state->data, &self->point, 1, 0, stream, &made) ||
        !bench_gpu_truth_find(&checker->truth, &self->point, state->data.buffer.data, &state->scratch,
                              stream) ||
        !copy(input, state->data.buffer.data, sizeof input, cudaMemcpyDeviceToHost)) {
        return false;
    }
    self->offsets[0] = self->offsets[1] = 0;
    for (int32_t i = 0; i < elements; ++i) {
        if ((double)input[i] > checker->truth.bound.value.f64) {
            self->values[self->offsets[1]] = input[i];
            self->indices[self->offsets[1]++] = i;
        }
    }
    checker->mask = NULL;
    return self->offsets[1] == checker->truth.matches &&
           self->offsets[1] == (int64_t)elements * keep_percent / 100 &&
           bench_gpu_outputs_make(&self->outputs, &self->point, self->offsets[1]);
}

/* Puts the results where a call would write them. */
static bool put(const subject *self) {
    const bench_outputs *view = &self->outputs.view;
    return copy(view->values, self->values, view->value_bytes, cudaMemcpyHostToDevice) &&
           copy(view->indices, self->indices, view->index_bytes, cudaMemcpyHostToDevice) &&
           copy(view->offsets, self->offsets, sizeof self->offsets, cudaMemcpyHostToDevice) &&
           bench_device_ok(cudaDeviceSynchronize(), "a test of checks");
}

bool bench_gpu_self_test_where(bench_gpu_session *session) {
    static subject self;
    struct bench_gpu_state *state = session->state;
    bool all = true;
    for (size_t i = 0; i < sizeof trials / sizeof *trials; ++i) {
        char reason[reason_bytes] = "it could not be made";
        uint64_t checksum;
        const bool made = make(&self, state, trials[i].wanted);
        if (made) {
            trials[i].change(&self);
            self.outputs.view.any_order = self.outputs.view.count_alone = trials[i].any_order;
        }
        const bool right =
            made && put(&self) &&
            bench_gpu_check(&state->checker, &self.point, state->data.buffer.data, &self.outputs,
                            state->timer.stream, &checksum, reason, sizeof reason);
        const bool ok = made && right == trials[i].right;
        printf("%-5s %s%s%s\n", ok ? "ok" : "FAIL", trials[i].what, right ? "" : ": ", right ? "" : reason);
        all = ok && all;
    }
    state->subject = NULL;
    bench_gpu_data_free(&state->data);
    bench_gpu_outputs_free(&self.outputs);
    return all;
}
