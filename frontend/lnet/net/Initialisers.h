// Uniform(..), Xavier(..) and their like: how a parameter gets its first value.
#pragma once

#include "frontend/lnet/evaluation/Builtins.h"
#include "frontend/lnet/net/InitialValues.h"
#include "frontend/symbol/Initialisers.h"

namespace lstmc::lnet {

class Initialisers {
public:
  Initialisers(Run &run, InitialValues &values) : run_(run), values_(values) {}
  static std::span<const BuiltinRow<Initialisers>> functions();

private:
  template <size_t Row> Value ofRow(Arguments &arguments) {
    return simple(arguments, symbol::kInitialisers[Row]);
  }
  /// One whose arguments are numbers, or the words that MXNet has for them.
  Value simple(Arguments &arguments, const symbol::InitialiserRow &row);
  Value mixed(Arguments &arguments), load(Arguments &arguments);

  Run &run_;
  InitialValues &values_;
};

} // namespace lstmc::lnet
