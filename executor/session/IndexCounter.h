// Looks at indices, labels and lengths that a network computes while it runs: counts those that are
// out of range, and ends the run where the op refuses them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "executor/base/Status.h"
#include "executor/base/ValueRange.h"
#include "executor/device/Device.h"
#include "executor/device/DeviceTensor.h"
#include "executor/package/PackageData.h"
#include "executor/session/IndexReadings.h"

namespace lstmc::session {

/// What is counted of one launch.
struct CountedLaunch {
  size_t launch; ///< in its program
  bool below,
      above;  ///< of lengths in chunks, only the first has what is too small, the last too large
  bool given; ///< read from an input, and not computed
};

/// The launches of an entry that are counted, in ascending order, by program: those that read
/// values that no caller gave, or that were checked for less when they were given: an input of
/// which ops accept different values. Rows that several launches read, because several devices do,
/// or because the gradient and the metric of a head do, are counted at one of them; rows that an op
/// refuses, at each.
std::vector<std::vector<CountedLaunch>> countedLaunches(const package::PackageData &data,
                                                        const package::Entry &entry);

/// Of the launches of one program. Used by the thread of its device.
class IndexCounter {
public:
  /// What one launch has read since the session was made.
  struct Count {
    size_t launch; ///< in the program
    const package::Launch *source;
    Use use;
    DeviceTensor values;
    ValueRange valid;   ///< of the op
    ValueRange checked; ///< of the launch's own numbers: a chunk counts lengths from its first step
    bool given = false; ///< an input's
    uint64_t outside = 0;
  };

  /// `launches` is the program's element of countedLaunches(). `data` outlives the counter.
  IndexCounter(const package::PackageData &data, const package::DeviceProgram &program,
               std::span<const CountedLaunch> launches, Device &device);

  bool counts(size_t launch) const;
  /// Counts if `launch` is one of them; called when all launches before it are on the stream, with
  /// the events that it waits for. E0604 at the op if it refuses an index. Allocates only the
  /// error.
  Status count(Device &device, size_t launch, uint32_t stream);
  const std::vector<Count> &counts() const { return counts_; }

private:
  Status refuse(const Count &count, double index) const;

  const package::PackageData &data_;
  std::vector<Count> counts_;
  std::vector<std::byte> scratch_; ///< holds the largest values if the host cannot see them
};

} // namespace lstmc::session
