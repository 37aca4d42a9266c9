/* SPDX-License-Identifier: Apache-2.0 */
#include "output.h"

#include "../reached.h"

static void store_index(void *indices, int64_t at, size_t index_bytes, int64_t index) {
    if (index_bytes == 4) {
        ((int32_t *)indices)[at] = (int32_t)index;
    } else {
        ((int64_t *)indices)[at] = index;
    }
}

void topk_cpu_gather_elements(const void *elements, size_t element_bytes, const uint32_t *slots, size_t count,
                              void *out) {
    switch (element_bytes) {
    case 1:
        for (size_t i = 0; i < count; i++) {
            ((uint8_t *)out)[i] = ((const uint8_t *)elements)[slots[i]];
        }
        break;
    case 2:
        for (size_t i = 0; i < count; i++) {
            ((uint16_t *)out)[i] = ((const uint16_t *)elements)[slots[i]];
        }
        break;
    case 4:
        for (size_t i = 0; i < count; i++) {
            ((uint32_t *)out)[i] = ((const uint32_t *)elements)[slots[i]];
        }
        break;
    default:
        for (size_t i = 0; i < count; i++) {
            ((uint64_t *)out)[i] = ((const uint64_t *)elements)[slots[i]];
        }
    }
}

static int64_t slot_position(const struct source *source, uint32_t slot) {
    return source->position_bytes == 0   ? (int64_t)slot
           : source->position_bytes == 4 ? (int64_t)((const uint32_t *)source->positions)[slot]
                                         : ((const int64_t *)source->positions)[slot];
}

void topk_cpu_write_indices(const struct call *call, int64_t at, const struct source *source,
                            int64_t row_begin, const uint32_t *slots, size_t count) {
    const struct plan *plan = call->plan;
    const int64_t base = plan->problem.index_base;
    const size_t index_bytes = plan->index_bytes;
    if (call->indices == NULL) {
        return;
    }
    char *indices = (char *)call->indices + (size_t)at * index_bytes;
    if (call->input.indices != NULL) {
        const char *payload = (const char *)call->input.indices + (size_t)row_begin * index_bytes;
        for (size_t i = 0; i < count; i++) {
            const size_t position = (size_t)slot_position(source, slots[i]);
            memcpy(indices + i * index_bytes, payload + position * index_bytes, index_bytes);
        }
    } else if (index_bytes == 4 && source->position_bytes == 0) {
        for (size_t i = 0; i < count; i++) {
            ((int32_t *)(void *)indices)[i] = (int32_t)(slots[i] + (uint32_t)base);
        }
    } else if (source->position_bytes == 0) {
        int64_t *restrict out = (int64_t *)(void *)indices;
        for (size_t i = 0; i < count; i++) {
            out[i] = (int64_t)slots[i] + base;
        }
    } else {
        for (size_t i = 0; i < count; i++) {
            store_index(indices, (int64_t)i, index_bytes, slot_position(source, slots[i]) + base);
        }
    }
}

void topk_cpu_write_slots(const struct call *call, int64_t at, const struct source *source, int64_t row_begin,
                          const uint32_t *slots, size_t count) {
    const size_t bytes = call->plan->element_bytes;
    if (call->values != NULL) {
        topk_cpu_gather_elements(source->values, bytes, slots, count,
                                 (char *)call->values + (size_t)at * bytes);
    }
    topk_cpu_write_indices(call, at, source, row_begin, slots, count);
}

void topk_cpu_write_result(const struct call *call, int64_t at, int64_t row_begin, int64_t position) {
    const struct plan *plan = call->plan;
    const int64_t element = row_begin + position;
    if (call->values != NULL) {
        store_element(call->values, at, plan->element_bytes,
                      read_element(call->input.values, element, plan->element_bytes));
    }
    if (call->indices != NULL) {
        const int64_t index = call->input.indices == NULL
                                  ? position + plan->problem.index_base
                                  : read_extent(call->input.indices, element, plan->problem.index_type);
        store_index(call->indices, at, plan->index_bytes, index);
    }
}

