/* SPDX-License-Identifier: Apache-2.0
 *
 * The classes that the options' ranking tells apart: elements of one class tie. Each class has a number,
 * which ascends from the worst to the best. Only those of a range of classes are counted or collected, by the
 * library's predicates. */
#ifndef TOPK_CLI_CLASSES_H
#define TOPK_CLI_CLASSES_H

#include "session.h"

struct classes {
    struct session *host; /* what counts */
    topk_problem problem; /* of one row; its length changes from call to call */
    unsigned char *mask;  /* room for the bits of as many elements as a call has */
    unsigned char *other; /* as much, for a predicate's own */
};

/* Classes [worst, best]; none if worst > best. No class is beyond [CLASS_WORST, CLASS_BEST]. */
struct class_range {
    uint64_t worst, best;
};
#define CLASS_WORST UINT64_C(0)
#define CLASS_BEST UINT64_MAX

/* For calls with up to `length_max` elements, by the ranking of the options. */
void classes_begin(struct classes *classes, struct session *host, const struct options *options,
                   topk_type type, int64_t length_max);

/* The class of an element. */
uint64_t classes_of(const struct classes *classes, const void *element);

/* How many of the elements are in the range. */
int64_t classes_count(struct classes *classes, struct class_range range, const void *elements,
                      int64_t length);

/* Copies the elements in the range, and their positions, counted from `base`, in their order. Returns how
 * many there are; more than `capacity` are not written. Either output may be NULL. */
int64_t classes_collect(struct classes *classes, struct class_range range, const void *elements,
                        int64_t length, int64_t base, void *values, int64_t *indices, int64_t capacity);

void classes_end(struct classes *classes);

#endif /* TOPK_CLI_CLASSES_H */
