// Networks written in C++: values that keep their graph alive, and a function per op (Ops.h).
//
//   build::Net net("twice");
//   auto x = net.data("data", DType::F32, {2, 3});
//   auto y = fullyConnected(tanh(x) * 2.0, {.num_hidden = 4, .name = "fc"});
//   Diagnostics errors = net.finish({y});
//
// Errors are collected: an op on an invalid value yields an invalid value without another message.
// `finish` returns all errors.
//
// A net and its values are used by one thread at a time.
#pragma once

#include <memory>
#include <source_location>
#include <string>
#include <vector>

#include "frontend/symbol/Symbol.h"

namespace lstmc::build {

struct NetState;

/// A tensor of a network; copy it freely. Without a network it stands for an argument left out; one
/// that could not be made has a network and no symbol.
class Value {
public:
  Value() = default;
  explicit operator bool() const { return bool(symbol_); }
  /// The shape inferred so far; without a rank if nothing is known.
  symbol::Shape shape() const { return symbol_ ? symbol_.shape() : symbol::Shape(); }
  std::optional<DType> dtype() const { return symbol_ ? symbol_.dtype() : std::nullopt; }
  std::string name() const { return symbol_ ? symbol_.name() : std::string(); }
  /// For calls of symbol::Graph.
  symbol::Symbol symbol() const { return symbol_; }

private:
  friend class Net;
  Value(std::shared_ptr<NetState> state, symbol::Symbol symbol)
      : state_(std::move(state)), symbol_(symbol) {}
  std::shared_ptr<NetState> state_;
  symbol::Symbol symbol_;
};

using Values = std::vector<Value>;

/// A scope of a network, left when this ends.
class [[nodiscard]] Scoped {
public:
  explicit Scoped(std::shared_ptr<NetState> state, symbol::Scope scope);
  ~Scoped();
  Scoped(const Scoped &) = delete;
  Scoped &operator=(const Scoped &) = delete;

private:
  std::shared_ptr<NetState> state_;
};

/// A handle of a network, which lives as long as a handle or a value of it.
class Net {
public:
  using Place = std::source_location;

  explicit Net(std::string name);
  /// The network of a value. For a value without a network this Net converts to false, creates
  /// values without a network, and its errors say so.
  explicit Net(const Value &value) : state_(value.state_) {}
  explicit operator bool() const { return state_ != nullptr; }

  Value data(const std::string &name, DType dtype, const symbol::Shape &shape,
             Place place = Place::current());
  Value label(const std::string &name, DType dtype, const symbol::Shape &shape,
              Place place = Place::current());
  /// The same name is the same parameter.
  Value parameter(const std::string &name, const symbol::VariableOptions &options = {},
                  Place place = Place::current());

  /// Nodes made while the result lives are of this group (`--place`), are computed again in the
  /// backward pass, compute in that type, or have the prefix in their names.
  Scoped group(std::string name) const;
  Scoped recompute() const;
  Scoped type(DType dtype) const;
  Scoped prefix(std::string name) const;

  /// The generic call, for an op whose name is known when the program runs. Empty if it fails.
  Values apply(symbol::Call call);

  /// Ends the network. All errors since its begin; none: it can be compiled.
  Diagnostics finish(const Values &outputs);
  bool isFinished() const;
  const Diagnostics &errors() const;
  const Diagnostics &warnings() const;

  /// For what has no builder: listArguments, inferredShapes, hash, setFit. Of a Net that is false:
  /// a graph that stays empty.
  symbol::Graph &graph() const;

  // For builders.

  /// A value of this network; without a symbol: one that could not be made.
  Value value(symbol::Symbol symbol) const { return Value(state_, symbol); }
  /// Unwraps a result; its diagnostics are added to the network.
  template <typename T> T take(Checked<T> made) {
    note(made.diagnostics(), made.ok());
    return made.ok() ? std::move(*made) : T();
  }
  /// "lstm0" and so on, for layers without a name.
  std::string layerName(const std::string &name, const std::string &hint);
  /// Whether the argument was given but is invalid.
  static bool isFailed(const Value &value) { return value.state_ && !value; }
  static symbol::Origin origin(const Place &place);

private:
  void note(const Diagnostics &diagnostics, bool warnings);
  std::shared_ptr<NetState> state_;
};

/// An operand with the place of the user's call: operators have no other argument for it.
template <typename T> struct Placed {
  T operand;
  Net::Place place;
  Placed(T operand, Net::Place place = Net::Place::current())
      : operand(std::move(operand)), place(place) {}
};
using PlacedValue = Placed<Value>;
using PlacedNumber = Placed<double>;

// Element-wise operators with broadcasting of extents of 1.
Value operator+(const Value &lhs, const PlacedValue &rhs);
Value operator-(const Value &lhs, const PlacedValue &rhs);
Value operator*(const Value &lhs, const PlacedValue &rhs);
Value operator/(const Value &lhs, const PlacedValue &rhs);
Value operator+(const Value &lhs, const PlacedNumber &rhs);
Value operator-(const Value &lhs, const PlacedNumber &rhs);
Value operator*(const Value &lhs, const PlacedNumber &rhs);
Value operator/(const Value &lhs, const PlacedNumber &rhs);
Value operator+(const PlacedNumber &lhs, const Value &rhs);
Value operator-(const PlacedNumber &lhs, const Value &rhs);
Value operator*(const PlacedNumber &lhs, const Value &rhs);
Value operator/(const PlacedNumber &lhs, const Value &rhs);
Value operator-(const PlacedValue &value);

} // namespace lstmc::build
