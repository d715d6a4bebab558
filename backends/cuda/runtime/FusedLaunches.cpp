#include <bit>
#include <cstddef>

#include "backends/cuda/runtime/FusedSteps.h"
#include "backends/cuda/runtime/Groups.h"
#include "executor/abi/ElementWindow.h"

namespace lstmc::cuda {

namespace {

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

Launches launchesFused(const FusedLaunch &launch, const GpuShape &) {
  const FusedProgram &program = *launch.wire.program;
  const std::span<const Tensor> operands = launch.repeated;
  if (operands.empty())
    return std::vector<GpuLaunch>();
  const Axes axes(operands);
  std::vector<uint64_t> table;
  for (size_t i = 0; i < operands.size(); ++i) {
    const int32_t result = program.results[i];
    const DType stored = result < 0 ? DType::F32 : typeOfValue(program, size_t(result));
    table.push_back(std::bit_cast<uint64_t>(operands[i].data));
    table.push_back(uint64_t(operands[i].dtype) | uint64_t(stored) << 8);
    table.push_back(uint64_t(int64_t(result)));
    for (const std::vector<int64_t> &strides : axes.strides)
      table.push_back(uint64_t(strides[i]));
  }
  const auto steps = fusedSteps(program);
  if (!steps)
    return std::nullopt;
  for (const gpu::FusedStep &step : *steps) {
    const auto words =
        std::bit_cast<std::array<uint64_t, sizeof(gpu::FusedStep) / sizeof(uint64_t)>>(step);
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
