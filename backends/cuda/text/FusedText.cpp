#include "backends/cuda/text/FusedText.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "backends/cuda/runtime/FusedSteps.h"

namespace lstmc::cuda {

namespace {

/// The C++ type of values of a type of arithmetic.
std::string_view valueType(DType type) {
  switch (type) {
  case DType::F32:
    return "Float";
  case DType::F64:
    return "Double";
  case DType::I32:
    return "int32_t";
  case DType::I64:
    return "int64_t";
  default:
    return "bool";
  }
}

std::string_view enumerator(DType type) {
  static constexpr std::string_view kNames[] = {
#define LSTMC_X(E, S, L, B) #E,
      LSTMC_DTYPES(LSTMC_X)
#undef LSTMC_X
  };
  return kNames[size_t(type)];
}

std::string_view enumerator(ScalarOp op) {
  static constexpr std::string_view kNames[] = {
#define LSTMC_SCALAR(ID, NAME, OPERANDS, RESULT, MEANING) #ID,
#include "executor/abi/ScalarOps.def"
  };
  return kNames[size_t(op)];
}

std::string expression(const gpu::FusedStep &step) {
  const auto op = ScalarOp(step.op);
  const std::string_view type = valueType(DType(step.type));
  const ScalarRecord &record = kScalarRecords[step.op];
  switch (op) {
  case ScalarOp::Constant:
    return fmt::format("constant<{}>({:#x}ull)", type, step.immediate);
  case ScalarOp::Cast:
    return fmt::format("castTo<{}>(v{})", type, step.a);
  case ScalarOp::Uniform:
    return fmt::format("uniform<{}>(v{}, v{}, whole, {}u)", type, step.a, step.b,
                       uint32_t(step.immediate));
  case ScalarOp::Select:
    return fmt::format("v{} ? v{} : v{}", step.a, step.b, step.c);
  default:
    break;
  }
  const int a = step.a, b = record.operands > 1 ? step.b : a, c = record.operands > 2 ? step.c : a;
  if (record.result == ScalarResult::Bool)
    return fmt::format("compared<ScalarOp::{}>(v{}, v{})", enumerator(op), a, b);
  return fmt::format("computed<ScalarOp::{}>(v{}, v{}, v{})", enumerator(op), a, b, c);
}

std::string kernelText(const FusedProgram &program, std::span<const gpu::FusedStep> steps,
                       std::string_view name) {
  const size_t operands = program.types.size();
  std::string text =
      fmt::format("LSTMC_GPU_KERNEL({}, FusedArguments, a) {{\n"
                  "  for (int64_t e = globalThreadIndex(); e < a.count; e += gridThreads()) {{\n"
                  "    const Offsets<{}> offsets(a, e);\n",
                  name, operands);
  if (std::ranges::any_of(steps, [](auto &step) { return ScalarOp(step.op) == ScalarOp::Uniform; }))
    text += "    const int64_t whole = elementInWhole(a, e);\n";
  for (size_t i = 0; i < operands; ++i)
    if (!program.writes(i))
      text +=
          fmt::format("    const {0} v{1} = loaded<{0}, DType::{2}>(a, {1}, offsets.of[{1}]);\n",
                      valueType(typeOfValue(program, i)), i, enumerator(program.types[i]));
  for (size_t i = 0; i < steps.size(); ++i)
    text += fmt::format("    const {} v{} = {};\n", valueType(DType(steps[i].type)), operands + i,
                        expression(steps[i]));
  for (size_t i = 0; i < operands; ++i)
    if (program.writes(i))
      text += fmt::format("    put<DType::{}>(a, {}, offsets.of[{}], v{});\n",
                          enumerator(program.types[i]), i, i, program.results[i]);
  return text + "  }\n}\n";
}

} // namespace

std::string fusedKernelName(size_t program) { return fmt::format("lstmc_fused_{}", program); }

std::string fusedText(std::span<const FusedProgram> programs) {
  std::string text = "#include \"backends/cuda/kernels/FusedOperations.h\"\n"
                     "namespace lstmc::gpu {\n"
                     "extern \"C\" {\n";
  for (size_t i = 0; i < programs.size(); ++i)
    if (const auto steps = fusedSteps(programs[i]); steps && !programs[i].types.empty())
      text += kernelText(programs[i], *steps, fusedKernelName(i));
  return text + "}\n}\n";
}

} // namespace lstmc::cuda
