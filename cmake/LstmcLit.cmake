# lstmc_lit(NAME): the .mlir tests of the current folder, as one ctest entry.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
find_file(LSTMC_LIT lit.py PATHS ${LLVM_INSTALL_PREFIX}/build/utils/lit ${LLVM_LIBRARY_DIRS}/../build/utils/lit REQUIRED)
find_program(LSTMC_FILECHECK FileCheck HINTS ${LLVM_TOOLS_BINARY_DIR} NO_DEFAULT_PATH REQUIRED)

function(lstmc_lit name)
  add_test(NAME ${name}
    COMMAND ${Python3_EXECUTABLE} ${LSTMC_LIT} -v -j 2 --param opt=$<TARGET_FILE:lstmc-opt-test>
            --param filecheck=${LSTMC_FILECHECK} --param exec_root=${CMAKE_CURRENT_BINARY_DIR}/lit
            ${CMAKE_CURRENT_SOURCE_DIR})
  lstmc_test_label(room)
  set_tests_properties(${name} PROPERTIES TIMEOUT 300 LABELS ${room})
endfunction()
