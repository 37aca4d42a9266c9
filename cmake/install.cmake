# What `cmake --install` puts where: headers, the library, the CMake package, the pkg-config file and the
# documents. The command-line tool installs itself (cli/CMakeLists.txt). All of it can be moved: no file names
# its prefix.
if(NOT TOPK_INSTALL)
  return()
endif()
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME topk_development)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/topk)
set(config ${PROJECT_BINARY_DIR}/cmake)

# A program that links a static library links what that library needs, too.
set(find_dependencies "")
set(libs_private "")
get_target_property(type topk TYPE)
if(type STREQUAL STATIC_LIBRARY)
  foreach(package IN LISTS linked_packages)
    string(APPEND find_dependencies "find_dependency(${package})\n")
  endforeach()
  list(JOIN linked_flags " " libs_private)
endif()

install(TARGETS topk topk_device EXPORT topkTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT topk_library NAMELINK_COMPONENT topk_development)
file(GLOB headers CONFIGURE_DEPENDS include/*.h include/*.hpp)
if(NOT TARGET topk_dist)
  list(FILTER headers EXCLUDE REGEX "/topk_dist[_a-z]*\\.h$")
endif()
foreach(transport MPI NCCL)
  if(NOT transport IN_LIST TOPK_DIST_TRANSPORTS)
    string(TOLOWER ${transport} name)
    list(FILTER headers EXCLUDE REGEX "/topk_dist_${name}\\.h$")
  endif()
endforeach()
install(FILES ${headers}
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
topk_install_device_headers()
set(dist_dependencies "")
set(dist_libs_private "")
set(dist_compiler "")
if(MPI IN_LIST TOPK_DIST_TRANSPORTS)
  string(APPEND dist_dependencies "  find_dependency(MPI COMPONENTS C)\n")
  set(dist_compiler ", for a compiler that knows MPI (mpicc)")
endif()
if(NCCL IN_LIST TOPK_DIST_TRANSPORTS AND type STREQUAL STATIC_LIBRARY)
  string(APPEND dist_dependencies "  list(APPEND CMAKE_MODULE_PATH \"\${CMAKE_CURRENT_LIST_DIR}\")\n"
    "  find_dependency(NCCL 2.14)\n"
    "  list(POP_BACK CMAKE_MODULE_PATH)\n")
  set(dist_libs_private -lnccl)
  install(FILES cmake/FindNCCL.cmake DESTINATION ${package_dir})
endif()
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
# Its targets are a set of their own, so that only a project that asks for the component needs what they need.
if(TARGET topk_dist)
  set_target_properties(topk_dist PROPERTIES INSTALL_RPATH $ORIGIN) # where libtopk is
  install(TARGETS topk_dist EXPORT topkDistTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT topk_library NAMELINK_COMPONENT topk_development)
  install(EXPORT topkDistTargets NAMESPACE topk:: DESTINATION ${package_dir})
  configure_file(cmake/topk_dist.pc.in ${config}/topk_dist.pc @ONLY)
  install(FILES ${config}/topk_dist.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
# Where the system looks for libraries by itself, nothing else is to be searched first.
foreach(tool topk_cli topk_cli_mpi)
  if(TARGET ${tool} AND NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr")
    set_target_properties(${tool} PROPERTIES INSTALL_RPATH $ORIGIN/${bin_to_lib})
  endif()
endforeach()

# Documents lie to one another as in the source tree, with what they link to, so that links hold. The records do not
# come along: they are large, and pages about them are linked instead.
install(FILES LICENSE README.md CONTRACT.md CHANGELOG.md ARCHITECTURE.md CONTRIBUTING.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
foreach(folder bench python tests)
  install(FILES ${folder}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder})
endforeach()
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN *.csv EXCLUDE PATTERN __pycache__ EXCLUDE)

if(PROJECT_IS_TOP_LEVEL)
  add_custom_target(uninstall
    COMMAND ${CMAKE_COMMAND} -D MANIFEST=${PROJECT_BINARY_DIR}/install_manifest.txt
            -P ${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake)
endif()
include(cmake/debian/debian.cmake)

# They build a static library of their own. A consumer would have to be built with the sanitizer, too.
if(TOPK_BUILD_TESTS AND BUILD_SHARED_LIBS AND NOT TOPK_SANITIZE)
  add_subdirectory(tests/packaging)
endif()
