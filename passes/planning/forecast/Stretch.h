// Many replicas, forecast by a few: what all of them do is what those do, more often.
#pragma once

#include <vector>

#include "executor/package/PackageData.h"

namespace lstmc::planning {

/// Of a launch, how often there is what it does.
struct Times {
  double work = 1;        ///< all of it,
  double count = 1;       ///< in so many launches
  double out = 1, in = 1; ///< of a message, what leaves one host and what comes to the other
};

/// `replicas` of which a package has a few, three or more, of `stages` devices each. Every replica
/// adds and updates its part of the parameters (--kv-store device): it gets gradients of that part
/// from all others and gives them new weights. Arrays that are not cut have few owners; the package
/// has these, and others that own none. The first device besides gives and gets what only one has.
class Stretch {
public:
  /// `perHost`: replicas that have their devices in one host, and send one another nothing by its
  /// interface; 1 where a replica has a host or several. `bigArrayBound`: elements from which
  /// parameters are cut into parts for all.
  Stretch(const package::PackageData &few, int64_t stages, int64_t replicas, int64_t perHost,
          int64_t bigArrayBound);

  /// By program and launch of an entry of that package.
  std::vector<std::vector<Times>> timesOf(const package::PackageData &few,
                                          const package::Entry &entry) const;

  /// Each message as often as it goes between all replicas: then the bytes of all hosts add up.
  Stretch together() const;

private:
  /// Of a stage, as multiples of what there is with few replicas.
  struct Stage {
    double update = 1; ///< elements of who owns most
    double owned = 1;  ///< the same of arrays that are not cut
    double given = 1;  ///< of those, what goes to their owners and comes back to who owns least
    double norms = 1;  ///< arrays that norms are taken of
    std::vector<int64_t> cut = {}; ///< elements of arrays that are
  };
  enum class Way { Cut, ToAll, ToOwner, ToFirst, Norm };
  class Reader;

  bool between(uint32_t device, int64_t peer) const {
    return int64_t(device) / stages_ != peer / stages_;
  }
  const Stage &stageOf(uint32_t device) const { return byStage_[device % size_t(stages_)]; }
  bool isCut(const Stage &stage, const package::Operand &operand) const;
  Times ofMessage(Way way, const Stage &stage, bool sends, bool committed) const;

  int64_t stages_, few_, all_, perHost_;
  bool together_ = false;
  std::vector<Stage> byStage_;
};

} // namespace lstmc::planning
