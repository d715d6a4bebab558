// What the host reads and writes of a session as plain tensors, also where it cannot see the
// memory.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "executor/device/StoredTensor.h"
#include "executor/package/Package.h"
#include "executor/session/BoundEntry.h"

namespace lstmc::session {

/// Which way a copy goes, and how long it is good.
enum class Kept : uint8_t {
  UntilRun, ///< until any entry runs, which first takes back what it holds
  State,    ///< for good: back before every run, and made anew after it
  Input,    ///< for good: back before an entry runs that has it as an input
  Output,   ///< for good: made anew after an entry has run that has it as an output
};

/// A value of the package: one buffer, or one slice of it on each of several devices. Good as long
/// as the package.
struct Value {
  std::span<const uint32_t> buffers;
  const package::Buffer &shape; ///< of the whole
};

/// Where the host sees a value in one piece it gets the memory itself. Else it gets a copy that
/// lies here and goes to and fro around runs; copies are made when they are asked for, so what
/// nobody looks at costs nothing and a run allocates nothing.
class HostViews {
public:
  HostViews(const package::Package &package, const Devices &devices);

  Tensor view(const Value &value, Kept kept);
  /// A value that persists, as it is between runs: the copy, where there is one.
  StoredTensor stored(std::string name, const Value &value) const;

  /// To be called before and after the devices run an entry.
  void giveBack(size_t entry);
  void take(size_t entry);

  // What devices have from now on is what counts.
  /// Lets go of what is kept until a run.
  void forget();
  /// Makes the copies of states anew.
  void takeStates();

private:
  struct Copy {
    uint32_t buffer; ///< the first
    Kept kept;
    std::vector<bool> entries; ///< with which it goes back, or is made anew
    StoredTensor memory;       ///< on the devices
    std::unique_ptr<std::byte[]> bytes;

    std::span<std::byte> span() const { return {bytes.get(), size_t(memory.bytes())}; }
  };
  StoredTensor inMemory(std::string name, const Value &value) const;
  const Copy *find(uint32_t buffer, Kept kept) const;
  std::vector<bool> entriesOf(uint32_t buffer, Kept kept) const;

  const package::Package &package_;
  const Devices &devices_;
  std::vector<Copy> copies_;
};

} // namespace lstmc::session
