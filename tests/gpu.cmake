# The CUDA backend on a GPU. All of it compiles without one, and is skipped there.
if(NOT TOPK_HAS_CUDA OR TOPK_SANITIZE)
  return()
endif()
function(topk_gpu_test name)
  add_test(NAME gpu.${name} COMMAND ${ARGN})
  set_tests_properties(gpu.${name} PROPERTIES LABELS gpu SKIP_RETURN_CODE 77 RUN_SERIAL ON)
endfunction()

# The shared list of cases.
topk_case_library(topk_test_cases_cuda topk cuda cuda)
target_link_libraries(topk_test_cases_cuda PUBLIC CUDA::cudart_static)
topk_case_runner(test_cases_cuda topk_test_cases_cuda none.c)
topk_gpu_test(cases test_cases_cuda --backend cuda --jobs 4 --seed 31)
topk_gpu_test(cases_graphs test_cases_cuda --backend cuda --jobs 4 --seed 32 --graphs --largest 40000)
topk_gpu_test(cases_long_rows test_cases_cuda --backend cuda --jobs 4 --seed 33 --largest 1000000 --filter size=1000000)
topk_gpu_test(cases_random test_cases_cuda --backend cuda --jobs 4 --seed 34 --random 20000)

# So many rows that few lanes hold each.
set(types f32 bf16 f16 f8_e4m3)
foreach(seed RANGE 1 8)
  math(EXPR type "${seed} % 4")
  list(GET types ${type} type)
  topk_gpu_test(cases_many_routes_${seed} test_cases_cuda --backend cuda --operation route --elements 6000000
    --seed ${seed} --case type=${type},data=normal,size=256,k=10,rows=20000)
endforeach()

# A k-th element between a pair of thresholds: from one sample, and from a larger one besides.
foreach(type u8 f16 f32 f64)
  foreach(size 3000000 13000000)
    topk_gpu_test(cases_pairs_${type}_${size} test_cases_cuda --backend cuda --operation kth --method bracket
      --largest ${size} --elements ${size} --case type=${type},data=normal,size=${size},k=n/2,rows=1)
  endforeach()
endforeach()

foreach(name predicates loose_lengths)
  add_executable(test_${name}_cuda operations/${name}.c)
  target_link_libraries(test_${name}_cuda PRIVATE topk_test_cases_cuda)
  topk_warnings(test_${name}_cuda)
  topk_gpu_test(${name} test_${name}_cuda cuda)
endforeach()

add_executable(test_accumulator_cuda operations/accumulator.c)
topk_operation_program(test_accumulator_cuda topk_test_cases_cuda none.c)
add_executable(test_bad_states_cuda cuda/bad_states.c)
topk_operation_program(test_bad_states_cuda topk_test_cases_cuda none.c)
topk_warnings(test_accumulator_cuda)
topk_warnings(test_bad_states_cuda)
add_executable(test_transfers_cuda operations/transfers.c)
target_link_libraries(test_transfers_cuda PRIVATE topk_test_support topk)
topk_warnings(test_transfers_cuda)
topk_gpu_test(transfers test_transfers_cuda cuda)
topk_gpu_test(accumulator test_accumulator_cuda cuda 1)
topk_gpu_test(accumulator_edges test_accumulator_cuda cuda 1 edges)
topk_gpu_test(accumulator_graphs test_accumulator_cuda cuda 1 graphs)
topk_gpu_test(bad_states test_bad_states_cuda)

# Ranks that share a GPU, and ranks with a GPU each.
add_executable(test_peer_cuda operations/peer.c support/ranks_cuda.c)
target_link_libraries(test_peer_cuda PRIVATE topk_test_support topk CUDA::cudart_static)
topk_warnings(test_peer_cuda)
topk_gpu_test(peer_shared test_peer_cuda 1000 1 2 4)
topk_gpu_test(peer_each test_peer_cuda 1000 each 2 3 4 8)
add_executable(test_peer_merge_cuda operations/peer_merge.c support/ranks_cuda.c)
target_link_libraries(test_peer_merge_cuda PRIVATE topk_test_support topk CUDA::cudart_static)
topk_warnings(test_peer_merge_cuda)
topk_gpu_test(peer_merge_shared test_peer_merge_cuda 400 1 2 4)
topk_gpu_test(peer_merge_each test_peer_merge_cuda 400 each 2 3 4 8)

# Streams, graphs, devices.
add_library(topk_test_cuda STATIC cuda/trial_cuda.c cuda/spin_cuda.c cuda/spin.cu cuda/follow.cu cuda/expected.c
  support/device_cuda.c)
target_include_directories(topk_test_cuda PUBLIC cuda)
target_link_libraries(topk_test_cuda PUBLIC topk_test_support topk CUDA::cudart_static)
topk_warnings(topk_test_cuda)

function(topk_cuda_program name source)
  add_executable(test_cuda_${name} ${source})
  target_link_libraries(test_cuda_${name} PRIVATE topk_test_cuda)
  topk_warnings(test_cuda_${name})
endfunction()

topk_cuda_program(statuses cuda/statuses.c)
topk_gpu_test(statuses test_cuda_statuses)
topk_cuda_program(limits cuda/limits.c)
topk_gpu_test(limits test_cuda_limits)
foreach(name accumulators concurrency devices errors followers pointers simple)
  topk_cuda_program(${name} cuda/${name}_cuda.c)
  topk_gpu_test(${name} test_cuda_${name})
endforeach()
# Tens of gigabytes: scripts/gpu-check runs it.
topk_cuda_program(long_rows cuda/long_rows_cuda.c)
# Each process has one first call: of a kind of problem that is its argument.
foreach(name graphs asynchrony)
  topk_cuda_program(${name} cuda/${name}_cuda.c)
  foreach(first 0 1 6 7)
    topk_gpu_test(${name}_${first} test_cuda_${name} ${first})
  endforeach()
endforeach()

# What kernels are made of, on three paths: that of this GPU, that of sm_80, and that of the oldest.
foreach(path hopper ampere portable)
  set(program simt_kernels_${path}_cuda)
  add_executable(${program} simt/test_kernels.cu)
  target_include_directories(${program} PRIVATE ${PROJECT_SOURCE_DIR}/src/cuda ${PROJECT_SOURCE_DIR}/include)
  target_compile_definitions(${program} PRIVATE $<$<STREQUAL:${path},portable>:TOPK_PORTABLE>
    $<$<STREQUAL:${path},ampere>:TOPK_PORTABLE=80>)
  set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/simt)
endforeach()

# The queues of topk_device.cuh.
add_executable(simt_queues_cuda simt/test_queues.cu)
target_include_directories(simt_queues_cuda PRIVATE ${PROJECT_SOURCE_DIR}/src/cuda ${PROJECT_SOURCE_DIR}/include)
set_target_properties(simt_queues_cuda PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/simt)
