// lstmc._core: what the Python files of the package are made of.
#include <nanobind/nanobind.h>

#include "frontend/python/Data.h"
#include "frontend/python/Drawing.h"
#include "frontend/python/Failure.h"
#include "frontend/python/Models.h"
#include "frontend/python/MxnetFiles.h"
#include "frontend/python/Operators.h"
#include "frontend/python/Pictures.h"
#include "frontend/python/Request.h"
#include "frontend/python/Sessions.h"
#include "frontend/python/Training.h"

NB_MODULE(_core, module) {
  using namespace lstmc::python;
  // Modules of the package keep programs until the interpreter ends.
  nanobind::set_leak_warnings(false);
  module.attr("__version__") = LSTMC_VERSION;
  addFailures(module);
  addOperators(module);
  addDrawings(module);
  addRequests(module);
  addModels(module);
  addMxnetFiles(module);
  addSessions(module);
  addData(module);
  addTraining(module);
  addPictures(module);
}
