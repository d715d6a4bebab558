#include "frontend/python/Failure.h"

#include <algorithm>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "executor/base/Checked.h"
#include "frontend/cli/Console.h"
#include "frontend/symbol/Render.h"

namespace nb = nanobind;

namespace lstmc::python {

Failure::Failure(const Error &error) : diagnostics_{asDiagnostic(error)} {}

/// Without the line end that a terminal wants.
static std::string textOf(const Diagnostics &diagnostics) {
  std::string text = symbol::render(diagnostics);
  while (text.ends_with('\n'))
    text.pop_back();
  return text;
}

static nb::object asPython(const Diagnostics &diagnostics) {
  auto first = std::ranges::find(diagnostics, Severity::Error, &Diagnostic::severity);
  const Diagnostic &error = first == diagnostics.end() ? diagnostics.front() : *first;
  std::vector<std::string> reasons;
  for (const Reason &reason : error.reasons)
    reasons.push_back(reason.text);
  const ErrorRecord &record = errorRecord(error.code);
  return nb::module_::import_("lstmc.error")
      .attr("Error")(textOf(diagnostics), std::string(record.name), error.message, error.place.file,
                     error.place.line, error.place.column, reasons, error.help, int(record.exit));
}

void warn(const Diagnostics &diagnostics) {
  for (const Diagnostic &diagnostic : diagnostics)
    nb::module_::import_("lstmc.error").attr("warn")(textOf({diagnostic}));
}

void addFailures(nb::module_ &) {
  nb::register_exception_translator([](const std::exception_ptr &thrown, void *) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Failure &failure) {
      nb::object error = asPython(failure.diagnostics());
      PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(error.ptr())), error.ptr());
    }
  });
}

} // namespace lstmc::python
