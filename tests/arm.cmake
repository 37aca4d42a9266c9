# What the stage `arm` of scripts/test builds, as the target of that name, and runs under qemu-user, with the label of that
# name: the kernels for NEON and what depends on the processor or the compiler. What is the same on all machines is tested on
# one.
add_custom_target(arm)

# topk_arm_test(TEST PROGRAM...)
function(topk_arm_test test)
  set_property(TEST ${test} APPEND PROPERTY LABELS arm)
  add_dependencies(arm ${ARGN})
endfunction()

foreach(test keys processors team api_context errno floating_point steps aimed)
  topk_arm_test(${test} test_${test})
endforeach()
foreach(bits 8 32 64)
  foreach(set portable neon)
    topk_arm_test(stubs_${bits}_${set} test_stubs_${bits}_${set})
  endforeach()
endforeach()
add_test(NAME instructions COMMAND ${TOPK_SYSTEM_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/instructions/count.py
  neon=$<TARGET_FILE:test_loops> --check ${PROJECT_SOURCE_DIR}/docs/benchmarks/aarch64-qemu/instructions.csv)
set_tests_properties(instructions PROPERTIES SKIP_RETURN_CODE 77)
topk_arm_test(instructions test_loops)
topk_arm_test(cases_neon test_cases)
topk_arm_test(cases_neon_random test_cases)
topk_arm_test(cases_shrunk_neon test_cases_shrunk)
topk_arm_test(cases_shrunk_without_neon test_cases_shrunk)
