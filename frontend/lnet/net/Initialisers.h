// Uniform(..), Xavier(..) and their like: how a parameter gets its first value.
#pragma once

#include "frontend/lnet/evaluation/Builtins.h"
#include "frontend/symbol/Initialisers.h"

namespace lstmc::lnet {

class Initialisers {
public:
  explicit Initialisers(Run &run) : run_(run) {}
  static std::span<const BuiltinRow<Initialisers>> functions();

private:
  template <size_t Row> Value ofRow(Arguments &arguments) {
    return simple(arguments, symbol::kInitialisers[Row]);
  }
  /// One whose arguments are numbers, or the words that MXNet has for them.
  Value simple(Arguments &arguments, const symbol::InitialiserRow &row);
  Value mixed(Arguments &arguments), load(Arguments &arguments);

  Run &run_;
};

/// An initialiser, or MXNet's name for one without arguments. Nothing after an error (E0204) and
/// for an unknown value.
std::optional<symbol::Initialiser> initialiserOf(Run &run, const Value &value, const Expr *place);

} // namespace lstmc::lnet
