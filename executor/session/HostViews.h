// Plain tensors through which the host reads and writes values of a session, even if it cannot see
// the memory.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "executor/device/AsyncCopier.h"
#include "executor/device/HostPinner.h"
#include "executor/device/StoredTensor.h"
#include "executor/package/Package.h"
#include "executor/session/BoundEntry.h"

namespace lstmc::session {

/// When a copy is transferred, and how long it stays valid.
enum class Kept : uint8_t {
  UntilRun, ///< valid until any entry runs, which first copies it back
  State,    ///< always valid: copied back before every run, refreshed after it
  Input,    ///< always valid: copied back before each run of an entry that reads it
  Output,   ///< always valid: refreshed after each run of an entry that outputs it
};

/// A value of the package: one buffer, or one slice of it on each of several devices. Valid as long
/// as the package.
struct Value {
  std::span<const uint32_t> buffers;
  const package::Buffer &shape; ///< of the whole
};

/// If the host can see a value's memory in one piece, it gets a view of that memory. Otherwise it
/// gets a copy, which is kept here and transferred around runs. A copy is made when it is first
/// requested, so that other values cost nothing and a run allocates nothing.
class HostViews {
public:
  HostViews(const package::Package &package, const Devices &devices);

  Tensor view(const Value &value, Kept kept);
  /// The memory of a value as it is between runs: the copy if there is one that counts.
  StoredTensor stored(std::string name, const Value &value) const;

  /// Must be called before and after the devices run an entry.
  void giveBack(size_t entry);
  void take(size_t entry);
  /// May be called when they have come to `commit`: begins to copy outputs that are ready then.
  void beginTake(size_t entry);

  /// From where on in a run of the entry its inputs may be copied for its next run.
  enum class Ahead : uint8_t {
    Never,
    FromCommit, ///< nothing from there on uses the memory of any of them
    Always,     ///< each has a place for its next value
  };
  /// Never where no input is copied.
  Ahead inputsAhead(size_t entry);
  /// Copies the entry's inputs for its next run, which copies them again only if another entry runs
  /// before it.
  void giveInputs(size_t entry);
  /// Returns when they are copied. Unless this run went `well`, the next one copies inputs again,
  /// and those with a place for a next value are what they were in this one.
  void endGiveInputs(size_t entry, bool well);

  /// Gives back what the host may have written to persistent values, and drops the copies that are
  /// valid until a run.
  void settle();

  // Discards copies in favour of the devices' values.
  /// Drops the copies that are valid until a run; inputs that were given for one are given again.
  void forget();
  /// Refreshes the copies of states.
  void takeStates();

private:
  struct Copy {
    uint32_t buffer; ///< the first
    Kept kept;
    std::vector<bool> entries; ///< the entries that it is copied back for, or refreshed after
    StoredTensor memory;       ///< the value's memory on the devices
    std::unique_ptr<std::byte[]> bytes;
    HostPin pin = nullptr;

    std::optional<uint32_t> next = {};    ///< of an input: the buffer for its next value
    std::vector<bool> readyAtCommit = {}; ///< of an output: by entry
    bool begun = false;                   ///< an output that is being copied

    std::span<std::byte> span() const { return {bytes.get(), size_t(memory.bytes())}; }
  };
  StoredTensor inMemory(std::string name, const Value &value) const;
  const Copy *find(uint32_t buffer, Kept kept) const;
  std::vector<bool> entriesOf(uint32_t buffer, Kept kept) const;
  /// The buffer for the next value of an input, if its device copies there while it works.
  std::optional<uint32_t> nextOf(uint32_t input) const;
  AsyncCopier &copierOf(const Copy &input) const;
  Ahead findAhead(size_t entry) const;

  const package::Package &package_;
  const Devices &devices_;
  std::vector<Copy> copies_;
  std::vector<std::optional<Ahead>> ahead_; ///< by entry, once it was asked for
  std::optional<size_t> given_;             ///< the entry whose inputs are there for its next run
};

} // namespace lstmc::session
