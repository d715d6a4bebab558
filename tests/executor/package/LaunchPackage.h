// Makes a package of one launch: the entry `forward`, with the operands that the launch reads as
// inputs and those that it writes as outputs.
#pragma once

#include <map>

#include "backends/conformance/TestLaunch.h"
#include "executor/package/PackageData.h"

namespace lstmc::package {

/// Each storage of the launch becomes a buffer. Written buffers persist, so that they may be read
/// too.
inline PackageData launchPackage(const conformance::TestLaunch &from) {
  PackageData data;
  data.producer = "test";
  data.net = "launch";
  data.locations = {{}};
  data.entries.resize(1);
  Entry &entry = data.entries[0];
  entry.name = "forward";
  Launch launch{from.id, {}, from.ints, from.floats, 0};
  if (from.program) {
    data.programs = {*from.program};
    launch.ints[FusedInt::program] = 0;
  }
  std::map<const conformance::Storage *, uint32_t> buffers;
  uint64_t end = 0;
  for (const conformance::Array &array : from.operands) {
    Operand &operand = launch.operands.emplace_back();
    if (!array.storage || !array.tensor)
      continue;
    const conformance::Storage &storage = *array.storage;
    const auto size = int64_t(dtypeBytes(storage.dtype()));
    const int64_t skew = int64_t(reinterpret_cast<uintptr_t>(storage.data()) % kAlignment) / size;
    auto [at, isNew] = buffers.try_emplace(&storage, uint32_t(data.buffers.size()));
    if (isNew) {
      const int64_t elements = skew + storage.elements();
      data.buffers.push_back({0,
                              end,
                              uint64_t(elements * size),
                              storage.dtype(),
                              {elements},
                              Kind::Input,
                              "b" + std::to_string(at->second)});
      end = uint64_t(roundUp(int64_t(end) + elements * size, kAlignment));
    }
    operand.buffer = at->second;
    operand.offset = skew + (static_cast<std::byte *>(array.tensor.data) - storage.data()) / size;
    operand.shape.assign(array.tensor.shape.begin(),
                         array.tensor.shape.begin() + array.tensor.rank);
    operand.strides.assign(array.tensor.strides.begin(),
                           array.tensor.strides.begin() + array.tensor.rank);
  }
  data.devices = {{"cpu:0", end}};
  const KernelRecord &record = kernelRecord(from.id);
  for (size_t i = 0; i < launch.operands.size(); ++i) {
    const bool writes =
        from.program
            ? from.program->writes(i)
            : (i < record.operands.size()
                   ? record.operands[i]
                   : record.repeated[(i - record.operands.size()) % record.repeated.size()])
                      .mode != OperandMode::In;
    if (writes && launch.operands[i].buffer != kNoBuffer)
      data.buffers[launch.operands[i].buffer].kind = Kind::Gradient;
  }
  for (uint32_t b = 0; b < data.buffers.size(); ++b)
    (data.buffers[b].kind == Kind::Input ? entry.inputs : entry.outputs)
        .push_back(
            {data.buffers[b].name, b, data.buffers[b].kind == Kind::Input ? "data" : "output", {}});
  entry.programs = {{0, {std::move(launch)}, 1}};
  return data;
}

} // namespace lstmc::package