/* `count` times the low bits of `bits`. */
static void fill(void *out, size_t bytes, int64_t count, uint64_t bits) {
    switch (bytes) {
    case 1:
        memset(out, (int)(bits & 0xff), (size_t)count);
        break;
    case 2:
        for (int64_t i = 0; i < count; i++) {
            ((uint16_t *)out)[i] = (uint16_t)bits;
        }
        break;
    case 4:
        for (int64_t i = 0; i < count; i++) {
            ((uint32_t *)out)[i] = (uint32_t)bits;
        }
        break;
    default:
        for (int64_t i = 0; i < count; i++) {
            ((uint64_t *)out)[i] = bits;
        }
    }
}

void topk_cpu_fill_slots(const struct call *call, int64_t at, int64_t count, int64_t index) {
    const struct plan *plan = call->plan;
    if (count > 0 && call->values != NULL) {
        fill((char *)call->values + (size_t)at * plan->element_bytes, plan->element_bytes, count,
             plan->padding);
    }
    if (count > 0 && call->indices != NULL) {
        fill((char *)call->indices + (size_t)at * plan->index_bytes, plan->index_bytes, count,
             (uint64_t)index);
    }
}

void topk_cpu_write_padding(const struct call *call, int64_t row, size_t filled) {
    const int64_t pitch = call->plan->problem.k_max;
    topk_cpu_fill_slots(call, row * pitch + (int64_t)filled, pitch - (int64_t)filled, -1);
}

void topk_cpu_write_masked(const struct call *call, const struct masked *from, int64_t at) {
    const struct plan *plan = call->plan;
    const struct kernels *kernels = topk_cpu_kernels_for(call->context, plan->element_bits);
    if (call->values != NULL) {
        (void)kernels->take((const char *)call->input.values + from->element * plan->element_bytes,
                            from->mask, from->words, (char *)call->values + (size_t)at * plan->element_bytes,
                            from->count);
    }
    if (call->indices == NULL) {
        return;
    }
    char *indices = (char *)call->indices + (size_t)at * plan->index_bytes;
    const int64_t first = from->position + plan->problem.index_base;
    if (call->input.indices != NULL) {
        (void)topk_cpu_kernels_for(call->context, (unsigned)plan->index_bytes * 8)
            ->take((const char *)call->input.indices + from->element * plan->index_bytes, from->mask,
                   from->words, indices, from->count);
    } else if (plan->index_bytes == 4) {
        (void)kernels->positions32(from->mask, from->words, (uint32_t)first, (uint32_t *)(void *)indices,
                                   from->count);
    } else {
        (void)kernels->positions64(from->mask, from->words, (uint64_t)first, (uint64_t *)(void *)indices,
                                   from->count);
    }
}

static void store_kth(const struct call *call, int64_t row, uint64_t bits, int64_t better, int64_t equal) {
    const int64_t at = row * call->plan->ranks;
    if (call->values != NULL) {
        store_element(call->values, at, call->plan->element_bytes, bits);
    }
    if (call->better != NULL) {
        call->better[at] = better;
    }
    if (call->equal != NULL) {
        call->equal[at] = equal;
    }
}

/* NULL stays NULL. */
static void *behind(void *array, int64_t count, size_t bytes) {
    return array == NULL ? NULL : (char *)array + (size_t)count * bytes;
}

struct call topk_cpu_rank_call(const struct call *call, int64_t rank) {
    struct call one = *call;
    if (call->input.k != NULL) {
        one.input.k = (const char *)call->input.k + (size_t)rank * call->plan->extent_bytes;
    }
    one.values = behind(call->values, rank, call->plan->element_bytes);
    one.better = behind(call->better, rank, sizeof *one.better);
    one.equal = behind(call->equal, rank, sizeof *one.equal);
    return one;
}

void topk_cpu_kth_reverse(const struct plan *plan, size_t length, struct kth_search *search) {
    TOPK_REACHED(REACHED_KTH_REVERSED);
    search->k = length + 1 - search->k;
    search->reversed_order = topk_order_reversed(&plan->order);
    search->reversed_map = topk_key_map(&search->reversed_order);
    search->order = &search->reversed_order;
    search->map = &search->reversed_map;
}

void topk_cpu_write_kth(const struct call *call, int64_t row, const struct kth *kth) {
    store_kth(call, row, topk_key_decode(&call->plan->order, kth->key), (int64_t)kth->above,
              (int64_t)kth->equal);
}

void topk_cpu_write_kth_padding(const struct call *call, int64_t row, int64_t k, int64_t length) {
    store_kth(call, row, call->plan->padding, k == 0 ? 0 : length, 0);
}
