#include "passes/planning/forecast/Lengths.h"

#include <algorithm>

#include "executor/abi/KernelArguments.h"
#include "executor/base/Numeric.h"

namespace lstmc::planning {

std::optional<LengthsInput> lengthsInput(const package::Entry &entry) {
  for (const package::DeviceProgram &program : entry.programs)
    for (const package::Launch &launch : program.launches) {
      if (launch.kernel != KernelId::RnnForward)
        continue;
      const uint32_t lengths = launch.operands[RnnForwardOperand::length].buffer;
      for (const package::Binding &input : entry.inputs)
        if (lengths != package::kNoBuffer && input.buffer == lengths)
          return LengthsInput{input.name, launch.operands[RnnForwardOperand::y].shape[0]};
    }
  return std::nullopt;
}

double realSteps(const Tensor &lengths, int64_t steps) {
  double real = 0;
  for (int64_t b = 0; b < lengths.shape[0]; ++b)
    real += double(std::clamp<int64_t>(
        readElement<int64_t>(lengths.data, lengths.dtype, b * lengths.strides[0]), 0, steps));
  return real / double(std::max<int64_t>(1, lengths.shape[0] * steps));
}

} // namespace lstmc::planning
