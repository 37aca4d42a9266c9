# The CUDA backend over the emulated GPU: the shared list of cases and the tests that need no CUDA runtime.
if(NOT topk_emulated_builds)
  return()
endif()

foreach(build IN LISTS topk_emulated_builds)
  set(library topk_emulated_${build})
  set(cases topk_test_cases_emulated_${build})
  topk_case_library(${cases} ${library} cuda host)
  target_link_libraries(${cases} PUBLIC topk_shrink)
  topk_case_runner(test_cases_emulated_${build} ${cases} simt.cpp)

  # Each call inside another one, on a condition.
  topk_case_runner(test_conditional_${build} ${cases} simt.cpp)
  target_sources(test_conditional_${build} PRIVATE cuda/conditional.c)
  target_link_options(test_conditional_${build} PRIVATE -Wl,--wrap=topk_cuda_run)

  add_executable(test_cuda_statuses_${build} cuda/statuses.c cuda/expected.c support/device_host.c)
  target_link_libraries(test_cuda_statuses_${build} PRIVATE topk_test_support ${library})
  topk_warnings(test_cuda_statuses_${build})

  add_executable(test_predicates_${build} operations/predicates.c)
  target_link_libraries(test_predicates_${build} PRIVATE ${cases})
  topk_warnings(test_predicates_${build})

  add_executable(test_accumulator_${build} operations/accumulator.c)
  topk_operation_program(test_accumulator_${build} ${cases} simt.cpp)
  topk_warnings(test_accumulator_${build})

  add_executable(test_sharded_${build} operations/sharded.c)
  target_link_libraries(test_sharded_${build} PRIVATE ${cases})
  topk_warnings(test_sharded_${build})

  foreach(name peer peer_merge)
    add_executable(test_${name}_${build} operations/${name}.c support/ranks_host.c)
    target_link_libraries(test_${name}_${build} PRIVATE topk_test_support ${library})
    topk_warnings(test_${name}_${build})
  endforeach()

  add_executable(test_bad_states_${build} cuda/bad_states.c)
  topk_operation_program(test_bad_states_${build} ${cases} simt.cpp)
  topk_warnings(test_bad_states_${build})

  add_executable(test_transfers_${build} operations/transfers.c)
  target_link_libraries(test_transfers_${build} PRIVATE topk_test_support ${library})
  topk_warnings(test_transfers_${build})

  add_executable(test_accumulator_misuse_${build} api/accumulator_misuse.c)
  target_link_libraries(test_accumulator_misuse_${build} PRIVATE topk_test_support ${library})
  topk_warnings(test_accumulator_misuse_${build})

  add_executable(test_simple_${build} api/simple.c)
  target_link_libraries(test_simple_${build} PRIVATE topk_test_support ${library})
  topk_warnings(test_simple_${build})

  add_executable(test_loose_lengths_${build} operations/loose_lengths.c)
  target_link_libraries(test_loose_lengths_${build} PRIVATE ${cases})
  topk_warnings(test_loose_lengths_${build})
endforeach()

if(TARGET topk_emulated_plain)
  foreach(name sharded_ties sharded_refused)
    add_executable(test_${name}_plain operations/${name}.c)
    target_link_libraries(test_${name}_plain PRIVATE topk_test_cases_emulated_plain)
    topk_warnings(test_${name}_plain)
  endforeach()
endif()

# With the sizes of production.
if(TARGET topk_emulated_full)
  topk_case_library(topk_test_cases_emulated_full topk_emulated_full cuda host)
  topk_case_runner(test_cases_emulated_full topk_test_cases_emulated_full simt.cpp)
  add_executable(test_accumulator_full operations/accumulator.c)
  topk_operation_program(test_accumulator_full topk_test_cases_emulated_full simt.cpp)
  topk_warnings(test_accumulator_full)
endif()

# Of a program that is left out (TOPK_EMULATED), no test either.
function(topk_emulated_test name program)
  if(program MATCHES "^test_" AND NOT TARGET ${program})
    return()
  endif()
  add_test(NAME simt.${name} COMMAND ${program} ${ARGN})
  set_tests_properties(simt.${name} PROPERTIES LABELS simt)
endfunction()

