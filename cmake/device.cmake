# topk::device: include/topk_device.cuh, for kernels of a project's own. It is made of headers of the CUDA backend,
# which lie beside it in topk_device/: in the build folder, and where they are installed. Nothing is linked.
set(topk_device_headers
  block.cuh lookback.cuh lookback.h ordered.cuh simt.cuh size.h tile_loop.cuh
  select/best.cuh select/block_queue.cuh select/entries.cuh select/warp_list.cuh select/warp_queue.cuh
  simt/architecture.cuh simt/atomic.cuh simt/bits.cuh simt/bulk.cuh simt/cluster.cuh simt/compare.cuh
  simt/dependent.cuh simt/float.cuh
  simt/mbarrier.cuh simt/memory.cuh simt/shared.cuh simt/thread.cuh simt/warp.cuh)

foreach(header IN LISTS topk_device_headers)
  configure_file(src/cuda/${header} ${PROJECT_BINARY_DIR}/include/topk_device/${header} COPYONLY)
endforeach()

add_library(topk_device INTERFACE)
add_library(topk::device ALIAS topk_device)
set_target_properties(topk_device PROPERTIES EXPORT_NAME device INTERFACE_COMPILE_FEATURES cuda_std_17)
target_include_directories(topk_device INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

# For install.cmake.
function(topk_install_device_headers)
  install(FILES ${PROJECT_SOURCE_DIR}/include/topk_device.cuh DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  foreach(header IN LISTS topk_device_headers)
    cmake_path(GET header PARENT_PATH folder)
    install(FILES ${PROJECT_SOURCE_DIR}/src/cuda/${header}
            DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/topk_device/${folder})
  endforeach()
endfunction()
