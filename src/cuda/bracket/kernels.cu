/* SPDX-License-Identifier: Apache-2.0
 * The kernels of bracket for elements of KEY_BITS bits. docs/methods/bracket.md tells the whole. */
#include "../instance.cuh"
#include "row.cuh"

namespace WIDTH {
typedef element_of_bits<KEY_BITS>::type element_t;

template <typename Shape>
static int launch_select(const struct launch_grid *grid, const struct bracket_args *args) {
    return launch("bracket_select", grid, shared_bytes_of(carve_bracket<element_t, Shape>),
                  bracket_select<element_t, Shape>, args);
}

template <typename Shape> struct kernel_of_shape { static const struct bracket_kernel KERNEL; };

template <typename Shape> const struct bracket_kernel kernel_of_shape<Shape>::KERNEL = {
    Shape::SIZE_OF_BLOCK, Shape::CHUNK, Shape::PAGE, Shape::SENT, Shape::STAGED, launch_select<Shape>
};

/* Loads the kernel of a shape if there is one, the device has room for it, and none has been found. */
template <typename Shape>
static int prepare_shape(uint32_t kib, uint32_t shared_bytes_max, const struct bracket_kernel **found) {
    if constexpr (is_in_build<Shape>()) {
        if (*found != NULL || shared_bytes_max < kib << 10)
            return 0;
#ifdef SIMT_ARCHITECTURE
        const uint32_t architecture = simt_architecture(bracket_select<element_t, Shape>);
        if (architecture != 0 && !is_compiled_for(Shape::SIZE_OF_BLOCK, architecture))
            return 0;
#endif
        *found = &kernel_of_shape<Shape>::KERNEL;
        return simt_prepare(bracket_select<element_t, Shape>, shared_bytes_max);
    }
    return 0;
}

static int prepare(uint32_t shared_bytes_max, const struct bracket_kernel **found) {
    *found = NULL;
    int error = prepare_shape<large_shape<element_t>>(BRACKET_LARGE_KIB, shared_bytes_max, found);
    error =
        error != 0 ? error : prepare_shape<half_shape<element_t>>(BRACKET_HALF_KIB, shared_bytes_max, found);
    return error != 0 ? error
                      : prepare_shape<quarter_shape<element_t>>(BRACKET_QUARTER_KIB, shared_bytes_max, found);
}

extern "C" const struct bracket_kernels INSTANCE = {prepare};
} // namespace WIDTH
