#include "executor/training/Evaluate.h"

#include <chrono>
#include <cmath>
#include <functional>
#include <new>
#include <optional>

#include <fmt/format.h>

#include "executor/base/NoMemory.h"
#include "executor/base/Quote.h"
#include "executor/data/FillAhead.h"
#include "executor/training/AreaUnderCurve.h"
#include "executor/training/KeptStates.h"

namespace lstmc::training {

Status checkCarried(Trainable &model, const data::Feed &feed, const std::string &source) {
  const std::string why = feed.whyIndependent();
  const std::vector<StoredTensor> states = model.states();
  return states.empty() || why.empty()
             ? Status()
             : fail(ErrorCode::E0001, "carry: state {} has nothing to go on to: of data {}, {}",
                    inQuotes(states.front().name), inQuotes(source), why);
}

void resetStates(Trainable &model) {
  for (const StoredTensor &state : model.states())
    state.clear();
}

/// All of them, but for a last one in part where rows cannot be told apart.
static int64_t batchesMeasured(const Trainable &model, const data::Feed &feed) {
  int64_t last = feed.batches() - 1;
  return feed.rows({0, last}) < feed.sequences() && !model.measuresRows() ? last : last + 1;
}

std::string leftOutOf(const Trainable &model, const data::Feed &feed) {
  int64_t batches = batchesMeasured(model, feed);
  if (batches == feed.batches())
    return feed.leftOut();
  int64_t rows = feed.rows({0, batches});
  return fmt::format("{} of {} samples fill no batch of {}, and the network mixes the samples of a "
                     "batch",
                     rows, batches * feed.sequences() + rows, feed.sequences());
}

/// Adds the labels that count of the first `rows` rows. E0601 where there is no memory for them.
static Status collect(const Tensor &scores, int64_t rows, AreaUnderCurve &curve) try {
  auto at = [&](int64_t part, int64_t o, int64_t b, int64_t q) {
    return scores.as<const double>()[part * scores.strides[0] + o * scores.strides[1] +
                                     b * scores.strides[2] + q * scores.strides[3]];
  };
  for (int64_t o = 0; o < scores.shape[1]; ++o)
    for (int64_t b = 0; b < rows; ++b)
      for (int64_t q = 0; q < scores.shape[3]; ++q)
        if (double truth = at(1, o, b, q); truth >= 0) // else it is ignored
          curve.add(at(0, o, b, q), truth > 0);
  return {};
} catch (const std::bad_alloc &) {
  return noMemory("");
}

/// Whether all that `evaluate` measured of a batch is.
static bool isFinite(Trainable &model) {
  for (size_t head = 0; head < model.heads().size(); ++head)
    for (double value : model.metric(Trainable::Entry::Evaluate, head))
      if (!std::isfinite(value))
        return false;
  return true;
}

Result<Evaluation> evaluate(Trainable &model, data::Feed &feed,
                            const std::function<Error(int64_t)> &explain,
                            const std::function<bool()> &interrupted, OwnMetrics *own) {
  auto begin = std::chrono::steady_clock::now();
  const KeptStates kept(model.states());
  std::optional<KeptStates> before; // the batch
  if (explain)
    before.emplace(model.states());
  Evaluation result{MetricTotals(model.heads()), 0, 0, leftOutOf(model, feed), false};
  int64_t batches = batchesMeasured(model, feed);
  if (batches == 0)
    return fail(ErrorCode::E0605, "data: found {}, want at least one batch", result.leftOut);
  std::vector<AreaUnderCurve> curves(model.heads().size());
  Status status;
  data::FillAhead inputs(feed);
  if (own)
    own->begin();
  for (int64_t batch = 0; batch < batches && status.ok(); ++batch) {
    if (interrupted && interrupted()) {
      result.interrupted = true;
      break;
    }
    data::Position position{0, batch};
    int64_t rows = feed.rows(position);
    if (feed.restarts(position))
      resetStates(model);
    if (before)
      before->keep();
    status = inputs.fill(position);
    const std::function<bool()> fillNext = [&, next = batch + 1] {
      if (next < batches)
        inputs.fillNext({0, next});
      return next < batches;
    };
    if (own && status.ok())
      status = own->filled();
    if (status.ok())
      status = own ? model.evaluate() : model.evaluate(fillNext);
    if (status.ok() && explain && !isFinite(model)) {
      inputs.forget();
      before->putBack();
      status = feed.fill(position);
      if (status.ok())
        status = explain(batch);
    }
    for (size_t head = 0; head < model.heads().size() && status.ok(); ++head) {
      if (!model.measuresRows())
        result.totals.add(head, model.metric(Trainable::Entry::Evaluate, head));
      for (int64_t row = 0; model.measuresRows() && row < rows; ++row)
        result.totals.add(head, model.rowMetric(head, row));
      if (Tensor scores = model.scores(head); scores && status.ok())
        status = collect(scores, model.measuresRows() ? rows : scores.shape[2], curves[head]);
    }
    if (own && status.ok())
      status = own->measured(model.measuresRows() ? rows : feed.sequences());
    result.sequences += rows;
  }
  kept.putBack();
  if (!status.ok())
    return status.error();
  for (size_t head = 0; head < curves.size(); ++head)
    if (model.scores(head))
      result.totals.setArea(head, curves[head].area());
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

} // namespace lstmc::training
