// The entry `step` in two halves: gradients where rows are, updates where parameters are kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "executor/session/Session.h"

namespace lstmc::session {

struct BoundEntry;

/// Consecutive elements of a parameter, in row-major order, that are updated by themselves.
struct KeyPart {
  size_t key; ///< a parameter that `step` updates, in declared order
  int64_t first, count;
};

/// What `step` does from `commit` on is, of each parameter it updates, the launches that its new
/// value and slots are made by; and the rest, such as carried states, also on their way between
/// devices. Launches before `commit` are of an update too where it needs what they make of the
/// parameter, its slots and scalars, or of its gradient by its slots (norms of lamb). All of these
/// read the parameter, its slots, scalars and `values` that the others have made (the gradient, a
/// factor that clips). No parameter's launches read what another one's write. Of
/// several devices each one that has a copy of a parameter updates it in `step`; here the first
/// copy alone is updated, and the others are given its value.
class SplitStep {
public:
  /// E0402 where `step` cannot be told apart in that way. The session outlives it.
  static Result<SplitStep> create(Session &session);

  size_t keys() const { return keys_.size(); }
  std::string_view name(size_t key) const;
  int64_t elements(size_t key) const;
  /// Whether some elements can be updated without the others.
  bool divisible(size_t key) const { return keys_[key].divisible; }
  KeyPart whole(size_t key) const { return {key, 0, elements(key)}; }

  /// Runs what is before `commit` and no update. E0701.
  Status gradients();
  /// Runs what is after `commit` and no update, such as carried states. All values have been read,
  /// since it may write over them.
  Status rest();

  // Bytes of a part, for the session on the other side. Of a part of some elements the key is
  // divisible.
  uint64_t valuesBytes(const KeyPart &part) const;
  /// Between gradients() and rest().
  void readValues(const KeyPart &part, std::span<std::byte> into) const;
  /// Of each of these values.
  std::vector<uint64_t> valueSizes(const KeyPart &part) const;
  /// The one that is the gradient of the key, in f32. E0402 where that is not told from others.
  Result<MemoryRange> gradient(size_t key) const;
  uint64_t weightsBytes(const KeyPart &part) const;
  void readWeights(const KeyPart &part, std::span<std::byte> into) const;
  /// To every copy.
  void writeWeights(const KeyPart &part, std::span<const std::byte> from);
  /// Where that has been done of all parts: entries that run see the new weights.
  void weightsWritten();
  uint64_t slotsBytes(const KeyPart &part) const;
  void readSlots(const KeyPart &part, std::span<std::byte> into) const;
  /// To every copy.
  void writeSlots(const KeyPart &part, std::span<const std::byte> from);

  /// Makes an update of a part, to be run often.
  Result<std::unique_ptr<PreparedProgram>> prepare(const KeyPart &part);
  /// Updates weights and slots of the part by those values, with the scalars that the session has.
  void update(const KeyPart &part, PreparedProgram &program, std::span<const std::byte> values);

private:
  struct Key {
    size_t parameter;              ///< in the package
    size_t program;                ///< of the device with the first copy
    std::vector<size_t> launches;  ///< of the program, ascending
    std::vector<uint32_t> values;  ///< buffers
    std::vector<uint32_t> scalars; ///< buffers that another device sends one of its scalars to
    bool divisible = true;
  };
  explicit SplitStep(Session &session) : session_(&session) {}
  void findScalars();
  void findOfSlots();
  Status findKeys();
  Status findKey(size_t parameter, size_t copy);
  Status checkKey(const Key &key) const;
  Status findFirst();
  Status checkKept(const package::DeviceProgram &program, size_t index) const;
  Status findRest();
  Result<BoundEntry *> bindPart(package::Entry source);
  bool overlap(uint32_t a, uint32_t b) const;
  static bool isBroadcast(const package::Operand &operand);
  bool isElementwise(const package::Launch &launch, int64_t elements) const;
  const package::PackageData &data() const;
  const std::vector<package::DeviceProgram> &programs() const;
  const package::DeviceProgram &programOf(const Key &key) const;
  Device &deviceOf(size_t program) const;
  BoundEntry &bound() const;
  void copyScalar(uint32_t from, uint32_t to) const;
  uint32_t weightBuffer(size_t key) const;
  std::optional<uint32_t> copyOn(uint32_t device, const std::vector<uint32_t> &copies) const;
  std::vector<uint32_t> slotBuffers(size_t key) const; ///< those on the weight's device
  /// Bytes of a buffer that belong to the part: those of its elements, or all.
  MemoryRange rangeOf(const KeyPart &part, uint32_t buffer) const;

  Session *session_;
  size_t entry_ = 0; ///< in the package
  std::vector<Key> keys_;
  std::map<uint32_t, uint32_t> scalars_; ///< by the buffer that gets it: a scalar of another device
  std::vector<std::set<size_t>> updates_; ///< by program: launches that update a copy
  std::vector<std::set<size_t>> ofSlots_; ///< by program: those before `commit` that need slots
  // Launches that do not, before `commit` and from there on; the session keeps them.
  BoundEntry *first_ = nullptr; ///< null: all before `commit`
  BoundEntry *rest_ = nullptr;  ///< null: there are none
};

} // namespace lstmc::session
