#include "executor/session/Dependents.h"

#include <algorithm>
#include <set>

#include "executor/package/Package.h"

namespace lstmc::session {

namespace {

/// Marks the buffers and messages that hold what follows from the inputs.
class Marks {
public:
  explicit Marks(const package::PackageData &data) : data_(data) {}

  void add(uint32_t buffer) { buffers_.insert(buffer); }
  bool has(uint32_t buffer) const { return buffers_.contains(buffer); }

  /// Marks what the launch writes, if that follows from what is marked; whether that is more than
  /// before.
  bool follow(const package::Launch &launch) {
    if (launch.kernel == KernelId::Send)
      return has(launch.operands[SendOperand::x].buffer) &&
             messages_.insert(argumentsOf<SendArguments>(launch).message).second;
    if (launch.kernel == KernelId::Receive)
      return messages_.contains(argumentsOf<ReceiveArguments>(launch).message) &&
             buffers_.insert(launch.operands[ReceiveOperand::y].buffer).second;
    if (launch.kernel == KernelId::Fused)
      return followFused(launch);
    bool reads = false, more = false;
    for (size_t i = 0; i < launch.operands.size(); ++i)
      reads |= !package::writes(data_, launch, i) && has(launch.operands[i].buffer);
    for (size_t i = 0; reads && i < launch.operands.size(); ++i)
      if (launch.operands[i].buffer != package::kNoBuffer && package::writes(data_, launch, i))
        more |= buffers_.insert(launch.operands[i].buffer).second;
    return more;
  }

private:
  /// One program may compute several values that have little to do with one another.
  bool followFused(const package::Launch &launch) {
    const FusedProgram &program = package::programOf(data_, launch);
    std::vector<bool> marked;
    for (size_t i = 0; i < program.types.size(); ++i)
      marked.push_back(has(launch.operands[i].buffer));
    for (const FusedInstruction &instruction : program.instructions) {
      const int operands = kScalarRecords[size_t(instruction.op)].operands;
      marked.push_back((operands > 0 && marked[instruction.a]) ||
                       (operands > 1 && marked[instruction.b]) ||
                       (operands > 2 && marked[instruction.c]));
    }
    bool more = false;
    for (size_t i = 0; i < program.results.size(); ++i)
      if (program.writes(i) && marked[size_t(program.results[i])])
        more |= buffers_.insert(launch.operands[i].buffer).second;
    return more;
  }

  const package::PackageData &data_;
  std::set<uint32_t> buffers_;
  std::set<int64_t> messages_;
};

} // namespace

std::vector<std::string> dependents(const package::PackageData &data, const package::Entry &entry,
                                    const std::vector<std::string> &inputs) {
  Marks marks(data);
  for (const package::Binding &input : entry.inputs)
    if (std::ranges::find(inputs, input.name) != inputs.end())
      marks.add(input.buffer);
  // Programs wait for one another, so one that comes first may follow from a later one.
  for (bool more = true; more;) {
    more = false;
    for (const package::DeviceProgram &program : entry.programs)
      for (const package::Launch &launch : program.launches)
        more |= marks.follow(launch);
  }
  std::vector<std::string> names;
  for (const package::Binding &output : entry.outputs)
    if (marks.has(output.buffer))
      names.push_back(output.name);
  return names;
}

} // namespace lstmc::session
