# cmake --install: the command with its trainer, and what other programs may build upon as a CMake package
#   find_package(sotto)  sotto::transport  sotto::device  sotto::secagg  sotto::privacy
# and the C header of the device, sotto_device.h.
# Nothing of it names the place it was built or installed in, so that the folder may be moved.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS sotto RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET sotto-trainer)
  # Where src/cli/hand_over.cpp looks, seen from the command.
  install(TARGETS sotto-trainer RUNTIME DESTINATION libexec)
endif()
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(SOTTO_INSTALLED base privacy secagg device)
set(exported sotto_flags sotto_eigen)
if(TARGET sotto_rounds)
  list(APPEND SOTTO_INSTALLED rounds blind local)
endif()
if(TARGET sotto_transport)
  list(APPEND SOTTO_INSTALLED net transport)
  list(APPEND exported sotto_boost)
endif()
foreach(module ${SOTTO_INSTALLED})
  list(APPEND exported sotto_${module})
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/src/${module} DESTINATION include/sotto FILES_MATCHING PATTERN "*.h")
endforeach()
if(TARGET sotto_rounds)
  # The device for programs in any language, by its bare name.
  install(FILES ${CMAKE_SOURCE_DIR}/src/device/sotto_device.h DESTINATION include)
  target_include_directories(sotto_device INTERFACE $<INSTALL_INTERFACE:include>)
endif()
if(TARGET sotto_wire)
  list(APPEND exported sotto_wire)
  install(DIRECTORY ${CMAKE_BINARY_DIR}/wire/proto DESTINATION include/sotto FILES_MATCHING PATTERN "*.h")
endif()
foreach(target ${exported})
  string(REPLACE sotto_ "" name ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
endforeach()
install(TARGETS ${exported} EXPORT sotto ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/sotto)
install(EXPORT sotto FILE sotto-targets.cmake NAMESPACE sotto:: DESTINATION ${package})
# What this build found of the optional libraries, the package needs too.
set(SOTTO_PACKAGE_MODULES "")
foreach(pair LZMA=liblzma ZSTD=libzstd ZLIB=zlib SODIUM=libsodium SSL=libssl+libcrypto)
  string(REPLACE "=" ";" pair ${pair})
  list(GET pair 0 name)
  if(${name}_FOUND)
    list(APPEND SOTTO_PACKAGE_MODULES ${pair})
  endif()
endforeach()
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/sotto-config.cmake.in ${CMAKE_BINARY_DIR}/sotto-config.cmake
  INSTALL_DESTINATION ${package})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/sotto-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/sotto-config.cmake ${CMAKE_BINARY_DIR}/sotto-config-version.cmake DESTINATION ${package})
