// What a job is asked for: plain structs, made from request.def. A function takes the smallest one
// that has what it reads.
#pragma once

#include "frontend/driver/FieldTypes.h"

namespace lstmc::driver {

#define LSTMC_FIELD(FIELD, NAME, LETTER, TYPE, ARGUMENT, DEFAULT, GROUP, HELP, COMMANDS)           \
  TYPE::Field FIELD = TYPE::initial(NAME, DEFAULT);

struct InputOptions {
#define LSTMC_INPUT LSTMC_FIELD
#include "frontend/driver/request.def"
};
struct DataOptions {
#define LSTMC_DATA LSTMC_FIELD
#include "frontend/driver/request.def"
};
struct LayoutOptions {
#define LSTMC_LAYOUT LSTMC_FIELD
#include "frontend/driver/request.def"
};
struct MachineOptions {
#define LSTMC_MACHINE LSTMC_FIELD
#include "frontend/driver/request.def"
};
struct MemoryOptions {
#define LSTMC_MEMORY LSTMC_FIELD
#include "frontend/driver/request.def"
};
struct NumericsOptions {
#define LSTMC_NUMERICS LSTMC_FIELD
#include "frontend/driver/request.def"
};
struct OptimizerOptions {
#define LSTMC_OPTIMIZER LSTMC_FIELD
#include "frontend/driver/request.def"
};
struct ProgramOptions {
#define LSTMC_PROGRAM LSTMC_FIELD
#include "frontend/driver/request.def"
};
struct RunOptions {
#define LSTMC_RUN LSTMC_FIELD
#include "frontend/driver/request.def"
};
struct LoopOptions {
#define LSTMC_LOOP LSTMC_FIELD
#include "frontend/driver/request.def"
};
struct OutputOptions {
#define LSTMC_OUTPUT LSTMC_FIELD
#include "frontend/driver/request.def"
};
struct ReportOptions {
#define LSTMC_REPORT LSTMC_FIELD
#include "frontend/driver/request.def"
};
#undef LSTMC_FIELD

/// A network into a package.
struct CompileRequest : InputOptions,
                        DataOptions,
                        LayoutOptions,
                        MachineOptions,
                        MemoryOptions,
                        NumericsOptions,
                        OptimizerOptions,
                        ProgramOptions {};

/// A network or a package in the memory of devices.
struct RunRequest : CompileRequest, RunOptions, ReportOptions {};

struct TrainRequest : RunRequest, LoopOptions, OutputOptions {};

} // namespace lstmc::driver