# What a case costs grows with its threads, of which each row has at least a block. The longest tests start first, so
# that all processors are busy to the end.
# Results by position take ten times as long as others, for they are sorted in one way, whatever the method is. The
# list of the library's choice has all of them, the others one in four.
function(topk_emulated_cases name build)
  set(by_position --by-position 4)
  if("${ARGN}" MATCHES "--method;default")
    set(by_position "")
  endif()
  topk_emulated_test(cases_${name} test_cases_emulated_${build} --backend cuda --jobs 1 ${by_position} --no-ranks
    ${ARGN})
  if(TEST simt.cases_${name})
    set_tests_properties(simt.cases_${name} PROPERTIES COST 100)
  endif()
endfunction()

# Under ThreadSanitizer, with so many rows that each warp or block of a kernel has several: 7 where two blocks have
# them, 33 where four warps do. `paths` are those to another row.
function(topk_emulated_next_rows name seed method cases paths)
  topk_emulated_cases(${name} tsan --seed ${seed} --method ${method} --cases ${cases} --by-position 1
    --paths "${paths}" ${ARGN})
endfunction()

# A list that takes minutes runs in parts: one for each method of the table. The slowest methods have fewer cases, of
# another covering array.
set(table ${CMAKE_CURRENT_SOURCE_DIR}/runner/methods_cuda.def)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${table})
file(STRINGS ${table} methods REGEX "^(SLOW_)?METHOD")
function(topk_emulated_parts name build seed cases cases_of_slow)
  foreach(row IN LISTS methods)
    string(REGEX REPLACE "^[A-Z_]+\\(\"([^\"]+).*" "\\1" method "${row}")
    set(part --seed ${seed} --cases ${cases})
    if(row MATCHES "^SLOW")
      set(part --seed 1${seed} --cases ${cases_of_slow})
    endif()
    topk_emulated_cases(${name}.${method} ${build} ${part} ${ARGN} --method ${method})
  endforeach()
endfunction()

topk_emulated_parts(plain plain 21 450 225 --largest 1500 --elements 2000 --own-paths)
topk_emulated_parts(schedules plain 22 45 20 --smallest 500 --largest 4100 --elements 4200 --schedules 8)
# Rows that radik samples, with the sizes of production.
topk_emulated_cases(radik_full full --seed 71 --method radik-listed --smallest 16500 --largest 33000 --elements 70000
  --cases 60)
# Rows of every length that rtopk serves; and with the sizes of production.
topk_emulated_cases(short_rows plain --seed 35 --method rtopk --largest 1030 --elements 2600 --cases 400 --schedules 4)
topk_emulated_cases(short_rows_full full --seed 36 --method rtopk --largest 2050 --elements 4200 --cases 400)
topk_emulated_cases(short_rows_zeros plain --seed 3 --method rtopk-plain --smallest 100 --largest 530 --elements 2600
  --filter data=zeros)
# Approximate selections from rows that blocks hold.
topk_emulated_cases(approximate_full full --seed 55 --method rtopk --operation approximate --smallest 1000 --largest 8200
  --elements 20000 --cases 300)
# And from rows that share a warp.
set(parts --operation approximate --method rtopk --filter type=f32,shape=dense,lengths=full)
topk_emulated_cases(parts plain --seed 61 ${parts} --random 600000 --largest 520 --elements 2600 --paths parts)
topk_emulated_cases(parts_full full --seed 62 ${parts} --random 300000 --largest 2050 --elements 9000)
topk_emulated_cases(parts_tsan tsan --seed 63 ${parts} --random 100000 --largest 260 --elements 1100)
# Networks serve rows of one length.
set(networks --operation select --method rtopk-network --filter shape=dense,lengths=full)
topk_emulated_cases(networks plain --seed 50 ${networks} --random 200000 --largest 260 --elements 2600 --paths networks)
topk_emulated_cases(networks_full full --seed 51 ${networks} --random 100000 --largest 1030 --elements 9000)
topk_emulated_cases(networks_tsan tsan --seed 52 ${networks} --random 50000 --largest 260 --elements 1100)
set(counts --operation select --method rtopk-counts --filter shape=dense,lengths=full)
topk_emulated_cases(counts plain --seed 53 ${counts} --random 200000 --largest 260 --elements 2600)
topk_emulated_cases(counts_full full --seed 54 ${counts} --random 100000 --largest 1030 --elements 9000)
set(candidates --operation select --method rtopk-candidates --filter shape=dense,lengths=full)
topk_emulated_cases(candidates plain --seed 64 ${candidates} --random 300000 --largest 260 --elements 2600
  --paths candidates)
