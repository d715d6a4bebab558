# cmake -D RUN=lstmc-run -D PAGE=FILE -D VERSION=V -P LstmcRunPage.cmake: the manual page of lstmc-run, which is its help.
execute_process(COMMAND ${RUN} --help OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\\" "\\e" help "${help}")
string(REPLACE "-" "\\-" help "${help}")
string(REGEX REPLACE "\n([.'])" "\n\\\\&\\1" help "${help}")
file(WRITE ${PAGE} ".TH LSTMC\\-RUN 1 \"\" \"lstmc ${VERSION}\"
.SH NAME
lstmc\\-run \\- runs networks that lstmc compiled
.SH DESCRIPTION
.nf
${help}.fi
.SH SEE ALSO
.BR lstmc (1)
")
