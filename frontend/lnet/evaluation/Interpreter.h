// Runs trees: top to bottom, once. Its parts call one another through it.
#pragma once

#include <span>

#include "frontend/lnet/evaluation/Builtins.h"
#include "frontend/lnet/evaluation/Calls.h"
#include "frontend/lnet/evaluation/Expressions.h"
#include "frontend/lnet/evaluation/Files.h"
#include "frontend/lnet/evaluation/Imports.h"
#include "frontend/lnet/evaluation/Names.h"
#include "frontend/lnet/evaluation/Statements.h"
#include "frontend/lnet/evaluation/Tensors.h"

namespace lstmc::lnet {

/// A file of the language whose functions all files know. It is run when one of its names is first
/// used.
struct Prelude {
  std::string_view file, text;
  std::span<const std::string_view> names;
};

class Interpreter {
public:
  Interpreter(Run &run, Files &files, Prelude prelude, const Builtins &builtins, Tensors &tensors)
      : run(run), files(files), builtins(builtins), tensors(tensors), names(*this), imports(*this),
        expressions(*this), calls(*this), statements(*this), prelude_(prelude) {}

  Run &run;
  Files &files;
  const Builtins &builtins;
  Tensors &tensors;
  Names names;
  Imports imports;
  Expressions expressions;
  Calls calls;
  Statements statements;

  Value evaluate(const Expr *expr) { return expressions.evaluate(expr); }
  std::span<const std::string_view> preludeNames() const { return prelude_.names; }
  /// A function of the prelude; Unset if it has none of that name.
  Value fromPrelude(std::string_view name);

private:
  const Prelude prelude_;
  Module *preludeFile_ = nullptr; ///< once it was run
};

} // namespace lstmc::lnet
