# Tests that are plain programs over the public interface.

# topk_add_unit_test(NAME PROGRAM ARGUMENT...)
function(topk_add_unit_test name program)
  add_dependencies(quick ${program})
  add_test(NAME ${name} COMMAND ${program} ${ARGN})
  set_tests_properties(${name} PROPERTIES LABELS "${unit_labels}")
endfunction()

function(topk_unit_test name source)
  add_executable(test_${name} ${source})
  target_link_libraries(test_${name} PRIVATE topk_test_support topk)
  topk_warnings(test_${name})
  topk_add_unit_test(${name} test_${name})
endfunction()

# Over the device of cases, with its rare paths and schedules.
function(topk_operation_program name cases schedules)
  target_sources(${name} PRIVATE runner/reached_paths.c runner/schedules_${schedules})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${name} PRIVATE ${cases})
endfunction()

topk_unit_test(oracle oracle/test_oracle.c)
topk_unit_test(oracle_rtopk oracle/test_rtopk.c)
topk_unit_test(oracle_route oracle/test_route.c)
topk_case_program(test_jobs test_jobs.c topk_test_cases none.c)
topk_add_unit_test(jobs test_jobs)
topk_unit_test(covering cases/test_covering.c)
target_link_libraries(test_covering PRIVATE topk_test_cases)

foreach(name status context backends problem structs buffers methods approximation
    accumulator_misuse routing simple)
  topk_unit_test(api_${name} api/${name}.c)
endforeach()

topk_add_unit_test(api_backends_no_gpu test_api_backends none)
set_tests_properties(api_backends_no_gpu PROPERTIES ENVIRONMENT "CUDA_VISIBLE_DEVICES=")

topk_unit_test(keys internals/keys.c)
target_sources(test_keys PRIVATE ${PROJECT_SOURCE_DIR}/src/keys.c)
target_include_directories(test_keys PRIVATE ${PROJECT_SOURCE_DIR}/src)

add_executable(test_aimed internals/aimed.c)
target_compile_definitions(test_aimed PRIVATE TOPK_SHRINK)
target_include_directories(test_aimed PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(test_aimed PRIVATE topk_test_support topk_shrunk)
topk_warnings(test_aimed)
topk_add_unit_test(aimed test_aimed)

add_executable(test_team internals/team.c)
target_compile_definitions(test_team PRIVATE TOPK_SHRINK)
target_include_directories(test_team PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(test_team PRIVATE topk_test_support topk_shrunk)
target_link_options(test_team PRIVATE -Wl,--wrap=pthread_create)
topk_warnings(test_team)
topk_add_unit_test(team test_team)
set_tests_properties(team PROPERTIES TIMEOUT 120) # a moment's work, and what is wrong in it mostly waits for ever

add_executable(test_errno environment/errno.c)
target_include_directories(test_errno PRIVATE api)
target_link_libraries(test_errno PRIVATE topk_test_support topk_shrunk)
target_link_options(test_errno PRIVATE -Wl,--wrap=syscall,--wrap=vsnprintf,--wrap=calloc,--wrap=malloc,--wrap=free)
topk_warnings(test_errno)
topk_add_unit_test(errno test_errno)

topk_unit_test(encode data/test_encode.c)
topk_unit_test(laws data/test_laws.c)
topk_unit_test(gaps internals/gaps.c)
target_sources(test_gaps PRIVATE ${PROJECT_SOURCE_DIR}/src/gaps.c)
target_include_directories(test_gaps PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_compile_definitions(test_gaps PRIVATE TOPK_SHRINK)

topk_unit_test(predicates operations/predicates.c)
target_link_libraries(test_predicates PRIVATE topk_test_cases)
topk_unit_test(accumulator operations/accumulator.c)
topk_operation_program(test_accumulator topk_test_cases none.c)
topk_unit_test(loose_lengths operations/loose_lengths.c)
topk_unit_test(wide_rows operations/wide_rows.c)
target_link_libraries(test_loose_lengths PRIVATE topk_test_cases)
topk_add_unit_test(loose_lengths_8_threads test_loose_lengths cpu 8)

if(NOT TOPK_SANITIZE MATCHES "thread") # which cannot follow a child that starts threads
  topk_unit_test(fork environment/fork.c)
endif()
topk_add_unit_test(accumulator_3_threads test_accumulator cpu 3)
topk_unit_test(threads environment/threads.c)
topk_unit_test(floating_point environment/floating_point.c)
target_link_libraries(test_floating_point PRIVATE topk_test_cases)
if(NOT TOPK_SANITIZE)
  topk_unit_test(allocations environment/allocations.c)
  target_sources(test_allocations PRIVATE support/allocation.c)
  topk_unit_test(busy environment/busy.c)
endif()
