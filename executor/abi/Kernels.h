// The list of library kernels, as both halves of the house see it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "executor/abi/Gate.h"

namespace lstmc {

enum class KernelId : uint16_t {
#define LSTMC_KERNEL(ID, NAME, OPERANDS, INTS, FLOATS, MEANING) ID,
#define LSTMC_TRANSFER LSTMC_KERNEL
#include "executor/abi/Kernels.def"
};

/// The positions of a kernel's operands in its launches: RnnForwardOperand::h0. Those of a group
/// that repeats begin at `kFixed`.
#define LSTMC_OPERAND(NAME, MODE, OPTIONAL, ITSELF) NAME,
#define LSTMC_REPEATED(NAME, MODE)
#define LSTMC_KERNEL(ID, NAME, OPERANDS, INTS, FLOATS, MEANING)                                    \
  struct ID##Operand {                                                                             \
    enum Position : size_t { OPERANDS kFixed };                                                    \
  };
#define LSTMC_TRANSFER LSTMC_KERNEL
#include "executor/abi/Kernels.def"

/// Whether it moves a value between devices: what a session does itself, with no kernel function.
constexpr bool isTransfer(KernelId id) { return id == KernelId::Send || id == KernelId::Receive; }

enum class OperandMode : uint8_t { In, Out, InOut };

struct OperandRecord {
  std::string_view name;
  OperandMode mode;
  bool optional;
  int itself = -1; ///< position of the `in` operand that this `out` operand may be
};

/// A row of Kernels.def, for who treats all kernels alike. Who means one kernel has its operands
/// and arguments by type: abi/KernelArguments.h.
struct KernelRecord {
  KernelId id;
  std::string_view name;
  std::vector<OperandRecord> operands; ///< the fixed ones
  std::vector<OperandRecord> repeated; ///< the group at the end that repeats; empty if none
  std::vector<std::string_view> ints;
  std::string_view intList; ///< of any length, after `ints`; empty if none
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

// Choices. Values below are in packages: append only, and say which is the last.
template <typename Choice> inline constexpr Choice kLast = Choice();
template <> inline constexpr RnnMode kLast<RnnMode> = RnnMode::Gru;

enum class ReduceKind : uint8_t { Sum, Mean, Max, Min, Prod, Norm, ArgMax };
template <> inline constexpr ReduceKind kLast<ReduceKind> = ReduceKind::ArgMax;

/// What softmax_output_gradient divides by: nothing, the rows of the batch, the labels that count.
enum class SoftmaxNormalization : uint8_t { Null, Batch, Valid };
template <> inline constexpr auto kLast<SoftmaxNormalization> = SoftmaxNormalization::Valid;

/// Numbers that an orthogonal matrix is made from: of U(-1, 1), or of N(0, 1).
enum class OrthogonalStart : uint8_t { Uniform, Normal };
template <> inline constexpr OrthogonalStart kLast<OrthogonalStart> = OrthogonalStart::Normal;

/// What a regression minimises; d is the difference from the label.
enum class RegressionLoss : uint8_t {
  HalfSquare, ///< d * d / 2
  Absolute,   ///< |d|
  Logistic,   ///< the binary cross entropy of a logit
};

/// Numbers in the record of a metric kernel. The first two of each are the loss and its weight,
/// whose quotient is the reported loss; Kernels.def has the others.
inline constexpr int64_t kMetricFields = 6;

enum class InitKind : uint8_t {
  Constant,   ///< a
  Uniform,    ///< U(a, b): a + (b - a) * uniform
  Normal,     ///< mean 0, deviation a (Box-Muller in f64)
  Orthogonal, ///< scale a, from `variant`; rows or columns, the fewer, made orthonormal in order
              ///< (executor/base/OrthogonalBlock.h)
  LstmBias,   ///< 0, but a in the second quarter (gate f)
};
template <> inline constexpr InitKind kLast<InitKind> = InitKind::LstmBias;

} // namespace lstmc
