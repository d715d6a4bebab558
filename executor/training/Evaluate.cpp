#include "executor/training/Evaluate.h"

#include <chrono>

#include <fmt/format.h>

namespace lstmc::training {

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

Result<Evaluation> evaluate(Trainable &model, data::Feed &feed) {
  auto begin = std::chrono::steady_clock::now();
  std::vector<std::vector<std::byte>> kept;
  for (const StoredTensor &state : model.states())
    state.read(kept.emplace_back(size_t(state.bytes())));
  Evaluation result{MetricTotals(model.heads()), 0, 0, leftOutOf(model, feed)};
  int64_t batches = batchesMeasured(model, feed);
  if (batches == 0)
    return fail(ErrorCode::E0605, "data: found {}, want at least one batch", result.leftOut);
  Status status;
  for (int64_t batch = 0; batch < batches && status.ok(); ++batch) {
    data::Position position{0, batch};
    int64_t rows = feed.rows(position);
    if (feed.restarts(position))
      resetStates(model);
    feed.fill(position);
    status = model.evaluate();
    for (size_t head = 0; head < model.heads().size() && status.ok(); ++head) {
      if (!model.measuresRows())
        result.totals.add(head, model.metric(Trainable::Entry::Evaluate, head));
      for (int64_t row = 0; model.measuresRows() && row < rows; ++row)
        result.totals.add(head, model.rowMetric(head, row));
    }
    result.sequences += rows;
  }
  size_t next = 0;
  for (const StoredTensor &state : model.states())
    state.write(kept[next++]);
  if (!status.ok())
    return status.error();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

} // namespace lstmc::training
