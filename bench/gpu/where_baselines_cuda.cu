/* SPDX-License-Identifier: Apache-2.0 */
#include "baselines/compaction_cuda.h"
#include "gpu/rival_kind_cuda.h"

#include <cstdint>

namespace {

cudaError_t no_scratch(std::int64_t, std::size_t *bytes) {
    *bytes = 0;
    return cudaSuccess;
}

template <cudaError_t (*Compact)(const bench_compaction *),
          cudaError_t (*Scratch)(std::int64_t, std::size_t *) = no_scratch>
cudaError_t run(bench_gpu_rival *rival, const void *input, void *scratch, std::size_t *scratch_bytes) {
    const bench_point *point = rival->point;
    if (scratch == nullptr) {
        return Scratch(point->n, scratch_bytes);
    }
    const bench_compaction task = {static_cast<const float *>(input),
                                   point->n,
                                   rival->bound,
                                   static_cast<std::int32_t *>(rival->outputs.indices),
                                   rival->outputs.offsets + point->rows,
                                   scratch,
                                   point->block,
                                   rival->stream};
    return Compact(&task);
}

const bench_gpu_rival_kind kinds[] = {
    {"baseline-counter", bench_where_rival_can, run<bench_compact_by_counter>, false, false, true, false},
    {"baseline-blocks", bench_where_rival_can, run<bench_compact_by_blocks>, false, false, true, false},
    {"baseline-warps", bench_where_rival_can, run<bench_compact_by_warps>, false, false, true, false},
    {"baseline-ranks", bench_where_rival_can, run<bench_compact_by_ranks, bench_compact_by_ranks_scratch>,
     false, false, false, false},
    {"baseline-phases", bench_where_rival_can, run<bench_compact_by_phases, bench_compact_by_phases_scratch>,
     false, false, false, false},
};

} // namespace

bench_gpu_rival_kinds bench_where_baselines(void) {
    return {kinds, static_cast<int>(sizeof kinds / sizeof *kinds)};
}
