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
  const std::optional<Hull> hull = hullOf(operand.shape, operand.strides);
  return hull ? uint64_t(hull->high - hull->low + 1) * dtypeBytes(dtype) : 0;
}

/// Of one end, whose value the host holds.
uint64_t stagedBytes(const PackageData &data, const Device &device, const Launch &launch) {
  const Operand &value = launch.operands[0];
  const Buffer &buffer = data.buffers[value.buffer];
  const MessageBuffers buffers = messageBuffers(buffer.dtype, elementsOf(value));
  return buffers.whole + buffers.packed +
         (hostSees(device) || isDense(value) ? 0 : extentBytes(value, buffer.dtype));
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

bool goesDirectly(const PackageData &data, const Ends &ends) {
  const Operand &value = ends.send->operands[0], &place = ends.receive->operands[0];
  return goDirectly(data.devices[ends.from].name, data.devices[ends.to].name) && isDense(value) &&
         isDense(place) && elementsOf(value) > 0;
}

/// Of the end of the message that `device` has.
uint64_t bytesAtEnd(const PackageData &data, uint32_t device, const Ends &ends, bool channels) {
  if (channels && goesDirectly(data, ends))
    return kDirectMessageBytes;
  return stagedBytes(data, data.devices[device], device == ends.from ? *ends.send : *ends.receive);
}

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

bool hostSees(const Device &device) {
  return device.name.starts_with("cpu:") || device.name.starts_with("null:");
}

std::vector<int> processesOf(size_t devices, int64_t ranks) {
  std::vector<int> processes;
  for (size_t device = 0; device < devices; ++device)
    processes.push_back(rankOfDevice(device, devices, int(ranks)));
  return processes;
}

uint64_t messageBytes(const PackageData &data, uint32_t device, const std::vector<bool> &entries,
                      const std::vector<int> &processes, bool channels) {
  uint64_t bytes = 0;
  for (size_t e = 0; e < data.entries.size(); ++e) {
    if (!entries[e])
      continue;
    for (const auto &[number, ends] : messagesOf(data.entries[e]))
      if ((ends.from == device || ends.to == device) &&
          processes[ends.from] != processes[ends.to] && !isGiven(data, ends))
        bytes += bytesAtEnd(data, device, ends, channels);
  }
  return bytes;
}

uint64_t messageBytes(const PackageData &data, uint32_t device, const std::vector<int> &processes,
                      bool channels) {
  return messageBytes(data, device, std::vector<bool>(data.entries.size(), true), processes,
                      channels);
}

} // namespace lstmc::package
