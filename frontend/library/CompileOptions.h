// What a program asks of the compiler: a field for each flag of `lstmc compile` that changes a
// package, with the flag's name, values and default. Unset fields and empty lists have the default.
//
//   compile(net, {.devices = "2xcpu", .optimizer = "adam", .fit = {{"carry", "lstm*"}}})
//
// `lstmc help compile --all` explains the flags.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "executor/abi/DType.h"

namespace lstmc {

/// The types of frontend/driver/request.def as those of the standard library.
namespace fields {
using Text = std::string;
using Rate = double;
using Count = int64_t;
using ByteCount = int64_t;
using Extent = int64_t;
using FloatType = DType;
using Words = std::vector<std::string>;
using Counts = std::vector<int64_t>;
using NameValue = std::pair<std::string, std::string>;
using NamedCount = std::pair<std::string, int64_t>;
using Shape = std::pair<std::string, std::vector<int64_t>>;
struct UpdatePlace;
struct Numerics;
template <typename E> using Choice = std::string; ///< one of its words

template <typename T> struct Unset {
  using Type = std::optional<T>;
};
template <typename T> struct Unset<std::vector<T>> {
  using Type = std::vector<T>; ///< empty: unset
};
template <typename T> using Once = typename Unset<T>::Type;
template <typename T> using InForce = typename Unset<T>::Type;
template <typename T> using Swept = typename Unset<T>::Type;
template <typename T> using Many = std::vector<T>;
template <typename T> using ManyInForce = std::optional<T>; ///< a list, separated by commas
using Switch = bool;

#define LSTMC_FIELD(FIELD, NAME, LETTER, TYPE, ARGUMENT, DEFAULT, GROUP, HELP, COMMANDS)           \
  TYPE FIELD{};
struct CompileOptions {
#define LSTMC_INPUT                                                                                \
  LSTMC_FIELD // of files alone: a graph has the shapes and values that it was built with
#define LSTMC_LAYOUT LSTMC_FIELD
#define LSTMC_MEMORY LSTMC_FIELD
#define LSTMC_NUMERICS LSTMC_FIELD
#define LSTMC_OPTIMIZER LSTMC_FIELD
#define LSTMC_PROGRAM LSTMC_FIELD
#include "frontend/driver/request.def"
};
#undef LSTMC_FIELD
} // namespace fields

using fields::CompileOptions;

} // namespace lstmc
