# Tests of the source tree and of the built library's surface, in Python. Those with the label `tree` look at no build,
# so that one stage of scripts/test runs them for all.

function(topk_tree_test name script)
  add_test(NAME ${name} COMMAND ${TOPK_SYSTEM_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/tree/${script} ${ARGN})
  set_tests_properties(${name} PROPERTIES LABELS "unit;tree" SKIP_RETURN_CODE 77)
endfunction()

topk_tree_test(headers headers.py ${PROJECT_SOURCE_DIR}/include)
topk_tree_test(layouts layouts.py ${PROJECT_SOURCE_DIR})
topk_tree_test(layering layering.py ${PROJECT_SOURCE_DIR})
topk_tree_test(limits limits.py ${PROJECT_SOURCE_DIR})
topk_tree_test(reached reached.py ${PROJECT_SOURCE_DIR})
topk_tree_test(words words.py ${PROJECT_SOURCE_DIR})
topk_tree_test(planted planted.py ${PROJECT_SOURCE_DIR})
topk_tree_test(format format.py ${PROJECT_SOURCE_DIR})
topk_tree_test(stages stages.py ${PROJECT_SOURCE_DIR})
topk_tree_test(pages pages.py ${PROJECT_SOURCE_DIR})
topk_tree_test(questions questions.py ${PROJECT_SOURCE_DIR})
topk_tree_test(links links.py ${PROJECT_SOURCE_DIR} 100)
topk_tree_test(figures figures/figures.py ${PROJECT_SOURCE_DIR})
topk_tree_test(timeline ../bench/timeline.py ${PROJECT_SOURCE_DIR})
topk_tree_test(drtopk_stages ../bench/stages.py ${PROJECT_SOURCE_DIR})
topk_tree_test(traffic ../bench/traffic.py ${PROJECT_SOURCE_DIR})
topk_tree_test(compare ../bench/compare.py ${PROJECT_SOURCE_DIR})
topk_tree_test(exponent ../bench/exponent.py ${PROJECT_SOURCE_DIR})
topk_tree_test(comparison ../bench/comparison.py ${PROJECT_SOURCE_DIR})
# The page of the ten methods against its records.
set(compared ${PROJECT_SOURCE_DIR}/docs/benchmarks)
file(GLOB records CONFIGURE_DEPENDS ${compared}/h100/compare-k.csv ${compared}/h100/compare-n.csv
  ${compared}/h100/timeline-*.csv)
if(records AND EXISTS ${compared}/comparison.md)
  topk_tree_test(comparison-page ../../bench/comparison.py ${records} --check ${compared}/comparison.md)
endif()
topk_tree_test(plot ../bench/plot.py ${PROJECT_SOURCE_DIR})
topk_tree_test(choice ../bench/choice.py ${PROJECT_SOURCE_DIR})
topk_tree_test(mutants ../../scripts/mutants --check)
if(TOPK_HAS_CUDA)
  topk_tree_test(ptx ptx.py ${CMAKE_CUDA_COMPILER} ${PROJECT_SOURCE_DIR})
  set_tests_properties(ptx PROPERTIES LABELS unit)
endif()

# A sanitizer adds symbols of its own, and its runtime would have to be loaded into Python. Python loads no
# archive.
if(BUILD_SHARED_LIBS AND NOT TOPK_SANITIZE)
  topk_tree_test(symbols symbols.py
    $<TARGET_FILE:topk> ${PROJECT_SOURCE_DIR}/include $<TARGET_FILE:topk_shrunk>)
  set_tests_properties(symbols PROPERTIES LABELS unit)
  if(TARGET topk_dist)
    list(JOIN TOPK_DIST_TRANSPORTS "," transports)
    string(TOLOWER "${transports}" transports)
    topk_tree_test(symbols_dist symbols.py
      $<TARGET_FILE:topk_dist> ${PROJECT_SOURCE_DIR}/include,${transports} $<TARGET_FILE:topk_dist_shrunk>)
    set_tests_properties(symbols_dist PROPERTIES LABELS unit)
    add_dependencies(quick topk_dist topk_dist_shrunk)
  endif()
endif()
