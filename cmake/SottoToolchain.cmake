# Compiler, linker and instrumentation: what every target shares.

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(SOTTO_CCACHE ccache)
if(SOTTO_CCACHE)
  # Sloppiness lets ccache serve files that use the precompiled torch header; NOHASHDIR shares between presets.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${SOTTO_CCACHE})
endif()

find_program(SOTTO_MOLD mold)
if(SOTTO_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# What every module is compiled with; of it, programs that use the installed package get the includes and the features.
add_library(sotto_flags INTERFACE)
target_compile_features(sotto_flags INTERFACE cxx_std_20)
target_include_directories(sotto_flags INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/src> $<INSTALL_INTERFACE:include/sotto>)
set(SOTTO_COMPILE_OPTIONS
  -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wno-missing-field-initializers -fno-math-errno)
target_compile_options(sotto_flags INTERFACE $<BUILD_INTERFACE:${SOTTO_COMPILE_OPTIONS}>)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1")
  # Libraries serve programs and the Python package alike, so that one build is enough for both. Within a program that
  # costs nothing: the linker makes calls and loads direct again, and without interposition the compiler inlines as
  # before. Programs themselves too: precompiled headers are for one kind of code.
  add_compile_options(-fPIC -fno-semantic-interposition)
  # What makes a memory error that is left hard to use (docs/building.md); tools/check_hardening.sh looks for it.
  option(SOTTO_HARDEN "Compile and link with the defences of compiler and linker" ON)
  if(SOTTO_HARDEN)
    # Bounds checks on containers: files and messages are hostile.
    target_compile_definitions(sotto_flags INTERFACE $<BUILD_INTERFACE:_GLIBCXX_ASSERTIONS>)
    add_compile_options(-fstack-protector-strong -fstack-clash-protection -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
      add_compile_options(-fcf-protection=full)
    endif()
    add_link_options($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-pie> LINKER:-z,relro,-z,now,-z,noexecstack)
  endif()
endif()
if(SOTTO_EXTRA_INCLUDE)
  target_include_directories(sotto_flags SYSTEM INTERFACE $<BUILD_INTERFACE:${SOTTO_EXTRA_INCLUDE}>)
endif()

if(SOTTO_SANITIZE)
  add_compile_options(-fsanitize=${SOTTO_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SOTTO_SANITIZE})
endif()
if(SOTTO_COVERAGE)
  # -O1: lines stay apart, and the tests that train end within the hour.
  add_compile_options(--coverage -fprofile-update=atomic -O1 -g1)
  add_link_options(--coverage)
endif()
