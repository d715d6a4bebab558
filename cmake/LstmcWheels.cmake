# The extension for each of the interpreters in LSTMC_WHEELS ("python3.9;python3.12"): target wheels, which leaves a wheel for each in the
# folder wheels of the build, and target runtime_wheel, one without the compiler for all of them. All rooms but frontend/python are compiled once. MLIR and LLVM are linked statically, so that a wheel
# needs neither.
set(LSTMC_WHEELS "" CACHE STRING "interpreters of CPython to build wheels for")

# lstmc_wheel(INTERPRETER): the targets lstmc_core_TAG and wheel_TAG.
function(lstmc_wheel interpreter)
  execute_process(COMMAND ${interpreter} -c
      "import sys, sysconfig as s; print(s.get_path('include'), s.get_config_var('EXT_SUFFIX'), f'cp{sys.version_info[0]}{sys.version_info[1]}', sep=';')"
    OUTPUT_VARIABLE facts OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  list(GET facts 0 include)
  list(GET facts 1 suffix)
  list(GET facts 2 tag)
  get_filename_component(nanobind ${nanobind_DIR}/.. ABSOLUTE)
  get_target_property(sources lstmc_python SOURCES)
  get_target_property(friends lstmc_python LINK_LIBRARIES)
  list(REMOVE_ITEM friends nanobind-static)
  list(FILTER sources EXCLUDE REGEX cmake_pch)
  add_library(lstmc_core_${tag} MODULE EXCLUDE_FROM_ALL Module.cpp ${sources} ${nanobind}/src/nb_combined.cpp)
  target_include_directories(lstmc_core_${tag} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  target_include_directories(lstmc_core_${tag} SYSTEM PRIVATE ${include} ${nanobind}/include ${nanobind}/ext/robin_map/include)
  target_link_libraries(lstmc_core_${tag} PRIVATE ${friends})
  target_precompile_headers(lstmc_core_${tag} PRIVATE <nanobind/nanobind.h> <frontend/cli/Operand.h>)
  set_source_files_properties(${nanobind}/src/nb_combined.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS "-fno-strict-aliasing;-w")
  target_link_options(lstmc_core_${tag} PRIVATE -Wl,--exclude-libs,ALL -Wl,--gc-sections -s)
  set_target_properties(lstmc_core_${tag} PROPERTIES PREFIX "" OUTPUT_NAME _core SUFFIX ${suffix} LSTMC_STATIC_LLVM ON CXX_VISIBILITY_PRESET hidden
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/wheels/${tag})
  add_custom_target(wheel_${tag}
    COMMAND ${LSTMC_PYTHON_TESTER} ${PROJECT_SOURCE_DIR}/frontend/python/wheel.py ${tag}-${tag} $<TARGET_FILE:lstmc_core_${tag}>
            ${PROJECT_BINARY_DIR}/python/lstmc ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/wheels
    DEPENDS lstmc_core_${tag} lstmc_python_package VERBATIM)
  add_dependencies(wheels wheel_${tag})
endfunction()

add_custom_target(runtime_wheel
  COMMAND ${LSTMC_PYTHON_TESTER} ${PROJECT_SOURCE_DIR}/frontend/python/wheel.py py3-none $<TARGET_LINKER_FILE:lstmc_c>
          ${PROJECT_SOURCE_DIR}/executor/python/lstmc_runtime ${PROJECT_SOURCE_DIR}/executor/python ${PROJECT_BINARY_DIR}/wheels
  DEPENDS lstmc_c VERBATIM)
if(LSTMC_WHEELS AND LSTMC_PYTHON_BUILT)
  add_custom_target(wheels DEPENDS runtime_wheel)
  foreach(interpreter ${LSTMC_WHEELS})
    lstmc_wheel(${interpreter})
  endforeach()
endif()
