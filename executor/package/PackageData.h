// A package as plain structs: what the compiler fills and serialises, and what the runtime parses
// and checks. Fields mean what executor/abi/Package.fbs says of them; nothing here has been checked
// yet, and an enumerator read from a file may have any value of its underlying type.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "executor/abi/FusedProgram.h"
#include "executor/abi/KernelArguments.h"
#include "executor/base/Status.h"
#include "executor/base/Tensor.h"
#include "executor/base/ValueRange.h"

namespace lstmc::package {

/// The operand that is absent.
inline constexpr uint32_t kNoBuffer = 4294967295u;
/// The entry that makes copies of parameters and slots equal to the first.
inline constexpr std::string_view kInitEntry = "init";
/// `entry` of a buffer that lives always.
inline constexpr int32_t kPersistent = -1;
/// `entry` of a workspace that lives while one launch makes a parameter's initial values, which is
/// when nothing but what persists is kept.
inline constexpr int32_t kInitial = -2;

/// What a buffer holds, and what the check at load asks of the planner for it. All but Activation
/// and Workspace may persist, and Parameter, Auxiliary, Optimizer, State and Packed must. Those of
/// an entry are written before they are read.
enum class Kind : uint8_t {
  Parameter, ///< written from `commit` on only
  Auxiliary, ///< written from `commit` on only
  Gradient,
  Optimizer, ///< written from `commit` on only
  State,     ///< written from `commit` on only
  /// Written by the caller only; lives from the entry's first launch to its last, and through
  /// prepare:ENTRY, which may run after it was given.
  Input,
  Output, ///< lives to the last launch
  Scalar, ///< as Input
  Activation,
  Workspace,
  Packed,
};
inline constexpr std::string_view kKindNames[] = {
    "parameter", "auxiliary", "gradient",   "optimizer", "state", "input",
    "output",    "scalar",    "activation", "workspace", "packed"};
inline constexpr int kKindCount = 11;

struct Location {
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;
  uint32_t length = 0;
  std::string text;
  std::string op;
  std::string name;
  std::vector<std::string> notes;
  bool operator==(const Location &) const = default;
};

struct Device {
  std::string name;
  uint64_t arenaBytes = 0;
  bool operator==(const Device &) const = default;
};

struct Buffer {
  uint32_t device = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  Kind kind = Kind::Activation;
  std::string name;
  uint32_t location = 0;
  int32_t entry = kPersistent;
  uint32_t from = 0;
  uint32_t to = 0;
  uint32_t nextOf = kNoBuffer; ///< the input whose next value may be put here
  int64_t elements() const {
    int64_t n = 1;
    for (int64_t extent : shape)
      n *= extent;
    return n;
  }
  bool operator==(const Buffer &) const = default;
};

struct Operand {
  uint32_t buffer = kNoBuffer;
  int64_t offset = 0;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides; ///< empty: dense
  bool operator==(const Operand &) const = default;
};

struct Piece {
  uint32_t operand = 0;
  std::vector<int64_t> window; ///< executor/abi/ElementWindow.h
  std::vector<int64_t> shape;
  bool operator==(const Piece &) const = default;
};

struct Launch {
  KernelId kernel = KernelId::Fill;
  std::vector<Operand> operands;
  std::vector<int64_t> ints;
  std::vector<double> floats;
  uint32_t location = 0;
  std::vector<Piece> pieces = {};
  int32_t chunk = -1;
  uint32_t firstStep = 0;
  uint32_t stream = 0;
  int32_t event = -1;
  std::vector<uint32_t> waits = {};
  std::vector<uint32_t> instructions = {}; ///< locations
  bool operator==(const Launch &) const = default;
};

struct Binding {
  std::string name;
  uint32_t buffer = 0;
  std::string role;
  std::vector<std::string> dims;
  std::optional<ValueRange> range = {};
  bool operator==(const Binding &) const = default;
};

struct DeviceProgram {
  uint32_t device = 0;
  std::vector<Launch> launches;
  uint32_t commit = 0; ///< launches.size() where nothing is committed
  bool operator==(const DeviceProgram &) const = default;
};

struct Entry {
  std::string name;
  std::vector<Binding> inputs;
  std::vector<Binding> outputs;
  std::vector<DeviceProgram> programs;
  bool operator==(const Entry &) const = default;
};

struct Slot {
  std::string name;
  std::vector<uint32_t> buffers;
  bool operator==(const Slot &) const = default;
};

struct Parameter {
  std::string name;
  std::vector<uint32_t> buffers;
  std::vector<uint32_t> gradients;
  std::vector<Slot> slots;
  Launch initialise; ///< its first output is buffers[0], whole
  std::string init;
  double lrMult = 1;
  double wdMult = 1;
  bool auxiliary = false;
  std::string group;
  uint32_t location = 0;
  std::vector<uint8_t> values = {};
  bool operator==(const Parameter &) const = default;
};

struct State {
  std::string name;
  std::vector<uint32_t> buffers;
  uint32_t location = 0;
  bool operator==(const State &) const = default;
};

struct Packed {
  std::string name;
  std::vector<std::string> parts;
  bool operator==(const Packed &) const = default;
};

struct Setting {
  std::string name;
  std::string value;
  bool operator==(const Setting &) const = default;
};

struct Metric {
  std::string name;
  std::string head;
  uint64_t classes = 0;
  std::string scores = {};
  bool operator==(const Metric &) const = default;
};

struct PackageData {
  uint32_t abi = 0; ///< serialize() writes kPackageAbi for 0
  std::string producer;
  std::string net;
  std::string graphHash;
  std::string numerics;
  uint32_t shards = 8;
  std::vector<Setting> settings;
  std::vector<Setting> fit;
  std::vector<Setting> data;
  std::vector<Device> devices;
  std::vector<Location> locations; ///< at least one; what has none points at one with line 0
  std::vector<Buffer> buffers;
  std::vector<FusedProgram> programs;
  std::vector<Parameter> parameters;
  std::vector<State> states;
  std::vector<Packed> packed;
  std::vector<Entry> entries;
  std::vector<Metric> metrics;
  bool operator==(const PackageData &) const = default;
};

/// The program that a launch of `fused` carries out.
inline const FusedProgram &programOf(const PackageData &data, const Launch &launch) {
  return data.programs[size_t(argumentsOf<FusedArguments>(launch).program)];
}

using Bytes = std::vector<uint8_t>;

/// The package's bytes; equal data give equal bytes.
Bytes serialize(const PackageData &data);

/// The structs that are in the bytes. Verifies that they are a package at all (E0602, E0603:
/// structure, identifier, abi); what the fields say is left to Package::open.
Result<PackageData> parse(std::span<const uint8_t> bytes);

} // namespace lstmc::package
