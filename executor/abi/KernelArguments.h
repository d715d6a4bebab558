// The arguments of each kernel by name and type, and their conversion to and from the lists of
// numbers in a package.
#pragma once

#include <span>
#include <type_traits>
#include <vector>

#include "executor/abi/Kernels.h"
#include "executor/abi/Packing.h"

// Kernels that are compiled for one instruction set use these functions. They are always inlined,
// because the linker could otherwise use a copy made for one set in code for another.
#define LSTMC_ALWAYS_INLINE [[gnu::always_inline]] inline

namespace lstmc {

/// SoftmaxArguments{.log, .temperature}: ints, then floats, in the order of the row.
#define LSTMC_INT(TYPE, NAME) TYPE NAME;
#define LSTMC_SHARDS(NAME) ShardRange NAME;
#define LSTMC_LIST(NAME) std::span<const int64_t> NAME;
#define LSTMC_FLOAT(NAME) double NAME;
#define LSTMC_KERNEL(ID, NAME, OPERANDS, INTS, FLOATS, MEANING)                                    \
  struct ID##Arguments {                                                                           \
    static constexpr KernelId kKernel = KernelId::ID;                                              \
    INTS FLOATS                                                                                    \
  };
#define LSTMC_TRANSFER LSTMC_KERNEL
#include "executor/abi/Kernels.def"

/// The position of an int or float in its list, for messages that name it and tests that break it:
/// `ints[WeightGradientInt::shards]`.
#define LSTMC_INT(TYPE, NAME) NAME,
#define LSTMC_SHARDS(NAME) batch, shards, first, count,
#define LSTMC_LIST(NAME)
#define LSTMC_FLOAT(NAME) NAME,
#define LSTMC_KERNEL(ID, NAME, OPERANDS, INTS, FLOATS, MEANING)                                    \
  struct ID##Int {                                                                                 \
    enum Position : size_t { INTS kFixed };                                                        \
  };                                                                                               \
  struct ID##Float {                                                                               \
    enum Position : size_t { FLOATS kFixed };                                                      \
  };
#define LSTMC_TRANSFER LSTMC_KERNEL
#include "executor/abi/Kernels.def"

// Calls f with each int, or each float, in their order.
#define LSTMC_INT(TYPE, NAME) f(arguments.NAME);
#define LSTMC_SHARDS(NAME)                                                                         \
  f(arguments.NAME.batch);                                                                         \
  f(arguments.NAME.shards);                                                                        \
  f(arguments.NAME.first);                                                                         \
  f(arguments.NAME.count);
#define LSTMC_LIST(NAME) f(arguments.NAME);
#define LSTMC_FLOAT(NAME) f(arguments.NAME);
#define LSTMC_KERNEL(ID, NAME, OPERANDS, INTS, FLOATS, MEANING)                                    \
  template <typename F>                                                                            \
  LSTMC_ALWAYS_INLINE constexpr void forEachInt(ID##Arguments &arguments, F f) {                   \
    INTS                                                                                           \
  }                                                                                                \
  template <typename F>                                                                            \
  LSTMC_ALWAYS_INLINE constexpr void forEachFloat(ID##Arguments &arguments, F f) {                 \
    FLOATS                                                                                         \
  }
#define LSTMC_TRANSFER LSTMC_KERNEL
#include "executor/abi/Kernels.def"

/// Reads the lists of a launch, which have the lengths of the record and only valid choices.
template <typename Arguments>
LSTMC_ALWAYS_INLINE constexpr Arguments argumentsOf(std::span<const int64_t> ints,
                                                    std::span<const double> floats = {}) {
  Arguments arguments{};
  size_t next = 0;
  forEachInt(arguments, [&](auto &field) __attribute__((always_inline)) {
    using Field = std::remove_reference_t<decltype(field)>;
    if constexpr (std::is_same_v<Field, std::span<const int64_t>>)
      field = ints.subspan(next);
    else if constexpr (std::is_same_v<Field, bool>)
      field = ints[next++] != 0;
    else
      field = Field(ints[next++]);
  });
  next = 0;
  forEachFloat(arguments,
               [&](double &field) __attribute__((always_inline)) { field = floats[next++]; });
  return arguments;
}

/// The same for anything that has the two lists: a launch of a package, of a device, of a test.
template <typename Arguments, typename Launch>
LSTMC_ALWAYS_INLINE constexpr Arguments argumentsOf(const Launch &launch)
  requires requires { launch.floats; }
{
  return argumentsOf<Arguments>(launch.ints, launch.floats);
}

// A send and a receive have the same arguments.
using TransferArguments = SendArguments;
using TransferInt = SendInt;
static_assert(size_t(TransferInt::peer) == ReceiveInt::peer &&
              size_t(TransferInt::message) == ReceiveInt::message &&
              size_t(TransferInt::kFixed) == ReceiveInt::kFixed);

/// Arguments as a package stores them.
struct WireArguments {
  std::vector<int64_t> ints;
  std::vector<double> floats;
};

template <typename Arguments> WireArguments wireArguments(Arguments arguments) {
  WireArguments wire;
  forEachInt(arguments, [&](const auto &field) {
    if constexpr (std::is_same_v<std::decay_t<decltype(field)>, std::span<const int64_t>>)
      wire.ints.insert(wire.ints.end(), field.begin(), field.end());
    else
      wire.ints.push_back(int64_t(field));
  });
  forEachFloat(arguments, [&](double field) { wire.floats.push_back(field); });
  return wire;
}

/// Sets the arguments of anything that has the two lists.
template <typename Arguments, typename Launch>
void setArguments(Launch &launch, const Arguments &arguments) {
  WireArguments wire = wireArguments(arguments);
  launch.ints = std::move(wire.ints);
  launch.floats = std::move(wire.floats);
}

} // namespace lstmc
