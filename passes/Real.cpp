#include "passes/Real.h"

#include <fmt/format.h>

#include "executor/base/ParseNumber.h"

namespace lstmc::passes {

llvm::raw_ostream &operator<<(llvm::raw_ostream &out, const Real &real) {
  return out << fmt::format("{}", real.value);
}

std::optional<Real> parseReal(llvm::StringRef text) {
  std::optional<double> number = parseFinite({text.data(), text.size()});
  return number ? std::optional<Real>(*number) : std::nullopt;
}

} // namespace lstmc::passes
