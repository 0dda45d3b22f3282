# SPDX-License-Identifier: Apache-2.0
#
# Install rules: find_package(halocline COMPONENTS comm), then target_link_libraries(app halocline::comm).
#
# halocline-config.cmake.in tells what a project gets. The Fortran modules go along as sources.
include(CMakePackageConfigHelpers)
set(halocline_installed halocline_flags)
set(halocline_have_shared FALSE)
set(halocline_package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/halocline)
set(halocline_fortran_folder ${CMAKE_INSTALL_DATADIR}/halocline/fortran)
foreach(room ${halocline_rooms})
  list(APPEND halocline_installed halocline_${room})
  install(DIRECTORY ${halocline_source_root}/halocline/${room} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/halocline
          COMPONENT cpp FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h" PATTERN "*.cuh")
  file(GLOB_RECURSE halocline_modules CONFIGURE_DEPENDS ${halocline_source_root}/halocline/${room}/*.f90)
  install(FILES ${halocline_modules} DESTINATION ${halocline_fortran_folder} COMPONENT cpp)
endforeach()
if(TARGET halocline_c)
  list(APPEND halocline_installed halocline_c)
  set(halocline_have_shared TRUE)
endif()
install(TARGETS ${halocline_installed} EXPORT halocline COMPONENT cpp
        LIBRARY COMPONENT cpp NAMELINK_COMPONENT cpp)
install(FILES ${PROJECT_BINARY_DIR}/archive/libhalocline.a DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cpp)
install(FILES ${halocline_pc_files} DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT cpp)
install(FILES ${halocline_generated}/halocline/core/config.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/halocline/core
        COMPONENT cpp)
install(EXPORT halocline NAMESPACE halocline:: DESTINATION ${halocline_package_folder} COMPONENT cpp)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/halocline-config.cmake.in
                              ${PROJECT_BINARY_DIR}/halocline-config.cmake INSTALL_DESTINATION ${halocline_package_folder}
                              PATH_VARS CMAKE_INSTALL_INCLUDEDIR halocline_fortran_folder)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/halocline-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/halocline-config.cmake ${PROJECT_BINARY_DIR}/halocline-config-version.cmake
        DESTINATION ${halocline_package_folder} COMPONENT cpp)
