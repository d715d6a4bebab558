// Parts of keys, and their bytes one after the other.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "executor/session/SplitStep.h"

namespace lstmc::stores {

/// What one server has. The same on both sides of a message: each counts the bytes by its own plan.
class KeyParts {
public:
  /// `step`: any of the package.
  KeyParts(const session::SplitStep &step, std::vector<session::KeyPart> parts);

  const std::vector<session::KeyPart> &parts() const { return parts_; }
  uint64_t valuesBytes() const { return valuesBytes_; }
  /// Of each value of each part.
  const std::vector<uint64_t> &valueSizes() const { return valueSizes_; }
  uint64_t weightsBytes() const { return weightsBytes_; }
  uint64_t slotsBytes() const { return slotsBytes_; }

  // The spans have that many bytes.
  void readValues(const session::SplitStep &from, std::span<std::byte> into) const;
  void readWeights(const session::SplitStep &from, std::span<std::byte> into) const;
  void writeWeights(session::SplitStep &to, std::span<const std::byte> from) const;
  void readSlots(const session::SplitStep &from, std::span<std::byte> into) const;
  void writeSlots(session::SplitStep &to, std::span<const std::byte> from) const;

private:
  std::vector<session::KeyPart> parts_;
  std::vector<uint64_t> valueSizes_;
  uint64_t valuesBytes_ = 0, weightsBytes_ = 0, slotsBytes_ = 0;
};

} // namespace lstmc::stores