topk_emulated_cases(candidates_full full --seed 65 ${candidates} --random 100000 --largest 2050 --elements 9000)
topk_emulated_cases(candidates_tsan tsan --seed 66 ${candidates} --random 50000 --largest 260 --elements 1100)
# The same where they list results by position. Only with the sizes of production has a lane more than one word of bits.
set(in_order --operation select --filter shape=dense,lengths=full,order=position --by-position 1)
foreach(kind network counts candidates)
  topk_emulated_cases(${kind}_by_position plain --seed 150 --method rtopk-${kind} ${in_order} --random 60000 --largest 260
    --elements 2600)
  topk_emulated_cases(${kind}_by_position_full full --seed 152 --method rtopk-${kind} ${in_order} --random 100000
    --largest 2050 --elements 9000)
endforeach()
# Rows of a whole warp, which no other kernels of rtopk hold.
topk_emulated_cases(wide_rows plain --seed 57 ${networks} --random 40000 --smallest 510 --largest 770 --elements 2600)
topk_emulated_cases(wide_counts plain --seed 58 ${counts} --random 40000 --smallest 510 --largest 770 --elements 2600)
topk_emulated_cases(wide_rows_full full --seed 59 ${networks} --random 20000 --smallest 1023 --largest 2050
  --elements 9000)
topk_emulated_cases(wide_counts_full full --seed 60 ${counts} --random 20000 --smallest 1023 --largest 2050
  --elements 9000)
# Rows that resident serves, of all its shapes; and with the sizes of production.
topk_emulated_cases(resident_rows plain --seed 44 --method resident --smallest 100 --largest 800 --elements 2600
  --cases 400 --schedules 4)
topk_emulated_cases(resident_rows_full full --seed 45 --method resident --smallest 900 --largest 8200 --elements 20000
  --cases 100)
topk_emulated_cases(resident_long_rows_full full --seed 46 --method resident --smallest 16000 --largest 33000
  --elements 70000 --cases 20)
# Results and candidates that together may be too many to be ranked, though the least list has room for them.
set(entries --operation select --filter k=128 --random 30000 --smallest 200 --largest 2050 --elements 9000)
topk_emulated_cases(resident_entries_full full --seed 83 --method resident ${entries})
topk_emulated_cases(resident_cluster_entries_full full --seed 84 --method resident-cluster ${entries})
# Rows that clusters hold, in rows of all its lengths; and with the sizes of production.
topk_emulated_cases(resident_clusters plain --seed 55 --method resident-cluster --smallest 100 --largest 4200
  --elements 9000 --cases 150 --schedules 4)
topk_emulated_cases(resident_clusters_full full --seed 56 --method resident-cluster --smallest 900 --largest 33000
  --elements 70000 --cases 30)
topk_emulated_cases(resident_long_clusters_full full --seed 57 --method resident-cluster --smallest 100000
  --largest 131072 --elements 140000 --cases 10)
# Rows that go through shared memory; and with the sizes of production.
set(streams --operation select --filter order=any,ties=any)
topk_emulated_cases(resident_streams plain --seed 61 --method resident-stream ${streams} --smallest 100 --largest 4200
  --elements 9000 --cases 300 --schedules 2 --paths resident-stream)
topk_emulated_cases(resident_streams_full full --seed 62 --method resident-stream ${streams} --smallest 900
  --largest 66000 --elements 140000 --cases 40)
topk_emulated_cases(resident_stream_clusters_full full --seed 63 --method resident-stream-cluster ${streams} --smallest 16000
  --largest 131072 --elements 140000 --cases 20)
# Rows that bracket reads once: samples in finer bins; and with the sizes of production.
topk_emulated_cases(bracket_samples plain --seed 57 --method bracket --smallest 900 --largest 6000 --elements 9000
  --cases 600 --paths samples)
# Masks that are read with rows of many chunks.
topk_emulated_cases(bracket_masks plain --seed 21 --method bracket --operation select_where --smallest 900 --largest 9000
  --elements 20000 --cases 600)
# Thresholds where codes are of NaN.
topk_emulated_cases(bracket_kth plain --seed 77 --method bracket --operation kth --smallest 900 --largest 6000
  --elements 9000 --cases 600)
topk_emulated_cases(bracket_pairs plain --seed 73 --method bracket --operation kth --smallest 900 --largest 20000
  --elements 30000 --cases 600 --paths pairs)
