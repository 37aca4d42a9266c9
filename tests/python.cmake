# The Python package, over the CPU and over the emulated GPU.
if(NOT TARGET topk_python)
  return()
endif()

# Python itself is not sanitized: the sanitizer's runtime is loaded before it, and Python's own leaks are not counted.
set(sanitized "")
if(TOPK_SANITIZE MATCHES "address")
  execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libasan.so OUTPUT_VARIABLE libasan
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(sanitized LD_PRELOAD=${libasan} ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1)
endif()

# topk_python_test(NAME LIBRARY FILE [ENVIRONMENT...]): a file of tests over a library.
function(topk_python_test name library file)
  add_test(NAME python.${name}
    COMMAND ${TOPK_SYSTEM_PYTHON} -m pytest -q -p no:cacheprovider ${CMAKE_CURRENT_SOURCE_DIR}/python/${file})
  set_tests_properties(python.${name} PROPERTIES LABELS python REQUIRED_FILES $<TARGET_FILE:topk_python> ENVIRONMENT
    "PYTHONPATH=${PROJECT_BINARY_DIR}/python;TOPK_LIBRARY=$<TARGET_FILE:${library}>;PYTHONDONTWRITEBYTECODE=1;${sanitized};${ARGN}")
endfunction()

# Over torch, where Python can import one; pytest ends with 5 where it finds no test to run.
topk_python_test(torch topk with_torch)
topk_python_test(packages topk with_packages) # likewise over pyarrow, polars, pandas, JAX and their like
topk_python_test(dask topk with_dask)
topk_python_test(jax topk with_jax)
if(TARGET topk_emulated_full)
  topk_python_test(jax_emulated topk_emulated_shared with_jax/test_jax_cuda.py TOPK_TEST_BACKEND=cuda)
  set_tests_properties(python.jax_emulated PROPERTIES SKIP_RETURN_CODE 5)
endif()
topk_python_test(mpi topk with_mpi) # in jobs of mpirun, where there is mpi4py
set_tests_properties(python.torch python.packages python.dask python.jax python.mpi PROPERTIES SKIP_RETURN_CODE 5)
set_tests_properties(python.mpi PROPERTIES PROCESSORS 2)

file(GLOB files CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/python python/test_*.py)
foreach(file IN LISTS files)
  string(REGEX REPLACE "^test_(.*)\\.py$" "\\1" name ${file})
  topk_python_test(${name} topk ${file})
  if(TARGET topk_emulated_full)
    topk_python_test(${name}_emulated topk_emulated_shared ${file} TOPK_TEST_BACKEND=cuda)
  endif()
endforeach()

topk_quick(python.outputs topk_python)

# Python loads a shared library.
if(TARGET topk_emulated_full)
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/nothing.c "")
  add_library(topk_emulated_shared SHARED ${CMAKE_CURRENT_BINARY_DIR}/nothing.c)
  target_link_libraries(topk_emulated_shared PRIVATE
    -Wl,--whole-archive topk_emulated_full -Wl,--no-whole-archive)
  set_target_properties(topk_emulated_shared PROPERTIES LINKER_LANGUAGE CXX)
  topk_emulated_test(tune ${TOPK_SYSTEM_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/bench/tune.py ${PROJECT_SOURCE_DIR}
    ${PROJECT_BINARY_DIR})
  set_tests_properties(simt.tune PROPERTIES ENVIRONMENT "PYTHONPATH=${PROJECT_BINARY_DIR}/python")
endif()
