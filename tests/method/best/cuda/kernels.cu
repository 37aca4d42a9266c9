/* SPDX-License-Identifier: Apache-2.0
 * The kernel of best for elements of KEY_BITS bits: a thread for each row. */
#include "kernels.h"

#include "../instance.cuh"
#include "../rows.cuh"

namespace WIDTH {
typedef element_of_bits<KEY_BITS>::type element_t;

template <typename Element> TOPK_KERNEL TOPK_BOUNDS(SIMT_WARP, 1) void best_of_rows(struct row_args a) {
    if (is_called_off(a))
        return;
    const int64_t threads = (int64_t)simt_blocks() * simt_threads();
    for (int64_t row = (int64_t)simt_block() * simt_threads() + simt_thread(); row < a.rows; row += threads) {
        const struct row r = row_at(a, row);
        if (row >= threads)
            TOPK_REACHED(REACHED_BEST_NEXT_ROW);
        const Element *values = row_values<Element>(a, r);
        int64_t best = 0;
        for (int64_t i = 1; i < r.length; i++)
            best = key_of<Element>(values[i], a.map) > key_of<Element>(values[best], a.map) ? i : best;
        if (r.k > 0)
            write_result<Element>(a, row, r, 0, values[best], best);
        else
            write_padding<Element>(a, row, 0);
    }
}

static int prepare(void) {
    return simt_prepare(best_of_rows<element_t>, 0);
}

static int launch_select(const struct launch_grid *grid, const struct row_args *args) {
    return launch("best_of_rows", grid, 0, best_of_rows<element_t>, args);
}

extern "C" const struct best_kernels INSTANCE = {prepare, launch_select};
} // namespace WIDTH
