/* SPDX-License-Identifier: Apache-2.0 */
#include "slots.h"

#include "../base/fail.h"

/* Parts of a full slot, so that no thread has much to do when the others are done. */
enum { PARTS = 32 };

static uint64_t part_bytes(void) {
    return (device_slot_bytes() + PARTS - 1) / PARTS;
}

static int64_t parts_of(uint64_t bytes) {
    return (int64_t)((bytes + part_bytes() - 1) / part_bytes());
}

static bool fill_part(const void *work, int64_t part) {
    const struct slot *slot = work;
    const uint64_t at = (uint64_t)part * part_bytes();
    const uint64_t left = slot->bytes - at;
    return matrix_copy(slot->input, (char *)slot->host + at, slot->elements + at,
                       left < part_bytes() ? left : part_bytes());
}

/* Whether the slot has its memory on the host from what was made early. */
static bool is_early(const struct slots *slots, int which) {
    return slots->early.memory != NULL && ((uint64_t)which + 1) * slots->bytes <= slots->early.bytes;
}

static void *make_host(const struct slots *slots, int which) {
    return is_early(slots, which) ? (char *)slots->early.memory + (uint64_t)which * slots->bytes
                                  : device_allocate_pinned(slots->bytes);
}

void slots_begin(struct slots *slots, struct session *session, uint64_t bytes) {
    const int64_t parts = parts_of(bytes);
    const int threads = session_threads(session);
    *slots = (struct slots){0};
    slots->bytes = bytes;
    slots->early = session->early;
    session->early = (struct early){0};
    for (int i = 0; i < DEVICE_SLOTS; i++)
        slots->slots[i].input = session->input;
    team_begin(&slots->team, parts < threads ? (int)parts : threads);
}

void slots_fill(struct slots *slots, const void *elements, uint64_t bytes) {
    const int which = (int)(slots->filled++ % DEVICE_SLOTS);
    struct slot *slot = &slots->slots[which];
    if (slot->host == NULL)
        slot->host = make_host(slots, which);
    device_slot_wait(which);
    slot->elements = elements;
    slot->bytes = bytes;
    if (bytes > 0)
        team_start(&slots->team, &slot->job, fill_part, slot, parts_of(bytes));
}

void slots_upload_to(struct slots *slots, void *device) {
    const int which = (int)(slots->passed % DEVICE_SLOTS);
    struct slot *slot = &slots->slots[which];
    if (!team_wait(&slots->team, &slot->job))
        fail("the input file has shrunk, or cannot be read");
    device_slot_upload(which, device, slot->host, slot->bytes);
}

const void *slots_upload(struct slots *slots) {
    struct slot *slot = &slots->slots[slots->passed % DEVICE_SLOTS];
    if (slot->device == NULL)
        slot->device = device_allocate(slots->bytes);
    slots_upload_to(slots, slot->device);
    return slot->device;
}

void slots_pass(struct slots *slots) {
    device_slot_used((int)(slots->passed++ % DEVICE_SLOTS));
}

void slots_end(struct slots *slots) {
    team_end(&slots->team);
    for (int i = 0; i < DEVICE_SLOTS; i++) {
        if (slots->slots[i].host != NULL)
            device_slot_wait(i);
        device_release(slots->slots[i].device);
        if (!is_early(slots, i))
            device_release_pinned(slots->slots[i].host);
    }
    early_end(&slots->early);
    *slots = (struct slots){0};
}
