// All workers and servers of a dist_async run in one process, in the order of its log.
#pragma once

#include "executor/stores/KeyStore.h"
#include "executor/stores/ReplayLog.h"
#include "executor/stores/SplitTrainable.h"

namespace lstmc::stores {

/// To the training loop it is the first worker. Ends with the bits of the logged run, where the
/// loop validates and saves after the same updates.
class Replay final : public SplitTrainable {
public:
  /// `session` is the workers', `store` the servers', both of the same package and with the same
  /// weights; `data` what is trained on. All outlive it. E0610 where the log is of another package,
  /// seed or data, or begins with other weights; E0402, E0603.
  static Result<std::unique_ptr<Replay>> create(Session &session, Session &store,
                                                const data::DataSet &data,
                                                const training::FitSettings &fit, ReplayLog log,
                                                std::string path, uint64_t seed);

  training::MetricValues metric(Entry entry, size_t head) override {
    return entry == Entry::Step ? metrics_[head] : inner_->metric(entry, head);
  }
  std::optional<double> gradientNorm() override { return norm_; }
  const std::vector<training::NamedNorm> &gradientNorms() override { return norms_; }
  uint64_t weightsHash() override;
  Status step(const StepScalars &scalars) override;
  Status evaluate() override;
  Status collect() override;

private:
  struct Worker {
    std::unique_ptr<data::Feed> feed;            ///< into `rows`; none of the first
    std::optional<Rows> rows;                    ///< none of the first
    std::vector<std::vector<std::byte>> weights; ///< as of its last pull, by server
    std::vector<std::vector<std::byte>> values;  ///< of its last gradients, by server
    std::vector<std::byte> states;               ///< before its next update; none of the first
    int64_t computed = 0;                        ///< updates whose gradients there have been
    std::vector<int64_t> applied;                ///< of these, by server
  };
  struct Server {
    std::unique_ptr<KeyStore> store;
    std::vector<Event> events;
    size_t next = 0;
  };

  Replay(Session &session, Session &store, ReplayLog log, std::string path, uint64_t seed)
      : SplitTrainable(session, log.head.workers, 0), storeSession_(store), log_(std::move(log)),
        path_(std::move(path)), seed_(seed) {}
  Status checkHead(const data::DataSet &data);
  Status makeServers(const training::FitSettings &fit);
  Status makeWorkers(const data::DataSet &data);

  Status goOn();
  bool carryOutEvents();
  bool carryOut(size_t server, const Event &event);
  bool mayCompute(int worker) const;
  Status compute(int worker);
  bool atMeeting() const;
  Status meet();
  void giveWeights(size_t server, int worker);
  Error refuse(std::string_view what) const;

  Session &storeSession_;
  std::optional<session::SplitStep> storeStep_;
  const ReplayLog log_;
  const std::string path_;
  const uint64_t seed_;
  std::vector<Worker> all_;
  std::vector<Server> servers_;
  bool met_ = true; ///< since the first worker's last update
  // Of the first worker's last update; others have run since.
  std::vector<training::MetricValues> metrics_;
  std::optional<double> norm_;
  std::vector<training::NamedNorm> norms_;
};

} // namespace lstmc::stores
