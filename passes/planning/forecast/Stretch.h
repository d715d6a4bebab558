// Scales the forecast of a few replicas to many.
#pragma once

#include <vector>

#include "executor/package/PackageData.h"

namespace lstmc::planning {

/// Factors that scale a launch of a few simulated replicas to all of them.
struct Times {
  double work = 1;        ///< total work
  double count = 1;       ///< number of launches that the work is divided into
  double out = 1, in = 1; ///< bytes of a message that leave one host, and that arrive at the other
};

/// Scaling to `replicas` replicas of `stages` devices each; the package contains a few of them, at
/// least three. Parameters are sharded (--kv-store device): every replica reduces and updates its
/// part, receives gradients of it from all others and sends them the new weights. Arrays that are
/// not cut have few owners; the package has these, and replicas without such arrays. The first
/// device also sends and receives what exists only once.
class Stretch {
public:
  /// `perHost`: replicas on one host, which exchange no messages over the network; 1 if a replica
  /// spans one host or more. `bigArrayBound`: minimum elements of parameters that are cut.
  Stretch(const package::PackageData &few, int64_t stages, int64_t replicas, int64_t perHost,
          int64_t bigArrayBound);

  /// Factors by program and launch of an entry of `few`.
  std::vector<std::vector<Times>> timesOf(const package::PackageData &few,
                                          const package::Entry &entry) const;

  /// The same with total message counts between all replicas, so that the bytes of all hosts add
  /// up.
  Stretch together() const;

private:
  /// Factors of a stage, relative to a few replicas.
  struct Stage {
    double update = 1;             ///< elements of the replica that owns most
    double owned = 1;              ///< the same, of arrays that are not cut
    double given = 1;              ///< traffic of those arrays at the replica that owns least
    double norms = 1;              ///< number of arrays with norms
    std::vector<int64_t> cut = {}; ///< sizes of the arrays that are cut
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
