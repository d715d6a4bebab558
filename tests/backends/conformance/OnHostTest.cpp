// Which launches a GPU leaves to the host: only those that need functions of libm in f64.
#include <set>

#include <gtest/gtest.h>

#include "backends/conformance/Conformance.h"
#include "backends/cuda/runtime/Launches.h"
#include "executor/abi/FusedProgram.h"
#include "executor/abi/KernelArguments.h"

namespace lstmc::conformance {
namespace {

bool needsLibm(const FusedInstruction &instruction) {
  static const std::set<std::string_view> kOwnInF32 = {"exp", "log", "tanh", "sigmoid"};
  static const std::set<std::string_view> kLibm = {
      "pow",     "hypot",   "cbrt",   "expm1",   "log10",   "log2", "log1p",  "sin",
      "cos",     "tan",     "arcsin", "arccos",  "arctan",  "sinh", "cosh",   "arcsinh",
      "arccosh", "arctanh", "gamma",  "gammaln", "digamma", "erf",  "erfinv", "softrelu"};
  const std::string_view name = kScalarRecords[size_t(instruction.op)].name;
  const DType type = instruction.type;
  const bool isFloat = type == DType::F32 || type == DType::F64;
  return kLibm.contains(name) || (kOwnInF32.contains(name) && type != DType::F32) ||
         (name == "mod" && isFloat);
}

bool needsLibm(const TestLaunch &launch) {
  const DType first = launch.operands[0].tensor.dtype;
  switch (launch.id) {
  case KernelId::RnnForward:
  case KernelId::RnnBackward:
  case KernelId::Softmax:
  case KernelId::SoftmaxGradient:
  case KernelId::SoftmaxCrossEntropy:
  case KernelId::SoftmaxMetric:
    return first == DType::F64;
  case KernelId::RegressionMetric:
    return argumentsOf<RegressionMetricArguments>(launch).loss == RegressionLoss::Logistic;
  case KernelId::Initialise: {
    const InitKind kind = argumentsOf<InitialiseArguments>(launch).kind;
    return kind == InitKind::Normal || kind == InitKind::Orthogonal;
  }
  case KernelId::Fused:
    for (const FusedInstruction &instruction : launch.program->instructions)
      if (needsLibm(instruction))
        return true;
    return false;
  default:
    return false;
  }
}

TEST(OnHost, OnlyWhatNeedsLibmInF64) {
  size_t onHost = 0, all = 0;
  for (KernelId id : allKernels())
    for (const Case &c : casesOf(id)) {
      const TestLaunch launch = c.make();
      const std::vector<Tensor> tensors = launch.tensors();
      const bool given =
          cuda::gpuLaunches(id, {tensors, launch.ints, launch.floats, launch.program.get()},
                            99 * 1024)
              .has_value();
      EXPECT_EQ(given, !needsLibm(launch)) << c.name;
      onHost += !given;
      ++all;
    }
  EXPECT_GT(onHost, 0u);
  EXPECT_LT(onHost, all / 2);
}

} // namespace
} // namespace lstmc::conformance
