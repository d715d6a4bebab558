# Installation rules and Debian packages. Components: `runtime` for deployments, `compiler` with the command, `ranks` for
# several processes.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# lstmc_completions(PROGRAM COMPONENT WORD...): installs the shell completions that `PROGRAM WORD... --completion SHELL` writes.
function(lstmc_completions program component)
  set(scripts)
  foreach(shell bash zsh fish)
    set(script ${PROJECT_BINARY_DIR}/${program}.${shell})
    add_custom_command(OUTPUT ${script} COMMAND ${program} ${ARGN} --completion ${shell} >${script} DEPENDS ${program})
    list(APPEND scripts ${script})
  endforeach()
  add_custom_target(${program}_completions ALL DEPENDS ${scripts})
  set(base ${PROJECT_BINARY_DIR}/${program})
  install(FILES ${base}.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME ${program} COMPONENT ${component})
  install(FILES ${base}.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT ${component})
  # Debian's zsh looks in site-functions below /usr/local only.
  install(CODE "
    set(folder site-functions)
    if(CMAKE_INSTALL_PREFIX MATCHES \"/usr$\")
      set(folder vendor-completions)
    endif()
    file(INSTALL \"${base}.zsh\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/zsh/\${folder}\" RENAME _${program})"
    COMPONENT ${component})
endfunction()

# The licence, in the place that Debian's policy names for each package.
set(debian_packages runtime lstmc-runtime compiler lstmc ranks lstmc-ranks)
while(debian_packages)
  list(POP_FRONT debian_packages component package)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/${package} RENAME copyright COMPONENT ${component})
endwhile()

install(TARGETS lstmc_c EXPORT lstmcTargets COMPONENT runtime
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT runtime)
install(TARGETS lstmc-run DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
set(run_page ${PROJECT_BINARY_DIR}/lstmc-run.1)
add_custom_command(OUTPUT ${run_page} DEPENDS lstmc-run ${CMAKE_CURRENT_LIST_DIR}/LstmcRunPage.cmake VERBATIM
  COMMAND ${CMAKE_COMMAND} -D RUN=$<TARGET_FILE:lstmc-run> -D PAGE=${run_page} -D VERSION=${PROJECT_VERSION} -P ${CMAKE_CURRENT_LIST_DIR}/LstmcRunPage.cmake)
add_custom_target(lstmc_run_page ALL DEPENDS ${run_page})
install(FILES ${run_page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT runtime)
lstmc_completions(lstmc-run runtime)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/executor/c/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT runtime)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/lstmc)
install(EXPORT lstmcTargets NAMESPACE lstmc:: DESTINATION ${package_folder} COMPONENT runtime)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/lstmcConfig.cmake.in ${PROJECT_BINARY_DIR}/lstmcConfig.cmake
  INSTALL_DESTINATION ${package_folder})
# Before 1.0 a minor version may change anything.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/lstmcConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/lstmcConfig.cmake ${PROJECT_BINARY_DIR}/lstmcConfigVersion.cmake
  DESTINATION ${package_folder} COMPONENT runtime)
file(RELATIVE_PATH LSTMC_PC_TO_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(${CMAKE_CURRENT_LIST_DIR}/lstmc.pc.in ${PROJECT_BINARY_DIR}/lstmc.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/lstmc.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT runtime)

if(LSTMC_COMPILER)
  # libMLIR is in a folder of its own.
  set_target_properties(lstmc PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS lstmc DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT compiler)
  install(TARGETS lstmc_compiler EXPORT lstmcCompilerTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT compiler NAMELINK_COMPONENT compiler)
  install(EXPORT lstmcCompilerTargets NAMESPACE lstmc:: DESTINATION ${package_folder} COMPONENT compiler)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/frontend/library/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT compiler)
  install(FILES ${LSTMC_MADE_HEADERS} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lstmc COMPONENT compiler)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/lstmc-compiler.pc.in ${PROJECT_BINARY_DIR}/lstmc-compiler.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/lstmc-compiler.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT compiler)
  if(TARGET lstmc-mpi)
    install(TARGETS lstmc-mpi LIBRARY DESTINATION lib/lstmc COMPONENT ranks)
  endif()
  set(man ${PROJECT_BINARY_DIR}/lstmc.1)
  add_custom_command(OUTPUT ${man} COMMAND lstmc help --man >${man} DEPENDS lstmc)
  add_custom_target(lstmc_pages ALL DEPENDS ${man})
  install(FILES ${man} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT compiler)
  lstmc_completions(lstmc compiler help)
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "the lstmc authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "compiler and runtime for stacked LSTMs")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_COMPONENTS_ALL runtime)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME lstmc-runtime)
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "runs networks that lstmc compiled: lstmc-run, liblstmc and its headers for C and C++")
if(LSTMC_COMPILER)
  list(APPEND CPACK_COMPONENTS_ALL compiler)
  set(CPACK_DEBIAN_COMPILER_PACKAGE_NAME lstmc)
  # The headers of the runtime and the CMake package are in its package. Graphviz and the library of ranks are optional for the
  # command.
  set(CPACK_DEBIAN_COMPILER_PACKAGE_DEPENDS "lstmc-runtime (= ${PROJECT_VERSION})")
  set(CPACK_DEBIAN_COMPILER_PACKAGE_RECOMMENDS "lstmc-ranks (= ${PROJECT_VERSION}), graphviz")
  set(CPACK_DEBIAN_COMPILER_DESCRIPTION "compiles, trains and draws stacked LSTMs: the command lstmc")
endif()
if(TARGET lstmc-mpi AND LSTMC_COMPILER)
  list(APPEND CPACK_COMPONENTS_ALL ranks)
  set(CPACK_DEBIAN_RANKS_PACKAGE_NAME lstmc-ranks)
  set(CPACK_DEBIAN_RANKS_PACKAGE_DEPENDS "lstmc (= ${PROJECT_VERSION}), openmpi-bin") # for mpirun
  set(CPACK_DEBIAN_RANKS_DESCRIPTION "lets lstmc work as several processes: its library for Open MPI")
endif()
include(CPack)
