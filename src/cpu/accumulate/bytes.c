/* SPDX-License-Identifier: Apache-2.0
 * Candidates as bytes: exported.h. Nothing that bytes say is used before it was looked at. */
#include <string.h>

#include "../../status.h"
#include "candidates.h"

enum { PAYLOAD_OF_NOTHING, PAYLOAD_ABSENT, PAYLOAD_PRESENT };

struct row_of_bytes {
    int64_t k, count;
};

/* Little endian, at any address. */
static int64_t read_number(const char *at) {
    int64_t number;
    memcpy(&number, at, sizeof number);
    return number;
}

static struct row_of_bytes read_row(const struct exported *e, const char *bytes, size_t row) {
    const char *at = bytes + e->rows + row * EXPORTED_ROW_BYTES;
    return (struct row_of_bytes){read_number(at), read_number(at + 8)};
}

/* ---- Exporting ---- */

/* A row's slots of one array: what `count` candidates have, then zeros. */
static void write_slots(char *to, const void *from, size_t count, size_t slots, size_t bytes_each) {
    if (count > 0) {
        memcpy(to, from, count * bytes_each);
    }
    memset(to + count * bytes_each, 0, (slots - count) * bytes_each);
}

void topk_candidates_export(const struct candidates *c, uint64_t payload, void *bytes) {
    const size_t k_max = (size_t)c->plan->problem.k_max, index = c->plan->index_bytes,
                 element = c->plan->element_bytes;
    struct exported e = topk_exported_of(c->plan);
    char *to = bytes;
    e.header.payload = payload;
    memcpy(to, &e.header, sizeof e.header);
    for (size_t row = 0; row < (size_t)c->plan->problem.rows; row++) {
        const size_t slot = row * k_max, from = row * c->room, count = (size_t)c->rows[row].count,
                     carried = payload == PAYLOAD_PRESENT ? count : 0;
        const struct row_of_bytes r = {c->rows[row].k, c->rows[row].count};
        memcpy(to + e.rows + row * EXPORTED_ROW_BYTES, &r, sizeof r);
        if (k_max > 0) {
            write_slots(to + e.positions + slot * 8, c->positions + from, count, k_max, 8);
            write_slots(to + e.payload + slot * index, c->payload + from * index, carried, k_max, index);
            write_slots(to + e.values + slot * element, c->values + from * element, count, k_max, element);
        }
    }
}

/* ---- Importing ---- */

static topk_status differ(const char *name, int64_t found, int64_t wanted) {
    return topk_fail(TOPK_ERROR_MALFORMED, "bytes: %s is %lld, and must be %lld", name, (long long)found,
                     (long long)wanted);
}

static topk_status check_header(const struct exported *e, const struct exported_header *found, size_t size) {
    const struct exported_header *wanted = &e->header;
    const struct {
        const char *name;
        int64_t found, wanted;
    } fields[] = {
        {"the format version", found->version, wanted->version},
        {"the byte order", found->byte_order, wanted->byte_order},
        {"type", found->type, wanted->type},
        {"index_type", found->index_type, wanted->index_type},
        {"direction", found->direction, wanted->direction},
        {"rank", found->rank, wanted->rank},
        {"nan", found->nan, wanted->nan},
        {"what follows nan", found->zero, 0},
        {"rows", found->rows, wanted->rows},
        {"k_max", found->k_max, wanted->k_max},
        {"index_base", found->index_base, wanted->index_base},
        {"their length in the header", (int64_t)found->bytes, (int64_t)wanted->bytes},
        {"size", (int64_t)size, (int64_t)wanted->bytes},
    };
    if (found->magic != wanted->magic) {
        return topk_fail(TOPK_ERROR_MALFORMED, "bytes are no state of an accumulator");
    }
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (fields[i].found != fields[i].wanted) {
            return differ(fields[i].name, fields[i].found, fields[i].wanted);
        }
    }
    return found->payload <= PAYLOAD_PRESENT
               ? TOPK_OK
               : topk_fail(TOPK_ERROR_MALFORMED, "bytes: payload is %llu, and must be 0 to 2",
                           (unsigned long long)found->payload);
}

