// The arguments of a call, and their binding to parameters.
#pragma once

#include <initializer_list>

#include <llvm/ADT/SmallVector.h>

#include "frontend/lnet/evaluation/Run.h"

namespace lstmc::lnet {

/// The arguments of one call, evaluated left to right.
struct Arguments {
  struct Named {
    const Argument *argument;
    Value value;
  };
  const CallExpr *call = nullptr;
  llvm::SmallVector<Value, 6> positional;
  llvm::SmallVector<const Expr *, 6> places; ///< of the positional ones
  llvm::SmallVector<Named, 6> named;
  bool unknown = false; ///< `x` of a `*x` is unknown, and so is the number of arguments
};

/// A parameter of a built-in function.
struct BuiltinParameter {
  std::string_view name;
  bool required = false;
};

/// Binds arguments to parameters: E0202 and E0205 at the argument, with "did you mean". `what` is
/// the word for a parameter in messages ("attribute"). `values` and `places` have an entry per
/// name; Unset and null for a parameter without argument. False after an error.
bool bindArguments(Run &run, std::string_view callee, std::string_view what, Arguments &arguments,
                   const std::vector<std::string_view> &names, std::vector<Value> &values,
                   std::vector<const Expr *> *places = nullptr);

/// The same for built-in functions: E0203 for a missing required parameter.
bool bindBuiltin(Run &run, std::string_view callee, Arguments &arguments,
                 std::initializer_list<BuiltinParameter> parameters, std::vector<Value> &values,
                 std::vector<const Expr *> *places = nullptr);

} // namespace lstmc::lnet
