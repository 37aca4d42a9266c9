# TOPK_SANITIZE builds everything with sanitizers: "address,undefined" or "thread". The first error ends
# a program, so that it fails its test.
set(TOPK_SANITIZE "" CACHE STRING "Sanitizers to build with: address,undefined or thread")

# For every target of the directories that are added after the call.
function(topk_sanitize)
  if(NOT TOPK_SANITIZE)
    return()
  endif()
  add_compile_options(-fsanitize=${TOPK_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${TOPK_SANITIZE})
endfunction()
