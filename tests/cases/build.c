/* SPDX-License-Identifier: Apache-2.0 */
#include "build.h"

guarded build_buffer(const test_case *c, int64_t count, size_t element_bytes) {
    static const long offsets[] = {0, 1, 7};
    size_t bytes = (size_t)count * element_bytes;
    return c->value[DIM_PLACEMENT] == PLACEMENT_AT_END
               ? guarded_allocate(bytes, GUARDED_AT_END)
               : guarded_allocate(bytes, offsets[c->value[DIM_PLACEMENT]] * (long)element_bytes);
}
