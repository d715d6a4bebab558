#include <bit>
#include <cstddef>

#include "backends/cuda/kernels/Fused.h"
#include "backends/cuda/runtime/Groups.h"
#include "executor/abi/ElementWindow.h"
#include "executor/abi/FusedProgram.h"

namespace lstmc::cuda {

namespace {

/// A value as the interpreter keeps it: the bits of its type.
uint64_t bitsOfValue(DType type, double value) {
  return withWidenedType(type, [&](auto typed) {
    const auto number = convert<decltype(typed)>(value);
    if constexpr (std::is_same_v<decltype(typed), float>)
      return uint64_t(std::bit_cast<uint32_t>(number));
    else if constexpr (std::is_same_v<decltype(typed), double>)
      return std::bit_cast<uint64_t>(number);
    else
      return uint64_t(number);
  });
}

/// The type of a value: an operand's as it is loaded, or an instruction's.
DType typeOf(const FusedProgram &program, size_t value) {
  const size_t operands = program.types.size();
  return value < operands ? widenedType(program.types[value])
                          : program.instructions[value - operands].type;
}

/// Nothing if the operation does not have the types that the check of packages wants.
std::optional<gpu::FusedStep> stepOf(const FusedProgram &program, const FusedInstruction &in) {
  gpu::FusedStep step = {};
  step.op = uint8_t(in.op);
  step.type = uint8_t(in.type);
  step.a = in.a;
  step.b = in.b;
  step.c = in.c;
  const ScalarRecord &record = kScalarRecords[size_t(in.op)];
  const DType from = record.operands > 0 ? typeOf(program, in.a) : in.type;
  step.from = uint8_t(from);
  if (in.op == ScalarOp::Constant)
    step.immediate = bitsOfValue(in.type, in.immediate);
  else if (in.op == ScalarOp::Uniform)
    step.immediate = uint32_t(convert<int64_t>(in.immediate));
  const uint16_t read[] = {in.a, in.b, in.c};
  for (int i = 0; i < record.operands; ++i) {
    const DType want = in.op == ScalarOp::Uniform            ? DType::I64
                       : in.op == ScalarOp::Select && i == 0 ? DType::Bool
                       : record.result == ScalarResult::Same ? in.type
                                                             : from;
    if (typeOf(program, read[i]) != want)
      return std::nullopt;
  }
  return step;
}

/// Axes of the common shape, each with the strides of all operands; neighbours that are one axis
/// for every operand are merged.
struct Axes {
  std::vector<int64_t> shape;
  std::vector<std::vector<int64_t>> strides; ///< by axis, by operand

  explicit Axes(std::span<const Tensor> operands) {
    const Tensor &first = operands[0];
    for (size_t axis = 0; axis < size_t(first.rank); ++axis) {
      const int64_t extent = first.shape[axis];
      std::vector<int64_t> steps;
      bool joins = !shape.empty();
      for (size_t i = 0; i < operands.size(); ++i) {
        steps.push_back(operands[i].strides[axis]);
        joins = joins && strides.back()[i] == steps[i] * extent;
      }
      if (extent == 1)
        continue;
      if (joins) {
        shape.back() *= extent;
        strides.back() = std::move(steps);
      } else {
        shape.push_back(extent);
        strides.push_back(std::move(steps));
      }
    }
  }
};

} // namespace

Launches launchesFused(const FusedLaunch &launch) {
  const FusedProgram &program = *launch.wire.program;
  const std::span<const Tensor> operands = launch.repeated;
  if (operands.empty())
    return std::vector<GpuLaunch>();
  const Axes axes(operands);
  std::vector<uint64_t> table;
  for (size_t i = 0; i < operands.size(); ++i) {
    const int32_t result = program.results[i];
    const DType stored = result < 0 ? DType::F32 : typeOf(program, size_t(result));
    table.push_back(std::bit_cast<uint64_t>(operands[i].data));
    table.push_back(uint64_t(operands[i].dtype) | uint64_t(stored) << 8);
    table.push_back(uint64_t(int64_t(result)));
    for (const std::vector<int64_t> &strides : axes.strides)
      table.push_back(uint64_t(strides[i]));
  }
  for (const FusedInstruction &instruction : program.instructions) {
    const auto step = stepOf(program, instruction);
    if (!step)
      return std::nullopt;
    const auto words =
        std::bit_cast<std::array<uint64_t, sizeof(gpu::FusedStep) / sizeof(uint64_t)>>(*step);
    table.insert(table.end(), words.begin(), words.end());
  }
  const ElementWindow window = ElementWindow::of(launch.window);
  table.insert(table.end(), window.pairs.begin(), window.pairs.end());

  gpu::FusedArguments arguments = {};
  arguments.operands = int64_t(operands.size());
  arguments.instructions = int64_t(program.instructions.size());
  arguments.windowRank = int64_t(window.rank());
  arguments.windowOffset = window.offset;
  arguments.count = operands[0].elements();
  arguments.rank = int64_t(axes.shape.size());
  std::ranges::copy(axes.shape, arguments.shape);
  return {{withTable(elementwise("lstmc_fused", arguments), table,
                     offsetof(gpu::FusedArguments, table))}};
}

} // namespace lstmc::cuda