topk_emulated_cases(bracket_random plain --seed 72 --method bracket --random 100000 --largest 6000 --elements 12000
  --filter type=f32,order=any)
topk_emulated_cases(bracket_full full --seed 58 --method bracket --smallest 9000 --largest 131072 --elements 140000
  --cases 12)
# The same on devices with less shared memory, which have smaller blocks; and races.
foreach(kib 163 99 64)
  topk_emulated_cases(bracket_full_${kib} full --seed 2${kib} --method bracket --smallest 3000 --largest 70000
    --elements 80000 --cases 40)
endforeach()
foreach(kib 99 64)
  topk_emulated_cases(bracket_${kib} plain --seed ${kib} --method bracket --cases 450 --largest 1500 --elements 2000)
  topk_emulated_cases(bracket_samples_${kib} plain --seed 1${kib} --method bracket --smallest 900 --largest 6000
    --elements 9000 --cases 300 --schedules 2)
  topk_emulated_cases(bracket_pairs_${kib} plain --seed 3${kib} --method bracket --operation kth --smallest 900
    --largest 20000 --elements 30000 --cases 300 --paths pairs)
  topk_emulated_cases(bracket_random_${kib} plain --seed 4${kib} --method bracket --random 8000 --largest 6000
    --elements 12000)
  topk_emulated_cases(bracket_tsan_${kib} tsan --seed 5${kib} --method bracket --smallest 900 --largest 6000
    --elements 7000 --cases 60)
endforeach()
# More sorted results than one block puts in order, by clusters; with the sizes of production; and races.
set(orderings --operation select --smallest 300 --largest 6000 --elements 14000)
topk_emulated_cases(ordering plain --seed 91 --method bracket ${orderings} --filter order=best --random 3000
  --schedules 2 --paths ordering)
topk_emulated_cases(ordering_positions plain --seed 93 --method bracket ${orderings} --filter order=position --random 2000)
topk_emulated_cases(ordering_where plain --seed 92 --method bracket --operation select_where --smallest 300
  --largest 4200 --elements 9000 --filter order=best --random 3000)
topk_emulated_cases(ordering_full full --seed 94 --method bracket --operation select --smallest 9000 --largest 40000
  --elements 60000 --filter order=best --random 60)
topk_emulated_cases(ordering_tsan tsan --seed 95 --method bracket ${orderings} --filter order=best --random 60
  --paths "ordering: another row")
# Selections on the fly: by blocks that share a row; with the sizes of production; and races.
topk_emulated_cases(gridselect_blocks plain --seed 22 --method gridselect-blocks --smallest 1500 --largest 4100
  --elements 9000)
topk_emulated_cases(gridselect_full full --seed 81 --method gridselect-blocks --smallest 9000 --largest 66000
  --elements 70000 --cases 8)
topk_emulated_cases(gridselect_tsan tsan --seed 82 --method gridselect-blocks --smallest 300 --largest 3000
  --elements 3500 --cases 40)
topk_emulated_cases(gridselect_lanes_tsan tsan --seed 83 --method gridselect-lanes --largest 800 --elements 1100
  --cases 40)
topk_emulated_next_rows(gridselect_next_tsan 83 gridselect-lanes 8 "gridselect: another row for a block"
  --filter rows=7 --largest 520 --elements 3700)
# Rows of several tiles that are launched for one by one, where the first of many ties are results.
topk_emulated_cases(radik_row_by_row plain --seed 99 --operation select --method radik-plain --smallest 1500
  --largest 8320 --elements 60000 --filter rows=7,ties=lowest --cases 30)
# More long rows, of spans that overlap, than their list has room for.
topk_emulated_cases(radik_loose plain --seed 3 --operation kth --method radik --smallest 1500 --largest 8200
  --elements 60000 --filter shape=spans,lengths=loose,rows=3 --cases 40 --paths radik-loose)
# Delegates of subranges of several chunks; with the sizes of production; and races.
topk_emulated_cases(drtopk_chunks plain --seed 85 --method drtopk-warps --smallest 900 --largest 9000 --elements 12000
  --cases 300)
topk_emulated_cases(drtopk_bounds plain --seed 85 --method drtopk --smallest 500 --largest 4100 --elements 5000 --cases 30
  --paths drtopk)
topk_emulated_cases(drtopk_full full --seed 86 --method drtopk --smallest 3000 --largest 66000 --elements 70000 --cases 20)
topk_emulated_cases(drtopk_tsan tsan --seed 87 --method drtopk-warps --smallest 300 --largest 3000 --elements 3500
  --cases 40)
