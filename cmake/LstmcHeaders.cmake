# lstmc_headers(TARGET HEADER PACKAGE): a target for a header-only library that provides HEADER; PACKAGE is its Debian
# package. Some of these libraries have no CMake package, others have one that links what the headers already contain.
function(lstmc_headers target header package)
  find_path(${target}_HEADERS ${header})
  if(NOT ${target}_HEADERS)
    message(FATAL_ERROR "lstmc needs ${header} (Debian: apt-get install ${package}). In a prefix: -D CMAKE_PREFIX_PATH=PREFIX.")
  endif()
  add_library(${target} INTERFACE)
  target_include_directories(${target} SYSTEM INTERFACE ${${target}_HEADERS})
endfunction()
