# lstmc_headers(TARGET HEADER PACKAGE): a library that is headers alone, by one of them; PACKAGE is Debian's name for it. Some such libraries
# come without a description for CMake, others with one that links what the headers already have.
function(lstmc_headers target header package)
  find_path(${target}_HEADERS ${header})
  if(NOT ${target}_HEADERS)
    message(FATAL_ERROR "lstmc needs ${header} (Debian: apt-get install ${package}). In a prefix: -D CMAKE_PREFIX_PATH=PREFIX.")
  endif()
  add_library(${target} INTERFACE)
  target_include_directories(${target} SYSTEM INTERFACE ${${target}_HEADERS})
endfunction()
