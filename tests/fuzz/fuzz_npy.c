/* SPDX-License-Identifier: Apache-2.0 */

#include "fuzz.h"
#include "parse/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const topk_type overrides[] = {TOPK_TYPE_UNDEFINED, TOPK_F8_E4M3, TOPK_BF16, TOPK_F32};
    for (size_t i = 0; i < sizeof overrides / sizeof *overrides; i++) {
        struct layout layout;
        struct parse_error error = {UINT64_MAX, ""};
        if (!npy_parse(data, size, overrides[i], &layout, &error)) {
            demand(error.at <= size && error.reason[0] != '\0');
            continue;
        }
        demand(topk_type_size(layout.type) > 0 && layout.rows >= 0 && layout.cols >= 0);
        demand(layout.stride == layout.cols && (layout.matrix || layout.rows == 1));
        demand(layout.begin <= size);
        uint64_t room = (size - layout.begin) / topk_type_size(layout.type);
        demand(layout.rows == 0 || (uint64_t)layout.cols <= room / (uint64_t)layout.rows);
    }
    return 0;
}
