# The installed package: docs/embedding.md says what is in it. Headers and
# .proto files of generated code are installed by proto/, the command by cli/.

include(CMakePackageConfigHelpers)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/dovetail
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

# One export each, since only the static library needs all dependencies.
foreach(kind static shared)
  set(target dovetail)
  if(kind STREQUAL "shared")
    set(target dovetail_shared)
  endif()
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${kind})
  install(TARGETS ${target} EXPORT dovetail-${kind})
  install(EXPORT dovetail-${kind} NAMESPACE dovetail::
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/dovetail)
endforeach()

# The test kit serves both kinds, so no export of one of them has it;
# dovetail-config.cmake makes its target.
install(TARGETS dovetail_testing DESTINATION ${CMAKE_INSTALL_LIBDIR})

set(proto_dir ${CMAKE_INSTALL_DATADIR}/dovetail/proto)
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/dovetail-config.cmake.in
  ${PROJECT_BINARY_DIR}/package/dovetail-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/dovetail
  PATH_VARS proto_dir CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/package/dovetail-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/package/dovetail-config.cmake
  ${PROJECT_BINARY_DIR}/package/dovetail-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/dovetail)

# Relative to the file, so that a prefix may be chosen when installing.
file(RELATIVE_PATH pc_prefix
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
foreach(which PUBLIC PRIVATE)
  list(TRANSFORM DOVETAIL_${which}_ABSL PREPEND absl_ OUTPUT_VARIABLE pc_absl)
  list(JOIN pc_absl " " pc_absl_${which})
endforeach()
set(packages dovetail dovetail-testing)
if(DOVETAIL_ASIO)
  list(APPEND packages dovetail-asio)
endif()
foreach(package IN LISTS packages)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${package}.pc.in
                 ${PROJECT_BINARY_DIR}/package/${package}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/package/${package}.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

# As they lie in the source, so that what names a page names it here too.
install(FILES LICENSE README.md CHANGELOG.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
