/* SPDX-License-Identifier: Apache-2.0
 *
 * NVIDIA H200, driver 580.159.04, 2026-11-23. Fitted by bench/tune.py. */
#include "costs.h"

#ifndef TOPK_TUNABLE
const
#endif
    struct cuda_costs topk_cuda_costs = {
        .launch_us = 3.9,
        .air = {.bytes_per_us = 4.6e6,
                .pass_us = 6.01,
                .shared_reads = 4,
                .results_per_us = 312,
                .row_us = 13,
                .elements_per_us = 2.5e3,
                .own_reads = 0.938},
        .bracket = {.bytes_per_us = 4.4e6,
                    .shared_us = 16.6,
                    .alone_us = 12.7,
                    .all_us = 10,
                    .where_us = 8,
                    .candidates_per_us = 2.84e4,
                    .results_per_us = 218},
        .compact = {.bytes_per_us = 4e6},
        .resident = {.bytes_per_us = 4.2e6,
                     .instructions_per_us = 6e5,
                     .row_us = 1.89,
                     .element_us = 9.01e-05,
                     .compared_us = 0.000136,
                     .chosen_us = 0.00119,
                     .of_list = 520,
                     .of_listed = 24,
                     .of_listing_warp = 105,
                     .of_listing_item = 9,
                     .cluster_us = 1.86,
                     .search_us = 1.88,
                     .searched = 1.65,
                     .merged_us = 0.00644,
                     .of_merged = 47,
                     .cluster_instructions_per_us = 5.45e5,
                     .stream_us = 12,
                     .kept_us = 1.5,
                     .result_us = 0.0018,
                     .stream_bytes_per_us = 4.4e4},
        .route = {.row_us = 0.0003},
        .rtopk = {.bytes_per_us = 4.2e6, .instructions_per_us = 6e5, .latency_us = 0.00311},
        .sort = {.bytes_per_us = 4e6,
                 .pass_us = 13,
                 .ranked_per_us = 1.1e5,
                 .row_us = 0.005,
                 .block_pass_us = 2.2,
                 .element_us = 0.001},
};
