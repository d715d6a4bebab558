// Node construction for the builders of Ops.h. Not part of the public API.
#pragma once

#include "frontend/builders/Arguments.h"
#include "frontend/builders/Net.h"

namespace lstmc::build {

/// A call of an op in the making. What was left out is not passed on, so that defaults are the
/// records' own.
class OpCall {
public:
  OpCall(const char *op, const std::string &name, const Net::Place &place);

  OpCall &in(const Net &net);
  OpCall &input(const char *name, const Value &value);
  OpCall &inputs(const Values &values);

  OpCall &attribute(const char *name, const std::optional<int64_t> &value);
  OpCall &attribute(const char *name, const std::optional<double> &value);
  OpCall &attribute(const char *name, const std::optional<bool> &value);
  OpCall &attribute(const char *name, const std::optional<std::string> &value);
  OpCall &attribute(const char *name, const std::optional<DType> &value);
  OpCall &attribute(const char *name, const Integers &value);
  OpCall &attribute(const char *name, const Entries &value);
  template <Word... words> OpCall &attribute(const char *name, const Choice<words...> &value) {
    return value.word() ? add(name, std::string(value.word())) : *this;
  }
  template <typename T> OpCall &attribute(const char *name, const Required<T> &value) {
    return attribute(name, std::optional<T>(value.value()));
  }

  /// The only output.
  Value one();
  Values all();

private:
  OpCall &add(const char *name, symbol::AttributeValue value);
  void meet(const Value &value);

  symbol::Call call_;
  Net net_{Value()};
  bool failed_ = false; ///< an argument could not be made
};

} // namespace lstmc::build
