#include "executor/package/MessageMemory.h"

#include <map>

#include "executor/abi/Devices.h"
#include "executor/abi/Hull.h"

namespace lstmc::package {

namespace {

uint64_t elementsOf(const Operand &operand) {
  uint64_t elements = 1;
  for (int64_t extent : operand.shape)
    elements *= uint64_t(extent);
  return elements;
}

bool isDense(const Operand &operand) {
  int64_t stride = 1;
  for (size_t axis = operand.shape.size(); axis-- > 0;) {
    if (!operand.strides.empty() && operand.shape[axis] != 1 && operand.strides[axis] != stride)
      return false;
    stride *= operand.shape[axis];
  }
  return true;
}

/// From the first element of a view to the last, with what lies between.
uint64_t extentBytes(const Operand &operand, DType dtype) {
  if (isDense(operand))
    return elementsOf(operand) * dtypeBytes(dtype);
  const std::optional<Hull> hull = hullOf(operand.shape, operand.strides);
  return hull ? uint64_t(hull->high - hull->low + 1) * dtypeBytes(dtype) : 0;
}

/// The two ends of a message.
struct Ends {
  const Launch *send = nullptr, *receive = nullptr;
  uint32_t from = 0, to = 0;
};

std::map<int64_t, Ends> messagesOf(const Entry &entry) {
  std::map<int64_t, Ends> messages; // by number
  for (const DeviceProgram &program : entry.programs)
    for (const Launch &launch : program.launches) {
      if (!isTransfer(launch.kernel))
        continue;
      Ends &ends = messages[argumentsOf<TransferArguments>(launch).message];
      const bool sends = launch.kernel == KernelId::Send;
      (sends ? ends.send : ends.receive) = &launch;
      (sends ? ends.from : ends.to) = program.device;
    }
  return messages;
}

/// Whether every process has the value.
bool isGiven(const PackageData &data, const Ends &ends) {
  const Kind kind = data.buffers[ends.send->operands[0].buffer].kind;
  return kind == Kind::Input || kind == Kind::Scalar;
}

/// Which devices there are, and what a message of theirs takes.
class Memory {
public:
  Memory(const PackageData &data, const MessageWays &ways) : data_(data), ways_(ways) {}

  /// Of the message, for the device.
  uint64_t bytes(uint32_t device, const Ends &ends) const {
    if (ways_.processes[ends.from] == ways_.processes[ends.to])
      return device == holder(ends) && !reaches(ends.to, ends.from)
                 ? copyBytes(ends, sees(ends.from))
                 : 0;
    if (isGiven(data_, ends)) // copied from the process's own
      return device == ends.to && !sees(ends.to) ? copyBytes(ends, true) : 0;
    if (device != ends.from && device != ends.to)
      return 0;
    if (goesDirectly(ends))
      return kDirectMessageBytes;
    return isPulled(ends) ? kPulledMessageBytes
                          : stagedBytes(device, device == ends.from ? *ends.send : *ends.receive);
  }

private:
  std::string_view name(uint32_t device) const {
    return ways_.names.empty() ? data_.devices[device].name : ways_.names[device];
  }
  bool sees(uint32_t device) const { return hostSees(name(device)); }
  bool reaches(uint32_t to, uint32_t from) const {
    if (ways_.reaches)
      return ways_.reaches(to, from);
    const std::string_view a = name(to), b = name(from);
    return (sees(to) && sees(from)) || a.substr(0, a.find(':')) == b.substr(0, b.find(':'));
  }
  uint32_t holder(const Ends &ends) const {
    return !sees(ends.to) && sees(ends.from) ? ends.from : ends.to;
  }
  bool goesDirectly(const Ends &ends) const {
    const Operand &value = ends.send->operands[0], &place = ends.receive->operands[0];
    return ways_.channels && goDirectly(name(ends.from), name(ends.to)) && isDense(value) &&
           isDense(place) && elementsOf(value) > 0;
  }
  bool isPulled(const Ends &ends) const {
    const Operand &value = ends.send->operands[0], &place = ends.receive->operands[0];
    return ways_.pulled && isDense(value) && isDense(place) &&
           package::isPulled(name(ends.from), name(ends.to),
                             elementsOf(value) * dtypeBytes(data_.buffers[value.buffer].dtype));
  }
  uint64_t extent(const Operand &operand) const {
    return extentBytes(operand, data_.buffers[operand.buffer].dtype);
  }
  /// By which the host copies a view (session/HostCopy.h).
  uint64_t copyBytes(const Ends &ends, bool seesFrom) const {
    const Operand &value = ends.send->operands[0], &place = ends.receive->operands[0];
    const bool dense = isDense(value) && isDense(place), seesTo = sees(ends.to);
    return (seesFrom || (dense && seesTo) ? 0 : extent(value)) +
           (seesTo || dense ? 0 : extent(place));
  }
  /// Of one end, whose value the host holds.
  uint64_t stagedBytes(uint32_t device, const Launch &launch) const {
    const Operand &value = launch.operands[0];
    const MessageBuffers buffers =
        messageBuffers(data_.buffers[value.buffer].dtype, elementsOf(value));
    return buffers.whole + buffers.packed + (sees(device) || isDense(value) ? 0 : extent(value));
  }

  const PackageData &data_;
  const MessageWays &ways_;
};

} // namespace

MessageBuffers messageBuffers(DType dtype, uint64_t elements) {
  const uint64_t whole = elements * dtypeBytes(dtype), packed = twoBitBytes(elements);
  return {kMessageHeaderBytes + whole,
          dtype == DType::F32 && packed < whole ? kMessageHeaderBytes + packed : 0};
}

bool goDirectly(std::string_view from, std::string_view to) {
  return (from.starts_with("gpu:") && to.starts_with("gpu:")) ||
         (from.starts_with("emu:") && to.starts_with("emu:"));
}

bool isPulled(std::string_view from, std::string_view to, uint64_t bytes) {
  constexpr uint64_t kLeast = 64 << 10;
  return hostSees(from) && hostSees(to) && bytes >= kLeast;
}

bool hostSees(std::string_view device) {
  return device.starts_with("cpu:") || device.starts_with("null:");
}

std::vector<int> processesOf(size_t devices, int64_t ranks) {
  std::vector<int> processes;
  for (size_t device = 0; device < devices; ++device)
    processes.push_back(rankOfDevice(device, devices, int(ranks)));
  return processes;
}

uint64_t messageBytes(const PackageData &data, uint32_t device, const std::vector<bool> &entries,
                      const MessageWays &ways) {
  const Memory memory(data, ways);
  uint64_t bytes = 0;
  for (size_t e = 0; e < data.entries.size(); ++e)
    if (entries[e])
      for (const auto &[number, ends] : messagesOf(data.entries[e]))
        bytes += memory.bytes(device, ends);
  return bytes;
}

uint64_t messageBytes(const PackageData &data, uint32_t device, const MessageWays &ways) {
  return messageBytes(data, device, std::vector<bool>(data.entries.size(), true), ways);
}

} // namespace lstmc::package
