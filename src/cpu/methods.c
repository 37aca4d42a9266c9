/* SPDX-License-Identifier: Apache-2.0
 * The method table of the CPU, the reference last. */
#include "backend.h"
#include "bracket/bracket.h"
#include "compact/compact.h"
#include "reference.h"
#include "rows.h"

enum {
    SELECTS = OPERATION_BIT(TOPK_OPERATION_SELECT) | OPERATION_BIT(TOPK_OPERATION_KTH),
    SELECTS_WHERE = SELECTS | OPERATION_BIT(TOPK_OPERATION_SELECT_WHERE),
    FILTERS = OPERATION_BIT(TOPK_OPERATION_WHERE) | OPERATION_BIT(TOPK_OPERATION_COUNT) |
              OPERATION_BIT(TOPK_OPERATION_MASK),
};

static const struct method methods[] = {
    {"rows", SELECTS_WHERE, NULL, topk_rows_refuse, topk_rows_cost_us, topk_rows_workspace_bytes,
     topk_rows_run},
    {"bracket", SELECTS_WHERE, NULL, topk_bracket_refuse, topk_bracket_cost_us, topk_bracket_workspace_bytes,
     topk_bracket_run},
    {"compact", FILTERS, NULL, topk_compact_refuse, topk_compact_cost_us, topk_compact_workspace_bytes,
     topk_compact_run},
    {"reference", SELECTS_WHERE, NULL, topk_reference_refuse, topk_reference_cost_us,
     topk_reference_workspace_bytes, topk_reference_run},
};

const struct backend topk_cpu_backend = {"cpu", methods, sizeof methods / sizeof methods[0]};
