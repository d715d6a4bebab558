// Kernels of the reference, run on operands as a test has them.
#pragma once

#include "backends/conformance/TestLaunch.h"
#include "executor/reference/Reference.h"

namespace lstmc::reference {

using namespace conformance;

/// Runs kernel `id`; results are in the operands, whose memory is shared.
inline void run(KernelId id, std::vector<Array> operands, std::vector<int64_t> ints = {},
                std::vector<double> floats = {}) {
  TestLaunch launch(id);
  launch.operands = std::move(operands);
  launch.ints = std::move(ints);
  launch.floats = std::move(floats);
  launch.run(kernel(id));
}

/// Values that stand in a test.
inline Values listed(std::vector<double> values) {
  return [=](uint64_t i) { return values[i]; };
}

} // namespace lstmc::reference
