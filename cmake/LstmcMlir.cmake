# MLIR/LLVM 19 from the distribution, linked as one shared library each, or into a target of property LSTMC_STATIC_LLVM from the archives.
set(HAVE_FFI_CALL OFF) # else LLVM's FindFFI compiles C where CMAKE_C_COMPILER is given, before that language is enabled
find_package(MLIR 19.1 CONFIG HINTS /usr/lib/llvm-19/lib/cmake/mlir)
if(NOT MLIR_FOUND)
  foreach(version config IN ZIP_LISTS MLIR_CONSIDERED_VERSIONS MLIR_CONSIDERED_CONFIGS)
    string(APPEND others ", not ${version} of ${config}")
  endforeach()
  message(FATAL_ERROR "lstmc needs MLIR and LLVM 19.1${others}.\n"
    "Debian: apt-get install llvm-19-dev libmlir-19-dev mlir-19-tools. In a prefix: -D MLIR_DIR=PREFIX/lib/cmake/mlir.\n"
    "The runtime half needs neither: cmake --preset runtime.")
endif()
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

add_library(lstmc_mlir INTERFACE)
target_include_directories(lstmc_mlir SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
# Not the archives' own targets, which would also link the shared LLVM. The linker selects what is needed, in any order.
file(GLOB archives ${LLVM_LIBRARY_DIRS}/libMLIR*.a ${LLVM_LIBRARY_DIRS}/libLLVM*.a)
set(static $<BOOL:$<TARGET_PROPERTY:LSTMC_STATIC_LLVM>>)
add_library(lstmc_llvm INTERFACE)
target_link_libraries(lstmc_llvm INTERFACE "$<$<NOT:${static}>:LLVM>"
  "$<${static}:-Wl,--start-group;${archives};-Wl,--end-group;ZLIB::ZLIB>")
target_link_libraries(lstmc_mlir INTERFACE "$<$<NOT:${static}>:MLIR>" lstmc_llvm)
# MLIR's templates take their time to optimise. With -O2 a network of 10^5 parameters compiles in 3 % less time than with -O1.
target_compile_options(lstmc_mlir INTERFACE $<$<CONFIG:Release>:-O2>)

# lstmc_sees_graph(TARGET...): takes over the precompiled header of ir/sym, in tests too, and so its -fPIC.
function(lstmc_sees_graph)
  foreach(target ${ARGN})
    target_compile_options(${target} PRIVATE -fPIC)
    target_precompile_headers(${target} REUSE_FROM lstmc_sym)
  endforeach()
endfunction()

# lstmc_tablegen(TARGET FILE.td OUTPUT "generator flags" ...): pairs of output and flags.
function(lstmc_tablegen target td)
  set(LLVM_TARGET_DEFINITIONS ${td})
  set(args ${ARGN})
  list(LENGTH args n)
  math(EXPR last "${n} - 1")
  foreach(i RANGE 0 ${last} 2)
    math(EXPR j "${i} + 1")
    list(GET args ${i} out)
    list(GET args ${j} flags)
    separate_arguments(flags)
    mlir_tablegen(${out} ${flags} EXTRA_INCLUDES ${PROJECT_SOURCE_DIR} ${MLIR_INCLUDE_DIRS})
  endforeach()
  add_public_tablegen_target(${target})
endfunction()

# lstmc_docs(NAME FILE.td FLAG...): a page of the reference, docs/NAME.md in the build folder, made by the target docs (part of all).
function(lstmc_docs name td)
  if(NOT PROJECT_IS_TOP_LEVEL) # a project around this one may have a target docs of its own
    return()
  endif()
  if(NOT TARGET docs)
    add_custom_target(docs ALL)
  endif()
  set(page ${PROJECT_BINARY_DIR}/docs/${name}.md)
  add_custom_command(OUTPUT ${page}
    COMMAND ${MLIR_TABLEGEN_EXE} ${ARGN} -I ${MLIR_INCLUDE_DIRS} -I ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/${td}
            -o ${page}
    DEPENDS ${td})
  add_custom_target(docs-${name} DEPENDS ${page})
  add_dependencies(docs docs-${name})
endfunction()
