// The entry `step` in two halves: gradients where rows are, updates where parameters are kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "executor/session/Session.h"

namespace lstmc::session {

/// Consecutive elements of a parameter, in row-major order, that are updated by themselves.
struct KeyPart {
  size_t key; ///< a parameter that `step` updates, in declared order
  int64_t first, count;
};

/// Of a session with one device. What `step` does from `commit` on is, of each parameter it
/// updates, the launches that its new value and slots are made by, which read the parameter, its
/// slots, scalars and `values` that were there before `commit` (the gradient, a factor that clips);
/// and the rest, such as carried states. No parameter's launches read what another one's write.
class SplitStep {
public:
  /// E0402 where `step` has several devices, or cannot be told apart in that way. The session
  /// outlives it.
  static Result<SplitStep> create(Session &session);

  size_t keys() const { return keys_.size(); }
  std::string_view name(size_t key) const;
  int64_t elements(size_t key) const;
  /// Whether some elements can be updated without the others.
  bool divisible(size_t key) const { return keys_[key].divisible; }
  KeyPart whole(size_t key) const { return {key, 0, elements(key)}; }

  /// Runs `step` up to `commit` and what is no update. E0701.
  Status gradients();

  // Bytes of a part, for the session on the other side. Of a part of some elements the key is
  // divisible.
  uint64_t valuesBytes(const KeyPart &part) const;
  /// After gradients().
  void readValues(const KeyPart &part, std::span<std::byte> into) const;
  /// Of each of these values.
  std::vector<uint64_t> valueSizes(const KeyPart &part) const;
  /// The one that is the gradient of the key, in f32. E0402 where that is not told from others.
  Result<MemoryRange> gradient(size_t key) const;
  uint64_t weightsBytes(const KeyPart &part) const;
  void readWeights(const KeyPart &part, std::span<std::byte> into) const;
  void writeWeights(const KeyPart &part, std::span<const std::byte> from);
  uint64_t slotsBytes(const KeyPart &part) const;
  void readSlots(const KeyPart &part, std::span<std::byte> into) const;
  void writeSlots(const KeyPart &part, std::span<const std::byte> from);

  /// Makes an update of a part, to be run often.
  Result<std::unique_ptr<PreparedProgram>> prepare(const KeyPart &part);
  /// Updates weights and slots of the part by those values, with the scalars that the session has.
  void update(const KeyPart &part, PreparedProgram &program, std::span<const std::byte> values);

private:
  struct Key {
    size_t parameter;             ///< in the package
    std::vector<size_t> launches; ///< of the program, ascending
    std::vector<uint32_t> values; ///< buffers
    bool divisible = true;
  };
  explicit SplitStep(Session &session) : session_(&session) {}
  Status findKeys();
  Status findKey(size_t parameter);
  Status findRest();
  bool isElementwise(const package::Launch &launch, int64_t elements) const;
  const package::PackageData &data() const;
  const package::DeviceProgram &program() const;
  uint32_t weightBuffer(size_t key) const;
  std::vector<uint32_t> slotBuffers(size_t key) const;
  /// Bytes of a buffer that belong to the part: those of its elements, or all.
  MemoryRange rangeOf(const KeyPart &part, uint32_t buffer) const;

  Session *session_;
  size_t entry_ = 0; ///< in the package
  std::vector<Key> keys_;
  std::vector<size_t> rest_; ///< launches from `commit` on that are no key's
  std::unique_ptr<PreparedProgram> restProgram_;
};

} // namespace lstmc::session
