/* SPDX-License-Identifier: Apache-2.0 */
#include "expected.h"

#include <stdlib.h>
#include <string.h>

/* The elements of a row, best first; to be freed. */
static oracle_entry *rank_row(const topk_problem *p, const topk_input *input, const oracle_row *row) {
    oracle_entry *ranking = malloc(((size_t)row->length + 1) * sizeof *ranking);
    if (ranking == NULL) {
        abort();
    }
    if (row->length > 0) {
        oracle_rank(p, (const char *)input->values + (size_t)row->first * oracle_type_size(p->type),
                    row->length, ranking);
    }
    return ranking;
}

static void put_index(const topk_problem *p, void *indices, int64_t at, int64_t index) {
    if (p->index_type == TOPK_INDEX_I32) {
        ((int32_t *)indices)[at] = (int32_t)index;
    } else {
        ((int64_t *)indices)[at] = index;
    }
}

void expected_select(const topk_problem *p, const topk_input *input, void *values, void *indices) {
    const size_t size = oracle_type_size(p->type);
    for (int64_t r = 0; r < p->rows; r++) {
        const oracle_row row = oracle_resolve_row(p, input, r);
        oracle_entry *ranking = rank_row(p, input, &row);
        for (int64_t s = 0; s < p->k_max; s++) {
            const int64_t at = r * p->k_max + s;
            char *value = (char *)values + (size_t)at * size;
            if (s < row.k && s < row.length) {
                const int64_t element = row.first + ranking[s].position;
                memcpy(value, (const char *)input->values + (size_t)element * size, size);
                put_index(p, indices, at, p->index_base + ranking[s].position);
            } else {
                oracle_write_padding(p->type, p->direction, value);
                put_index(p, indices, at, -1);
            }
        }
        free(ranking);
    }
}

void expected_kth(const topk_problem *p, const topk_input *input, void *kth, int64_t *better,
                  int64_t *equal) {
    const size_t size = oracle_type_size(p->type);
    for (int64_t r = 0; r < p->rows; r++) {
        const oracle_row row = oracle_resolve_row(p, input, r);
        oracle_entry *ranking = rank_row(p, input, &row);
        char *value = (char *)kth + (size_t)r * size;
        better[r] = row.k == 0 ? 0 : row.length;
        equal[r] = 0;
        if (row.k == 0 || row.k > row.length) {
            oracle_write_padding(p->type, p->direction, value);
        } else {
            const int64_t element = row.first + ranking[row.k - 1].position;
            const oracle_kth counts = oracle_kth_counts(p, ranking, row.length, row.k);
            oracle_write_class(p->type, p->rank, (const char *)input->values + (size_t)element * size, value);
            better[r] = counts.better;
            equal[r] = counts.equal;
        }
        free(ranking);
    }
}
