/* SPDX-License-Identifier: Apache-2.0
 *
 * The tool with a GPU that there is not: memory that can be touched only by calls on that device, and a
 * context of the CPU behind it. Linked in place of engine/device_*.c, with the library's functions wrapped
 * (--wrap), it shows on any machine that elements and results go where they must.
 *
 *   FAKE_DEVICE_BYTES   memory of the device; 0: there is no device
 *   FAKE_DEVICE_WHERE   the device has topk_where()
 *   FAKE_DEVICE_PLAIN   the device has no accumulators
 *   FAKE_DEVICE_LATE    no memory can be pinned early
 *   FAKE_DEVICE_COUNTS  tells at the end how many calls of topk_simple_run() there were on either device, and
 *                       how many copies to the device */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "engine/device.h"
#include "topk.h"
#include "topk_accumulator.h"
#include "topk_advanced.h"
#include "topk_simple.h"

topk_status __real_topk_backend_status(topk_backend backend);
topk_status __real_topk_context_create(const topk_context_options *options, topk_context **context);
topk_status __real_topk_context_query(const topk_context *context, topk_context_properties *properties);
topk_status __real_topk_simple_create(const topk_context_options *options, topk_simple **simple);
topk_status __real_topk_simple_run(topk_simple *simple, topk_operation operation, const topk_problem *problem,
                                   const topk_input *input, const topk_output *output, topk_stream stream);
topk_status __real_topk_workspace_size(const topk_context *context, topk_operation operation,
                                       const topk_problem *problem, size_t *bytes);

topk_status __real_topk_accumulator_size(const topk_context *context, const topk_problem *problem,
                                         size_t *bytes);
topk_status __real_topk_accumulator_init(topk_context *context, const topk_problem *problem, void *state,
                                         size_t state_bytes, topk_stream stream);
topk_status __real_topk_accumulator_push(topk_context *context, const topk_problem *problem, void *state,
                                         size_t state_bytes, const topk_input *chunk, int64_t length,
                                         int64_t base, topk_stream stream);
topk_status __real_topk_accumulator_push_where(topk_context *context, const topk_problem *problem,
                                               void *state, size_t state_bytes, const topk_input *chunk,
                                               const topk_predicate *predicate, int64_t length, int64_t base,
                                               topk_stream stream);
topk_status __real_topk_accumulator_peek(topk_context *context, const topk_problem *problem, void *state,
                                         size_t state_bytes, void *values, void *indices, topk_stream stream);
topk_status __real_topk_accumulator_finish(topk_context *context, const topk_problem *problem, void *state,
                                           size_t state_bytes, void *values, void *indices,
                                           topk_stream stream);

topk_status __wrap_topk_backend_status(topk_backend backend);
topk_status __wrap_topk_context_create(const topk_context_options *options, topk_context **context);
topk_status __wrap_topk_context_query(const topk_context *context, topk_context_properties *properties);
topk_status __wrap_topk_simple_create(const topk_context_options *options, topk_simple **simple);
topk_status __wrap_topk_simple_run(topk_simple *simple, topk_operation operation, const topk_problem *problem,
                                   const topk_input *input, const topk_output *output, topk_stream stream);
topk_status __wrap_topk_workspace_size(const topk_context *context, topk_operation operation,
                                       const topk_problem *problem, size_t *bytes);

topk_status __wrap_topk_accumulator_size(const topk_context *context, const topk_problem *problem,
                                         size_t *bytes);
topk_status __wrap_topk_accumulator_init(topk_context *context, const topk_problem *problem, void *state,
                                         size_t state_bytes, topk_stream stream);
topk_status __wrap_topk_accumulator_push(topk_context *context, const topk_problem *problem, void *state,
                                         size_t state_bytes, const topk_input *chunk, int64_t length,
                                         int64_t base, topk_stream stream);
topk_status __wrap_topk_accumulator_push_where(topk_context *context, const topk_problem *problem,
                                               void *state, size_t state_bytes, const topk_input *chunk,
                                               const topk_predicate *predicate, int64_t length, int64_t base,
                                               topk_stream stream);
