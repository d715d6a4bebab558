#include "backends/cuda/runtime/HostCall.h"

#include <algorithm>

#include "executor/abi/FusedProgram.h"
#include "executor/abi/Hull.h"
#include "executor/abi/Packing.h"
#include "executor/base/FloatMode.h"

namespace lstmc::cuda {

namespace {

/// The only worker of a kernel.
class LoneWorker final : public Worker {
public:
  void barrier() override {}
};

const OperandRecord &recordOf(KernelId id, size_t i) {
  const KernelRecord &record = kernelRecord(id);
  return i < record.operands.size()
             ? record.operands[i]
             : record.repeated[(i - record.operands.size()) % record.repeated.size()];
}

/// Offsets in bytes of the runs of bytes that the operand has, from the address of element 0,
/// ascending: [begin, end).
std::vector<std::pair<int64_t, int64_t>> runsOf(const Tensor &operand) {
  const auto size = int64_t(dtypeBytes(operand.dtype));
  std::vector<int64_t> offsets = {0};
  for (int axis = 0; axis < operand.rank; ++axis) {
    std::vector<int64_t> all;
    for (int64_t offset : offsets)
      for (int64_t i = 0; i < operand.shape[size_t(axis)]; ++i)
        all.push_back(offset + i * operand.strides[size_t(axis)] * size);
    offsets = std::move(all);
  }
  std::ranges::sort(offsets);
  std::vector<std::pair<int64_t, int64_t>> runs;
  for (int64_t offset : offsets)
    if (!runs.empty() && runs.back().second >= offset)
      runs.back().second = offset + size;
    else
      runs.emplace_back(offset, offset + size);
  return runs;
}

} // namespace

std::pair<DeviceAddress, DeviceAddress> bytesOf(const Tensor &operand) {
  const auto begin = DeviceAddress(reinterpret_cast<uintptr_t>(operand.data));
  if (operand.elements() == 0)
    return {begin, begin};
  const Hull hull = *hullOf(std::span(operand.shape).first(size_t(operand.rank)),
                            std::span(operand.strides).first(size_t(operand.rank)));
  const auto size = int64_t(dtypeBytes(operand.dtype));
  return {begin + DeviceAddress(hull.low * size), begin + DeviceAddress((hull.high + 1) * size)};
}

bool writesOperand(const LaunchSpec &spec, size_t i) {
  if (spec.program)
    return spec.program->writes(i);
  return recordOf(spec.kernel, i).mode != OperandMode::In;
}

bool readsOperand(const LaunchSpec &spec, size_t i) {
  if (spec.program)
    return !spec.program->writes(i);
  return recordOf(spec.kernel, i).mode != OperandMode::Out;
}

std::string_view operandName(const LaunchSpec &spec, size_t i) {
  return recordOf(spec.kernel, i).name;
}

HostCall::HostCall(KernelFunction function, LaunchSpec spec)
    : function_(function), spec_(std::move(spec)) {
  // Operands that overlap, such as one that is written in place, share memory on the host too.
  std::vector<std::pair<DeviceAddress, DeviceAddress>> all, ranges;
  for (const Tensor &operand : spec_.operands)
    if (operand)
      all.push_back(bytesOf(operand));
  std::ranges::sort(all);
  for (auto [begin, end] : all)
    if (!ranges.empty() && begin < ranges.back().second)
      ranges.back().second = std::max(ranges.back().second, end);
    else
      ranges.emplace_back(begin, end);
  for (auto [begin, end] : ranges)
    memory_.push_back(std::make_unique<std::byte[]>(size_t(end - begin) + kAlignment));
  for (size_t i = 0; i < spec_.operands.size(); ++i)
    if (spec_.operands[i])
      addOperand(spec_.operands[i], readsOperand(spec_, i), writesOperand(spec_, i), ranges);
}

void HostCall::addOperand(Tensor &operand, bool reads, bool writes,
                          const std::vector<std::pair<DeviceAddress, DeviceAddress>> &ranges) {
  const auto [begin, end] = bytesOf(operand);
  size_t range = 0;
  while (begin < ranges[range].first || end > ranges[range].second)
    ++range;
  const auto first = DeviceAddress(reinterpret_cast<uintptr_t>(operand.data));
  const auto address = reinterpret_cast<uintptr_t>(memory_[range].get());
  // As aligned as on the device, where ranges begin as buffers do.
  std::byte *memory = memory_[range].get() + size_t((ranges[range].first - address) % kAlignment);
  auto hostOf = [&](DeviceAddress at) { return memory + (at - ranges[range].first); };
  if (reads && begin != end)
    in_.push_back({begin, hostOf(begin), size_t(end - begin)});
  if (writes)
    for (auto [from, to] : begin == end ? decltype(runsOf(operand))() : runsOf(operand))
      out_.push_back(
          {first + DeviceAddress(from), hostOf(first + DeviceAddress(from)), size_t(to - from)});
  operand.data = memory + int64_t(first - ranges[range].first);
}

DriverResult HostCall::giveTo(const Driver &driver, DriverStream stream) {
  DriverResult result = 0;
  for (const Piece &piece : in_)
    if (result == 0)
      result = driver.copyOut(piece.host, piece.device, piece.bytes, stream);
  if (result == 0)
    result = driver.callHost(stream, run, this);
  if (result == 0) // a driver may read memory that is not pinned while it is given the copy
    result = driver.synchronize(stream);
  for (const Piece &piece : out_)
    if (result == 0)
      result = driver.copyIn(piece.device, piece.host, piece.bytes, stream);
  return result;
}

void HostCall::run(void *call) {
  auto &self = *static_cast<HostCall *>(call);
  const FloatMode mode; // the driver's thread has another
  const WithWorkerMemory memory(self.worker_);
  LoneWorker worker;
  self.function_({self.spec_.operands, self.spec_.ints, self.spec_.floats, self.spec_.program},
                 worker);
}

} // namespace lstmc::cuda