topk_emulated_next_rows(drtopk_next_tsan 87 drtopk-warps 12 "drtopk-warps: another row"
  --filter rows=7 --smallest 100 --largest 520 --elements 3700)
topk_emulated_next_rows(drtopk_bitonic_tsan 187 drtopk-bitonic 14 "drtopk-bitonic: another row"
  --filter rows=7 --smallest 100 --largest 520 --elements 3700)
topk_emulated_cases(drtopk_gridselect_tsan tsan --seed 90 --method drtopk-gridselect --filter rows=7 --smallest 100
  --largest 520 --elements 3700 --cases 12)
topk_emulated_next_rows(bitonic_tsan 89 bitonic 12 "bitonic: another row"
  --filter rows=7 --smallest 30 --largest 260 --elements 1900)
# Rows of one warp: many shapes; with the sizes of production; and races.
topk_emulated_cases(gridselect_rows plain --seed 84 --method gridselect --random 10000 --largest 200 --elements 4000)
topk_emulated_cases(gridselect_rows_full full --seed 84 --method gridselect --smallest 60 --largest 1100 --elements 40000
  --filter rows=33)
topk_emulated_cases(gridselect_rows_tsan tsan --seed 85 --method gridselect --smallest 60 --largest 260 --elements 2000
  --filter rows=7 --cases 40)
topk_emulated_next_rows(gridselect_warps_tsan 85 gridselect 10 "gridselect: another row for a warp"
  --filter rows=33 --smallest 20 --largest 260 --elements 8600)
# Several ranks, by every method; and races.
topk_emulated_cases(ranks plain --seed 7 --operation ranks --largest 520 --elements 1000 --cases 24)
topk_emulated_cases(ranks_where plain --seed 8 --operation ranks_where --method default --largest 1500 --elements 2000
  --cases 60)
topk_emulated_cases(ranks_random plain --seed 9 --operation ranks --method default --random 1000 --elements 1200)
topk_emulated_cases(ranks_tsan tsan --seed 57 --operation ranks --method default --largest 260 --elements 500 --cases 10)
# Routing with the sizes of production, which leave fewer rows to the way out; and races in it.
topk_emulated_cases(routes_full full --seed 47 --operation route --method route --largest 1500 --elements 10000)
topk_emulated_cases(routes_random full --seed 48 --operation route --method route --random 5000 --elements 10000)
topk_emulated_cases(routes_tsan tsan --seed 49 --operation route --method route --largest 1100 --elements 1500 --cases 200)
# Merging of more lists than are ranked, and more candidates than a block sorts; with the sizes of production; and races.
set(merges --operation merge --method merge)
topk_emulated_cases(merges plain --seed 51 ${merges} --smallest 500 --largest 4100 --elements 9000 --cases 200 --schedules 2)
topk_emulated_cases(merges_full full --seed 52 ${merges} --largest 8200 --elements 20000 --cases 100)
topk_emulated_cases(merges_tsan tsan --seed 53 ${merges} --largest 520 --elements 1100 --cases 100)
topk_emulated_cases(random plain --seed 23 --random 120 --elements 1200 --schedules 2)
topk_emulated_cases(dense_where plain --seed 30 --operation where --largest 1700 --elements 10000
  --filter shape=dense,lengths=full --paths dense-where)
topk_emulated_cases(overlapping_where plain --seed 23 --method compact --filter shape=overlapping --largest 1500
  --elements 2000 --cases 60 --paths overlapping)
topk_emulated_cases(few_hits plain --seed 14 --operation where --method compact-phases --paths few-hits
  --case type=f32,data=uniform,size=16384,outputs=indices,predicate=gt)
topk_emulated_cases(select_where plain --seed 31 --operation select_where --smallest 500 --largest 4100
  --elements 10000 --filter lengths=full --cases 100)
# Rows that blocks share, more of them than a grid holds; and rows of more tiles than one group of look-back has.
topk_emulated_cases(many_long_rows plain --seed 27 --smallest 4095 --largest 4097 --elements 29000
  --filter rows=7,ties=any,order=any --cases 30)
topk_emulated_cases(many_tiles plain --seed 28 --smallest 16384 --largest 16384 --elements 17000 --cases 8
  --filter type=i64,ties=lowest)
