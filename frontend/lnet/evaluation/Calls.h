// Calls: of functions of the language, of built-in ones, of ops and of methods.
#pragma once

#include "frontend/lnet/evaluation/Arguments.h"

namespace lstmc::lnet {

class Interpreter;

class Calls {
public:
  explicit Calls(Interpreter &interpreter);

  Value call(const CallExpr *expr);
  /// Evaluates the arguments of a call, left to right. False if their number is unknown.
  bool evaluateArguments(const CallExpr *expr, Arguments &arguments);
  Value callFunction(const Value &function, Arguments &arguments);
  /// Runs a body in a frame that holds the arguments. `call` is null for the net itself.
  Value runBody(FunctionObject &function, FrameObject &frame, const CallExpr *call);

private:
  Value callMethod(const CallExpr *expr, const AttributeExpr *callee);
  Value notCallable(const CallExpr *expr, const Value &callee);
  /// Gives every parameter its argument or its default; false after an error.
  bool bindParameters(FunctionObject &function, Arguments &arguments,
                      const std::vector<std::string_view> &names, std::vector<Value> &values);
  /// Whether the function may run now: E0302 if it is running, E0313 if calls are nested too deep.
  bool mayRun(const FunctionObject &function, Span span);
  const Owner *ownerOf(const FunctionObject &function);

  Interpreter &interpreter_;
  Run &run_;
  std::map<const void *, Owner> owners_; ///< by def or lambda
};

/// A method of a list or dict. `expr` is the whole call.
Value callMethodOf(Run &run, const Value &base, const AttributeExpr *callee, Arguments &arguments,
                   const CallExpr *expr);

} // namespace lstmc::lnet
