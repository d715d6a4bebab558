# Run at each build: writes BuildId.h where the commit is another one than before.
execute_process(COMMAND git rev-parse --short HEAD WORKING_DIRECTORY ${SOURCE}
                OUTPUT_VARIABLE LSTMC_BUILD_ID OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT LSTMC_BUILD_ID)
  set(LSTMC_BUILD_ID "no commit")
endif()
configure_file(${SOURCE}/BuildId.h.in ${HEADER})
