/* SPDX-License-Identifier: Apache-2.0 */
#include "routing.h"

#include <string.h>

#include "problem.h"
#include "status.h"
#include "structs.h"

static topk_status check_groups(const topk_problem *problem, const topk_routing *routing) {
    const int64_t groups = routing->groups, kept = routing->groups_kept;
    if (groups == 0) {
        return kept == 0
                   ? TOPK_OK
                   : topk_fail(TOPK_ERROR_CONTRADICTION,
                               "routing->groups_kept is %lld, but routing->groups is 0", (long long)kept);
    }
    /* No experts are in any number of groups that there can be. */
    if (groups < 0 || groups > ROUTE_EXPERTS_MAX || problem->length_max % groups != 0) {
        return topk_fail(TOPK_ERROR_OUT_OF_RANGE,
                         "routing->groups is %lld, must be 0 or divide the %lld experts", (long long)groups,
                         (long long)problem->length_max);
    }
    return kept >= 1 && kept <= groups
               ? TOPK_OK
               : topk_fail(TOPK_ERROR_OUT_OF_RANGE, "routing->groups_kept is %lld, must be 1 to %lld",
                           (long long)kept, (long long)groups);
}

topk_status topk_check_route(const topk_problem *p) {
    if (!topk_type_traits(p->type).is_float) {
        return topk_fail(TOPK_ERROR_UNSUPPORTED, "problem->type is %s, logits are of a floating-point type",
                         topk_type_name(p->type));
    }
    const struct {
        const char *name;
        unsigned value;
    } fixed[] = {
        {"shape", (unsigned)p->shape}, {"direction", (unsigned)p->direction}, {"rank", (unsigned)p->rank}};
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
        if (fixed[i].value != 0) {
            return topk_fail(TOPK_ERROR_UNSUPPORTED, "problem->%s is %u, in routing it is 0", fixed[i].name,
                             fixed[i].value);
        }
    }
    if (p->length_max > ROUTE_EXPERTS_MAX) {
        return topk_fail(TOPK_ERROR_OUT_OF_RANGE, "problem->length_max is %lld, there are at most %d experts",
                         (long long)p->length_max, ROUTE_EXPERTS_MAX);
    }
    return p->k_max <= ROUTE_K_MAX
               ? TOPK_OK
               : topk_fail(TOPK_ERROR_OUT_OF_RANGE, "problem->k_max is %lld, at most %d experts are chosen",
                           (long long)p->k_max, ROUTE_K_MAX);
}

topk_status topk_check_routing(const topk_problem *problem, const topk_routing *caller,
                               topk_routing *routing) {
    const topk_status status = topk_read_struct(STRUCT_ROUTING, caller, routing);
    const uint32_t infinity = 0x7f800000;
    uint32_t factor;
    if (status != TOPK_OK) {
        return status;
    }
    if ((unsigned)routing->score > TOPK_SCORE_SIGMOID) {
        return topk_fail(TOPK_ERROR_UNKNOWN_ENUM, "routing->score is %d, must be %d to %d",
                         (int)routing->score, TOPK_SCORE_LOGIT, TOPK_SCORE_SIGMOID);
    }
    if ((unsigned)routing->weighing > TOPK_WEIGH_SIGMOID) {
        return topk_fail(TOPK_ERROR_UNKNOWN_ENUM, "routing->weighing is %d, must be %d to %d",
                         (int)routing->weighing, TOPK_WEIGH_SOFTMAX, TOPK_WEIGH_SIGMOID);
    }
    memcpy(&factor, &routing->factor, sizeof factor); /* no floating-point operation on the caller's mode */
    if ((factor & infinity) == infinity) {
        return topk_fail(TOPK_ERROR_OUT_OF_RANGE, "routing->factor is not finite");
    }
    return check_groups(problem, routing);
}

struct logit_format topk_logit_format(topk_type type) {
    const struct type_traits traits = topk_type_traits(type);
    if (traits.bits > 32) {
        return (struct logit_format){0}; /* these are rounded by a conversion of their own */
    }
    const uint32_t fraction = (1u << traits.mantissa_bits) - 1;
    const bool has_infinity = (traits.infinity & fraction) == 0; /* else that is e4m3's largest number */
    const uint32_t bias = (1u << (traits.bits - traits.mantissa_bits - 2)) - 1;
    const uint32_t infinity = (uint32_t)traits.infinity;
    return (struct logit_format){.sign = 1u << (traits.bits - 1),
                                 .sign_shift = 32 - traits.bits,
                                 .shift = 23 - traits.mantissa_bits,
                                 .largest = has_infinity ? infinity - 1 : infinity,
                                 .infinity = has_infinity ? infinity : 0,
                                 .scale = score_of_bits((254 - bias) << 23)};
}
