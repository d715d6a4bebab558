#include "executor/package/SentValues.h"

#include "executor/abi/KernelArguments.h"
#include "executor/package/Package.h"

namespace lstmc::package {

std::multimap<size_t, int64_t> overwrittenMessages(const PackageData &data,
                                                   const DeviceProgram &program) {
  std::multimap<size_t, int64_t> found;
  std::map<int64_t, ByteRange> sent; // and not written over
  for (size_t i = 0; i < program.launches.size(); ++i) {
    const Launch &launch = program.launches[i];
    for (size_t k = 0; k < launch.operands.size() && !sent.empty(); ++k) {
      const Operand &operand = launch.operands[k];
      if (operand.buffer == kNoBuffer || !writes(data, launch, k))
        continue;
      ByteRange written = bytesOf(data, operand);
      std::erase_if(sent, [&](const auto &message) {
        bool over = message.second.overlaps(written);
        if (over)
          found.emplace(i, message.first);
        return over;
      });
    }
    if (launch.kernel == KernelId::Send)
      sent[argumentsOf<SendArguments>(launch).message] =
          bytesOf(data, launch.operands[SendOperand::x]);
  }
  return found;
}

} // namespace lstmc::package
