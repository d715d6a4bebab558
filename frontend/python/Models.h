// Networks compiled, packages and checkpoints opened: what the command does before it runs one.
#pragma once

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

#include "frontend/cli/Operand.h"
#include "frontend/python/Failure.h"
#include "frontend/python/Gil.h"
#include "frontend/python/Request.h"

namespace lstmc::python {

/// What that command asks of a network.
cli::ModelRequest requestOf(const std::string &command);

struct Compiled {
  cli::Model model;
  cli::Options options;
  cli::ModelRequest request; ///< what it was compiled for
  /// Parameters whose initialiser is not known, and its text: Python asks for their values.
  std::vector<std::pair<std::string, std::string>> unknown = {};
};

/// Calls of the compiler are made one after the other, whatever thread they are from: it changes
/// what the whole process does where there is no memory. Does not hold the GIL.
template <typename F> auto withCompiler(F call) {
  static std::mutex mutex;
  GilReleased released;
  std::lock_guard lock(mutex);
  return call();
}

/// [(entry, inputs, outputs)], each of them [(name, role, dtype, shape, names of dims)].
nanobind::list entriesOf(const package::PackageData &data);

void addModels(nanobind::module_ &module);

} // namespace lstmc::python
