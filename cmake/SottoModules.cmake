# sotto_module(NAME [TORCH] [TOGETHER n] LINKS ... [WITHOUT places] [HEADERS ...]): the static library sotto_NAME from
# src/NAME/**.cpp, less the folders and files (without .cpp) named.
# TOGETHER: that many files are compiled as one, which halves a cold build: every file that sees torch pays 3.5 s for
# what torch's headers instantiate, before its own first line. Names in unnamed namespaces must then differ.
# Only TORCH modules see torch headers; they share one precompiled header, unless they name more HEADERS for their own.

function(sotto_module name)
  cmake_parse_arguments(ARG "TORCH" "TOGETHER" "LINKS;WITHOUT;HEADERS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cpp)
  foreach(left_out ${ARG_WITHOUT})
    list(FILTER sources EXCLUDE REGEX "/src/${name}/${left_out}(/|\\.cpp$)")
  endforeach()
  if(NOT sources)
    return()
  endif()
  add_library(sotto_${name} STATIC ${sources})
  # Files named *_kernels.cpp hold nothing but vector loops over finite numbers. They include headers of plain
  # declarations only: the linker may keep their copy of an inline function for everybody.
  set(kernels ${sources})
  list(FILTER kernels INCLUDE REGEX "_kernels\\.cpp$")
  set_source_files_properties(${kernels} PROPERTIES COMPILE_OPTIONS "-O3;-ffast-math" SKIP_PRECOMPILE_HEADERS ON)
  target_link_libraries(sotto_${name} PUBLIC ${ARG_LINKS})
  if(ARG_TOGETHER AND SOTTO_TOGETHER)
    set_target_properties(sotto_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${ARG_TOGETHER})
    # Of a type in an unnamed namespace as a member: no other file sees that either.
    target_compile_options(sotto_${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
  if(ARG_TORCH)
    sotto_use_torch(sotto_${name} ${ARG_HEADERS})
  elseif(SOTTO_PLAIN_PCH)
    sotto_use_plain_pch(sotto_${name})
  endif()
endfunction()

set(SOTTO_COMMON_HEADERS <algorithm> <array> <cmath> <filesystem> <functional> <memory> <optional> <span> <string>
  <string_view> <unordered_map> <variant> <vector> <fmt/format.h> <tl/expected.hpp>)

# Headers that nearly every file of the modules without torch includes: a third of a cold build. Lint builds without
# it, so that every file still names what it uses.
function(sotto_use_plain_pch target)
  if(NOT TARGET sotto_plain_pch)
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/plain_pch.cpp CONTENT "")
    add_library(sotto_plain_pch STATIC ${CMAKE_BINARY_DIR}/plain_pch.cpp)
    target_link_libraries(sotto_plain_pch PUBLIC ${SOTTO_BASE_LIBRARIES})
    target_precompile_headers(sotto_plain_pch PRIVATE ${SOTTO_COMMON_HEADERS})
  endif()
  target_precompile_headers(${target} REUSE_FROM sotto_plain_pch)
endfunction()

function(sotto_use_torch target)
  target_link_libraries(${target} PUBLIC ${TORCH_LIBRARIES})
  target_include_directories(${target} SYSTEM PUBLIC ${TORCH_INCLUDE_DIRS})
  # Before torch's headers, which bring an fmt of their own.
  target_include_directories(${target} SYSTEM BEFORE PUBLIC ${SOTTO_EXTRA_INCLUDE})
  if(NOT TARGET sotto_torch_pch)
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/torch_pch.cpp CONTENT "")
    add_library(sotto_torch_pch STATIC ${CMAKE_BINARY_DIR}/torch_pch.cpp)
    target_link_libraries(sotto_torch_pch PUBLIC sotto_flags ${TORCH_LIBRARIES})
    target_include_directories(sotto_torch_pch SYSTEM PUBLIC ${TORCH_INCLUDE_DIRS})
    target_include_directories(sotto_torch_pch SYSTEM BEFORE PUBLIC ${SOTTO_EXTRA_INCLUDE})
    target_precompile_headers(sotto_torch_pch PRIVATE <model/tensor.h> ${SOTTO_COMMON_HEADERS})
  endif()
  if(ARGN)
    target_precompile_headers(${target} PRIVATE <model/tensor.h> ${SOTTO_COMMON_HEADERS} ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM sotto_torch_pch)
  endif()
endfunction()

# sotto_wire(): the target sotto_wire, whose includes are "proto/NAME_generated.h" for every proto/NAME.fbs.
function(sotto_wire)
  file(GLOB schemas CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/proto/*.fbs)
  set(folder ${CMAKE_BINARY_DIR}/wire/proto)
  foreach(schema ${schemas})
    get_filename_component(name ${schema} NAME_WE)
    add_custom_command(OUTPUT ${folder}/${name}_generated.h
      COMMAND ${SOTTO_FLATC} --cpp --cpp-std c++17 --scoped-enums --gen-object-api -o ${folder} ${schema}
      DEPENDS ${schema} COMMENT "Compiling proto/${name}.fbs")
    list(APPEND headers ${folder}/${name}_generated.h)
  endforeach()
  add_custom_target(sotto_wire_headers DEPENDS ${headers})
  add_library(sotto_wire INTERFACE)
  add_dependencies(sotto_wire sotto_wire_headers)
  target_include_directories(sotto_wire SYSTEM INTERFACE $<BUILD_INTERFACE:${CMAKE_BINARY_DIR}/wire>
    $<BUILD_INTERFACE:${SOTTO_FLATBUFFERS_INCLUDE}>)
endfunction()

# sotto_embed(TARGET FOLDER): the files of the folder become part of the target (src/pages/embedded_files.h), as bytes
# that the assembler takes in: no generated text, and no program but the compiler.
function(sotto_embed target folder)
  file(GLOB files CONFIGURE_DEPENDS ${folder}/*)
  set(places "")
  set(table "")
  set(index 0)
  foreach(file ${files})
    get_filename_component(name ${file} NAME)
    string(APPEND places "asm(\".section .rodata\\n.global sotto_file_${index}, sotto_file_end_${index}\\n"
      "sotto_file_${index}: .incbin \\\"${file}\\\"\\nsotto_file_end_${index}: .byte 0\\n.previous\\n\");\n"
      "extern const char sotto_file_${index}[], sotto_file_end_${index}[];\n")
    string(APPEND table
      "      {\"${name}\", {sotto_file_${index}, static_cast<std::size_t>(sotto_file_end_${index} - sotto_file_${index})}},\n")
    math(EXPR index "${index} + 1")
  endforeach()
  set(source ${CMAKE_BINARY_DIR}/embedded_files.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "#include \"pages/embedded_files.h\"

extern \"C\" {
${places}}

namespace sotto::pages {
std::span<const EmbeddedFile> embedded_files() {
  static const EmbeddedFile files[] = {
${table}  };
  return files;
}
}  // namespace sotto::pages
" @ONLY)
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS "${files}" SKIP_PRECOMPILE_HEADERS ON)
  target_sources(${target} PRIVATE ${source})
endfunction()
