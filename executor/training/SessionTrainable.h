// A session as the loop sees it.
#pragma once

#include <memory>

#include "executor/session/Session.h"
#include "executor/training/Trainable.h"

namespace lstmc::training {

/// The data and label inputs of an entry. E0610 where the package has none of that name.
Result<std::vector<data::InputSlot>> inputSlots(Session &session, std::string_view entry);

/// Packs weights for all entries, so that a training that cannot have the memory it planned for a
/// validation ends before it began.
Status prepareAll(Session &session);

/// Wraps a session that outlives it. Heads are what the metric outputs of `step` (or `evaluate`,
/// where there is no step) are made by.
class SessionTrainable : public Trainable {
public:
  /// E0610 when the package measures no loss, E0605 when its entries differ in that.
  static Result<std::unique_ptr<SessionTrainable>> create(Session &session);

  Identity identity() const override;
  std::vector<StoredTensor> parameters() override;
  std::vector<StoredTensor> slots() override;
  std::vector<StoredTensor> states() override;
  void parametersChanged() override { session_.parametersChanged(); }
  uint64_t weightsHash() override { return session_.weightsHash(); }
  const std::vector<Head> &heads() const override { return heads_; }
  Result<std::vector<data::InputSlot>> inputs(Entry entry) override;
  Status step(const StepScalars &scalars) override { return step(scalars, {}); }
  Status step(const StepScalars &scalars, const std::function<bool()> &fillNext) override;
  bool failedAfterCommit() const override { return session_.faultAfterCommit(); }
  Status evaluate() override;
  Status evaluate(const std::function<bool()> &fillNext) override;
  Status compareReplicas() override { return session_.compareReplicas(); }
  Status collect() override { return session_.collect(); }
  bool writes() const override { return !session_.peers() || session_.peers()->rank() == 0; }
  Status agree(std::string_view what, std::string_view value) override;
  Result<double> sameSeconds(double mine) override;
  int signal() const override;
  MetricValues metric(Entry entry, size_t head) override;
  bool measuresRows() const override;
  MetricValues rowMetric(size_t head, int64_t row) override;
  Tensor scores(size_t head) override { return scores_[head]; }
  std::optional<double> gradientNorm() override;
  const std::vector<NamedNorm> &gradientNorms() override;

private:
  explicit SessionTrainable(Session &session) : session_(session) {}

  Session &session_;
  std::vector<Head> heads_;
  /// Metric outputs, per entry and head, [F] or [rows, F]; null data where the entry is not there.
  std::array<std::vector<Tensor>, 2> metrics_;
  std::vector<Tensor> scores_; ///< of `evaluate`, per head; null data where there are none
  Tensor gradientNorm_;
  std::vector<Tensor> normTensors_; ///< in the order of norms_
  std::vector<NamedNorm> norms_;
};

} // namespace lstmc::training
