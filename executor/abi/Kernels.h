// The list of library kernels, as both halves of the house see it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace lstmc {

enum class KernelId : uint16_t {
#define LSTMC_KERNEL(ID, NAME, OPERANDS, INTS, FLOATS, MEANING) ID,
#define LSTMC_TRANSFER LSTMC_KERNEL
#include "executor/abi/Kernels.def"
};

/// Whether it moves a value between devices: what a session does itself, with no kernel function.
constexpr bool isTransfer(KernelId id) { return id == KernelId::Send || id == KernelId::Receive; }

enum class OperandMode : uint8_t { In, Out, InOut };

struct OperandRecord {
  std::string_view name;
  OperandMode mode;
  bool optional;
  int itself = -1; ///< position of the `in` operand that this `out` operand may be
};

/// A row of Kernels.def, parsed.
struct KernelRecord {
  KernelId id;
  std::string_view name;
  std::vector<OperandRecord> operands; ///< the fixed ones
  std::vector<OperandRecord> repeated; ///< the group at the end that repeats; empty if none
  std::vector<std::string_view> ints;
  std::string_view intList; ///< of any length, behind `ints`; empty if none
  std::vector<std::string_view> floats;
  std::string_view meaning;

  /// Position of the operand or attribute of that name; asserts that there is one.
  int operand(std::string_view name) const;
  int integer(std::string_view name) const;
  int floating(std::string_view name) const;

  bool takesInts(size_t count) const {
    return intList.empty() ? count == ints.size() : count >= ints.size();
  }
};

/// All kernels, in the order of their ids.
const std::vector<KernelRecord> &kernelRecords();
inline const KernelRecord &kernelRecord(KernelId id) { return kernelRecords()[size_t(id)]; }
std::optional<KernelId> findKernel(std::string_view name);

// Values below are in packages: append only.
enum class ReduceKind : uint8_t { Sum, Mean, Max, Min, Prod, Norm, ArgMax };

enum class InitKind : uint8_t {
  Constant,   ///< a
  Uniform,    ///< U(a, b): a + (b - a) * uniform
  Normal,     ///< mean 0, deviation a (Box-Muller in f64)
  Orthogonal, ///< scale a; variant 0 from U(-1, 1), 1 from N(0, 1); rows or columns, the fewer,
              ///< made orthonormal in order (executor/base/OrthogonalBlock.h)
  LstmBias,   ///< 0, but a in the second quarter (gate f)
};

} // namespace lstmc
