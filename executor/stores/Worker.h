// A worker of dist_async as the training loop sees it.
#pragma once

#include <atomic>
#include <functional>

#include "executor/stores/KeyParts.h"
#include "executor/stores/Protocol.h"
#include "executor/stores/ReplayLog.h"
#include "executor/stores/SplitTrainable.h"

namespace lstmc::stores {

struct WorkerOptions {
  Cluster cluster;
  int64_t staleness = 0;
  int64_t bigArrayBound = 0;
  int64_t batch = 0; ///< rows of all workers
  uint64_t seed = 0;
  double threshold = 0;             ///< of 2 bit compression; 0: none
  std::string log;                  ///< the first worker's file; empty: none
  std::function<int()> signal = {}; ///< by which this process was asked to end, or 0
};

/// Between two meetings, at which all workers have the same weights, each goes on as fast as
/// `staleness` lets it. Validations, saves and the end are meetings: all workers come to them after
/// the same update, so what decides over them must not depend on time.
class Worker final : public SplitTrainable {
public:
  /// E0402 where the package's step cannot be divided. Session and link outlive it.
  static Result<std::unique_ptr<Worker>> create(Session &session, ranks::Link &link,
                                                WorkerOptions options);

  uint64_t weightsHash() override;
  Status step(const StepScalars &scalars) override;
  Status evaluate() override;
  Status collect() override;
  bool writes() const override { return link_.rank() == 0; }
  Status agree(std::string_view what, std::string_view value) override;
  int signal() const override { return signal_; }

  /// Tells the servers that nothing more is asked.
  Status leave();
  /// The workers' last update, and all updates; from any thread.
  uint64_t progress() const { return progress_.load(); }

private:
  Worker(Session &session, ranks::Link &link, WorkerOptions options);
  Status begin(int64_t clock);
  Status ask(const Question &question);
  Status takeWeights();
  Status meet();
  Status collectStates();
  Status collectSlots();

  ranks::Link &link_;
  const WorkerOptions options_;
  std::vector<Channel> servers_;
  std::vector<KeyParts> parts_; ///< by server
  std::vector<std::byte> bytes_;
  std::string dataDigest_, firstWeights_;
  std::optional<ReplayWriter> log_;
  bool begun_ = false, broken_ = false;
  int64_t clock_ = 0, met_ = -1, logged_ = 0; ///< updates
  int signal_ = 0;
  std::atomic<uint64_t> progress_{0};
};

} // namespace lstmc::stores