topk_status __wrap_topk_accumulator_peek(topk_context *context, const topk_problem *problem, void *state,
                                         size_t state_bytes, void *values, void *indices, topk_stream stream);
topk_status __wrap_topk_accumulator_finish(topk_context *context, const topk_problem *problem, void *state,
                                           size_t state_bytes, void *values, void *indices,
                                           topk_stream stream);

/* ---- Memory ---------------------------------------------------------------------------------- */

enum { ALLOCATIONS_MAX = 16 };

static struct allocation {
    char *memory;
    uint64_t bytes;
} allocations[ALLOCATIONS_MAX];

static int uploads;

static uint64_t device_bytes(void) {
    const char *text = getenv("FAKE_DEVICE_BYTES");
    return text != NULL ? strtoull(text, NULL, 10) : UINT64_C(1) << 33;
}

/* Lets the memory be touched, or forbids it. */
static void protect(int protection) {
    for (int i = 0; i < ALLOCATIONS_MAX; i++)
        if (allocations[i].memory != NULL)
            mprotect(allocations[i].memory, allocations[i].bytes, protection);
}

static void require_device(const void *memory, const char *what) {
    for (int i = 0; memory != NULL && i < ALLOCATIONS_MAX; i++) {
        const char *begin = allocations[i].memory;
        if (begin != NULL && (const char *)memory >= begin &&
            (const char *)memory < begin + allocations[i].bytes)
            return;
    }
    if (memory != NULL)
        fail("fake device: %s are not in its memory", what);
}

bool device_supported(void) {
    return true;
}

int device_count(void) {
    return device_bytes() > 0;
}

void device_describe(int ordinal, struct device_text *text) {
    snprintf(text->text, sizeof text->text, "fake device %d", ordinal);
}

void device_use(int ordinal) {
    (void)ordinal;
}

uint64_t device_free_bytes(void) {
    uint64_t used = 0;
    for (int i = 0; i < ALLOCATIONS_MAX; i++)
        used += allocations[i].bytes;
    return device_bytes() - used;
}

void *device_allocate(uint64_t bytes) {
    bytes = bytes > 0 ? bytes : 1;
    if (bytes > device_free_bytes())
        fail("fake device: cannot allocate %llu bytes", (unsigned long long)bytes);
    int i = 0;
    while (allocations[i].memory != NULL)
        i++;
    void *memory = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        fail("fake device: cannot map memory");
    allocations[i] = (struct allocation){memory, bytes};
    return memory;
}

void device_release(void *memory) {
    for (int i = 0; memory != NULL && i < ALLOCATIONS_MAX; i++)
        if (allocations[i].memory == memory) {
            munmap(memory, allocations[i].bytes);
            allocations[i] = (struct allocation){0};
        }
}

void device_upload(void *device, const void *host, uint64_t bytes) {
    require_device(device, "elements");
    uploads++;
    protect(PROT_READ | PROT_WRITE);
    memcpy(device, host, bytes);
    protect(PROT_NONE);
}

void device_download(void *host, const void *device, uint64_t bytes) {
    require_device(device, "results");
    protect(PROT_READ);
    memcpy(host, device, bytes);
    protect(PROT_NONE);
}

/* ---- Slots ----------------------------------------------------------------------------------- */

/* A copy is made at once. What the tool may do before it waits, and must do before the next copy, is looked
 * at. */
static struct slot {
    const unsigned char *pinned; /* NULL: there is no copy, or it was waited for */
    uint64_t bytes, sum;
    bool in_use; /* by work that is not yet enqueued */
    /* A copy back, which is made when it is waited for. NULL: there is none. */
    void *to;
    const void *from;
    uint64_t bytes_back;
} slots[DEVICE_SLOTS];

/* Few, so that streams come in many parts. */
uint64_t device_slot_bytes(void) {
    return 1000;
}

void *device_allocate_pinned(uint64_t bytes) {
    return allocate(bytes, 1);
}

void device_release_pinned(void *memory) {
    release(memory);
}

