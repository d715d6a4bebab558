// A pass option of type double that keeps its digits.
#pragma once

#include <optional>

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

namespace lstmc::passes {

/// MLIR prints an option of type double with six digits, so a printed pipeline would differ from
/// the original. This prints the shortest text that reads back as the same number.
struct Real {
  Real(double value = 0) : value(value) {}
  operator double() const { return value; }
  double value;
};

llvm::raw_ostream &operator<<(llvm::raw_ostream &out, const Real &real);

/// nullopt if the text is not a finite number.
std::optional<Real> parseReal(llvm::StringRef text);

} // namespace lstmc::passes

template <>
class llvm::cl::parser<lstmc::passes::Real> : public llvm::cl::basic_parser<lstmc::passes::Real> {
public:
  explicit parser(Option &option) : basic_parser(option) {}
  bool parse(Option &option, StringRef, StringRef text, lstmc::passes::Real &to) {
    std::optional<lstmc::passes::Real> real = lstmc::passes::parseReal(text);
    if (!real)
      return option.error("'" + text + "' is no number");
    to = *real;
    return false;
  }
  StringRef getValueName() const override { return "number"; }
  void printOptionDiff(const Option &option, const lstmc::passes::Real &, const OptVal &,
                       size_t width) const {
    printOptionNoValue(option, width);
  }
};
