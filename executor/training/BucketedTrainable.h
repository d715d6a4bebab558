// A network compiled for several lengths as the loop sees it.
#pragma once

#include <memory>
#include <vector>

#include "executor/training/SessionTrainable.h"

namespace lstmc::training {

/// Sessions of one network for the buckets of its data, in the same arenas (Session::beside); they
/// outlive it. What a batch is of decides which of them makes the update. The last one, which is
/// the longest, evaluates, and is the one of whose package a checkpoint is.
class BucketedTrainable : public Trainable {
public:
  /// By ascending length. E0605 where they do not measure the same, and errors of SessionTrainable.
  static Result<std::unique_ptr<BucketedTrainable>> create(const std::vector<Session *> &sessions);

  /// Filling a batch chooses the session of the next step().
  Result<std::unique_ptr<data::Feed>> trainingFeed(const data::DataSet &data, uint64_t seed,
                                                   BatchRows rows) override;

  Identity identity() const override { return models_.back()->identity(); }
  std::vector<StoredTensor> parameters() override { return model().parameters(); }
  std::vector<StoredTensor> slots() override { return model().slots(); }
  std::vector<StoredTensor> states() override { return model().states(); }
  void parametersChanged() override { model().parametersChanged(); }
  uint64_t weightsHash() override { return model().weightsHash(); }
  const std::vector<Head> &heads() const override { return models_.back()->heads(); }
  /// Of a step: those of the bucket in use.
  Result<std::vector<data::InputSlot>> inputs(Entry entry) override;
  Status step(const StepScalars &scalars) override { return model().step(scalars); }
  bool failedAfterCommit() const override { return models_[used_]->failedAfterCommit(); }
  Status evaluate() override;
  std::optional<StepPackage> stepPackage() override;
  Status compareReplicas() override { return model().compareReplicas(); }
  MetricValues metric(Entry entry, size_t head) override { return model().metric(entry, head); }
  bool measuresRows() const override { return models_.back()->measuresRows(); }
  MetricValues rowMetric(size_t head, int64_t row) override { return model().rowMetric(head, row); }
  Tensor scores(size_t head) override { return models_.back()->scores(head); }
  std::optional<double> gradientNorm() override { return model().gradientNorm(); }
  const std::vector<NamedNorm> &gradientNorms() override { return model().gradientNorms(); }

  /// Makes the bucket the one in use.
  void use(size_t bucket);

private:
  BucketedTrainable() = default;
  SessionTrainable &model() { return *models_[used_]; }

  std::vector<Session *> sessions_;
  std::vector<std::unique_ptr<SessionTrainable>> models_;
  size_t used_ = 0;
};

} // namespace lstmc::training
