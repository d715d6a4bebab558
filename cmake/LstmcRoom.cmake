# One static library per room: lstmc_room(NAME SOURCES ... FRIENDS ...).
# FRIENDS is the whole list of rooms and libraries the room may include.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Equal bits: contraction is written out with fma, never left to the compiler (docs/numerics.md rule 11).
add_compile_options(-Wall -Wextra -Wno-unused-parameter -ffp-contract=off)
# A large frame touches each of its pages in order, so that on a small stack it faults and never skips the guard page.
add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-fstack-clash-protection>)
# For folders whose code runs on a thread of the caller, whose stack may be small: kernels and the runtime half keep at most
# 16 KiB in a frame, or do not compile. Sanitizers put more there than the code does.
macro(lstmc_small_frames)
  if(LSTMC_SANITIZE)
  elseif(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-Wframe-larger-than=16384>
      $<$<COMPILE_LANGUAGE:C,CXX>:-Werror=frame-larger-than>)
  else()
    add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-Werror=frame-larger-than=16384>)
  endif()
endmacro()
option(LSTMC_WERROR "take warnings of the compiler as errors; ./dev test does" OFF)
if(LSTMC_WERROR)
  # Deprecations in other versions of libraries stay warnings; clang 19 reports one in libstdc++'s std::stable_sort.
  add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-Werror> $<$<COMPILE_LANGUAGE:C,CXX>:-Wno-error=deprecated-declarations>)
endif()

set(LSTMC_SANITIZE "" CACHE STRING "sanitizers, as for -fsanitize=")
if(LSTMC_SANITIZE)
  add_compile_options(-fsanitize=${LSTMC_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${LSTMC_SANITIZE})
endif()

find_program(LSTMC_CCACHE ccache)
if(LSTMC_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${PROJECT_SOURCE_DIR}/cmake/compile.sh ${LSTMC_CCACHE})
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>"
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-missing-designated-field-initializers>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # Hints to unroll are clang's, and fields left out of designated initialisers are meant. The others are false alarms of
  # g++ 12: on values that AVX-512 intrinsics leave undefined on purpose, on std::optional, and on std::string where a length
  # cannot be negative.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-unknown-pragmas>
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-missing-field-initializers>
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized> $<$<COMPILE_LANGUAGE:CXX>:-Wno-uninitialized>
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  find_program(LSTMC_LLD ld.lld-19)
  if(LSTMC_LLD)
    add_link_options($<$<LINK_LANGUAGE:CXX>:--ld-path=${LSTMC_LLD}>)
  endif()
endif()

function(lstmc_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;FRIENDS" ${ARGN})
  add_library(${name} STATIC ${ROOM_SOURCES})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  target_link_libraries(${name} PUBLIC ${ROOM_FRIENDS})
endfunction()

# LSTMC_SOURCE_DIR for the sources that read files of the checkout. A definition for all of a target would keep another
# checkout from finding its objects in ccache.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/cmake/SourceFolder.h CONTENT "#pragma once
/// The checkout that this build was configured in.
#define LSTMC_SOURCE_DIR \"${PROJECT_SOURCE_DIR}\"
")

# Tests are labelled with the room that their folder follows: those of tests/executor/session with executor/session. Tests
# added by add_test() get their label at the end of the folder.
macro(lstmc_test_label variable)
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/tests OUTPUT_VARIABLE ${variable})
endmacro()
function(lstmc_label_tests)
  lstmc_test_label(room)
  get_property(tests DIRECTORY PROPERTY TESTS)
  set_property(TEST ${tests} PROPERTY LABELS ${room})
endfunction()

# lstmc_test(NAME SOURCES ... FRIENDS ...): a GoogleTest program, one ctest entry per TEST. Where LSTMC_TEST_HEADERS names a
# library, its precompiled header is taken over, and nothing is optimised: such a test is compiled more often than it runs.
include(GoogleTest)
function(lstmc_test name)
  cmake_parse_arguments(T "" "TIMEOUT" "SOURCES;FRIENDS" ${ARGN})
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 300)
  endif()
  add_executable(${name} ${T_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  target_link_libraries(${name} PRIVATE ${T_FRIENDS} GTest::gtest_main)
  if(LSTMC_TEST_HEADERS)
    target_compile_options(${name} PRIVATE -fPIC -O0)
    target_precompile_headers(${name} REUSE_FROM ${LSTMC_TEST_HEADERS})
  endif()
  lstmc_test_label(room)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT ${T_TIMEOUT} LABELS ${room})
endfunction()
