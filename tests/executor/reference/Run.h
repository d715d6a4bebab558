// Kernels of the reference, run on operands as a test has them.
#pragma once

#include "backends/conformance/Cases.h"
#include "executor/reference/Reference.h"

namespace lstmc::reference {

using namespace conformance;

/// Runs kernel `id`; results are in the operands, whose memory is shared.
inline void run(KernelId id, std::vector<Array> operands) {
  makeLaunch(id, std::move(operands)).run(kernel(id));
}
/// The kernel whose arguments these are.
template <typename Arguments> void run(const Arguments &arguments, std::vector<Array> operands) {
  makeLaunch(arguments, std::move(operands)).run(kernel(Arguments::kKernel));
}

/// Values that stand in a test.
inline Values listed(std::vector<double> values) {
  return [=](uint64_t i) { return values[i]; };
}

} // namespace lstmc::reference
