#include "backends/conformance/DeviceRun.h"

#include <map>

namespace lstmc::conformance {

Status runOn(Device &device, TestLaunch &launch, FastRules fast, int runs) {
  std::map<const Storage *, uint64_t> offsets; // one offset per memory, which operands may share
  uint64_t bytes = 0;
  for (const Array &operand : launch.operands)
    if (operand.storage && offsets.emplace(operand.storage.get(), bytes).second)
      bytes += uint64_t(roundUp(int64_t(operand.storage->memory().size()), kAlignment));
  LSTMC_TRY(device.allocate(bytes));
  for (const auto &[storage, offset] : offsets)
    device.copyIn(offset, storage->memory());

  LaunchSpec spec{launch.id, {}, launch.ints, launch.floats, launch.program.get()};
  spec.fast = fast;
  for (const Array &operand : launch.operands) {
    Tensor tensor = operand.tensor;
    if (operand.storage)
      tensor.data = device.arena() + offsets[operand.storage.get()] +
                    (tensor.as<std::byte>() - operand.storage->memory().data());
    spec.operands.push_back(tensor);
  }
  LSTMC_ASSIGN(auto program, device.prepare({std::move(spec)}));
  for (int i = 0; i < runs; ++i)
    device.run(*program, 0, 1);
  for (const auto &[storage, offset] : offsets)
    device.copyOut(offset, storage->memory());
  return {};
}

} // namespace lstmc::conformance
