#include "executor/stores/KeyParts.h"

namespace lstmc::stores {

using session::KeyPart;
using session::SplitStep;

namespace {

/// Calls f(part, its bytes) for each; there are size(part) of them.
template <typename Bytes, typename Size, typename F>
void eachPart(const std::vector<KeyPart> &parts, Bytes bytes, const Size &size, const F &f) {
  for (const KeyPart &part : parts) {
    const auto count = size_t(size(part));
    f(part, bytes.first(count));
    bytes = bytes.subspan(count);
  }
}

} // namespace

KeyParts::KeyParts(const SplitStep &step, std::vector<KeyPart> parts) : parts_(std::move(parts)) {
  for (const KeyPart &part : parts_) {
    valuesBytes_ += step.valuesBytes(part);
    for (uint64_t size : step.valueSizes(part))
      valueSizes_.push_back(size);
    weightsBytes_ += step.weightsBytes(part);
    slotsBytes_ += step.slotsBytes(part);
  }
}

void KeyParts::readValues(const SplitStep &from, std::span<std::byte> into) const {
  eachPart(
      parts_, into, [&](const KeyPart &part) { return from.valuesBytes(part); },
      [&](const KeyPart &part, std::span<std::byte> bytes) { from.readValues(part, bytes); });
}

void KeyParts::readWeights(const SplitStep &from, std::span<std::byte> into) const {
  eachPart(
      parts_, into, [&](const KeyPart &part) { return from.weightsBytes(part); },
      [&](const KeyPart &part, std::span<std::byte> bytes) { from.readWeights(part, bytes); });
}

void KeyParts::writeWeights(SplitStep &to, std::span<const std::byte> from) const {
  eachPart(
      parts_, from, [&](const KeyPart &part) { return to.weightsBytes(part); },
      [&](const KeyPart &part, std::span<const std::byte> bytes) { to.writeWeights(part, bytes); });
}

void KeyParts::readSlots(const SplitStep &from, std::span<std::byte> into) const {
  eachPart(
      parts_, into, [&](const KeyPart &part) { return from.slotsBytes(part); },
      [&](const KeyPart &part, std::span<std::byte> bytes) { from.readSlots(part, bytes); });
}

void KeyParts::writeSlots(SplitStep &to, std::span<const std::byte> from) const {
  eachPart(
      parts_, from, [&](const KeyPart &part) { return to.slotsBytes(part); },
      [&](const KeyPart &part, std::span<const std::byte> bytes) { to.writeSlots(part, bytes); });
}

} // namespace lstmc::stores
