// Name lookup: slots of frames; outside of them built-in functions, layers and ops.
#pragma once

#include "frontend/lnet/evaluation/Run.h"

namespace lstmc::lnet {

class Interpreter;

class Names {
public:
  explicit Names(Interpreter &interpreter);

  Value read(const NameExpr *expr);
  /// E0201 for `np.tanh` where `np` stands for a module of Python; Unset for other attributes.
  Value ofModule(const AttributeExpr *expr);
  void set(const NameExpr *name, Value value);
  /// Assigns to a name, or unpacks to a tuple of names as Python does.
  void assign(const Expr *targets, Value value, const Expr *source);
  /// A second def or import of one name in a file or function is an error (E0210).
  void define(const NameExpr *name, const Stmt *stmt);

private:
  /// The value of a name that is in no scope of the file; Unset if it is unknown.
  Value outside(const NameExpr *expr);
  Value findOutside(std::string_view name);
  Value unknown(const NameExpr *expr);
  std::vector<std::string_view> functionNames() const;

  Interpreter &interpreter_;
  Run &run_;
  std::vector<Value> outside_; ///< ops, built-in functions and layers that were looked up so far
};

} // namespace lstmc::lnet
