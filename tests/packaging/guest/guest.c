/* SPDX-License-Identifier: Apache-2.0
 * A program of a project that adds libtopk: compiled as the project says, with its asserts. */
#include <assert.h>

#include <topk.h>

#if __STDC_VERSION__ != 201710L || !defined __CHAR_UNSIGNED__ || defined __OPTIMIZE__
#error "the project's own settings have changed"
#endif

int main(void) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_context *context;
    int asserted = 0;
    assert(++asserted);
    options.backend = TOPK_BACKEND_CPU;
    if (topk_context_create(&options, &context) != TOPK_OK) {
        return 1;
    }
    topk_context_destroy(context);
    return asserted != 1;
}
