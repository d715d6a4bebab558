// Variable(..), and the functions that layers.lnet needs beyond the language.
#pragma once

#include "frontend/lnet/evaluation/Builtins.h"
#include "frontend/lnet/net/Extents.h"
#include "frontend/lnet/net/FileNet.h"
#include "frontend/lnet/net/InitialValues.h"
#include "frontend/lnet/net/Nodes.h"

namespace lstmc::lnet {

class Variables {
public:
  Variables(Run &run, Nodes &nodes, const DimNames &dims, FileNet &fileNet, InitialValues &values)
      : run_(run), nodes_(nodes), dims_(dims), fileNet_(fileNet), initialValues_(values) {}
  static std::span<const BuiltinRow<Variables>> functions();

private:
  Value variable(Arguments &arguments);
  /// _layer_name(name, hint): the name of a layer's call by MXNet's rules, with name scopes.
  Value layerName(Arguments &arguments);
  /// _begin_state(name, shape, dtype): a state before the first step; `dtype` may be a tensor that
  /// has it. Known to all files, so that any graph can be written out (Emit.h).
  Value beginState(Arguments &arguments);
  /// _expect(what, value, kind): E0204 at the user's call unless the value is of that kind. True,
  /// or unknown after an error.
  Value expect(Arguments &arguments);
  /// Checks an argument whose axes are listed, "[T, N, features]": None, or a tensor of that rank.
  /// E0204, E0207.
  Value expectAxes(std::string_view what, const Value &value, const std::string &axes, Span span);
  Value custom(Arguments &arguments);

  bool checkName(const Value &name, const Expr *place);
  /// The arguments of Variable except its name; nullopt after an error.
  std::optional<symbol::VariableOptions> options(const std::vector<Value> &values,
                                                 const std::vector<const Expr *> &places);
  bool takeShape(const symbol::Initialiser &init, const std::string &name, const Expr *place,
                 symbol::Shape &shape);
  void markLayer(symbol::VariableOptions &options, const std::string &shown,
                 const SourceRange &call);

  Run &run_;
  Nodes &nodes_;
  const DimNames &dims_;
  FileNet &fileNet_;
  InitialValues &initialValues_;
  std::map<std::string, int> layerCounts_; ///< by hint: "lstm" of "lstm0"
  SourceRange layerCall_;                  ///< of the last parameter that a layer made
};

/// E0213 for `Custom`, which is Python code in MXNet.
Value refuseCustom(Run &run, const Arguments &arguments);

} // namespace lstmc::lnet
