#include "executor/package/PackedLife.h"

#include "executor/package/Package.h"

namespace lstmc::package {

std::vector<bool> discardsPacked(const PackageData &data, const Entry &entry) {
  bool changesParameters = false;
  std::vector<bool> touched(data.buffers.size()), discards(data.buffers.size());
  for (const DeviceProgram &program : entry.programs)
    for (size_t i = 0; i < program.launches.size(); ++i) {
      const Launch &launch = program.launches[i];
      for (size_t k = 0; k < launch.operands.size(); ++k) {
        const uint32_t buffer = launch.operands[k].buffer;
        if (buffer == kNoBuffer)
          continue;
        touched[buffer] = true;
        changesParameters |= i >= program.commit && data.buffers[buffer].kind == Kind::Parameter &&
                             writes(data, launch, k);
      }
    }
  for (size_t i = 0; changesParameters && i < discards.size(); ++i)
    discards[i] = data.buffers[i].kind == Kind::Packed && !touched[i];
  return discards;
}

} // namespace lstmc::package
