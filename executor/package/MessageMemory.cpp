#include "executor/package/MessageMemory.h"

#include <set>

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

/// One end of a message.
uint64_t bytesAtEnd(const PackageData &data, const Device &device, const Launch &launch) {
  const Operand &value = launch.operands[0];
  const Buffer &buffer = data.buffers[value.buffer];
  const MessageBuffers buffers = messageBuffers(buffer.dtype, elementsOf(value));
  return buffers.whole + buffers.packed +
         (hostSees(device) || isDense(value) ? 0 : extentBytes(value, buffer.dtype));
}

/// Numbers of the messages of inputs, which every process has.
std::set<int64_t> givenMessages(const Entry &entry, const PackageData &data) {
  std::set<int64_t> given;
  for (const DeviceProgram &program : entry.programs)
    for (const Launch &launch : program.launches)
      if (launch.kernel == KernelId::Send) {
        const Kind kind = data.buffers[launch.operands[0].buffer].kind;
        if (kind == Kind::Input || kind == Kind::Scalar)
          given.insert(argumentsOf<TransferArguments>(launch).message);
      }
  return given;
}

} // namespace

MessageBuffers messageBuffers(DType dtype, uint64_t elements) {
  const uint64_t whole = elements * dtypeBytes(dtype), packed = twoBitBytes(elements);
  return {kMessageHeaderBytes + whole,
          dtype == DType::F32 && packed < whole ? kMessageHeaderBytes + packed : 0};
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
                      const std::vector<int> &processes) {
  uint64_t bytes = 0;
  for (size_t e = 0; e < data.entries.size(); ++e) {
    if (!entries[e])
      continue;
    const std::set<int64_t> given = givenMessages(data.entries[e], data);
    for (const DeviceProgram &program : data.entries[e].programs)
      for (const Launch &launch : program.launches) {
        if (program.device != device || !isTransfer(launch.kernel))
          continue;
        const auto transfer = argumentsOf<TransferArguments>(launch);
        if (processes[size_t(transfer.peer)] != processes[device] &&
            !given.contains(transfer.message))
          bytes += bytesAtEnd(data, data.devices[device], launch);
      }
  }
  return bytes;
}

uint64_t messageBytes(const PackageData &data, uint32_t device, const std::vector<int> &processes) {
  return messageBytes(data, device, std::vector<bool>(data.entries.size(), true), processes);
}

} // namespace lstmc::package
