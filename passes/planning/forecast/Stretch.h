// Many replicas, forecast by two: what all of them do is what two do, more often.
#pragma once

#include <vector>

#include "executor/package/PackageData.h"

namespace lstmc::planning {

/// Of a launch, how often there is what it does: its work, and of a message what leaves one host
/// and what comes to the other.
struct Times {
  double work = 1, out = 1, in = 1;
};

/// `replicas` of which a package has two, of `stages` devices each. Every replica adds and updates
/// its part of the parameters (--kv-store device): it gets gradients of that part from all others
/// and gives them new weights. The first device besides gives and gets what only one has.
class Stretch {
public:
  /// `perHost`: replicas that have their devices in one host, and send one another nothing by its
  /// interface; 1 where a replica has a host or several. `bigArrayBound`: elements from which
  /// parameters are cut into parts for all.
  Stretch(const package::PackageData &two, int64_t stages, int64_t replicas, int64_t perHost,
          int64_t bigArrayBound);

  /// By program and launch of an entry of that package.
  std::vector<std::vector<Times>> timesOf(const package::PackageData &two,
                                          const package::Entry &entry) const;

  /// The same if every replica owned as much as any other: then bytes of all add up.
  Stretch evenly() const;

private:
  /// Of a stage, as multiples of what there is with two replicas.
  struct Stage {
    double update = 1;                    ///< elements of who owns most
    double ownerWork = 1, ownerBytes = 1; ///< that it gets of gradients, or gives of weights
    double otherWork = 1, otherBytes = 1; ///< that anyone gives of gradients, or gets of weights
    double norms = 1;                     ///< arrays that norms are taken of
  };

  bool between(uint32_t device, int64_t peer) const {
    return int64_t(device) / stages_ != peer / stages_;
  }

  int64_t stages_, replicas_, perHost_;
  std::vector<Stage> byStage_;
};

} // namespace lstmc::planning
