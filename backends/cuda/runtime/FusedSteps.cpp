#include "backends/cuda/runtime/FusedSteps.h"

#include <bit>

#include "executor/base/Numeric.h"

namespace lstmc::cuda {

DType typeOfValue(const FusedProgram &program, size_t value) {
  const size_t operands = program.types.size();
  return value < operands ? widenedType(program.types[value])
                          : program.instructions[value - operands].type;
}

/// A value as the interpreter keeps it: the bits of its type.
static uint64_t bitsOfValue(DType type, double value) {
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

static std::optional<gpu::FusedStep> stepOf(const FusedProgram &program,
                                            const FusedInstruction &in) {
  gpu::FusedStep step = {};
  step.op = uint8_t(in.op);
  step.type = uint8_t(in.type);
  step.a = in.a;
  step.b = in.b;
  step.c = in.c;
  const ScalarRecord &record = kScalarRecords[size_t(in.op)];
  const DType from = record.operands > 0 ? typeOfValue(program, in.a) : in.type;
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
    if (typeOfValue(program, read[i]) != want)
      return std::nullopt;
  }
  return step;
}

std::optional<std::vector<gpu::FusedStep>> fusedSteps(const FusedProgram &program) {
  std::vector<gpu::FusedStep> steps;
  for (const FusedInstruction &instruction : program.instructions) {
    const auto step = stepOf(program, instruction);
    if (!step)
      return std::nullopt;
    steps.push_back(*step);
  }
  return steps;
}

} // namespace lstmc::cuda
