// The list of library kernels, as compiler and runtime use it.
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

/// The positions of a kernel's operands in its launches: RnnForwardOperand::h0. Operands of a group
/// that repeats begin at `kFixed`.
#define LSTMC_OPERAND(NAME, MODE, OPTIONAL, ITSELF) NAME,
#define LSTMC_REPEATED(NAME, MODE)
#define LSTMC_KERNEL(ID, NAME, OPERANDS, INTS, FLOATS, MEANING)                                    \
  struct ID##Operand {                                                                             \
    enum Position : size_t { OPERANDS kFixed };                                                    \
  };
#define LSTMC_TRANSFER LSTMC_KERNEL
#include "executor/abi/Kernels.def"

/// Whether the launch moves a value between devices. A session does this itself; there is no kernel
/// function.
constexpr bool isTransfer(KernelId id) { return id == KernelId::Send || id == KernelId::Receive; }

enum class OperandMode : uint8_t { In, Out, InOut };

struct OperandRecord {
  std::string_view name;
  OperandMode mode;
  bool optional;
  int itself = -1; ///< position of the `in` operand whose memory this `out` operand may use
};

/// A row of Kernels.def, for code that treats all kernels alike. Code for one kernel uses its typed
/// operands and arguments: abi/KernelArguments.h.
struct KernelRecord {
  KernelId id;
  std::string_view name;
  std::vector<OperandRecord> operands; ///< the operands before the group
  std::vector<OperandRecord> repeated; ///< the group at the end that repeats; empty if none
  std::vector<std::string_view> ints;
  std::string_view intList; ///< name of the list after `ints`, of any length; empty if none
  std::vector<std::string_view> floats;
  std::string_view meaning;

  /// Position of the operand or attribute of this name; aborts if there is none.
  int operand(std::string_view name) const;
  int integer(std::string_view name) const;
  int floating(std::string_view name) const;

  /// Fewer or more operands are no launch of the kernel.
  bool takesOperands(size_t count) const {
    return repeated.empty()
               ? count >= leastOperands() && count <= operands.size()
               : count >= operands.size() && (count - operands.size()) % repeated.size() == 0;
  }
  /// Without those at the end that may be left out.
  size_t leastOperands() const {
    size_t least = operands.size();
    while (repeated.empty() && least > 0 && operands[least - 1].optional)
      --least;
    return least;
  }

  bool takesInts(size_t count) const {
    return intList.empty() ? count == ints.size() : count >= ints.size();
  }
};

/// All kernels, in the order of their ids.
const std::vector<KernelRecord> &kernelRecords();
inline const KernelRecord &kernelRecord(KernelId id) { return kernelRecords()[size_t(id)]; }
std::optional<KernelId> findKernel(std::string_view name);

// Choices. The values are in packages: append only. kLast names the last one.
template <typename Choice> inline constexpr Choice kLast = Choice();
template <> inline constexpr RnnMode kLast<RnnMode> = RnnMode::Gru;

/// What gather does with an index out of range.
enum class IndexMode : uint8_t { Clip, Wrap, Raise };
template <> inline constexpr IndexMode kLast<IndexMode> = IndexMode::Raise;

enum class ReduceKind : uint8_t { Sum, Mean, Max, Min, Prod, Norm, ArgMax };
template <> inline constexpr ReduceKind kLast<ReduceKind> = ReduceKind::ArgMax;

/// The divisor of softmax_output_gradient: none, the rows of the batch, the labels that count.
enum class SoftmaxNormalization : uint8_t { Null, Batch, Valid };
template <> inline constexpr auto kLast<SoftmaxNormalization> = SoftmaxNormalization::Valid;

/// The random numbers that an orthogonal matrix is made from: U(-1, 1) or N(0, 1).
enum class OrthogonalStart : uint8_t { Uniform, Normal };
template <> inline constexpr OrthogonalStart kLast<OrthogonalStart> = OrthogonalStart::Normal;

/// The loss of a regression; d is the difference from the label.
enum class RegressionLoss : uint8_t {
  HalfSquare, ///< d * d / 2
  Absolute,   ///< |d|
  Logistic,   ///< the binary cross entropy of a logit
};

/// Number of fields in the record of a metric kernel, in `step` and in `evaluate`. The longer
/// record begins with the shorter one and takes longer to compute. The first two fields are the
/// loss and its weight, whose quotient is the reported loss; Kernels.def defines the others.
inline constexpr int64_t kMetricFields = 6, kEvaluationFields = 18;
/// The record of `evaluate` counts labels among the 2, 3, ... kTopClasses likeliest classes.
inline constexpr int64_t kTopClasses = 10;

enum class InitKind : uint8_t {
  Constant,   ///< a
  Uniform,    ///< U(a, b): a + (b - a) * uniform
  Normal,     ///< mean 0, deviation a (Box-Muller in f64)
  Orthogonal, ///< scale a, started from `variant`; rows or columns, the fewer, are made orthonormal
              ///< in order (executor/base/OrthogonalBlock.h)
  LstmBias,   ///< 0, except a in the second quarter (gate f)
};
template <> inline constexpr InitKind kLast<InitKind> = InitKind::LstmBias;

} // namespace lstmc
