# Results are the same bits on every machine: each floating-point operation is rounded by itself. So floating-point
# options of the user or of a parent project (-ffast-math or -Ofast in CFLAGS, --use_fast_math) must not reach this
# project's targets. CMake puts a directory's options behind them, and of two that disagree compilers take the last.
function(topk_exact_numbers)
  # GCC keeps what -ffast-math stands for if the user has named it by itself.
  foreach(language C CXX)
    add_compile_options("$<$<COMPILE_LANG_AND_ID:${language},GNU>:-fno-unsafe-math-optimizations;-fno-associative-math;\
-fno-reciprocal-math;-fno-finite-math-only;-fsigned-zeros>")
  endforeach()
  add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:-fno-fast-math;-ffp-contract=off>"
    "$<$<COMPILE_LANGUAGE:CUDA>:--ftz=false;--prec-div=true;--prec-sqrt=true>")
  # Linking with -ffast-math or -Ofast adds a constructor that has denormals flushed to zero in the whole process.
  add_link_options(-fno-fast-math -fno-unsafe-math-optimizations -O2)
endfunction()
