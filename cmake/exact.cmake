# Results are the same bits on every machine: each floating-point operation is rounded by itself, and floating-point options of the user or of a parent project
# (-ffast-math, -Ofast, --use_fast_math in CFLAGS, say) must not reach this project's targets. CMake puts the options of a
# directory behind these, and of two options that disagree the compiler takes the last.
function(topk_exact_numbers)
  add_compile_options(
    "$<$<COMPILE_LANGUAGE:C,CXX>:-fno-fast-math;-fno-unsafe-math-optimizations;-fno-associative-math;\
-fno-reciprocal-math;-fno-finite-math-only;-fsigned-zeros;-ffp-contract=off>"
    "$<$<COMPILE_LANGUAGE:CUDA>:--ftz=false;--prec-div=true;--prec-sqrt=true>")
  # Linking with -ffast-math or -Ofast adds a constructor that has denormals flushed to zero in the whole process.
  add_link_options(-fno-fast-math -fno-unsafe-math-optimizations -O2)
endfunction()
