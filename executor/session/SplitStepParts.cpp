// Parts of parameters, of a step that is in two halves: their bytes, and their update.
#include <algorithm>
#include <array>

#include "executor/base/Quote.h"
#include "executor/session/Binding.h"
#include "executor/session/SessionImpl.h"
#include "executor/session/SplitStep.h"

namespace lstmc::session {

using package::Kind;

void SplitStep::weightsWritten() { ++session_->impl_->parametersVersion; }

MemoryRange SplitStep::rangeOf(const KeyPart &part, uint32_t index) const {
  const package::Buffer &buffer = data().buffers[index];
  const auto size = uint64_t(dtypeBytes(buffer.dtype));
  Device &device = *session_->impl_->devices[buffer.device];
  if (buffer.elements() != elements(part.key))
    return MemoryRange(device, buffer.offset, uint64_t(buffer.elements()) * size);
  return MemoryRange(device, buffer.offset + uint64_t(part.first) * size,
                     uint64_t(part.count) * size);
}

uint64_t SplitStep::valuesBytes(const KeyPart &part) const {
  uint64_t bytes = 0;
  for (uint32_t buffer : keys_[part.key].values)
    bytes += rangeOf(part, buffer).size();
  return bytes;
}

std::vector<uint64_t> SplitStep::valueSizes(const KeyPart &part) const {
  std::vector<uint64_t> sizes;
  for (uint32_t buffer : keys_[part.key].values)
    sizes.push_back(rangeOf(part, buffer).size());
  return sizes;
}

Result<MemoryRange> SplitStep::gradient(size_t key) const {
  std::vector<uint32_t> found;
  for (uint32_t index : keys_[key].values)
    if (const package::Buffer &buffer = data().buffers[index];
        buffer.dtype == DType::F32 && buffer.elements() == elements(key))
      found.push_back(index);
  if (found.size() > 1) // a factor that clips has one element, as some parameters have
    std::erase_if(found,
                  [&](uint32_t index) { return data().buffers[index].kind != Kind::Gradient; });
  if (found.size() != 1)
    return fail(ErrorCode::E0402,
                "the gradient of {} cannot be compressed by itself: its update reads {} arrays of "
                "{} float32 elements, want one",
                inQuotes(name(key)), found.size(), elements(key));
  return rangeOf(whole(key), found[0]);
}

void SplitStep::readValues(const KeyPart &part, std::span<std::byte> into) const {
  for (uint32_t buffer : keys_[part.key].values) {
    const MemoryRange range = rangeOf(part, buffer);
    range.read(0, into.first(range.size()));
    into = into.subspan(range.size());
  }
}

uint64_t SplitStep::weightsBytes(const KeyPart &part) const {
  return rangeOf(part, weightBuffer(part.key)).size();
}

void SplitStep::readWeights(const KeyPart &part, std::span<std::byte> into) const {
  rangeOf(part, weightBuffer(part.key)).read(0, into);
}

void SplitStep::writeWeights(const KeyPart &part, std::span<const std::byte> from) {
  for (uint32_t copy : data().parameters[keys_[part.key].parameter].buffers)
    rangeOf(part, copy).write(0, from);
}

uint64_t SplitStep::slotsBytes(const KeyPart &part) const {
  uint64_t bytes = 0;
  for (uint32_t buffer : slotBuffers(part.key))
    bytes += rangeOf(part, buffer).size();
  return bytes;
}

void SplitStep::readSlots(const KeyPart &part, std::span<std::byte> into) const {
  for (uint32_t buffer : slotBuffers(part.key)) {
    const MemoryRange range = rangeOf(part, buffer);
    range.read(0, into.first(range.size()));
    into = into.subspan(range.size());
  }
}

void SplitStep::writeSlots(const KeyPart &part, std::span<const std::byte> from) {
  for (const package::Slot &slot : data().parameters[keys_[part.key].parameter].slots) {
    const auto bytes = from.first(rangeOf(part, slot.buffers[0]).size());
    for (uint32_t copy : slot.buffers)
      rangeOf(part, copy).write(0, bytes);
    from = from.subspan(bytes.size());
  }
}

Result<std::unique_ptr<PreparedProgram>> SplitStep::prepare(const KeyPart &part) {
  const Key &key = keys_[part.key];
  Device &device = deviceOf(key.program);
  std::vector<LaunchSpec> specs;
  for (size_t launch : key.launches) {
    LaunchSpec spec = bind(session_->package(), programOf(key).launches[launch], device);
    for (size_t k = 0; k < spec.operands.size() && part.count != elements(part.key); ++k) {
      const package::Operand &operand = programOf(key).launches[launch].operands[k];
      Tensor &tensor = spec.operands[k];
      tensor.rank = 1;
      tensor.shape[0] = part.count;
      tensor.strides[0] = isBroadcast(operand) ? 0 : 1;
      if (!isBroadcast(operand))
        tensor.data =
            static_cast<std::byte *>(tensor.data) + uint64_t(part.first) * dtypeBytes(tensor.dtype);
    }
    specs.push_back(std::move(spec));
  }
  return device.prepare(std::move(specs));
}

void SplitStep::update(const KeyPart &part, PreparedProgram &prepared,
                       std::span<const std::byte> values) {
  const Key &key = keys_[part.key];
  for (uint32_t buffer : key.values) {
    const MemoryRange range = rangeOf(part, buffer);
    range.write(0, values.first(range.size()));
    values = values.subspan(range.size());
  }
  session_->impl_->scalarsOf(bound()).write(session_->impl_->formula);
  for (uint32_t place : key.scalars)
    copyScalar(scalars_.at(place), place);
  deviceOf(key.program).run(prepared, 0, prepared.size());
}

/// As `step` would send it from device to device.
void SplitStep::copyScalar(uint32_t from, uint32_t to) const {
  std::array<std::byte, 8> bytes{};
  auto range = [&](uint32_t index) {
    const package::Buffer &buffer = data().buffers[index];
    return MemoryRange(*session_->impl_->devices[buffer.device], buffer.offset,
                       dtypeBytes(buffer.dtype));
  };
  const auto value = std::span(bytes).first(range(from).size());
  range(from).read(0, value);
  range(to).write(0, value);
}

} // namespace lstmc::session
