// A trainable model of a few numbers. Each of its bits depends on data, order, states, scalars and
// history.
#pragma once

#include <cmath>
#include <cstring>

#include "executor/base/Hash.h"
#include "executor/base/Philox.h"
#include "executor/data/Array.h"
#include "executor/training/Trainable.h"

namespace lstmc::training {

class FakeModel : public Trainable {
public:
  static constexpr int64_t kStreams = 4, kSteps = 5, kSymbols = 64;

  FakeModel() {
    for (int64_t i = 0; i < kSymbols; ++i)
      weights_[i] = 0.01f * float(i);
  }

  Identity identity() const override {
    return {"fake", graphHash, "lstmc 0.1.0 (abc)", "digest", "cpu-f32", 8, {{"hidden", "4"}}};
  }
  std::vector<StoredTensor> parameters() override {
    return {{"weight", tensor(weights_, kSymbols)}};
  }
  std::vector<StoredTensor> slots() override {
    return {{"weight/momentum", tensor(momentum_, kSymbols)}};
  }
  std::vector<StoredTensor> states() override { return {{"h", tensor(state_, kStreams)}}; }
  void parametersChanged() override {}
  uint64_t weightsHash() override { return hashBytes(weights_, sizeof weights_); }
  const std::vector<Head> &heads() const override { return heads_; }

  Result<std::vector<data::InputSlot>> inputs(Entry) override {
    int64_t shape[] = {kStreams, kSteps};
    return std::vector<data::InputSlot>{
        {"data", false, data::denseTensor(data_, DType::I32, shape), 0},
        {"label", true, data::denseTensor(label_, DType::I32, shape), 0}};
  }

  Status step(const StepScalars &scalars) override {
    if (scalars.update == failAt)
      return fail(ErrorCode::E0701, "exp gave inf at update {}", scalars.update);
    run(&scalars);
    lastUpdate_ = scalars.update;
    return {};
  }
  bool failedAfterCommit() const override { return behindCommit; }
  Status evaluate() override {
    run(nullptr);
    return {};
  }
  MetricValues metric(Entry, size_t) override { return metric_; }
  std::optional<double> gradientNorm() override { return norm_; }

  Status compareReplicas() override {
    comparedAt.push_back(lastUpdate_);
    if (lastUpdate_ >= differFrom)
      return fail(ErrorCode::E0702, "weight differs after update {}", lastUpdate_);
    return {};
  }

  int64_t failAt = -1;
  int64_t differFrom = INT64_MAX;
  std::vector<int64_t> comparedAt; ///< updates
  bool behindCommit = false;
  std::string graphHash = "abc";

private:
  int64_t lastUpdate_ = 0;

  template <typename T> static Tensor tensor(T *data, int64_t count) {
    return data::denseTensor(data, DType::F32, std::span(&count, 1));
  }

  void run(const StepScalars *scalars) {
    metric_ = {};
    norm_ = 0;
    for (int64_t n = 0; n < kStreams; ++n) {
      for (int64_t t = 0; t < kSteps; ++t) {
        int32_t x = data_[n * kSteps + t] % kSymbols, y = label_[n * kSteps + t] % kSymbols;
        float drop = scalars ? float(randomUniform(scalars->seed, uint64_t(n * kSteps + t), 1,
                                                   uint32_t(scalars->update)))
                             : 0.5f;
        state_[n] = 0.7f * state_[n] + 0.3f * weights_[x] + 0.1f * drop;
        float error = state_[n] - float(y) / kSymbols;
        metric_[0] += double(error) * error;
        metric_[1] += 1;
        metric_[2] += 1;
        metric_[5] += double(error) * error;
        if (!scalars)
          continue;
        norm_ = *norm_ + double(error) * error;
        momentum_[x] = 0.9f * momentum_[x] + error;
        weights_[x] -= float(scalars->learningRate) * momentum_[x];
      }
    }
  }

  float weights_[kSymbols], momentum_[kSymbols] = {}, state_[kStreams] = {};
  int32_t data_[kStreams * kSteps] = {}, label_[kStreams * kSteps] = {};
  std::vector<Head> heads_ = {{"loss", HeadKind::Softmax}};
  MetricValues metric_{};
  std::optional<double> norm_;
};

} // namespace lstmc::training
