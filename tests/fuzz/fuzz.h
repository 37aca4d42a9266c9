/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOPK_FUZZ_H
#define TOPK_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* The entry point of libFuzzer. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the run, so that the fuzzer keeps the input, when what must hold does not. */
#define demand(condition) ((condition) ? (void)0 : abort())

#endif /* TOPK_FUZZ_H */
