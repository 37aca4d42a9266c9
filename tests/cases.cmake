# The shared list of cases, over both builds of the library.

# What reads the internal sizes is compiled for each build of the library. `backend`: cpu or cuda; `device`, where
# its memory is: host or cuda.
function(topk_case_library name library backend device)
  add_library(${name} STATIC support/device_${device}.c cases/row_boundaries_${backend}.c
    cases/dimensions.c cases/row_sizes.c cases/covering.c
    cases/instance.c cases/build.c cases/extents.c cases/predicate.c cases/routing.c cases/merging.c cases/grouping.c
    runner/backends.c runner/run.c runner/select.c runner/kth.c runner/where.c runner/count.c runner/mask.c
    runner/route.c runner/merge.c runner/select_by.c runner/sharded.c)
  target_include_directories(${name} PUBLIC cases runner PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${name} PUBLIC topk_test_support ${library})
  topk_warnings(${name})
endfunction()

# A program over cases. `schedules`: none.c, or simt.cpp where there is an emulated GPU.
function(topk_case_program name main cases schedules)
  add_executable(${name} runner/${main} runner/options.c runner/list.c runner/session.c runner/jobs.c
    runner/watch.c runner/reached_paths.c runner/schedules_${schedules})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${name} PRIVATE ${cases})
  topk_warnings(${name})
endfunction()

function(topk_case_runner name cases schedules)
  topk_case_program(${name} main.c ${cases} ${schedules})
endfunction()

topk_case_library(topk_test_cases topk cpu host)
topk_case_runner(test_cases topk_test_cases none.c)

topk_case_library(topk_test_cases_shrunk topk_shrunk cpu host)
topk_case_runner(test_cases_shrunk topk_test_cases_shrunk none.c)
target_link_libraries(topk_test_cases_shrunk PUBLIC topk_shrink)

# Without AVX-512 its lists would run AVX2's code once more.
set(has_avx512 ON)
if(EXISTS /proc/cpuinfo)
  file(STRINGS /proc/cpuinfo has_avx512 REGEX "avx512bw" LIMIT_COUNT 1)
endif()

# One run of the list, in a process that is replaced when a case ends it.
function(topk_case_test name runner disable threads)
  set(part "")
  if(NOT has_avx512 AND name MATCHES "avx512")
    return()
  endif()
  if(TOPK_SANITIZE MATCHES "thread")
    if(NOT runner STREQUAL test_cases_shrunk)
      return() # what the shrunk list finds, at far more cost
    endif()
    if(disable STREQUAL avx2)
      return() # scalar code writes no element but its own; vectors may reach into another thread's part
    endif()
    set(part --cases 90) # it is slow
  elseif(TOPK_SANITIZE AND runner STREQUAL test_cases AND NOT "--seconds" IN_LIST ARGN)
    set(part --cases 400) # the shrunk list, which reaches every path, is whole
  elseif(TOPK_SANITIZE AND has_avx512 AND disable STREQUAL avx512)
    set(part --cases 500) # whole with the widest vectors that the machine has
  endif()
  add_test(NAME ${name} COMMAND ${runner} --jobs 1 --threads ${threads} ${ARGN} ${part})
  set_tests_properties(${name} PROPERTIES LABELS "${case_labels}" COST 10
    ENVIRONMENT "TOPK_CPU_DISABLE=${disable};TSAN_OPTIONS=halt_on_error=1")
endfunction()

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  topk_case_test(cases_neon test_cases "" 2 --seed 1 --largest 5000 --cases 40)
  topk_case_test(cases_neon_random test_cases "" 1 --seed 8 --random 600)
  topk_case_test(cases_shrunk_neon test_cases_shrunk "" 3 --seed 11 --cases 200)
  topk_case_test(cases_shrunk_without_neon test_cases_shrunk neon 2 --seed 13 --cases 40)
  return()
endif()
topk_case_test(cases_avx512_1 test_cases "" 1 --seed 1)
topk_case_test(cases_avx512_3 test_cases "" 3 --seed 2)
topk_case_test(cases_avx2_1 test_cases avx512 1 --seed 3)
topk_case_test(cases_avx2_2 test_cases avx512 2 --seed 4 --largest 20000)
topk_case_test(cases_scalar_1 test_cases avx2 1 --seed 5)
topk_case_test(cases_scalar_5 test_cases avx2 5 --seed 6 --largest 20000)
topk_case_test(cases_long_rows test_cases "" 2 --seed 7 --largest 1000000 --filter size=1000000)
topk_case_test(cases_random test_cases "" 2 --seed 8 --random 5000)

# No longer than it may take.
topk_case_test(cases_in_time test_cases "" 1 --random 1000000000 --seconds 1)
if(TEST cases_in_time)
  set_tests_properties(cases_in_time PROPERTIES
    PASS_REGULAR_EXPRESSION "then the time was over\n.*\n0 failures in [1-9][0-9]* cases\n$")
endif()

# No row of the list has such a length.
topk_case_test(cases_of_no_length test_cases "" 1 --smallest 10000000 --largest 20000000)
if(TEST cases_of_no_length)
  set_tests_properties(cases_of_no_length PROPERTIES
    PASS_REGULAR_EXPRESSION "^no length of the list is from 10000000 to 20000000\n$")
endif()

topk_case_test(cases_shrunk_avx512 test_cases_shrunk "" 2 --seed 11)
topk_case_test(cases_shrunk_avx2 test_cases_shrunk avx512 3 --seed 12)
topk_case_test(cases_shrunk_scalar test_cases_shrunk avx2 2 --seed 13)
topk_case_test(cases_shrunk_random test_cases_shrunk "" 2 --seed 14 --random 5000)

if(NOT TOPK_SANITIZE)
  topk_case_test(cases_quick test_cases "" 2 --seed 15 --largest 20000 --cases 150)
  topk_case_test(cases_shrunk_quick test_cases_shrunk "" 3 --seed 16 --cases 150)
  topk_quick(cases_quick test_cases)
  topk_quick(cases_shrunk_quick test_cases_shrunk)
endif()
