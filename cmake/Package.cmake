# SPDX-License-Identifier: Apache-2.0
#
# Install rules: find_package(halocline), then target_link_libraries(app halocline::qcd).
include(CMakePackageConfigHelpers)
set(halocline_installed halocline_flags)
foreach(room ${halocline_rooms})
  list(APPEND halocline_installed halocline_${room})
endforeach()
set(halocline_package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/halocline)
install(TARGETS ${halocline_installed} EXPORT halocline COMPONENT cpp)
install(DIRECTORY ${halocline_source_root}/halocline DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT cpp
        FILES_MATCHING PATTERN "*.hpp")
install(FILES ${halocline_generated}/halocline/core/config.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/halocline/core
        COMPONENT cpp)
install(EXPORT halocline NAMESPACE halocline:: DESTINATION ${halocline_package_folder} COMPONENT cpp)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/halocline-config.cmake.in
                              ${PROJECT_BINARY_DIR}/halocline-config.cmake INSTALL_DESTINATION ${halocline_package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/halocline-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/halocline-config.cmake ${PROJECT_BINARY_DIR}/halocline-config-version.cmake
        DESTINATION ${halocline_package_folder} COMPONENT cpp)
