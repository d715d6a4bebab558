// What a worker and a replay have in common as models of the training loop.
#pragma once

#include <memory>
#include <optional>

#include "executor/session/SplitStep.h"
#include "executor/stores/Residuals.h"
#include "executor/stores/Rows.h"
#include "executor/training/SessionTrainable.h"

namespace lstmc::stores {

/// A session that computes gradients of a worker's rows. The loop sees the inputs of all workers,
/// and the carried states of all: those of worker w > 0 are called NAME@w.
class SplitTrainable : public training::Trainable {
public:
  training::Identity identity() const override { return inner_->identity(); }
  std::vector<StoredTensor> parameters() override { return inner_->parameters(); }
  /// With compression also what workers have kept back: PARAMETER/residualW of worker W.
  std::vector<StoredTensor> slots() override;
  std::vector<StoredTensor> states() override;
  void parametersChanged() override { inner_->parametersChanged(); }
  const std::vector<training::Head> &heads() const override { return inner_->heads(); }
  Result<std::vector<data::InputSlot>> inputs(Entry entry) override;
  bool failedAfterCommit() const override { return failed_; }
  training::MetricValues metric(Entry entry, size_t head) override {
    return inner_->metric(entry, head);
  }
  bool measuresRows() const override { return inner_->measuresRows(); }
  training::MetricValues rowMetric(size_t head, int64_t row) override {
    return inner_->rowMetric(head, row);
  }
  Tensor scores(size_t head) override { return inner_->scores(head); }
  std::optional<double> gradientNorm() override { return inner_->gradientNorm(); }
  const std::vector<training::NamedNorm> &gradientNorms() override {
    return inner_->gradientNorms();
  }

protected:
  /// `worker`: whose states are those of the session.
  SplitTrainable(Session &session, int workers, int worker)
      : session_(session), workers_(workers), worker_(worker) {}
  /// `threshold`: of 2 bit compression; 0: none.
  Status prepare(double threshold);
  /// Gradients of update `clock` of a worker, by its rows. Every update of every worker draws
  /// random numbers of its own.
  Status computeGradients(int worker, int64_t clock, uint64_t seed, const Rows &rows);
  /// Memory of worker w's states, one after the other; of those that are not the session's.
  std::vector<std::byte> &statesOf(int worker) { return states_[size_t(worker)]; }
  void readStates(std::span<std::byte> into) const;
  void writeStates(std::span<const std::byte> from);

  Session &session_;
  const int workers_, worker_;
  std::unique_ptr<training::SessionTrainable> inner_;
  std::optional<session::SplitStep> step_;
  std::optional<Rows> rows_;
  std::unique_ptr<Residuals> residuals_; ///< null: gradients are not compressed
  bool failed_ = false;

private:
  std::vector<std::vector<std::byte>> states_; ///< by worker
};

} // namespace lstmc::stores
