// Python's functions on build-time values: range, len, sorted, int ..
#pragma once

#include "frontend/lnet/evaluation/Builtins.h"

namespace lstmc::lnet {

class Interpreter;

/// Functions that go over elements.
class IterationFunctions {
public:
  explicit IterationFunctions(Interpreter &interpreter);
  static std::span<const BuiltinRow<IterationFunctions>> functions();

private:
  Value range(Arguments &), len(Arguments &), enumerate(Arguments &), zip(Arguments &);
  Value reversed(Arguments &), sorted(Arguments &);
  Value min(Arguments &), max(Arguments &), sum(Arguments &);
  Value any(Arguments &), all(Arguments &);
  Value anyIs(Arguments &arguments, std::string_view name, bool wanted);
  Value extreme(Arguments &arguments, std::string_view name, bool largest);
  Value extremeOfTensors(const Arguments &arguments, const std::vector<Value> &items,
                         std::string_view name);
  bool sort(std::vector<Value> &items, std::vector<Value> &keys, bool reverse, Span span);

  Interpreter &interpreter_;
  Run &run_;
};

/// Functions that make one value of another.
class ConversionFunctions {
public:
  explicit ConversionFunctions(Interpreter &interpreter);
  static std::span<const BuiltinRow<ConversionFunctions>> functions();

private:
  Value abs(Arguments &), round(Arguments &), toInt(Arguments &), toFloat(Arguments &),
      str(Arguments &);
  Value toBool(Arguments &), list(Arguments &), tuple(Arguments &), dict(Arguments &);

  Interpreter &interpreter_;
  Run &run_;
};

/// The op called `name`, if the first argument or the one named `data` is a tensor; else null, and
/// Python's function is meant.
const symbol::OpSignature *opOnTensor(const Arguments &arguments, std::string_view name);

} // namespace lstmc::lnet
