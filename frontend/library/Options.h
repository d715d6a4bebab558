// Options of a caller, by name, as a request of the driver.
#pragma once

#include <optional>

#include "frontend/driver/Request.h"
#include "frontend/library/Told.h"
#include "frontend/symbol/Symbol.h"

namespace lstmc::library {

/// What is compiled: a source has shapes and values that options can change.
enum class Kind { Source, Built };

struct Options {
  driver::CompileRequest request;
  std::optional<symbol::Setting> initializer; ///< in place of the network's
};

/// E0001 for a name that is none, for a value that its flag does not take, and for fields that a
/// network of the program cannot have.
Checked<Options> optionsOf(const lstmc_option *options, size_t count, Kind kind,
                           const lstmc_place *place);

/// A call such as `Uniform(0.08)`, read by the language: E0214 at `origin` for another text.
Checked<symbol::Setting> initializerOf(std::string_view text, const symbol::Origin &origin);

} // namespace lstmc::library
