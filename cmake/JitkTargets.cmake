# The functions that make every target of the project, so that warnings, sanitizers, the precompiled header and
# labels are set in one place:
#
#   jitk_library(name SOURCES ... [DEPENDS ...])            a room of libjitk: no LLVM
#   jitk_compiler_library(name SOURCES ... [DEPENDS ...])   a room of libjitk-compiler: MLIR, the shared PCH
#   jitk_shared_library(name OUTPUT file SOURCES ... EXPORTS script [DEPENDS ...])   lib<file>.so, which exports what the
#                                                           script says; target jitk_<name>, alias jitk::<name>
#   jitk_tool(name SOURCES ... [DEPENDS ...])               a program
#   jitk_unit_test(name SOURCES ... [DEPENDS ...] [LABELS ...])   a doctest program, registered with CTest
#   jitk_capi_test(name SOURCES ... | PROGRAM test [ARGS ...] [LIBRARY target])   a program that sees include/jitk and
#                                                           libjitk.so (or another library) only; or another run of one
#   jitk_lit_suite(name DIRECTORY dir [DEPENDS ...])        a folder of lit tests

find_program(JITK_CCACHE ccache)
if(JITK_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Lets ccache see through the precompiled header and relocate paths between checkouts.
  set(jitk_launcher ${CMAKE_COMMAND} -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${JITK_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${jitk_launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${jitk_launcher})
endif()

find_package(Threads REQUIRED)

if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  find_program(JITK_LLD NAMES ld.lld-22 ld.lld)
  if(JITK_LLD)
    add_link_options(--ld-path=${JITK_LLD})
    # LLVM's package names libraries (Z3, libxml2) of which a static link uses nothing.
    add_link_options(-Wl,--as-needed)
  endif()
  set(CMAKE_PCH_INSTANTIATE_TEMPLATES ON)
endif()

set(jitk_warnings -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wno-unused-parameter)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # GCC 12 sees overlapping copies in std::string's operator+, where there are none.
  list(APPEND jitk_warnings -Wno-restrict)
endif()
if(JITK_WERROR)
  list(APPEND jitk_warnings -Werror)
endif()

function(jitk_configure_target target)
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:${jitk_warnings}>"
    "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:SHELL:-Xclang -fno-pch-timestamp>"
    -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=
    # Not CMake's property, which gives programs -fPIE: the precompiled header serves libraries and programs alike.
    -fPIC)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
  # What is generated trips warnings that our own code must not.
  target_include_directories(${target} SYSTEM PRIVATE ${PROJECT_BINARY_DIR})
  if(JITK_ASSERTIONS)
    target_compile_definitions(${target} PRIVATE JITK_ASSERTIONS=1)
  endif()
  if(JITK_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${JITK_SANITIZE} -fno-omit-frame-pointer
      -fno-sanitize-recover=all)
    target_link_options(${target} PRIVATE -fsanitize=${JITK_SANITIZE})
  endif()
endfunction()

function(jitk_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS")
  add_library(jitk_${name} STATIC ${arg_SOURCES})
  add_library(jitk::${name} ALIAS jitk_${name})
  jitk_configure_target(jitk_${name})
  target_link_libraries(jitk_${name} PUBLIC ${arg_DEPENDS} Threads::Threads)
endfunction()

function(jitk_compiler_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS;GENERATED")
  add_library(jitk_${name} STATIC ${arg_SOURCES})
  add_library(jitk::${name} ALIAS jitk_${name})
  jitk_configure_target(jitk_${name})
  jitk_use_mlir(jitk_${name})
  target_link_libraries(jitk_${name} PUBLIC ${arg_DEPENDS} Threads::Threads)
  if(TARGET jitk_dialects_inc)
    add_dependencies(jitk_${name} jitk_dialects_inc)
  endif()
endfunction()

# A shared library has all symbols that it uses, but for those of a sanitizer, which the program brings.
function(jitk_require_definitions target)
  if(NOT JITK_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
endfunction()

# Nothing takes the library or its statics from under threads that are in it: src/support/NoStaticDestructors.cpp.
function(jitk_keep_statics target)
  target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src/support/NoStaticDestructors.cpp)
  target_link_options(${target} PRIVATE -Wl,-z,nodelete)
endfunction()

function(jitk_shared_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "MLIR" "OUTPUT;EXPORTS" "SOURCES;DEPENDS")
  set(target jitk_${name})
  add_library(${target} SHARED ${arg_SOURCES})
  add_library(jitk::${name} ALIAS ${target})
  jitk_configure_target(${target})
  jitk_keep_statics(${target})
  if(arg_MLIR)
    jitk_use_mlir(${target})
    add_dependencies(${target} jitk_dialects_inc)
  endif()
  target_link_libraries(${target} PRIVATE ${arg_DEPENDS} Threads::Threads)
  target_link_options(${target} PRIVATE -Wl,--version-script=${arg_EXPORTS} -Wl,--gc-sections)
  jitk_require_definitions(${target})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${arg_OUTPUT} LINK_DEPENDS ${arg_EXPORTS})
endfunction()

function(jitk_tool name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "MLIR" "" "SOURCES;DEPENDS")
  add_executable(${name} ${arg_SOURCES})
  jitk_configure_target(${name})
  if(arg_MLIR)
    jitk_use_mlir(${name})
    add_dependencies(${name} jitk_dialects_inc)
  endif()
  target_link_libraries(${name} PRIVATE ${arg_DEPENDS} Threads::Threads)
endfunction()

function(jitk_unit_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "MLIR" "" "SOURCES;DEPENDS;LABELS;ARGS")
  add_executable(${name} ${arg_SOURCES} ${PROJECT_SOURCE_DIR}/tests/support/DoctestMain.cpp)
  jitk_configure_target(${name})
  target_compile_options(${name} PRIVATE "SHELL:-include ${PROJECT_SOURCE_DIR}/tests/support/TextInMessages.h")
  if(arg_MLIR)
    jitk_use_mlir(${name})
    add_dependencies(${name} jitk_dialects_inc)
  endif()
  target_link_libraries(${name} PRIVATE ${arg_DEPENDS} Threads::Threads)
  add_test(NAME ${name} COMMAND ${name} ${arg_ARGS})
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  # A doctest program that ran nothing must not pass.
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" FAIL_REGULAR_EXPRESSION "test cases: +0 ")
endfunction()

function(jitk_capi_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PROGRAM;LIBRARY" "SOURCES;ARGS")
  if(NOT arg_LIBRARY)
    set(arg_LIBRARY jitk::jitk)
  endif()
  if(arg_SOURCES)
    add_executable(${name} ${arg_SOURCES})
    set(arg_PROGRAM ${name})
    # The public header must be clean for the strictest user.
    set_target_properties(${name} PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF CXX_STANDARD 17)
    target_compile_options(${name} PRIVATE -Wall -Wextra -Wshadow -pedantic -Werror)
    target_compile_definitions(${name} PRIVATE _POSIX_C_SOURCE=200809L
      JITK_STUB_COMPILER="$<TARGET_FILE:jitk_stub_compiler>")
    target_link_libraries(${name} PRIVATE ${arg_LIBRARY})
    add_dependencies(${name} jitk_stub_compiler)
    if(JITK_SANITIZE)
      target_compile_options(${name} PRIVATE -fsanitize=${JITK_SANITIZE})
      target_link_options(${name} PRIVATE -fsanitize=${JITK_SANITIZE})
    endif()
  endif()
  add_test(NAME ${name} COMMAND ${arg_PROGRAM} ${arg_ARGS})
  set_tests_properties(${name} PROPERTIES LABELS capi)
endfunction()

function(jitk_lit_suite name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "DIRECTORY" "DEPENDS")
  find_program(JITK_LIT NAMES lit llvm-lit HINTS ${LLVM_TOOLS_BINARY_DIR} REQUIRED)
  configure_file(${PROJECT_SOURCE_DIR}/tests/ir/lit.site.cfg.py.in ${CMAKE_CURRENT_BINARY_DIR}/${name}/lit.site.cfg.py @ONLY)
  add_test(NAME ${name} COMMAND ${JITK_LIT} -v ${CMAKE_CURRENT_BINARY_DIR}/${name})
  set_tests_properties(${name} PROPERTIES LABELS lit)
endfunction()
