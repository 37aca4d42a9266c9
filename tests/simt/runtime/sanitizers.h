/* SPDX-License-Identifier: Apache-2.0
 * What the sanitizers must be told, each function empty in a build without them. SIMT_ASAN and SIMT_TSAN say
 * which runtime is linked: this code itself is compiled without either. */
#ifndef TOPK_TESTS_SIMT_SANITIZERS_H
#define TOPK_TESTS_SIMT_SANITIZERS_H

#include <memory>

#ifdef SIMT_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef SIMT_TSAN
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/tsan_interface.h>
extern "C" void __tsan_func_entry(void *caller);
extern "C" void __tsan_func_exit();
extern "C" void __tsan_read_range(void *address, unsigned long bytes);
extern "C" void __tsan_write_range(void *address, unsigned long bytes);
extern "C" void AnnotateIgnoreReadsBegin(const char *file, int line);
extern "C" void AnnotateIgnoreReadsEnd(const char *file, int line);
#endif

namespace simt_runtime {

#ifdef SIMT_TSAN

constexpr bool races_are_watched = true;

/* While one lives, what the runtime allocates and frees is no access of the running fiber: despite its name
 * the annotation covers writes too, and one of both costs half of two. */
struct quiet {
    quiet() {
        AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    }
    ~quiet() {
        AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    }
    quiet(const quiet &) = delete;
};

/* As a thread that is neither quiet nor ordered with anyone. */
template <typename Action> void as_another(void *race_state, Action action) {
    void *self = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(race_state, 1); // 1: the switch orders nothing
    action();
    __tsan_switch_to_fiber(self, 1);
}

/* Something that threads release and acquire. Its address is its identity; freeing it forgets its clock. */
typedef std::shared_ptr<char> token;

inline token new_token() {
    return token(new char[8], std::default_delete<char[]>());
}

inline void release_token(const token &which) {
    __tsan_release(which.get());
}

inline void acquire_token(const token &which) {
    __tsan_acquire(which.get());
}

/* Of a word that is shared beyond a launch its own address is the token. */
inline void release_address(const void *address) {
    __tsan_release((void *)(uintptr_t)address);
}

inline void acquire_address(const void *address) {
    __tsan_acquire((void *)(uintptr_t)address);
}

#else

constexpr bool races_are_watched = false;

struct quiet {
    quiet() {
    }
};

struct token {};

inline token new_token() {
    return token();
}

inline void release_token(const token &) {
}

inline void acquire_token(const token &) {
}

inline void release_address(const void *) {
}

inline void acquire_address(const void *) {
}

#endif

} // namespace simt_runtime

#endif