void *device_allocate_early(int ordinal, uint64_t bytes) {
    (void)ordinal;
    return device_bytes() > 0 && getenv("FAKE_DEVICE_LATE") == NULL ? malloc(bytes) : NULL;
}

void device_release_early(void *memory) {
    free(memory);
}

static uint64_t sum_of(const struct slot *slot) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < slot->bytes; i++)
        sum = sum * 31 + slot->pinned[i];
    return sum;
}

void device_slot_upload(int slot, void *device, const void *pinned, uint64_t bytes) {
    if (slots[slot].pinned != NULL)
        fail("fake device: a copy to a slot whose last copy nobody waited for");
    if (slots[slot].in_use)
        fail("fake device: a copy to a slot in use");
    device_upload(device, pinned, bytes);
    slots[slot].pinned = pinned;
    slots[slot].bytes = bytes;
    slots[slot].in_use = true;
    slots[slot].sum = sum_of(&slots[slot]);
}

void device_slot_used(int slot) {
    slots[slot].in_use = false;
}

void device_slot_wait(int slot) {
    if (slots[slot].pinned != NULL && sum_of(&slots[slot]) != slots[slot].sum)
        fail("fake device: memory was written before its copy was done");
    slots[slot].pinned = NULL;
}

void device_slot_download(int slot, void *pinned, const void *device, uint64_t bytes) {
    if (slots[slot].to != NULL)
        fail("fake device: a copy back from a slot whose last one nobody waited for");
    require_device(device, "results");
    slots[slot].to = pinned;
    slots[slot].from = device;
    slots[slot].bytes_back = bytes;
}

void device_slot_download_wait(int slot) {
    if (slots[slot].to != NULL)
        device_download(slots[slot].to, slots[slot].from, slots[slot].bytes_back);
    slots[slot].to = NULL;
}

/* ---- The library ----------------------------------------------------------------------------- */

static topk_context *fake; /* the device's context */
static int runs;           /* of topk_simple_run() */

static void tell_counts(void) {
    fprintf(stderr, "%d runs, %d uploads\n", runs, uploads);
}

topk_status __wrap_topk_backend_status(topk_backend backend) {
    bool there = backend == TOPK_BACKEND_CUDA && device_bytes() > 0;
    return there ? TOPK_OK : __real_topk_backend_status(backend);
}

/* A context may get the address of the fake one, which was destroyed. */
static bool is_fake(const topk_context_options *options, topk_context_options *real) {
    const bool fakes = options->backend == TOPK_BACKEND_CUDA && device_bytes() > 0;
    *real = *options;
    if (fakes) /* the CPU refuses devices other than 0 */
        real->backend = TOPK_BACKEND_CPU;
    return fakes;
}

static void remember(bool fakes, topk_context *context) {
    if (fakes)
        fake = context;
    else if (context == fake)
        fake = NULL;
}

topk_status __wrap_topk_context_create(const topk_context_options *options, topk_context **context) {
    topk_context_options real;
    const bool fakes = is_fake(options, &real);
    const topk_status status = __real_topk_context_create(&real, context);
    remember(fakes, *context);
    return status;
}

topk_status __wrap_topk_simple_create(const topk_context_options *options, topk_simple **simple) {
    topk_context_options real;
    const bool fakes = is_fake(options, &real);
    const topk_status status = __real_topk_simple_create(&real, simple);
    remember(fakes, topk_simple_context(*simple));
    return status;
}

topk_status __wrap_topk_context_query(const topk_context *context, topk_context_properties *properties) {
    topk_status status = __real_topk_context_query(context, properties);
    if (context == fake)
        properties->backend = TOPK_BACKEND_CUDA;
    return status;
}

topk_status __wrap_topk_workspace_size(const topk_context *context, topk_operation operation,
                                       const topk_problem *problem, size_t *bytes) {
    if (context == fake && operation == TOPK_OPERATION_WHERE && getenv("FAKE_DEVICE_WHERE") == NULL)
        problem = NULL; /* an error, for want of a better one */
    return __real_topk_workspace_size(context, operation, problem, bytes);
}

