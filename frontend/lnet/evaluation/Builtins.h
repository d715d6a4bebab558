// The functions that files know without defining them. Each part of the language brings its own
// table of them.
#pragma once

#include <functional>

#include "frontend/lnet/evaluation/Arguments.h"

namespace lstmc::lnet {

/// A row of the table of a part.
template <typename Part> struct BuiltinRow {
  std::string_view name;
  Value (Part::*run)(Arguments &);
  bool internal = false; ///< known in layers.lnet only
};

/// A function, bound to the part that has it.
struct Builtin {
  std::string_view name;
  std::function<Value(Arguments &)> run;
  bool internal;
};

/// All functions of one run. A value of kind Builtin points here, so they are added before the run
/// begins.
class Builtins {
public:
  /// Adds what `Part::functions()` lists.
  template <typename Part> void add(Part &part) {
    for (const BuiltinRow<Part> &row : Part::functions())
      all_.push_back({row.name, [&part, run = row.run](Arguments &a) { return (part.*run)(a); },
                      row.internal});
  }

  const Builtin *find(std::string_view name) const {
    for (const Builtin &each : all_)
      if (each.name == name)
        return &each;
    return nullptr;
  }
  const std::vector<Builtin> &all() const { return all_; }

private:
  std::vector<Builtin> all_;
};

} // namespace lstmc::lnet
