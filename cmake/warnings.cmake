# The warnings that every target of this project compiles without.
function(topk_warnings target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:C,CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wpointer-arith;-Wwrite-strings;-Wcast-qual>
    $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes;-Wmissing-prototypes>
    $<$<AND:$<COMPILE_LANGUAGE:C,CXX>,$<BOOL:${TOPK_WERROR}>>:-Werror>
    "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-Xcompiler -Wall,-Wextra,-Wshadow>"
    "$<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${TOPK_WERROR}>>:SHELL:-Werror all-warnings>")
endfunction()
