// Counts indices that a network computes and that are outside what they index.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "executor/base/Diagnostic.h"
#include "executor/device/Device.h"
#include "executor/device/DeviceTensor.h"
#include "executor/package/PackageData.h"

namespace lstmc::session {

/// The launches of an entry whose indices are counted, in ascending order, by program: those that
/// clip values that no caller gave. Rows that several launches compute, because several devices do
/// or because backward computes them again, are counted at the first launch.
std::vector<std::vector<size_t>> countedLaunches(const package::PackageData &data,
                                                 const package::Entry &entry);

/// Of the launches of one program. Used by the thread of its device.
class IndexCounter {
public:
  /// What one launch has read since the session was made.
  struct Count {
    size_t launch; ///< in the program
    const package::Launch *source;
    DeviceTensor indices;
    int64_t extent; ///< valid indices are less than this, and not negative
    uint64_t outside = 0;
  };

  /// `launches` is the program's element of countedLaunches().
  IndexCounter(const package::PackageData &data, const package::DeviceProgram &program,
               std::span<const size_t> launches, Device &device);

  /// Counts if `launch` is one of them; called when all launches before it are on the stream.
  /// Allocates nothing.
  void count(Device &device, size_t launch, uint32_t stream);
  const std::vector<Count> &counts() const { return counts_; }

private:
  std::vector<Count> counts_;
  std::vector<std::byte> scratch_; ///< holds the largest indices if the host cannot see them
};

/// The warning W0703 at the first of these ops, with the others as reasons: how many indices of
/// each were outside, and what the op reads instead. Empty if there were none. `totals` has the
/// number of each count.
Diagnostics describe(const package::PackageData &data,
                     std::span<const IndexCounter::Count *const> counts,
                     std::span<const uint64_t> totals);

} // namespace lstmc::session
