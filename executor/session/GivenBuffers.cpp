#include "executor/session/GivenBuffers.h"

#include "executor/package/Package.h"

namespace lstmc::session {

static constexpr int kMostCopies = 64; ///< a file may copy in a circle

GivenBuffers::GivenBuffers(const package::PackageData &data, const package::Entry &entry)
    : data_(data) {
  for (const package::Binding &input : entry.inputs)
    if (input.range)
      ranges_.emplace(input.buffer, *input.range);
  std::map<int64_t, uint32_t> sent;
  for (const package::DeviceProgram &program : entry.programs)
    for (const package::Launch &launch : program.launches)
      if (launch.kernel == KernelId::Send)
        sent[argumentsOf<SendArguments>(launch).message] = launch.operands[SendOperand::x].buffer;
  for (const package::DeviceProgram &program : entry.programs)
    for (const package::Launch &launch : program.launches)
      for (size_t i = 0; i < launch.operands.size(); ++i)
        if (launch.operands[i].buffer != package::kNoBuffer && package::writes(data, launch, i))
          addWriter(launch, launch.operands[i].buffer, sent);
}

std::optional<uint32_t> GivenBuffers::inputOf(uint32_t buffer) const {
  for (int copies = 0; copies < kMostCopies; ++copies) {
    if (data_.buffers[buffer].kind == package::Kind::Input)
      return buffer;
    auto from = from_.find(buffer);
    if (from == from_.end() || from->second == package::kNoBuffer)
      return std::nullopt;
    buffer = from->second;
  }
  return std::nullopt;
}

const ValueRange *GivenBuffers::rangeOf(uint32_t input) const {
  auto range = ranges_.find(input);
  return range == ranges_.end() ? nullptr : &range->second;
}

void GivenBuffers::addWriter(const package::Launch &launch, uint32_t buffer,
                             const std::map<int64_t, uint32_t> &sent) {
  uint32_t from = package::kNoBuffer;
  if (launch.kernel == KernelId::Copy)
    from = launch.operands[CopyOperand::x].buffer;
  if (launch.kernel == KernelId::Receive)
    if (auto found = sent.find(argumentsOf<ReceiveArguments>(launch).message); found != sent.end())
      from = found->second;
  if (auto [known, fresh] = from_.emplace(buffer, from); !fresh)
    known->second = package::kNoBuffer;
}

} // namespace lstmc::session
