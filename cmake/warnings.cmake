# The warnings that every target of this project compiles without.
function(topk_warnings target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wpointer-arith -Wwrite-strings -Wcast-qual
    $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes;-Wmissing-prototypes>
    $<$<BOOL:${TOPK_WERROR}>:-Werror>)
endfunction()