/* Begins a call, on whichever context. */
static void begin(const topk_context *context, const topk_input *input, const void *values,
                  const void *indices, const void *state) {
    if (context != fake)
        return;
    require_device(input->values, "elements");
    require_device(values, "values");
    require_device(indices, "indices");
    require_device(state, "bytes of a state");
    protect(PROT_READ | PROT_WRITE);
}

topk_status __wrap_topk_simple_run(topk_simple *simple, topk_operation operation, const topk_problem *problem,
                                   const topk_input *input, const topk_output *output, topk_stream stream) {
    const void *const others[] = {output->better, output->equal, output->offsets, output->counts,
                                  output->mask};
    const topk_context *context = topk_simple_context(simple);
    for (size_t i = 0; context == fake && i < sizeof others / sizeof others[0]; i++)
        require_device(others[i], "counts or a mask");
    if (runs++ == 0 && getenv("FAKE_DEVICE_COUNTS") != NULL)
        atexit(tell_counts);
    begin(context, input, output->values, output->indices, NULL);
    topk_status status = __real_topk_simple_run(simple, operation, problem, input, output, stream);
    protect(PROT_NONE);
    return status;
}

topk_status __wrap_topk_accumulator_size(const topk_context *context, const topk_problem *problem,
                                         size_t *bytes) {
    if (context == fake && getenv("FAKE_DEVICE_PLAIN") != NULL)
        return TOPK_ERROR_UNSUPPORTED;
    return __real_topk_accumulator_size(context, problem, bytes);
}

/* Begins a call about a state, on whichever context. */
static void begin_on_state(const topk_context *context, const void *elements, const void *values,
                           const void *indices, const void *state) {
    topk_input input = TOPK_INPUT_INIT;
    input.values = elements;
    begin(context, &input, values, indices, state);
}

topk_status __wrap_topk_accumulator_init(topk_context *context, const topk_problem *problem, void *state,
                                         size_t state_bytes, topk_stream stream) {
    begin_on_state(context, NULL, NULL, NULL, state);
    topk_status status = __real_topk_accumulator_init(context, problem, state, state_bytes, stream);
    protect(PROT_NONE);
    return status;
}

topk_status __wrap_topk_accumulator_push(topk_context *context, const topk_problem *problem, void *state,
                                         size_t state_bytes, const topk_input *chunk, int64_t length,
                                         int64_t base, topk_stream stream) {
    begin_on_state(context, chunk->values, NULL, NULL, state);
    topk_status status =
        __real_topk_accumulator_push(context, problem, state, state_bytes, chunk, length, base, stream);
    protect(PROT_NONE);
    return status;
}

topk_status __wrap_topk_accumulator_push_where(topk_context *context, const topk_problem *problem,
                                               void *state, size_t state_bytes, const topk_input *chunk,
                                               const topk_predicate *predicate, int64_t length, int64_t base,
                                               topk_stream stream) {
    begin_on_state(context, chunk->values, NULL, NULL, state);
    topk_status status = __real_topk_accumulator_push_where(context, problem, state, state_bytes, chunk,
                                                            predicate, length, base, stream);
    protect(PROT_NONE);
    return status;
}

topk_status __wrap_topk_accumulator_peek(topk_context *context, const topk_problem *problem, void *state,
                                         size_t state_bytes, void *values, void *indices,
                                         topk_stream stream) {
    begin_on_state(context, NULL, values, indices, state);
    topk_status status =
        __real_topk_accumulator_peek(context, problem, state, state_bytes, values, indices, stream);
    protect(PROT_NONE);
    return status;
}

topk_status __wrap_topk_accumulator_finish(topk_context *context, const topk_problem *problem, void *state,
                                           size_t state_bytes, void *values, void *indices,
                                           topk_stream stream) {
    begin_on_state(context, NULL, values, indices, state);
    topk_status status =
        __real_topk_accumulator_finish(context, problem, state, state_bytes, values, indices, stream);
    protect(PROT_NONE);
    return status;
}