/* Whether an array's slots from `first` on hold nothing. */
static bool are_zero(const char *array, size_t first, size_t end, size_t bytes_each) {
    for (size_t b = first * bytes_each; b < end * bytes_each; b++) {
        if (array[b] != 0) {
            return false;
        }
    }
    return true;
}

static topk_status check_positions(const struct exported *e, const char *positions, int64_t row,
                                   int64_t count) {
    int64_t before = -1;
    for (int64_t i = 0; i < count; i++) {
        const int64_t position = read_number(positions + 8 * i);
        if (position <= before || position >= e->position_end) {
            return topk_fail(TOPK_ERROR_MALFORMED,
                             "bytes: row %lld has position %lld behind %lld; they ascend, below %lld",
                             (long long)row, (long long)position, (long long)before,
                             (long long)e->position_end);
        }
        before = position;
    }
    return TOPK_OK;
}

static topk_status check_row(const struct plan *plan, const struct exported *e, const char *bytes,
                             uint64_t payload, int64_t row) {
    const struct row_of_bytes r = read_row(e, bytes, (size_t)row);
    const int64_t k_max = plan->problem.k_max;
    const size_t first = (size_t)(row * k_max), slots = (size_t)k_max;
    if (r.k < 0 || r.k > k_max || r.count < 0 || r.count > r.k) {
        return topk_fail(TOPK_ERROR_MALFORMED, "bytes: row %lld has k %lld and %lld elements, of k_max %lld",
                         (long long)row, (long long)r.k, (long long)r.count, (long long)k_max);
    }
    if (r.count > 0 && payload == PAYLOAD_OF_NOTHING) {
        return topk_fail(TOPK_ERROR_MALFORMED, "bytes: payload is 0, but row %lld has elements",
                         (long long)row);
    }
    const size_t used = (size_t)r.count, carried = payload == PAYLOAD_PRESENT ? used : 0;
    if (!are_zero(bytes + e->positions + first * 8, used, slots, 8) ||
        !are_zero(bytes + e->payload + first * plan->index_bytes, carried, slots, plan->index_bytes) ||
        !are_zero(bytes + e->values + first * plan->element_bytes, used, slots, plan->element_bytes)) {
        return topk_fail(TOPK_ERROR_MALFORMED, "bytes: row %lld has more than its %lld elements",
                         (long long)row, (long long)r.count);
    }
    return check_positions(e, bytes + e->positions + first * 8, row, r.count);
}

topk_status topk_candidates_check(const struct plan *plan, const void *bytes, size_t size) {
    const struct exported e = topk_exported_of(plan);
    struct exported_header found;
    if (size < sizeof found) {
        return topk_fail(TOPK_ERROR_MALFORMED, "bytes: size is %zu, and a header has %zu", size,
                         sizeof found);
    }
    memcpy(&found, bytes, sizeof found);
    topk_status status = check_header(&e, &found, size);
    for (int64_t row = 0; status == TOPK_OK && row < plan->problem.rows; row++) {
        status = check_row(plan, &e, bytes, found.payload, row);
    }
    return status;
}

uint64_t topk_candidates_import(const struct candidates *c, const void *bytes) {
    const struct exported e = topk_exported_of(c->plan);
    const size_t k_max = (size_t)c->plan->problem.k_max, index = c->plan->index_bytes,
                 element = c->plan->element_bytes;
    const char *from = bytes;
    struct exported_header header;
    memcpy(&header, bytes, sizeof header);
    for (size_t row = 0; row < (size_t)c->plan->problem.rows; row++) {
        const struct row_of_bytes r = read_row(&e, from, row);
        const size_t slot = row * k_max, to = row * c->room, count = (size_t)r.count;
        c->rows[row] = (struct candidate_row){.count = r.count, .k = r.k, .ascends = true};
        if (count > 0) {
            memcpy(c->positions + to, from + e.positions + slot * 8, count * 8);
            memcpy(c->payload + to * index, from + e.payload + slot * index, count * index);
            memcpy(c->values + to * element, from + e.values + slot * element, count * element);
        }
    }
    return header.payload;
}
