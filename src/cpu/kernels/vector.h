/* SPDX-License-Identifier: Apache-2.0
 * What kernels.c asks of an instruction set: comparing a word of keys to a bit mask, moving the elements of
 * a mask together, and counting comparisons. Included by kernels.c alone, after KEY_BITS, kint, the
 * integer that holds a key, and struct map.
 *
 *   mask_above(keys, t)    bit i: keys[i] > t, for 64 keys
 *   mask_from(keys, t)     bit i: keys[i] >= t
 *   first_bits(mask, n)    the first n bits of a mask, or all
 *   word_keys(...)         the keys of 64 elements. Optional: compilers vectorise it well for most sets
 *   arcs_masks(...)        bit i: the point of element i is in an arc, for 64 elements and two arcs
 *   pack_word(...)         the elements of one mask word, moved together; may write anything to the rest
 *                          of the WORD slots from where it begins
 *   pack_positions32(...)  the same for base + i
 *   pack_hits(...)         the elements of one mask word, widened, and base + i; may write as pack_word().
 *                          `sparse`: at most half of each vector's elements are expected
 *   pack_beyond(...)       the same for the elements among a mask whose points are not in an arc. Optional
 *
 *   store_line(to, from)   moves an aligned cache line to memory that will not be read soon
 *   lines_stored()         other threads see these lines before what this thread stores next
 *
 *   lanes                  a vector of wide_kint; keys in it have the bits of wide_flip flipped
 *   lanes_load, lanes_of, add_lanes
 *                          the numbers at an address; one number in all lanes; a + b
 *   add_above(c, a, b)     c + 1 in the lanes where a > b
 *
 *   RANK_MAX               up to this many hits of a row are ranked by comparing all
 *   STUBS_MIN              from this many on they are sorted by stubs where order is asked for */
#ifndef TOPK_SRC_CPU_KERNELS_VECTOR_H
#define TOPK_SRC_CPU_KERNELS_VECTOR_H

#include "inline.h"

#if defined(__AVX512BW__)
#include "avx512.h"
#elif defined(__AVX2__)
#include "avx2.h"
#elif defined(TOPK_NEON)
#include "neon.h"
#else
#include "portable.h"
#endif

#endif
