# `cpack` makes three Debian packages: libtopk0.1, libtopk-dev and topk. The prefix must be /usr: only then
# does CMake install libraries into the folder of their architecture, as Debian does.
if(NOT PROJECT_IS_TOP_LEVEL OR NOT BUILD_SHARED_LIBS OR NOT TARGET topk_cli)
  return()
elseif(NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  return()
endif()
set(CPACK_PACKAGE_CONTACT "libtopk maintainers <libtopk@localhost>" CACHE STRING "Maintainer of the packages")
set(CPACK_GENERATOR DEB)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}) # where the tool finds the library
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")

get_target_property(soversion topk SOVERSION)
set(library libtopk${soversion})
set(CPACK_DEBIAN_TOPK_LIBRARY_PACKAGE_NAME ${library})
set(CPACK_DEBIAN_TOPK_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_TOPK_LIBRARY_DESCRIPTION "The shared library.")

set(CPACK_DEBIAN_TOPK_DEVELOPMENT_PACKAGE_NAME libtopk-dev)
set(CPACK_DEBIAN_TOPK_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_TOPK_DEVELOPMENT_PACKAGE_DEPENDS "${library} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_TOPK_DEVELOPMENT_DESCRIPTION "Headers, files for CMake and pkg-config, and documents.")

set(CPACK_DEBIAN_TOPK_TOOL_PACKAGE_NAME topk)
set(CPACK_DEBIAN_TOPK_TOOL_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_TOPK_TOOL_PACKAGE_DEPENDS "${library} (>= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_TOPK_TOOL_DESCRIPTION "The command-line tool and its man page.")

# cpack writes scripts that call ldconfig, and has no setting that makes a trigger of them.
set(overrides_topk_library "${library}: lacks-ldconfig-trigger *
${library}: maintscript-calls-ldconfig *")

set(CPACK_COMPONENTS_ALL topk_library topk_development topk_tool)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/compress.cmake)
set(debian ${PROJECT_BINARY_DIR}/debian)
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
configure_file(${CMAKE_CURRENT_LIST_DIR}/changelog.in ${debian}/changelog @ONLY)
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} variable)
  set(name ${CPACK_DEBIAN_${variable}_PACKAGE_NAME})
  set(overrides "${overrides_${component}}")
  configure_file(${CMAKE_CURRENT_LIST_DIR}/overrides.in ${debian}/${name} @ONLY)
  install(FILES ${CMAKE_CURRENT_LIST_DIR}/copyright ${debian}/changelog
          DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/${name} COMPONENT ${component} EXCLUDE_FROM_ALL)
  install(FILES ${debian}/${name}
          DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/lintian/overrides COMPONENT ${component} EXCLUDE_FROM_ALL)
endforeach()
include(CPack)
