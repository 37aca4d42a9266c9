# The benchmark: its checks, its suites, and its scripts, which load the library.
if(NOT TARGET topk-bench OR NOT BUILD_SHARED_LIBS)
  return()
endif()
function(topk_bench_test name)
  add_test(NAME bench-${name} COMMAND ${ARGN})
  set_tests_properties(bench-${name} PROPERTIES LABELS bench
    ENVIRONMENT "OMP_WAIT_POLICY=passive;PYTHONPATH=${PROJECT_BINARY_DIR}/python")
endfunction()

set(bench ${PROJECT_SOURCE_DIR}/bench)
set(results ${CMAKE_CURRENT_BINARY_DIR}/bench-results)
file(MAKE_DIRECTORY ${results})

topk_bench_test(quick topk-bench quick --pairs 3)
topk_bench_test(cold topk-bench sizes --n 1000,2^12 --pairs 3 --cold)
topk_bench_test(rivals topk-bench quick --type f32,i64 --dist tie-heavy --pairs 3 --rivals --csv ${results}/quick.csv)
topk_bench_test(self-test topk-bench --self-test)
topk_bench_test(sharded topk-bench-sharded cpu 2 20)
# Points of files: of one group, from the file's usual place; and from a file that is named.
topk_bench_test(points topk-bench peers-routing --device cuda --order best --list)
set_tests_properties(bench-points PROPERTIES PASS_REGULAR_EXPRESSION
  "block\nselect,f32,normal,4096,256,8,0,largest,best,any,i32,auto,none,,,,0,0,0,0,even,128\nselect,f32,normal,65536,256,8,[^\n]*\n$")
topk_bench_test(points-named topk-bench where --device cuda --keep 50 --n 1000 --list
  --points ${PROJECT_SOURCE_DIR}/docs/benchmarks/published/peers_where_h200.csv)
set_tests_properties(bench-points-named PROPERTIES PASS_REGULAR_EXPRESSION
  "block\nwhere,f32,uniform,1,1000,0,50,largest,best,lowest,i32,auto,none,greater,indices,,0,0,0,0,even,128\n$")

# Distances between vectors of files.
add_executable(test_bench_vectors bench/vectors.c ${bench}/data/vectors.c)
target_include_directories(test_bench_vectors PRIVATE ${bench} support ${PROJECT_SOURCE_DIR}/include data)
target_link_libraries(test_bench_vectors PRIVATE topk m)
topk_warnings(test_bench_vectors)
topk_bench_test(vectors test_bench_vectors ${results})
topk_bench_test(distances topk-bench air-fig13 --vectors ${results}/base.fvecs --queries ${results}/queries.npy
  --rows 20 --n 2^11,3000 --pairs 3)
# A file of elements, which a longer row begins again.
topk_bench_test(file topk-bench select --dist file --data ${results}/elements.npy --type u32,f32 --n 900,2500 --k 10,999
  --pairs 3)
set_tests_properties(bench-file PROPERTIES FIXTURES_REQUIRED bench-vectors
  PASS_REGULAR_EXPRESSION "file +1 .*8 lines: 8 right, 0 wrong")
set_tests_properties(bench-vectors PROPERTIES FIXTURES_SETUP bench-vectors)
set_tests_properties(bench-distances PROPERTIES FIXTURES_REQUIRED bench-vectors
  PASS_REGULAR_EXPRESSION "distances +20 .*4 lines: 4 right, 0 wrong")

find_package(OpenMP REQUIRED COMPONENTS CXX)
add_executable(test_bench_check bench/check_against_oracle.c ${bench}/check/check.cpp ${bench}/points/memory.c)
target_include_directories(test_bench_check PRIVATE ${bench})
target_link_libraries(test_bench_check PRIVATE topk_test_support topk OpenMP::OpenMP_CXX)
target_compile_features(test_bench_check PRIVATE cxx_std_17)
topk_warnings(test_bench_check)
topk_bench_test(check test_bench_check)

