// Runs kernels of the reference on operands of a test.
#pragma once

#include "backends/conformance/Cases.h"
#include "executor/reference/Reference.h"

namespace lstmc::reference {

using namespace conformance;

/// Runs kernel `id`; results are in the operands, whose memory is shared.
inline void run(KernelId id, std::vector<Array> operands) {
  makeLaunch(id, std::move(operands)).run(kernel(id));
}
/// Runs the kernel that has these arguments.
template <typename Arguments> void run(const Arguments &arguments, std::vector<Array> operands) {
  makeLaunch(arguments, std::move(operands)).run(kernel(Arguments::kKernel));
}

/// Values written in a test.
inline Values listed(std::vector<double> values) {
  return [=](uint64_t i) { return values[i]; };
}

} // namespace lstmc::reference
