# What `cmake --install --component jitk` puts down: the public headers, libjitk.so, the compiler library where it is
# built, a CMake package, a pkg-config file, and the Python package in lib/jitk/python. Nothing of it names the place, so that the tree can be moved.

include(CMakePackageConfigHelpers)

install(TARGETS jitk_shared EXPORT jitkTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT jitk NAMELINK_COMPONENT jitk)
if(TARGET jitk-compiler)
  # Not in the export: nobody links it, libjitk opens it.
  install(TARGETS jitk-compiler LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT jitk)
endif()
if(TARGET jitk)
  install(TARGETS jitk RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT jitk)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/jitk DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT jitk)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/integrations/python/jitk DESTINATION ${CMAKE_INSTALL_LIBDIR}/jitk/python
  COMPONENT jitk FILES_MATCHING PATTERN "*.py" PATTERN "__pycache__" EXCLUDE)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/jitk)
install(EXPORT jitkTargets NAMESPACE jitk:: FILE jitkConfig.cmake DESTINATION ${package_folder} COMPONENT jitk)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/jitkConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/jitkConfigVersion.cmake DESTINATION ${package_folder} COMPONENT jitk)

configure_file(${PROJECT_SOURCE_DIR}/cmake/jitk.pc.in ${PROJECT_BINARY_DIR}/jitk.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/jitk.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT jitk)