set(python ${TOPK_SYSTEM_PYTHON} -B)
if(TARGET topk_cli)
  topk_bench_test(passes ${python} ${bench}/passes.py $<TARGET_FILE:topk_cli> --log2 20 --runs 2)
  set_tests_properties(bench-passes PROPERTIES PASS_REGULAR_EXPRESSION "cpu,sort,20,2,[^\n]*\n")
endif()
topk_bench_test(record ${python} ${bench}/record.py ${results}/quick.csv --out ${results}/records
  date=2026-11-22 commit=none)
topk_bench_test(plot ${python} ${bench}/plot.py ${results}/records/quick.csv --out ${results}/plots)
set_tests_properties(bench-rivals PROPERTIES FIXTURES_SETUP bench-results)
set_tests_properties(bench-record PROPERTIES FIXTURES_REQUIRED bench-results FIXTURES_SETUP bench-records)
set_tests_properties(bench-plot PROPERTIES FIXTURES_REQUIRED bench-records
  PASS_REGULAR_EXPRESSION "to_limit-over-k.svg")
# The tool beside the transfer of its input, on a device that is made up.
if(TARGET topk_cli)
  topk_bench_test(tool ${python} ${CMAKE_CURRENT_SOURCE_DIR}/bench/tool.py ${PROJECT_SOURCE_DIR}
    $<TARGET_FILE:topk_cli_fake>)
endif()
execute_process(COMMAND ${TOPK_SYSTEM_PYTHON} -c "import numpy" RESULT_VARIABLE no_numpy ERROR_QUIET)
if(no_numpy EQUAL 0)
  topk_bench_test(rtopk-tables ${python} ${bench}/rtopk.py $<TARGET_FILE:topk-bench-models> --rows 1000 --tables 1,2
    --tolerance 6)
  topk_bench_test(workload ${python} ${CMAKE_CURRENT_SOURCE_DIR}/bench/workload.py ${PROJECT_SOURCE_DIR}
    $<TARGET_FILE:topk-bench-workload>)
  topk_bench_test(inputs ${python} ${CMAKE_CURRENT_SOURCE_DIR}/bench/inputs.py ${PROJECT_SOURCE_DIR})
endif()

# What goes through the Python package: more threads, the library's choice beside each method, numpy, and the package's
# own cost.
if(TARGET topk_python)
  topk_bench_test(busy ${python} ${bench}/busy.py $<TARGET_FILE:topk> --threads 1,2 --busy 1 --rounds 2
    --points short,where,rows --csv ${results}/busy.csv)
  set_tests_properties(bench-busy PROPERTIES PASS_REGULAR_EXPRESSION "rows select 65536 256 32 1 [^\n]*libtopk.so[^\n]* 2 2 ")
  topk_bench_test(choice ${python} ${bench}/choice.py run $<TARGET_FILE:topk-bench> --library $<TARGET_FILE:topk>
    --csv ${results}/choice.csv --part beside --n 3001 --pairs 3)
  set_tests_properties(bench-choice PROPERTIES FIXTURES_SETUP bench-choices)
  topk_bench_test(choice-report ${python} ${bench}/choice.py report ${results}/choice.csv)
  set_tests_properties(bench-choice-report PROPERTIES FIXTURES_REQUIRED bench-choices
    PASS_REGULAR_EXPRESSION "[a-z]+: chosen at [0-9]+ points.*bracket: takes [0-9.]+ times.*points, at [0-9]+ the choice is well, 0 wrong")
  topk_bench_test(rivals-python ${python} ${bench}/rivals.py quick --library $<TARGET_FILE:topk> --threads 2 --pairs 2)
  topk_bench_test(rivals-batches ${python} ${CMAKE_CURRENT_SOURCE_DIR}/bench/rivals.py ${PROJECT_SOURCE_DIR}
    ${PROJECT_BINARY_DIR})
  topk_bench_test(python-overhead ${python} ${bench}/python_overhead.py ${PROJECT_BINARY_DIR} --quick --rounds 2
    --csv ${results}/python-overhead.csv)
endif()

if(COMMAND topk_gpu_test)
  topk_gpu_test(bench_self_test topk-bench --device cuda --self-test)
  topk_gpu_test(bench_quick topk-bench --device cuda quick --graph --rivals)
endif()