topk_emulated_cases(many_tiles_of_bundles plain --seed 28 --method compact --smallest 16384 --largest 16384
  --elements 17000 --cases 24 --schedules 6 --filter type=i64,ties=lowest --paths many-tiles)
topk_emulated_cases(full full --seed 29 --smallest 2000 --largest 66000 --elements 70000 --cases 10)
topk_emulated_cases(asan asan --seed 24 --largest 1500 --elements 1600 --cases 40)
# A few cases of every method and operation under ThreadSanitizer, here and as longer_tsan; each method's own list follows.
topk_emulated_cases(tsan tsan --seed 25 --largest 130 --elements 260 --cases 10)
topk_emulated_cases(short_rows_tsan tsan --seed 37 --method rtopk --largest 530 --elements 1100 --cases 40)
topk_emulated_cases(resident_rows_tsan tsan --seed 47 --method resident --smallest 30 --largest 800 --elements 1100
  --cases 60)
topk_emulated_cases(resident_pairs_tsan tsan --seed 58 --method resident-pair --smallest 30 --largest 800 --elements 1100
  --cases 60)
topk_emulated_cases(resident_clusters_tsan tsan --seed 59 --method resident-cluster --smallest 30 --largest 3000
  --elements 3500 --cases 30)
topk_emulated_cases(resident_streams_tsan tsan --seed 64 --method resident-stream-cluster ${streams} --smallest 30
  --largest 3000 --elements 3500 --cases 40)
topk_emulated_cases(bracket_tsan tsan --seed 71 --method bracket --smallest 900 --largest 6000 --elements 7000
  --cases 300)
topk_emulated_next_rows(rtopk_rows_tsan 97 rtopk 12 "rtopk: another row"
  --filter rows=33 --smallest 1 --largest 260 --elements 8600)
topk_emulated_cases(networks_rows_tsan tsan --operation select --method rtopk-network --paths "networks-rows: another row"
  --case type=f32,data=normal,size=8,k=2,rows=300)
topk_emulated_next_rows(resident_next_tsan 98 resident 8 "resident: another row"
  --filter rows=7 --smallest 30 --largest 520 --elements 3700)
topk_emulated_next_rows(resident_clusters_next_tsan 59 resident-cluster 8 "resident-cluster: another row"
  --filter rows=7 --smallest 30 --largest 800 --elements 5700)
topk_emulated_next_rows(resident_streams_next_tsan 64 resident-stream 8 "resident-stream: another row"
  --operation select --filter order=any,ties=any,rows=7 --smallest 30 --largest 1000 --elements 7100)
topk_emulated_next_rows(bracket_next_tsan 71 bracket 5 "bracket: another row"
  --filter rows=7 --smallest 900 --largest 1100 --elements 7800)
topk_emulated_next_rows(route_next_tsan 49 route 20 "route: another row"
  --operation route --filter rows=33 --largest 260 --elements 8600)
topk_emulated_next_rows(merge_next_tsan 54 merge 60 "merge: another row"
  --operation merge --filter rows=33 --largest 260 --elements 8600)
topk_emulated_next_rows(air_tsan 91 air-shared 16 "air-shared: another row"
  --filter rows=7 --smallest 30 --largest 520 --elements 3700)
topk_emulated_next_rows(air_rows_tsan 93 air 12 "air: another row"
  --filter rows=7 --smallest 30 --largest 260 --elements 1900)
topk_emulated_next_rows(air_fused_tsan 92 air-fused 10 "air-fused: another row"
  --filter rows=7 --smallest 30 --largest 520 --elements 3700)
topk_emulated_next_rows(bucket_tsan 94 bucket 12 "bucket: another row"
  --filter rows=7 --smallest 30 --largest 520 --elements 3700)
topk_emulated_next_rows(radik_tsan 195 radik 16 "radik: another row"
  --operation select --filter rows=7,order=best --smallest 30 --largest 1100 --elements 7800)
topk_emulated_next_rows(sort_tsan 96 sort 6 "sort: another row to s"
  --operation select --filter rows=33 --smallest 30 --largest 130 --elements 4400)
topk_emulated_next_rows(sort_count_tsan 96 sort 4 "sort: another row to count"
  --operation kth --filter rows=33 --smallest 130 --largest 300 --elements 10000)
