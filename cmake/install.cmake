# What `cmake --install` puts where: headers, libtopk.so, the CMake package and the pkg-config file. The
# command-line tool installs itself (cli/CMakeLists.txt). All of it can be moved: no file names its prefix.
option(TOPK_INSTALL "Install the library, its headers and its packages" ${PROJECT_IS_TOP_LEVEL})
if(NOT TOPK_INSTALL)
  return()
endif()
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/topk)
set(config ${PROJECT_BINARY_DIR}/cmake)

install(TARGETS topk topk_device EXPORT topkTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES include/topk.h include/topk_simple.h include/topk.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
topk_install_device_headers()
install(EXPORT topkTargets NAMESPACE topk:: DESTINATION ${package_dir})
configure_package_config_file(cmake/topkConfig.cmake.in ${config}/topkConfig.cmake
                              INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${config}/topkConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${config}/topkConfig.cmake ${config}/topkConfigVersion.cmake DESTINATION ${package_dir})

# topk.pc and the tool find the library from where they themselves lie.
set(prefix /prefix)
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_LIBDIR BASE_DIRECTORY ${prefix} OUTPUT_VARIABLE libdir)
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_BINDIR BASE_DIRECTORY ${prefix} OUTPUT_VARIABLE bindir)
file(RELATIVE_PATH pkgconfig_to_prefix ${libdir}/pkgconfig ${prefix})
file(RELATIVE_PATH bin_to_lib ${bindir} ${libdir})
configure_file(cmake/topk.pc.in ${config}/topk.pc @ONLY)
install(FILES ${config}/topk.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(TARGET topk_cli)
  set_target_properties(topk_cli PROPERTIES INSTALL_RPATH $ORIGIN/${bin_to_lib})
endif()

if(TOPK_BUILD_TESTS AND NOT TOPK_SANITIZE) # a consumer would have to be built with the sanitizer, too
  add_subdirectory(tests/packaging)
endif()
