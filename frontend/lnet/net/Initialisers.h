// Uniform(..), Xavier(..) and their like: how a parameter gets its first value.
#pragma once

#include "frontend/lnet/evaluation/Builtins.h"

namespace lstmc::lnet {

class Initialisers {
public:
  explicit Initialisers(Run &run) : run_(run) {}
  static std::span<const BuiltinRow<Initialisers>> functions();

private:
  Value uniform(Arguments &), normal(Arguments &), xavier(Arguments &), msraPrelu(Arguments &);
  Value orthogonal(Arguments &), constant(Arguments &), zero(Arguments &), one(Arguments &);
  Value lstmBias(Arguments &), mixed(Arguments &), load(Arguments &);
  /// One whose arguments are numbers, or the words that MXNet has for them; the first `required` of
  /// them must be given.
  Value simple(Arguments &arguments, std::string_view shown, std::string_view name,
               const std::vector<std::string_view> &parameters, size_t required = 0);

  Run &run_;
};

/// An initialiser, or MXNet's name for one without arguments. Nothing after an error (E0204) and
/// for an unknown value.
std::optional<symbol::Initialiser> initialiserOf(Run &run, const Value &value, const Expr *place);

} // namespace lstmc::lnet