topk_emulated_cases(longer_tsan tsan --seed 26 --smallest 500 --largest 4100 --elements 4200 --cases 4)
# The last block of a row that several share writes it alone, for its digits end with a plateau.
topk_emulated_cases(plateaus_tsan tsan --seed 34 --smallest 1000 --largest 4100 --elements 4200 --cases 8
  --operation select --method air-fused --filter ties=any,data=all-equal)
# Ties in rows of many tiles.
topk_emulated_cases(long_ties_tsan tsan --seed 1 --smallest 16000 --largest 16385 --elements 17000 --cases 40
  --operation select --method air-shared --filter ties=any,order=any)
# A warp empties its queue of winners within a row and fills it again: half the elements tie, of which few are results,
# and nearly all others are winners. Of types of 8 bytes a block has several tiles.
topk_emulated_cases(emptied_queue_tsan tsan --operation select --method air-shared --paths emptied-queue
  --case type=f64,data=relu-quantised,size=16384,k=n/2,ties=any,order=any)
set(predicates_plain 15) # one in so many
set(predicates_asan 30)
set(predicates_tsan 200)
set(accumulators_plain 3 paths)
set(accumulators_asan 10)
set(accumulators_tsan 40)
if(TARGET topk_emulated_plain)
  foreach(source cuda/devices_emulated internals/bracket_misses internals/bracket_way_out)
    get_filename_component(name ${source} NAME)
    add_executable(test_${name} ${source}.c)
    target_link_libraries(test_${name} PRIVATE topk_test_support topk_emulated_plain m)
    target_include_directories(test_${name} PRIVATE simt/emulation ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(test_${name} PRIVATE topk_shrink)
    topk_warnings(test_${name})
  endforeach()
  target_sources(test_bracket_way_out PRIVATE cuda/expected.c)
  target_include_directories(test_bracket_way_out PRIVATE cuda)
endif()
# Limits are of the sizes of production; as is what is chosen on other GPUs.
if(TARGET topk_emulated_full)
  add_executable(test_cuda_limits_full cuda/limits.c support/device_host.c)
  target_link_libraries(test_cuda_limits_full PRIVATE topk_test_support topk_emulated_full)
  topk_warnings(test_cuda_limits_full)
  topk_emulated_test(limits test_cuda_limits_full)
  set_tests_properties(simt.limits PROPERTIES FAIL_REGULAR_EXPRESSION "left out: [^\n]*shared memory")
  add_executable(test_speeds_full cuda/speeds_emulated.c)
  target_link_libraries(test_speeds_full PRIVATE topk_test_support topk_emulated_full)
  target_include_directories(test_speeds_full PRIVATE simt/emulation)
  topk_warnings(test_speeds_full)
  add_executable(test_merges_full cuda/merges_emulated.c)
  target_link_libraries(test_merges_full PRIVATE topk_test_support topk_emulated_full)
  target_include_directories(test_merges_full PRIVATE simt/emulation)
  topk_warnings(test_merges_full)
  add_executable(test_room internals/room.c)
  target_link_libraries(test_room PRIVATE topk_test_support topk_emulated_full)
  target_include_directories(test_room PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_options(test_room PRIVATE -Wl,--wrap=topk_room_take)
  topk_warnings(test_room)
  add_executable(test_choice internals/choice.c)
  target_link_libraries(test_choice PRIVATE topk_test_support topk_emulated_full)
  target_include_directories(test_choice PRIVATE ${PROJECT_SOURCE_DIR}/src)
  topk_warnings(test_choice)
endif()
foreach(backend cpu cuda)
  topk_emulated_test(room_${backend} test_room ${backend})
  topk_emulated_test(choice_${backend} test_choice ${backend})
endforeach()
topk_emulated_test(devices test_devices_emulated)
topk_emulated_test(speeds test_speeds_full)
topk_emulated_test(merges test_merges_full)
topk_emulated_test(bracket_misses test_bracket_misses)
topk_emulated_test(bracket_way_out test_bracket_way_out)
topk_emulated_test(bracket_way_out_64 test_bracket_way_out)
foreach(kib 163 99 64)
  foreach(name cases_bracket_full cases_bracket cases_bracket_samples cases_bracket_pairs cases_bracket_random
          cases_bracket_tsan bracket_way_out)
    if(TEST simt.${name}_${kib})
      set_tests_properties(simt.${name}_${kib} PROPERTIES ENVIRONMENT TOPK_SHARED_KIB=${kib})
    endif()
  endforeach()
endforeach()
topk_emulated_test(accumulator_full test_accumulator_full cuda 20)
topk_emulated_test(accumulator_edges_full test_accumulator_full cuda 457 edges)
topk_emulated_test(accumulator_edges_plain test_accumulator_plain cuda 23 edges)
topk_emulated_test(accumulator_edges_tsan test_accumulator_tsan cuda 307 edges)
# Shards, of which each row has up to seven.
topk_emulated_cases(shards plain --seed 80 --operation sharded --method default --largest 6000 --elements 9000 --cases 150
  --paths shards)
topk_emulated_cases(shards_full full --seed 81 --operation sharded --method default --largest 30000 --elements 60000
  --cases 25)
topk_emulated_cases(shards_asan asan --seed 82 --operation sharded --method default --largest 3000 --elements 4000
  --cases 40)
topk_emulated_next_rows(shards_next_row 83 default 25 "shards: another row" --operation sharded --largest 700
  --elements 3000)
topk_emulated_test(sharded_ties test_sharded_ties_plain cuda 40)
topk_emulated_test(sharded_refused test_sharded_refused_plain cuda)
topk_emulated_test(peer_long test_peer_plain 1000 2 3)
set(peer_plain 200)
set(peer_asan 60)
set(peer_tsan 20)
set(peer_merge_plain 60 1 2 3 4)
set(peer_merge_asan 20 2 3)
set(peer_merge_tsan 6 2 3)
set(sharded_plain 8)
set(sharded_asan 40)
set(sharded_tsan 80)
foreach(build IN LISTS topk_emulated_builds)
  topk_emulated_test(peer_${build} test_peer_${build} ${peer_${build}} 1 2 3 4 7)
  topk_emulated_test(peer_merge_${build} test_peer_merge_${build} ${peer_merge_${build}})
  topk_emulated_test(sharded_${build} test_sharded_${build} cuda ${sharded_${build}})
  topk_emulated_test(predicates_${build} test_predicates_${build} cuda ${predicates_${build}})
  topk_emulated_test(transfers_${build} test_transfers_${build} cuda)
  topk_emulated_test(statuses_${build} test_cuda_statuses_${build})
  topk_emulated_test(loose_lengths_${build} test_loose_lengths_${build} cuda)
  topk_emulated_test(accumulator_${build} test_accumulator_${build} cuda ${accumulators_${build}})
  topk_emulated_test(accumulator_misuse_${build} test_accumulator_misuse_${build} cuda)
  topk_emulated_test(simple_${build} test_simple_${build} cuda)
  topk_emulated_test(bad_states_${build} test_bad_states_${build})
endforeach()

# The methods are in the tables; and one more in a copy of the tree, by what CONTRIBUTING.md says.
if(TARGET topk_emulated_plain)
  add_executable(test_listed method/listed.c)
  target_link_libraries(test_listed PRIVATE topk_test_support topk_emulated_plain)
  topk_warnings(test_listed)
  topk_emulated_test(listed_cuda test_listed cuda air sort)
  topk_emulated_test(listed_cpu test_listed cpu rows bracket reference)
  topk_emulated_test(added_method ${TOPK_SYSTEM_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/method/add.py ${PROJECT_SOURCE_DIR}
    ${CMAKE_CURRENT_BINARY_DIR}/method ${CMAKE_COMMAND})
  set_tests_properties(simt.added_method PROPERTIES COST 50)
endif()

foreach(operation select kth select_where route)
  topk_emulated_test(conditional_${operation} test_conditional_plain --backend cuda --jobs 1 --seed 41
    --operation ${operation} --largest 5000 --elements 6000 --cases 30)
endforeach()
topk_emulated_test(conditional_ranks test_conditional_plain --backend cuda --jobs 1 --seed 41 --operation ranks
  --largest 520 --elements 1000 --cases 5)
topk_emulated_test(conditional_asan test_conditional_asan --backend cuda --jobs 1 --seed 42 --largest 1500 --elements 1600
  --cases 20)
topk_emulated_test(conditional_tsan test_conditional_tsan --backend cuda --jobs 1 --seed 43 --largest 600 --elements 700
  --cases 5)

topk_emulated_cases(quick plain --seed 28 --largest 1500 --elements 1500 --cases 60)
if(TARGET topk_emulated_plain)
  topk_quick(simt.cases_quick test_cases_emulated_plain)
  topk_quick(simt.statuses_plain test_cuda_statuses_plain)
endif()
