// Errors on their way to Python, where they are lstmc.Error.
#pragma once

#include <exception>

#include <nanobind/nanobind.h>

#include "executor/base/Diagnostic.h"
#include "executor/base/Status.h"

namespace lstmc::python {

/// `__reduce__` of what pickle and copy.deepcopy refuse, with what to do instead.
[[noreturn]] inline nanobind::tuple refusePickle(nanobind::handle) {
  throw nanobind::type_error(
      "what is compiled is not pickled or copied: Package.save() and Session.save_params() write "
      "it and its weights, which lstmc.load() and session(params=..) read");
}

/// Thrown in this room alone: what the rooms below return becomes one of these, and nanobind turns
/// it into lstmc.Error with the text that the command prints.
class Failure : public std::exception {
public:
  explicit Failure(Diagnostics diagnostics) : diagnostics_(std::move(diagnostics)) {}
  explicit Failure(const Error &error);
  const char *what() const noexcept override { return "lstmc.Error"; }
  const Diagnostics &diagnostics() const { return diagnostics_; }

private:
  Diagnostics diagnostics_;
};

inline void check(const Status &status) {
  if (!status.ok())
    throw Failure(status.error());
}

template <typename T> T valueOf(Result<T> result) {
  if (!result.ok())
    throw Failure(result.error());
  return std::move(*result);
}

/// Shows diagnostics as Python's warnings. Holds the GIL.
void warn(const Diagnostics &diagnostics);

/// The value, its warnings shown. Holds the GIL.
template <typename T> T valueOf(Checked<T> checked) {
  if (!checked.ok())
    throw Failure(std::move(checked.diagnostics()));
  warn(checked.diagnostics());
  return std::move(*checked);
}

void addFailures(nanobind::module_ &module);

} // namespace lstmc::python
